// LocalTensor and GlobalTensor: typed views; every access is described to the runtime as a Span.
//
// Operator forms (`dst = a + b`) are added by vec.h: an expression type declares `using twin_tensor_expression = void;` and
// `void store(const LocalTensor<T> &dst) const`, which operator= calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ascendc_twin/arch.h"
#include "ascendc_twin/enums.h"
#include "ascendc_twin/half.h"
#include "ascendc_twin/macros.h"
#include "ascendc_twin/params.h"
#include "ascendc_twin/rt.h"

namespace ascendc_twin {

template <typename T, typename = void>
struct DtOf {
    static constexpr bool known = false;
    static constexpr Dt value = sizeof(T) == 1 ? Dt::U8 : sizeof(T) == 2 ? Dt::U16 : sizeof(T) == 4 ? Dt::U32 : Dt::U64;
};
template <typename T>
struct DtOf<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<std::remove_cv_t<T>, bool>>> {
    static constexpr bool known = true;
    static constexpr Dt value = sizeof(T) == 1   ? (std::is_signed_v<T> ? Dt::I8 : Dt::U8)
                                : sizeof(T) == 2 ? (std::is_signed_v<T> ? Dt::I16 : Dt::U16)
                                : sizeof(T) == 4 ? (std::is_signed_v<T> ? Dt::I32 : Dt::U32)
                                                 : (std::is_signed_v<T> ? Dt::I64 : Dt::U64);
};
#define ASCENDC_TWIN_DT(type, name)            \
    template <>                                \
    struct DtOf<type, void> {                  \
        static constexpr bool known = true;    \
        static constexpr Dt value = Dt::name;  \
    };
ASCENDC_TWIN_DT(bool, BOOL)
ASCENDC_TWIN_DT(half, F16)
ASCENDC_TWIN_DT(bfloat16_t, BF16)
ASCENDC_TWIN_DT(float, F32)
ASCENDC_TWIN_DT(double, F64)
ASCENDC_TWIN_DT(AscendC::int4b_t, I4)
#undef ASCENDC_TWIN_DT

template <typename T>
inline constexpr Dt dt_of = DtOf<std::remove_cv_t<T>>::value;

// Elements to bytes; two int4b_t share a byte.
template <typename T>
constexpr uint64_t bytes_of(uint64_t elements) {
    if constexpr (dt_of<T> == Dt::I4) {
        return elements / 2;
    } else {
        return elements * sizeof(T);
    }
}
template <typename T>
constexpr uint64_t elements_of(uint64_t bytes) {
    if constexpr (dt_of<T> == Dt::I4) {
        return bytes * 2;
    } else {
        return bytes / sizeof(T);
    }
}

}  // namespace ascendc_twin

namespace AscendC {

// A trait-carrying element type; only the element type matters on the host.
template <typename T, typename... Rest>
struct TensorTrait {
    using LiteType = T;
};
namespace twin_detail {
template <typename T>
struct Prim {
    using type = T;
};
template <typename T, typename... Rest>
struct Prim<TensorTrait<T, Rest...>> {
    using type = T;
};
}  // namespace twin_detail
template <typename T>
using PrimT = typename twin_detail::Prim<T>::type;

using TBufHandle = uint8_t *;

struct TBuffAddr {
    uint32_t dataLen = 0;
    uint32_t bufferAddr = 0;
    TBufHandle bufferHandle = nullptr;
    uint8_t logicPos = 0;
    uint8_t *absAddr = nullptr;
};

struct ShapeInfo {
    ShapeInfo() = default;
    ShapeInfo(const uint8_t dims, const uint32_t dim[], const uint8_t originalDims, const uint32_t original[],
              const DataFormat format)
        : shapeDim(dims), originalShapeDim(originalDims), dataFormat(format) {
        for (int i = 0; i < dims && i < K_MAX_SHAPE_DIM; ++i) shape[i] = dim[i];
        for (int i = 0; i < originalDims && i < K_MAX_SHAPE_DIM; ++i) originalShape[i] = original[i];
    }
    ShapeInfo(const uint8_t dims, const uint32_t dim[], const DataFormat format) : ShapeInfo(dims, dim, dims, dim, format) {}
    ShapeInfo(const uint8_t dims, const uint32_t dim[]) : ShapeInfo(dims, dim, DataFormat::ND) {}

