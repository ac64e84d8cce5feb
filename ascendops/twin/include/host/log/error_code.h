// Of the operator base package: codes of its messages; the macros that take them are those of log.h.
#pragma once
#include "log/log.h"
