// Names and sizes of element types and formats.
#include <cstring>

#include "graph/utils/type_utils.h"
#include "hostrt.h"

namespace {
struct TypeRow {
    ge::DataType code;
    const char *name;
    int bits;   // of one element; 0: no fixed size
};
const TypeRow kTypes[] = {
    {ge::DT_FLOAT, "DT_FLOAT", 32},           {ge::DT_FLOAT16, "DT_FLOAT16", 16},
    {ge::DT_INT8, "DT_INT8", 8},              {ge::DT_INT32, "DT_INT32", 32},
    {ge::DT_UINT8, "DT_UINT8", 8},            {ge::DT_INT16, "DT_INT16", 16},
    {ge::DT_UINT16, "DT_UINT16", 16},         {ge::DT_UINT32, "DT_UINT32", 32},
    {ge::DT_INT64, "DT_INT64", 64},           {ge::DT_UINT64, "DT_UINT64", 64},
    {ge::DT_DOUBLE, "DT_DOUBLE", 64},         {ge::DT_BOOL, "DT_BOOL", 8},
    {ge::DT_STRING, "DT_STRING", 0},          {ge::DT_DUAL_SUB_INT8, "DT_DUAL_SUB_INT8", 8},
    {ge::DT_DUAL_SUB_UINT8, "DT_DUAL_SUB_UINT8", 8}, {ge::DT_COMPLEX64, "DT_COMPLEX64", 64},
    {ge::DT_COMPLEX128, "DT_COMPLEX128", 128}, {ge::DT_QINT8, "DT_QINT8", 8},
    {ge::DT_QINT16, "DT_QINT16", 16},         {ge::DT_QINT32, "DT_QINT32", 32},
    {ge::DT_QUINT8, "DT_QUINT8", 8},          {ge::DT_QUINT16, "DT_QUINT16", 16},
    {ge::DT_RESOURCE, "DT_RESOURCE", 64},     {ge::DT_STRING_REF, "DT_STRING_REF", 0},
    {ge::DT_DUAL, "DT_DUAL", 40},             {ge::DT_VARIANT, "DT_VARIANT", 64},
    {ge::DT_BF16, "DT_BF16", 16},             {ge::DT_UNDEFINED, "DT_UNDEFINED", 0},
    {ge::DT_INT4, "DT_INT4", 4},              {ge::DT_UINT1, "DT_UINT1", 1},
    {ge::DT_INT2, "DT_INT2", 2},              {ge::DT_UINT2, "DT_UINT2", 2},
    {ge::DT_COMPLEX32, "DT_COMPLEX32", 32},   {ge::DT_HIFLOAT8, "DT_HIFLOAT8", 8},
    {ge::DT_FLOAT8_E5M2, "DT_FLOAT8_E5M2", 8}, {ge::DT_FLOAT8_E4M3FN, "DT_FLOAT8_E4M3FN", 8},
    {ge::DT_FLOAT8_E8M0, "DT_FLOAT8_E8M0", 8}, {ge::DT_FLOAT6_E3M2, "DT_FLOAT6_E3M2", 6},
    {ge::DT_FLOAT6_E2M3, "DT_FLOAT6_E2M3", 6}, {ge::DT_FLOAT4_E2M1, "DT_FLOAT4_E2M1", 4},
    {ge::DT_FLOAT4_E1M2, "DT_FLOAT4_E1M2", 4}, {ge::DT_HIFLOAT4, "DT_HIFLOAT4", 4},
};
const char *const kFormats[] = {
    "NCHW", "NHWC", "ND", "NC1HWC0", "FRACTAL_Z", "NC1C0HWPAD", "NHWC1C0", "FSR_NCHW", "FRACTAL_DECONV", "C1HWNC0",
    "FRACTAL_DECONV_TRANSPOSE", "FRACTAL_DECONV_SP_STRIDE_TRANS", "NC1HWC0_C04", "FRACTAL_Z_C04", "CHWN",
    "FRACTAL_DECONV_SP_STRIDE8_TRANS", "HWCN", "NC1KHKWHWC0", "BN_WEIGHT", "FILTER_HWCK", "HASHTABLE_LOOKUP_LOOKUPS",
    "HASHTABLE_LOOKUP_KEYS", "HASHTABLE_LOOKUP_VALUE", "HASHTABLE_LOOKUP_OUTPUT", "HASHTABLE_LOOKUP_HITS", "C1HWNCoC0",
    "MD", "NDHWC", "FRACTAL_ZZ", "FRACTAL_NZ", "NCDHW", "DHWCN", "NDC1HWC0", "FRACTAL_Z_3D", "CN", "NC", "DHWNC",
    "FRACTAL_Z_3D_TRANSPOSE", "FRACTAL_ZN_LSTM", "FRACTAL_Z_G", "RESERVED", "ALL", "NULL", "ND_RNN_BIAS",
    "FRACTAL_ZN_RNN", "NYUV", "NYUV_A", "NCL", "FRACTAL_Z_WINO", "C1HWC0", "FRACTAL_NZ_C0_16", "FRACTAL_NZ_C0_32",
    "FRACTAL_NZ_C0_2", "FRACTAL_NZ_C0_4", "FRACTAL_NZ_C0_8",
};
constexpr int kFormatCount = sizeof(kFormats) / sizeof(kFormats[0]);

int Bits(ge::DataType code) {
    for (const TypeRow &row : kTypes) {
        if (row.code == code) {
            return row.bits;
        }
    }
    return 0;
}
}  // namespace