    uint8_t shapeDim = 0;
    uint8_t originalShapeDim = 0;
    uint32_t shape[K_MAX_SHAPE_DIM] = {};
    uint32_t originalShape[K_MAX_SHAPE_DIM] = {};
    DataFormat dataFormat = DataFormat::ND;
};

inline uint64_t GetShapeSize(const ShapeInfo &info) {
    uint64_t n = 1;
    for (int i = 0; i < info.shapeDim; ++i) n *= info.shape[i];
    return n;
}

namespace twin_detail {
// Where a LocalTensor lies. Kernels set logicPos themselves; the tensor then starts at the same offset of the memory of that position.
struct TensorAddress {
    struct Position {
        ascendc_twin::TensorRef ref;
        TWIN_API Position &operator=(const uint8_t pos) {
            ref = ascendc_twin::local_at(pos, ref.addr, ref.bytes);
            return *this;
        }
        operator uint8_t() const { return ref.pos; }
    };
    Position logicPos;
};
}  // namespace twin_detail

template <typename T>
class LocalTensor {
public:
    using PrimType = PrimT<T>;

    LocalTensor() = default;
    explicit LocalTensor(const ascendc_twin::TensorRef &ref) { address_.logicPos.ref = ref; }
    LocalTensor(TPosition pos, uint32_t addr, uint32_t tileSize) {
        here() = ascendc_twin::local_at(static_cast<uint8_t>(pos), addr, ascendc_twin::bytes_of<PrimType>(tileSize));
    }

    template <typename Expr, typename = typename Expr::twin_tensor_expression>
    TWIN_API void operator=(const Expr &expression) {
        expression.store(*this);
    }

    TWIN_API LocalTensor operator[](const uint32_t offset) const {
        LocalTensor part = *this;
        const uint64_t bytes = ascendc_twin::bytes_of<PrimType>(offset);
        part.here().p += bytes;
        part.here().addr += static_cast<uint32_t>(bytes);
        part.here().bytes = bytes < ref().bytes ? static_cast<uint32_t>(ref().bytes - bytes) : 0;
        return part;
    }

    TWIN_API PrimType GetValue(const uint32_t index) const {
        using namespace ascendc_twin;
        if constexpr (dt_of<PrimType> == Dt::I4) {
            return PrimType((*scalar_local(ref(), index / 2, 1, Rw::READ, "GetValue") >> (index % 2 * 4)) & 0xf);
        } else {
            return *reinterpret_cast<PrimType *>(
                scalar_local(ref(), index * uint64_t{sizeof(PrimType)}, sizeof(PrimType), Rw::READ, "GetValue"));
        }
    }
    template <typename S>
    TWIN_API void SetValue(const uint32_t index, const S value) const {
        using namespace ascendc_twin;
        *reinterpret_cast<PrimType *>(scalar_local(ref(), index * uint64_t{sizeof(PrimType)}, sizeof(PrimType), Rw::WRITE,
                                                   "SetValue")) = static_cast<PrimType>(value);
    }
    TWIN_API PrimType &operator()(const uint32_t index) const {
        using namespace ascendc_twin;
        return *reinterpret_cast<PrimType *>(
            scalar_local(ref(), index * uint64_t{sizeof(PrimType)}, sizeof(PrimType), Rw::READ, "operator()"));
    }

    template <typename U>
    TWIN_API LocalTensor<U> ReinterpretCast() const {
        return LocalTensor<U>(ref());
    }

    uint64_t GetPhyAddr() const { return reinterpret_cast<uint64_t>(ref().p); }
    uint64_t GetPhyAddr(const uint32_t offset) const { return GetPhyAddr() + ascendc_twin::bytes_of<PrimType>(offset); }
    int32_t GetPosition() const { return ref().pos; }
    uint32_t GetSize() const { return static_cast<uint32_t>(ascendc_twin::elements_of<PrimType>(ref().bytes)); }
    uint32_t GetLength() const { return ref().bytes; }
    void SetSize(const uint32_t size) { here().bytes = static_cast<uint32_t>(ascendc_twin::bytes_of<PrimType>(size)); }
    void SetBufferLen(uint32_t bytes) { here().bytes = bytes; }
    // At a byte offset of its memory, without TPipe; address_.logicPos, set behind it, says which memory that is.
    TWIN_API void InitBuffer(const uint32_t bufferOffset, const uint32_t bufferSize) {
        const auto pos = static_cast<TPosition>(ref().pos) == TPosition::GM ? static_cast<uint8_t>(TPosition::VECCALC) : ref().pos;
        here() = ascendc_twin::local_at(pos, bufferOffset, ascendc_twin::bytes_of<PrimType>(bufferSize));
    }
    void SetUserTag(const TTagType tag) { tag_ = tag; }
    TTagType GetUserTag() const { return tag_; }
    void SetAddr(const TBuffAddr &addr) { here() = ascendc_twin::local_at(addr.logicPos, addr.bufferAddr, addr.dataLen); }
    template <typename S>
    void SetAddrWithOffset(LocalTensor<S> &src, uint32_t offset) {
        here() = src[offset].ref();
    }
    void SetShapeInfo(const ShapeInfo &info) { shape_ = static_cast<const ShapeInfo *>(ascendc_twin::keep(&info, sizeof info)); }
    ShapeInfo GetShapeInfo() const { return shape_ ? *shape_ : ShapeInfo(); }
    TBufHandle GetBufferHandle() const { return reinterpret_cast<TBufHandle>(static_cast<intptr_t>(ref().buf) + 1); }

