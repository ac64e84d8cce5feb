// Names and sizes of ge::DataType and ge::Format.
#pragma once

#include <map>
#include <string>

#include "graph/ascend_string.h"
#include "graph/types.h"

namespace ge {
class TypeUtils {
public:
    static std::string DataTypeToSerialString(const DataType data_type);
    static DataType SerialStringToDataType(const std::string &name);
    static std::string FormatToSerialString(const Format format);
    static Format SerialStringToFormat(const std::string &name);
    static AscendString DataTypeToAscendString(const DataType &data_type);
    static DataType AscendStringToDataType(const AscendString &name);
    static AscendString FormatToAscendString(const Format &format);
    static Format AscendStringToFormat(const AscendString &name);
    // Bytes of one element; false if the type has no fixed size in bytes.
    static bool GetDataTypeLength(const ge::DataType data_type, uint32_t &length);
};
}  // namespace ge