namespace ascendops_host {
const char *DataTypeName(int code) {
    for (const TypeRow &row : kTypes) {
        if (row.code == code) {
            return row.name;
        }
    }
    return "DT_UNDEFINED";
}
const char *FormatName(int code) {
    const int primary = ge::GetPrimaryFormat(code);
    return primary >= 0 && primary < kFormatCount ? kFormats[primary] : "RESERVED";
}
}  // namespace ascendops_host

namespace ge {
int GetSizeByDataType(DataType data_type) {
    const int bits = Bits(data_type);
    if (bits == 0) {
        return -1;
    }
    return bits % 8 == 0 ? bits / 8 : kDataTypeSizeBitOffset + bits;
}
int64_t GetSizeInBytes(int64_t element_count, DataType data_type) {
    const int bits = Bits(data_type);
    int64_t total = 0;
    if (element_count < 0 || bits == 0 || MulOverflow(element_count, bits, total)) {
        return -1;
    }
    return (total + 7) / 8;
}
const char_t *GetFormatName(Format format) { return ascendops_host::FormatName(format); }

std::string TypeUtils::DataTypeToSerialString(const DataType data_type) { return ascendops_host::DataTypeName(data_type); }
DataType TypeUtils::SerialStringToDataType(const std::string &name) {
    for (const TypeRow &row : kTypes) {
        if (name == row.name) {
            return row.code;
        }
    }
    return DT_UNDEFINED;
}
std::string TypeUtils::FormatToSerialString(const Format format) { return ascendops_host::FormatName(format); }
Format TypeUtils::SerialStringToFormat(const std::string &name) {
    for (int code = 0; code < kFormatCount; ++code) {
        if (name == kFormats[code]) {
            return static_cast<Format>(code);
        }
    }
    return FORMAT_RESERVED;
}
AscendString TypeUtils::DataTypeToAscendString(const DataType &data_type) { return DataTypeToSerialString(data_type).c_str(); }
DataType TypeUtils::AscendStringToDataType(const AscendString &name) { return SerialStringToDataType(name.GetString()); }
AscendString TypeUtils::FormatToAscendString(const Format &format) { return FormatToSerialString(format).c_str(); }
Format TypeUtils::AscendStringToFormat(const AscendString &name) { return SerialStringToFormat(name.GetString()); }
bool TypeUtils::GetDataTypeLength(const ge::DataType data_type, uint32_t &length) {
    const int bits = Bits(data_type);
    if (bits == 0 || bits % 8 != 0) {
        return false;
    }
    length = static_cast<uint32_t>(bits / 8);
    return true;
}
}  // namespace ge