    // For the twin's own headers.
    TWIN_API ascendc_twin::Span span() const {
        static_assert(ascendc_twin::type_exists<PrimType>, "bfloat16_t is not a type of Ascend 310P");
        return {ref().p, ref().addr, ref().bytes, ref().buf, ref().mem, ascendc_twin::dt_of<PrimType>};
    }
    const ascendc_twin::TensorRef &ref() const { return address_.logicPos.ref; }

    twin_detail::TensorAddress address_;

private:
    ascendc_twin::TensorRef &here() { return address_.logicPos.ref; }

    TTagType tag_ = -1;
    const ShapeInfo *shape_ = nullptr;
};

template <typename T>
class GlobalTensor {
public:
    using PrimType = PrimT<T>;

    void SetGlobalBuffer(__gm__ PrimType *buffer, uint64_t bufferSize) {
        bufferSize_ = bufferSize;
        begin_ = p_ = reinterpret_cast<uint8_t *>(buffer);
        end_ = begin_ + ascendc_twin::bytes_of<PrimType>(bufferSize);
    }
    void SetGlobalBuffer(__gm__ PrimType *buffer) {
        bufferSize_ = 0;
        begin_ = p_ = reinterpret_cast<uint8_t *>(buffer);
        end_ = nullptr;
    }

    TWIN_API GlobalTensor operator[](const uint64_t offset) const {
        GlobalTensor part = *this;
        part.p_ += ascendc_twin::bytes_of<PrimType>(offset);
        return part;
    }

    const __gm__ PrimType *GetPhyAddr() const { return reinterpret_cast<PrimType *>(p_); }
    __gm__ PrimType *GetPhyAddr(const uint64_t offset) const {
        return reinterpret_cast<PrimType *>(p_ + ascendc_twin::bytes_of<PrimType>(offset));
    }
    TWIN_API PrimType GetValue(const uint64_t offset) const {
        using namespace ascendc_twin;
        return *reinterpret_cast<PrimType *>(
            scalar_global(p_ + bytes_of<PrimType>(offset), begin_, end_, sizeof(PrimType), Rw::READ, "GetValue"));
    }
    TWIN_API void SetValue(const uint64_t offset, PrimType value) const {
        using namespace ascendc_twin;
        store_global(p_ + bytes_of<PrimType>(offset), begin_, end_, sizeof(PrimType), &value, "SetValue");
    }
    TWIN_API __gm__ PrimType &operator()(const uint64_t offset) const {
        using namespace ascendc_twin;
        return *reinterpret_cast<PrimType *>(
            scalar_global(p_ + bytes_of<PrimType>(offset), begin_, end_, sizeof(PrimType), Rw::READ, "operator()"));
    }

    uint64_t GetSize() const { return bufferSize_; }
    void SetShapeInfo(const ShapeInfo &info) { shape_ = static_cast<const ShapeInfo *>(ascendc_twin::keep(&info, sizeof info)); }
    ShapeInfo GetShapeInfo() const { return shape_ ? *shape_ : ShapeInfo(); }
    template <CacheRwMode rwMode = CacheRwMode::RW>
    void SetL2CacheHint(CacheMode mode) {
        cacheMode_ = mode;
    }
    template <typename U>
    GlobalTensor<U> ReinterpretCast() const {
        GlobalTensor<U> other;
        other.SetGlobalBuffer(reinterpret_cast<PrimT<U> *>(p_), ascendc_twin::elements_of<PrimT<U>>(span().bytes));
        return other;
    }

    // For the twin's own headers. The bytes of a tensor whose size SetGlobalBuffer was not told are those of the address space.
    TWIN_API ascendc_twin::Span span() const {
        static_assert(ascendc_twin::type_exists<PrimType>, "bfloat16_t is not a type of Ascend 310P");
        const uint64_t left = !end_ ? UINT64_MAX >> 1 : p_ < end_ ? static_cast<uint64_t>(end_ - p_) : 0;
        return {p_, reinterpret_cast<uint64_t>(p_), left, -1, ascendc_twin::Mem::GM, ascendc_twin::dt_of<PrimType>};
    }

    uint64_t bufferSize_ = 0;
    CacheMode cacheMode_ = CacheMode::CACHE_MODE_NORMAL;

private:
    uint8_t *p_ = nullptr;
    uint8_t *begin_ = nullptr;
    uint8_t *end_ = nullptr;
    const ShapeInfo *shape_ = nullptr;
};

}  // namespace AscendC
