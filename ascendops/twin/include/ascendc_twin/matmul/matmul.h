// The Matmul object. What it computes is in the runtime (runtime/matmul.cpp); here its types become the runtime's state.
//
// In a kernel on cube and vector cores the object of a vector core has its cube core compute, as on the device; REGIST_MATMUL_OBJ makes the
// cube core serve. With ASCENDC_CUBE_ONLY, and in MatmulImpl, the cube core computes its own objects and vector cores leave calls out.
#pragma once

#include "ascendc_twin/matmul/object.h"

namespace AscendC {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>, template <const auto &, typename...> class MATMUL_POLICY = Impl::Detail::MatmulPolicy>
using MatmulImpl = TwinMatmul<true, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;
#ifdef ASCENDC_CUBE_ONLY
constexpr bool twin_cube_only = true;
#else
constexpr bool twin_cube_only = false;
#endif
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>, template <const auto &, typename...> class MATMUL_POLICY = Impl::Detail::MatmulPolicy>
using Matmul = TwinMatmul<twin_cube_only, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;

namespace twin_detail {

// Objects and tilings in turn: an object without a tiling is given one later by Init.
inline void regist() {}
template <typename Object, typename... Rest>
void regist(Object &object, Rest &&...rest);
template <typename Object, typename Tiling, typename... Rest>
void regist_pair(Object &object, Tiling &tiling, Rest &&...rest) {
    if constexpr (std::is_convertible_v<Tiling &, const void *> && !std::is_null_pointer_v<std::decay_t<Tiling>>) {  // also a pointer with __restrict__
        object.Init(reinterpret_cast<const TCubeTiling *>(tiling));
        regist(rest...);
    } else if constexpr (std::is_null_pointer_v<std::decay_t<Tiling>>) {
        object.Init(nullptr);
        regist(rest...);
    } else {
        object.Init(nullptr);
        regist(tiling, rest...);
    }
}
template <typename Object, typename... Rest>
void regist(Object &object, Rest &&...rest) {
    if constexpr (sizeof...(Rest) == 0) {
        object.Init(nullptr);
    } else {
        regist_pair(object, rest...);
    }
}

// True: this is a cube core that has served its vector cores, and the kernel ends here.
template <typename Object, typename... Rest>
bool regist_objects(TPipe *, __gm__ uint8_t *, Object &object, Rest &&...rest) {
    const ascendc_twin::Core &core = ascendc_twin::core();
    if (Object::twin_serves && core.mixed && core.type == ascendc_twin::Core::AIC) {
        ascendc_twin::cube_serve();
        return true;
    }
    regist(object, rest...);
    return false;
}

}  // namespace twin_detail

// Variadic, so that functions of the kernel with these names are the better match.
template <typename A, typename... B>
constexpr auto CeilDiv(A a, B... b) -> std::enable_if_t<sizeof...(B) == 1 && (std::is_integral_v<A> && ... && std::is_integral_v<B>), std::common_type_t<A, B...>> {
    return Ceil(a, b...);
}
template <typename A, typename... B>
constexpr auto CeilAlign(A a, B... b) -> std::enable_if_t<sizeof...(B) == 1 && (std::is_integral_v<A> && ... && std::is_integral_v<B>), std::common_type_t<A, B...>> {
    return Ceil(a, b...) * (... + b);
}

}  // namespace AscendC

#ifdef ASCENDC_TWIN_QUALIFIED  // kernel_operator.h leaves `using namespace` out: these names lie outside of AscendC in the public header of 8.1
using AscendC::BatchMode;
using AscendC::CFG_IBSHARE_NORM;
using AscendC::CFG_MDL;
using AscendC::CFG_NORM;
using AscendC::CubeFormat;
using AscendC::GetBasicConfig;
using AscendC::GetIBShareNormConfig;
using AscendC::GetMDLConfig;
using AscendC::GetMMConfig;
using AscendC::GetNormalConfig;
using AscendC::GetSpecialMDLConfig;
using AscendC::IterateOrder;
using AscendC::LayoutMode;
using AscendC::MatmulBatchParams;
using AscendC::MatmulConfig;
using AscendC::MatmulConfigMode;
using AscendC::MatmulFuncParams;
using AscendC::MatmulQuantParams;
using AscendC::MatmulShapeParams;
using AscendC::MatrixOffset;
using AscendC::MM_CFG_BB;
using AscendC::ScheduleType;
#endif

#define REGIST_MATMUL_OBJ(pipe, workspace, ...) \
    if (AscendC::twin_detail::regist_objects(pipe, workspace, __VA_ARGS__)) return
#define REGIST_MATMUL_OBJ_STATIC REGIST_MATMUL_OBJ
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ
