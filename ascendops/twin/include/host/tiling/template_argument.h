// Kernel template arguments as tiling keys: ASCENDC_TPL_ARGS_DECL names the arguments and their values, ASCENDC_TPL_SEL the
// combinations that are compiled, GET_TPL_TILING_KEY packs the values of one combination into a key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "graph/c_types.h"

#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 4
#define ASCENDC_TPL_MIX_AIC_1_0 5
#define ASCENDC_TPL_MIX_AIC_1_1 6
#define ASCENDC_TPL_MIX_AIC_1_2 7
#define ASCENDC_TPL_AICORE 8
#define ASCENDC_TPL_VECTORCORE 9
#define ASCENDC_TPL_MIX_AICORE 10
#define ASCENDC_TPL_MIX_VECTOR_CORE 11
#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2
// Instead of a type code: the type of the input or output at that place.
#define ASCENDC_TPL_INPUT(index) (100000000 + (index))
#define ASCENDC_TPL_OUTPUT(index) (900000000 + (index))

namespace ascendops_host {
struct TplParam {
    // ID: a data type by its code; TYPE: by the C++ type; SETTING: of the kernel, no template argument.
    enum Kind { ID, TYPE, FORMAT, UINT, BOOL, SETTING };

    TplParam(const char *name_, Kind kind_, unsigned bits_, std::initializer_list<uint64_t> values_);

    const char *name;
    Kind kind;
    unsigned bits;
    std::vector<uint64_t> values;
};

class TplArgs {
public:
    TplArgs(const char *op_, std::initializer_list<TplParam> params_) : op(op_), params(params_) {}

    // The key of one combination of values, the first argument in the lowest bits; all ones if a value is not declared.
    uint64_t Key(std::initializer_list<uint64_t> values) const;

    const char *op;
    std::vector<TplParam> params;
};

// Adds the combinations to the library that is being loaded.
int RegisterTemplates(const TplArgs &args, std::initializer_list<std::vector<TplParam>> selections);
}  // namespace ascendops_host

#define ASCENDC_TPL_PARAM_(kind, bits, name, ...) \
    ascendops_host::TplParam { #name, ascendops_host::TplParam::kind, bits, { __VA_ARGS__ } }
#define ASCENDC_TPL_DTYPE_DECL(x, ...) ASCENDC_TPL_PARAM_(ID, 8, x, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_DECL(x, ...) ASCENDC_TPL_PARAM_(TYPE, 8, x, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_DECL(x, ...) ASCENDC_TPL_PARAM_(FORMAT, 8, x, __VA_ARGS__)
#define ASCENDC_TPL_UINT_DECL(x, bw, ...) ASCENDC_TPL_PARAM_(UINT, bw, x, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_DECL(x, ...) ASCENDC_TPL_PARAM_(BOOL, 1, x, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_DECL(x, ...) ASCENDC_TPL_PARAM_(SETTING, 8, x, __VA_ARGS__)
#define ASCENDC_TPL_DTYPE_SEL(x, ...) ASCENDC_TPL_PARAM_(ID, 8, x, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_SEL(x, ...) ASCENDC_TPL_PARAM_(TYPE, 8, x, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_SEL(x, ...) ASCENDC_TPL_PARAM_(FORMAT, 8, x, __VA_ARGS__)
#define ASCENDC_TPL_UINT_SEL(x, ...) ASCENDC_TPL_PARAM_(UINT, 8, x, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_SEL(x, ...) ASCENDC_TPL_PARAM_(BOOL, 1, x, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...) ASCENDC_TPL_PARAM_(SETTING, 8, kernel_type, __VA_ARGS__)
#define ASCENDC_TPL_DETERMINISTIC_SEL(...) ASCENDC_TPL_PARAM_(SETTING, 1, deterministic, __VA_ARGS__)
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(x, ...) ASCENDC_TPL_PARAM_(SETTING, 8, x, __VA_ARGS__)
#define ASCENDC_TPL_TILING_STRUCT_SEL(type) ASCENDC_TPL_PARAM_(SETTING, 0, type, 0)

#define ASCENDC_TPL_ARGS_DECL(x, ...) static const ascendops_host::TplArgs g_tilingDeclareParams(#x, {__VA_ARGS__})
#define ASCENDC_TPL_ARGS_SEL(...) \
    std::vector<ascendops_host::TplParam> { __VA_ARGS__ }
#define ASCENDC_TPL_SEL(...)                                             \
    static const int __attribute__((unused)) g_tilingSelectParams =      \
        ascendops_host::RegisterTemplates(g_tilingDeclareParams, {__VA_ARGS__})

#define GET_TPL_TILING_KEY(...) g_tilingDeclareParams.Key({__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...) (void)(context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))
