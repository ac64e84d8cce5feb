#pragma once

#include "common/util/error_manager/error_manager.h"
