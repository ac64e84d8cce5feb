// Bounds-checked memory and string functions under the names that op_host sources use.
#pragma once

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

typedef int errno_t;
#ifndef EOK
#define EOK 0
#endif
#ifndef EINVAL_AND_RESET
#define EINVAL_AND_RESET 150
#define ERANGE_AND_RESET 162
#endif

inline errno_t memcpy_s(void *dest, size_t capacity, const void *src, size_t count) {
    if (dest == nullptr || src == nullptr) {
        return EINVAL;
    }
    if (count > capacity) {
        return ERANGE_AND_RESET;
    }
    (void)memcpy(dest, src, count);
    return EOK;
}
inline errno_t memmove_s(void *dest, size_t capacity, const void *src, size_t count) {
    if (dest == nullptr || src == nullptr) {
        return EINVAL;
    }
    if (count > capacity) {
        return ERANGE_AND_RESET;
    }
    (void)memmove(dest, src, count);
    return EOK;
}
inline errno_t memset_s(void *dest, size_t capacity, int value, size_t count) {
    if (dest == nullptr) {
        return EINVAL;
    }
    if (count > capacity) {
        return ERANGE_AND_RESET;
    }
    (void)memset(dest, value, count);
    return EOK;
}
inline errno_t strncpy_s(char *dest, size_t capacity, const char *src, size_t count) {
    if (dest == nullptr || src == nullptr) {
        return EINVAL;
    }
    const size_t length = strnlen(src, count);
    if (length >= capacity) {
        return ERANGE_AND_RESET;
    }
    (void)memcpy(dest, src, length);
    dest[length] = '\0';
    return EOK;
}
inline errno_t strcpy_s(char *dest, size_t capacity, const char *src) {
    return strncpy_s(dest, capacity, src, src == nullptr ? 0 : strlen(src));
}
inline errno_t strcat_s(char *dest, size_t capacity, const char *src) {
    if (dest == nullptr || src == nullptr) {
        return EINVAL;
    }
    const size_t used = strnlen(dest, capacity);
    return used == capacity ? EINVAL : strcpy_s(dest + used, capacity - used, src);
}
inline int vsnprintf_s(char *dest, size_t capacity, size_t count, const char *format, va_list args) {
    const int written = vsnprintf(dest, capacity, format, args);
    return written < 0 || static_cast<size_t>(written) >= capacity || static_cast<size_t>(written) > count ? -1 : written;
}
__attribute__((format(printf, 4, 5))) inline int snprintf_s(char *dest, size_t capacity, size_t count,
                                                            const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int written = vsnprintf_s(dest, capacity, count, format, args);
    va_end(args);
    return written;
}
__attribute__((format(printf, 3, 4))) inline int sprintf_s(char *dest, size_t capacity, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int written = vsnprintf_s(dest, capacity, capacity, format, args);
    va_end(args);
    return written;
}
