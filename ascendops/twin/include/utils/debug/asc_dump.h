// Comes with kernel_operator.h here.
#pragma once

#include "kernel_operator.h"
