#pragma once

#define VAR_UNUSED __attribute__((unused))
