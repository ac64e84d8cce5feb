// What instructions made of several others mean for the order of pipes.
#pragma once

namespace ascendc_twin {

// ReduceSum, ReduceMax and ReduceMin end on the scalar unit, which waits for the vector unit, writes the result, and lets V and MTE3
// go on behind it. Source: impl/basic_api/dav_c220/kernel_operator_vec_reduce_impl.h of the public asc-devkit repository.
void result_by_scalar();

}  // namespace ascendc_twin
