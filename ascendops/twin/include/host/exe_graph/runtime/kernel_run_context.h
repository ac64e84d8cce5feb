#pragma once

#include "exe_graph/runtime/kernel_context.h"
