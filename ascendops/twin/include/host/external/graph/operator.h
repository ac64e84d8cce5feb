#pragma once

#include "graph/operator.h"
