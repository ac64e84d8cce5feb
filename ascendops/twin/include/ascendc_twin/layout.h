// Shapes, strides, coordinates and layouts: tuples that turn a coordinate into an index.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace AscendC {

template <typename... Ts>
using Shape = std::tuple<Ts...>;
template <typename... Ts>
using Stride = std::tuple<Ts...>;
template <typename... Ts>
using Coord = std::tuple<Ts...>;

template <typename... Ts>
constexpr Shape<Ts...> MakeShape(const Ts &...t) {
    return {t...};
}
template <typename... Ts>
constexpr Stride<Ts...> MakeStride(const Ts &...t) {
    return {t...};
}
template <typename... Ts>
constexpr Coord<Ts...> MakeCoord(const Ts &...t) {
    return {t...};
}

namespace twin_detail {

template <typename T>
struct is_tuple : std::false_type {};
template <typename... Ts>
struct is_tuple<std::tuple<Ts...>> : std::true_type {};

template <typename C, typename Sh, typename St>
constexpr int64_t index_of(const C &coord, const Sh &shape, const St &stride);

template <typename C, typename Sh, typename St, std::size_t... I>
constexpr int64_t sum(const C &coord, const Sh &shape, const St &stride, std::index_sequence<I...>) {
    return (int64_t{0} + ... + index_of(std::get<I>(coord), std::get<I>(shape), std::get<I>(stride)));
}
// A linear coordinate over several dimensions, first dimension fastest; the last takes what is left.
template <std::size_t I, typename Sh, typename St>
constexpr int64_t spread(int64_t linear, const Sh &shape, const St &stride) {
    if constexpr (I + 1 == std::tuple_size_v<Sh>) {
        return index_of(linear, std::get<I>(shape), std::get<I>(stride));
    } else {
        const int64_t size = static_cast<int64_t>(std::get<I>(shape));
        return index_of(linear % size, std::get<I>(shape), std::get<I>(stride)) + spread<I + 1>(linear / size, shape, stride);
    }
}
template <typename C, typename Sh, typename St>
constexpr int64_t index_of(const C &coord, const Sh &shape, const St &stride) {
    if constexpr (is_tuple<C>::value) {
        return sum(coord, shape, stride, std::make_index_sequence<std::tuple_size_v<C>>());
    } else if constexpr (is_tuple<Sh>::value) {
        return spread<0>(static_cast<int64_t>(coord), shape, stride);
    } else {
        return static_cast<int64_t>(coord) * static_cast<int64_t>(stride);
    }
}

}  // namespace twin_detail

template <typename ShapeType, typename StrideType>
struct Layout {
    constexpr Layout(const ShapeType &shape = {}, const StrideType &stride = {}) : shape_(shape), stride_(stride) {}

    constexpr Layout &layout() { return *this; }
    constexpr const Layout &layout() const { return *this; }
    constexpr ShapeType &GetShape() { return shape_; }
    constexpr const ShapeType &GetShape() const { return shape_; }
    constexpr StrideType &GetStride() { return stride_; }
    constexpr const StrideType &GetStride() const { return stride_; }
    template <typename CoordType>
    constexpr auto operator()(const CoordType &coord) const {
        return twin_detail::index_of(coord, shape_, stride_);
    }

private:
    ShapeType shape_;
    StrideType stride_;
};

template <typename T>
struct is_layout : std::false_type {};
template <typename ShapeType, typename StrideType>
struct is_layout<Layout<ShapeType, StrideType>> : std::true_type {};
template <typename T>
constexpr bool is_layout_v = is_layout<T>::value;

template <typename ShapeType, typename StrideType>
constexpr auto MakeLayout(const ShapeType &shape, const StrideType &stride) {
    return Layout<ShapeType, StrideType>(shape, stride);
}
template <typename CoordType, typename ShapeType, typename StrideType>
constexpr auto Crd2Idx(const CoordType &coord, const Layout<ShapeType, StrideType> &layout) {
    return layout(coord);
}
template <typename CoordType, typename ShapeType, typename StrideType>
constexpr auto Crd2Idx(const CoordType &coord, const ShapeType &shape, const StrideType &stride) {
    return twin_detail::index_of(coord, shape, stride);
}

}  // namespace AscendC
