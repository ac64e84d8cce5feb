// Macro tiling structures (BEGIN_TILING_DATA_DEF) that a kernel source declares or includes itself: plain structs here.
#pragma once

#include <cstdint>

#ifndef BEGIN_TILING_DATA_DEF
#define BEGIN_TILING_DATA_DEF(name) struct name {
#define TILING_DATA_FIELD_DEF(type, name) type name = 0;  // users may leave the semicolon out
#define TILING_DATA_FIELD_DEF_ARR(type, length, name) type name[length] = {};
#define TILING_DATA_FIELD_DEF_STRUCT(type, name) type name;
#define END_TILING_DATA_DEF }
#define REGISTER_TILING_DATA_CLASS(op, type) static_assert(sizeof(type) > 0, #op);
#endif
