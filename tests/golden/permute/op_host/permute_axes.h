// The dims of permute that matter: without those of size 1, and neighbours that stay neighbours as one.
#ifndef PERMUTE_AXES_H
#define PERMUTE_AXES_H

#include "register/op_def_registry.h"

#include "../op_kernel/permute_tiling.h"

namespace permute_axes {
constexpr int32_t MAX_RANK = PERMUTE_MAX_RANK;

using Axes = PermuteAxes;

inline void Append(Axes &axes, int64_t size, int64_t from, int64_t to)
{
    axes.size[axes.rank] = size;
    axes.from[axes.rank] = from;
    axes.to[axes.rank] = to;
    ++axes.rank;
}

// Elements from one index of a dim to the next, for all dims of a contiguous tensor.
inline void Strides(const gert::Shape &shape, int64_t *strides)
{
    int64_t next = 1;
    for (size_t i = shape.GetDimNum(); i > 0; --i) {
        strides[i - 1] = next;
        next *= shape.GetDim(i - 1);
    }
}

// The dims in the order of the result; false if `dims` is no order of them. Dim i and the one before it are one dim if
// a step of the latter is the whole of the former.
inline bool Merge(const gert::Shape &shape, const gert::TypedContinuousVector<int64_t> &dims, Axes &axes)
{
    const int64_t rank = static_cast<int64_t>(shape.GetDimNum());
    if (rank > MAX_RANK || static_cast<int64_t>(dims.GetSize()) != rank) {
        return false;
    }
    int64_t strides[MAX_RANK] = {0};
    Strides(shape, strides);
    bool taken[MAX_RANK] = {false};
    axes.rank = 0;
    for (int64_t i = 0; i < rank; ++i) {
        const int64_t dim = dims.GetData()[i] + (dims.GetData()[i] < 0 ? rank : 0);
        if (dim < 0 || dim >= rank || taken[dim]) {
            return false;
        }
        taken[dim] = true;
        const int64_t size = shape.GetDim(static_cast<size_t>(dim));
        const int32_t last = axes.rank - 1;
        if (size == 1) {
            continue;
        }
        if (last >= 0 && axes.from[last] == size * strides[dim]) {
            axes.size[last] *= size;
            axes.from[last] = strides[dim];
        } else {
            Append(axes, size, strides[dim], 0);
        }
    }
    int64_t next = 1;
    for (int32_t i = axes.rank; i > 0; --i) {
        axes.to[i - 1] = next;
        next *= axes.size[i - 1];
    }
    if (axes.rank == 0) {
        Append(axes, 1, 1, 1);
    }
    return true;
}

// How many of the last dims change places among themselves only, and hence are neighbours in both tensors.
inline int32_t ClosedBlock(const Axes &axes)
{
    int64_t elements = 1;
    int64_t farthest = 0;
    for (int32_t count = 1; count <= axes.rank; ++count) {
        const int32_t at = axes.rank - count;
        elements *= axes.size[at];
        farthest += (axes.size[at] - 1) * axes.from[at];
        if (farthest == elements - 1) {
            return count;
        }
    }
    return axes.rank;
}
}  // namespace permute_axes

#endif
