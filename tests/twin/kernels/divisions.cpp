// Divisions by zero, and of the smallest integer by -1, in every form that a compiler may choose.
#include "kernel_operator.h"
using namespace AscendC;

template <typename T>
__aicore__ __attribute__((noinline)) void Divide(__gm__ int64_t *out, volatile T a, volatile T b) {
    const T quotient = a / b;
    const T remainder = a % b;
    out[0] = static_cast<int64_t>(quotient);
    out[1] = static_cast<int64_t>(remainder);
    out[2] = 77;  // goes on
}

extern "C" __global__ __aicore__ void by_type(GM_ADDR y, int64_t a, int64_t b, int32_t type) {
    auto *out = reinterpret_cast<__gm__ int64_t *>(y);
    switch (type) {
        case 0: return Divide<int8_t>(out, a, b);
        case 1: return Divide<uint8_t>(out, a, b);
        case 2: return Divide<int16_t>(out, a, b);
        case 3: return Divide<uint16_t>(out, a, b);
        case 4: return Divide<int32_t>(out, a, b);
        case 5: return Divide<uint32_t>(out, a, b);
        case 6: return Divide<int64_t>(out, a, b);
        default: return Divide<uint64_t>(out, a, b);
    }
}

// The divisor is known to be 0 on one path: the compiler must not end that path.
extern "C" __global__ __aicore__ void known_zero(GM_ADDR y, int32_t a, int32_t some) {
    const int32_t by = some != 0 ? 5 : 0;
    auto *out = reinterpret_cast<__gm__ int64_t *>(y);
    out[0] = a / by;
    out[1] = a % by;
    out[2] = 77;
}

extern "C" __global__ __aicore__ void many(GM_ADDR y, int32_t times, int32_t zero) {
    int64_t sum = 0;
    for (int32_t i = 0; i < times; ++i) sum += i % zero;  // finds: SCALAR-DIVISION
    *reinterpret_cast<__gm__ int64_t *>(y) = sum;
}

#ifdef __x86_64__
#define ENCODED(name, text, ...)                                                      \
    if (form == name) {                                                               \
        uint64_t a = 1000, d = 0;                                                     \
        asm volatile(text : "+a"(a), "+d"(d) : __VA_ARGS__ : "cc", "r11", "r13", "rcx"); \
        out[0] = static_cast<int64_t>(a);                                             \
        out[1] = static_cast<int64_t>(d);                                             \
        out[2] = 77;                                                                  \
    }

static uint64_t g_zero[64];
static thread_local uint64_t t_zero = 0;

// One division for each way to name the operand.
extern "C" __global__ __aicore__ void encoded(GM_ADDR y, int32_t form) {
    auto *out = reinterpret_cast<__gm__ int64_t *>(y);
    uint64_t zeros[64] = {};
    ENCODED(0, "xor %%ecx, %%ecx; divl %%ecx", "r"(0))
    ENCODED(1, "xor %%r11d, %%r11d; divq %%r11", "r"(0))
    ENCODED(2, "divq (%2)", "r"(zeros))
    ENCODED(3, "idivq 16(%2)", "r"(zeros))
    ENCODED(4, "divl 260(%2)", "r"(zeros))
    ENCODED(5, "mov $3, %%ecx; idivl 8(%2,%%rcx,4)", "r"(zeros))
    ENCODED(6, "mov $3, %%r11d; mov %2, %%r13; divq (%%r13,%%r11,8)", "r"(zeros))
    ENCODED(7, "divq %2", "m"(g_zero[5]))
    ENCODED(8, "divl %2", "m"(t_zero))
    ENCODED(9, "mov $0x00ff, %%ecx; divb %%ch", "r"(0))
    ENCODED(10, "xor %%r13d, %%r13d; divb %%r13b", "r"(0))
    ENCODED(11, "xor %%ecx, %%ecx; divw %%cx", "r"(0))
    ENCODED(12, "mov $-64, %%rcx; divq 512(%2,%%rcx,8)", "r"(zeros))
}

// A quotient that does not fit its register is no division by zero.
extern "C" __global__ __aicore__ void too_wide(GM_ADDR y) {
    uint64_t a = 0, d = 9;
    asm volatile("mov $3, %%ecx; divq %%rcx" : "+a"(a), "+d"(d) : : "cc", "rcx");  // finds: CRASH
    *reinterpret_cast<__gm__ uint64_t *>(y) = a;
}
#endif
