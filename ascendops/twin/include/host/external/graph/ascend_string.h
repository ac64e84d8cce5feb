#pragma once

#include "graph/ascend_string.h"
