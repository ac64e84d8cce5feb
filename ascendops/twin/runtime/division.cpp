// Integer divisions that trap on the host go on as on a scalar unit that does not: x / 0 is 0, x % 0 is x, and the smallest
// integer / -1 is itself with remainder 0. These are the results of Arm's instructions, so both kinds of host agree.
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>

#include "launch_state.h"

namespace ascendc_twin {

#if defined(__x86_64__)

namespace {

struct Division {
    bool is_signed = false;
    unsigned bits = 32;
    uint64_t divisor = 0;
    uint64_t end = 0;  // address of the next instruction
};

struct Prefixes {
    bool word = false;  // 0x66
    bool fs = false;
    bool known = true;
    uint8_t rex = 0;
};

constexpr uint8_t kRexW = 8, kRexX = 2, kRexB = 1;

greg_t &reg(greg_t *regs, unsigned number) {
    static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return regs[order[number & 15]];
}

template <typename T>
T fetch(const uint8_t *&code) {
    T value;
    memcpy(&value, code, sizeof value);
    code += sizeof value;
    return value;
}

Prefixes read_prefixes(const uint8_t *&code) {
    Prefixes p;
    for (;; ++code) {
        if (*code == 0x66) p.word = true;
        else if (*code == 0x64) p.fs = true;
        else if (*code == 0x65 || *code == 0x67) p.known = false;
        else if (*code != 0x2e && *code != 0x3e) break;
    }
    if ((*code & 0xf0) == 0x40) p.rex = *code++;
    return p;
}

// The address of a memory operand, without the length of what follows it: a division has no immediate.
uint64_t operand_address(const uint8_t *&code, uint8_t modrm, const Prefixes &p, greg_t *regs) {
    const unsigned mod = modrm >> 6, rm = modrm & 7;
    uint64_t address = 0;
    bool relative = false, far = mod == 2;
    if (rm == 4) {
        const auto sib = fetch<uint8_t>(code);
        const unsigned index = (sib >> 3 & 7) | (p.rex & kRexX ? 8u : 0), base = sib & 7;
        if (index != 4) address += static_cast<uint64_t>(reg(regs, index)) << (sib >> 6);
        if (base == 5 && mod == 0) far = true;
        else address += static_cast<uint64_t>(reg(regs, base | (p.rex & kRexB ? 8u : 0)));
    } else if (rm == 5 && mod == 0) {
        relative = far = true;
    } else {
        address = static_cast<uint64_t>(reg(regs, rm | (p.rex & kRexB ? 8u : 0)));
    }
    if (mod == 1) address += static_cast<int64_t>(fetch<int8_t>(code));
    if (far) address += static_cast<int64_t>(fetch<int32_t>(code));
    if (relative) address += reinterpret_cast<uint64_t>(code);
    if (p.fs) {
        uint64_t base;
        __asm__("mov %%fs:0, %0" : "=r"(base));
        address += base;
    }
    return address;
}

uint64_t operand(const uint8_t *&code, uint8_t modrm, const Prefixes &p, unsigned bits, greg_t *regs) {
    const uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    if (modrm >> 6 != 3) {
        uint64_t value = 0;
        memcpy(&value, reinterpret_cast<const void *>(operand_address(code, modrm, p, regs)), bits / 8);
        return value;
    }
    const unsigned rm = modrm & 7;
    if (bits == 8 && p.rex == 0 && rm >= 4) return static_cast<uint64_t>(reg(regs, rm - 4)) >> 8 & mask;  // AH, CH, DH, BH
    return static_cast<uint64_t>(reg(regs, rm | (p.rex & kRexB ? 8u : 0))) & mask;
}

// Reads `div` and `idiv`: F6 and F7 with 6 and 7 in the middle of the byte that names the operand.
bool read_division(greg_t *regs, Division &d) {
    const auto *code = reinterpret_cast<const uint8_t *>(regs[REG_RIP]);
    const Prefixes p = read_prefixes(code);
    const auto opcode = fetch<uint8_t>(code), modrm = fetch<uint8_t>(code);
    const unsigned kind = modrm >> 3 & 7;
    if (!p.known || (opcode != 0xf6 && opcode != 0xf7) || kind < 6) return false;
    d.is_signed = kind == 7;
    d.bits = opcode == 0xf6 ? 8 : p.rex & kRexW ? 64 : p.word ? 16 : 32;
    d.divisor = operand(code, modrm, p, d.bits, regs);
    d.end = reinterpret_cast<uint64_t>(code);
    return true;
}

void set_low(greg_t &to, unsigned bits, uint64_t value) {
    const uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    const uint64_t kept = bits == 32 ? 0 : static_cast<uint64_t>(to) & ~mask;  // 32-bit results clear the upper half
    to = static_cast<greg_t>(kept | (value & mask));
}

void set_results(greg_t *regs, unsigned bits, uint64_t quotient, uint64_t remainder) {
    if (bits == 8) return set_low(regs[REG_RAX], 16, (quotient & 0xff) | (remainder & 0xff) << 8);
    set_low(regs[REG_RAX], bits, quotient);
    set_low(regs[REG_RDX], bits, remainder);
}

int64_t extended(uint64_t value, unsigned bits) {
    return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

std::string number(uint64_t value, const Division &d) {
    if (d.is_signed) return format("%lld", static_cast<long long>(extended(value, d.bits)));
    return format("%llu", static_cast<unsigned long long>(d.bits == 64 ? value : value & ((1ull << d.bits) - 1)));
}

void note(Private &p, void *context, const std::string &message) {
    record_stack(p, context);
    const auto same = std::find_if(p.findings.begin(), p.findings.end(), [&](const Finding &f) {
        return strcmp(f.id, "SCALAR-DIVISION") == 0 && f.pcs.front() == p.crash_pcs[0];
    });
    if (same != p.findings.end()) ++same->count;
    else add_stack_finding(p, "SCALAR-DIVISION", message);
}

}  // namespace

bool go_on_after_division(Private &p, void *context) {
    greg_t *regs = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
    Division d;
    if (!read_division(regs, d)) return false;
    const auto dividend = static_cast<uint64_t>(regs[REG_RAX]);
    const bool zero = d.divisor == 0;
    if (!zero && (!d.is_signed || extended(d.divisor, d.bits) != -1)) return false;  // a quotient of a wider dividend
    const std::string of = number(dividend, d);
    if (t_core->checks) {
        ++p.in_runtime;
        note(p, context, format("the scalar unit divides %s by %s; the twin goes on with quotient %s and remainder %s", of.c_str(),
                                number(d.divisor, d).c_str(), zero ? "0" : of.c_str(), zero ? of.c_str() : "0"));
        --p.in_runtime;
    }
    set_results(regs, d.bits, zero ? 0 : dividend, zero ? dividend : 0);
    regs[REG_RIP] = static_cast<greg_t>(d.end);
    return true;
}

#else

bool go_on_after_division(Private &, void *) {
    return false;
}

#endif

}  // namespace ascendc_twin
