// JSON description of a library's operators.
#include "hostrt.h"
#include "json.h"

namespace ascendops_host {
namespace {
const char *ParamTypeName(ops::Option option) {
    return option == ops::DYNAMIC ? "dynamic" : option == ops::OPTIONAL ? "optional" : "required";
}

void DescribeParam(Json &json, const ops::OpParamDef &param) {
    json.Open('{').Field("name", param.name).Field("param_type", ParamTypeName(param.param_type));
    json.Key("dtypes").Open('[');
    for (ge::DataType dtype : param.dtypes) {
        json.Value(DataTypeName(dtype));
    }
    json.Close(']').Key("formats").Open('[');
    for (ge::Format format : param.formats) {
        json.Value(FormatName(format));
    }
    json.Close(']').Field("dtype_list", param.dtype_list).Field("format_list", param.format_list);
    json.Field("value_depend", param.value_depend == ops::REQUIRED   ? "required"
                               : param.value_depend == ops::OPTIONAL ? "optional"
                                                                     : "");
    json.Field("depend_on_tiling_only", param.depend_scope == ops::DependScope::TILING);
    json.Field("auto_contiguous", param.auto_contiguous).Field("ignore_contiguous", param.ignore_contiguous);
    json.Field("scalar", param.scalar ? "scalar" : param.scalar_list ? "list" : "");
    json.Field("scalar_dtype", param.scalar_type == ge::DT_UNDEFINED ? "" : DataTypeName(param.scalar_type));
    json.Field("scalar_like", param.scalar_name);
    json.Field("follow", param.follow).Field("follow_type", static_cast<uint32_t>(param.follow_type));
    json.Field("shape_depends_on_compute", param.shape_depends_on_compute);
    json.Key("init_value").Open('[');
    for (const ops::ScalarVar &value : param.init_value) {
        json.Value(value.value);
    }
    json.Close(']').Close('}');
}

void DescribeParams(Json &json, const char *key, const std::deque<ops::OpParamDef> &params) {
    json.Key(key).Open('[');
    for (const ops::OpParamDef &param : params) {
        DescribeParam(json, param);
    }
    json.Close(']');
}

void DescribeDefault(Json &json, const ops::OpAttrDef &attr) {
    switch (attr.kind) {
        case 'b': json.Value(attr.bool_value); break;
        case 'i': json.Value(attr.int_value); break;
        case 'f': json.Value(attr.float_value); break;
        case 's': json.Value(attr.string_value); break;
        case 'B':
            json.Open('[');
            for (bool value : attr.list_bool) {
                json.Value(value);
            }
            json.Close(']');
            break;
        case 'I': json.List(attr.list_int); break;
        case 'F': json.List(attr.list_float); break;
        default:
            json.Open('[');
            for (const auto &values : attr.list_list_int) {
                json.List(values);
            }
            json.Close(']');
            break;
    }
}

void DescribeAttrs(Json &json, const ops::OpDef &def) {
    json.Key("attrs").Open('[');
    for (const ops::OpAttrDef &attr : def.attrs) {
        json.Open('{').Field("name", attr.name).Field("kind", std::string(1, attr.kind)).Field("required", attr.required);
        json.Key("default");
        if (attr.has_default) {
            DescribeDefault(json, attr);
        } else {
            json.Null();
        }
        json.Close('}');
    }
    json.Close(']');
}

void DescribeUnits(Json &json, const ops::OpDef &def) {
    json.Key("units").Open('{');
    for (const auto &entry : def.aicore.configs) {
        json.Key(entry.first.c_str()).Open('{');
        DescribeParams(json, "inputs", entry.second.inputs);
        DescribeParams(json, "outputs", entry.second.outputs);
        json.Key("info").Open('{');
        for (const auto &item : entry.second.info) {
            json.Field(item.first.c_str(), item.second);
        }
        json.Close('}').Close('}');
    }
    json.Close('}');
}

void DescribeStruct(Json &json, const optiling::TilingDef &tiling) {
    json.Open('{').Field("name", tiling.GetTilingClassName()).Field("size", tiling.GetDataSize()).Key("fields").Open('[');
    for (const optiling::TilingField &field : tiling.Fields()) {
        json.Open('{').Field("type", field.type).Field("name", field.name).Field("offset", field.offset);
        json.Field("size", field.size).Key("length");
        if (field.is_array) {
            json.Value(field.count);
        } else {
            json.Null();
        }
        json.Key("struct");
        if (field.is_struct) {
            DescribeStruct(json, tiling.Nested(field));
        } else {
            json.Null();
        }
        json.Close('}');
    }
    json.Close(']').Close('}');
}

// REGISTER_TILING_DATA_CLASS(Op, T), and (Op_KEY, T) for the structure of one tiling key. Other names are nested structures.
void DescribeTilings(Json &json, const Library &library, const std::string &op_type) {
    json.Key("tilings").Open('{');
    for (const auto &entry : library.tilings) {
        if (IsTilingOf(entry.first, op_type)) {
            json.Key(entry.first == op_type ? "" : entry.first.c_str() + op_type.size() + 1);
            DescribeStruct(json, *entry.second());
        }
    }
    json.Close('}');
}

void DescribeTemplates(Json &json, const Library &library, const std::string &op_type) {
    auto found = library.templates.find(op_type);
    // The compiler reads the one declaration that the kernel includes, whatever operator it names.
    if (found == library.templates.end() && library.creators.size() == 1 && library.templates.size() == 1) {
        found = library.templates.begin();
    }
    json.Key("templates").Open('[');
    if (found != library.templates.end()) {
        for (const TemplateKey &key : found->second) {
            json.Open('{').Field("key", key.key).Key("args").Open('[');
            for (const TemplateKey::Arg &arg : key.args) {
                json.Open('[').Value(arg.name).Value(arg.kind).Value(arg.value).Close(']');
            }
            json.Close(']').Close('}');
        }
    }
    json.Close(']');
}

void DescribeOp(Json &json, const Library &library, const ops::OpDef &def, const OpImpl &impl) {
    json.Open('{').Field("type", def.type);
    DescribeParams(json, "inputs", def.inputs);
    DescribeParams(json, "outputs", def.outputs);
    DescribeAttrs(json, def);
    DescribeUnits(json, def);
    json.Field("has_infershape", impl.infer_shape != nullptr);
    json.Field("has_inferdtype", impl.infer_dtype != nullptr || impl.dtype_of_first_input);
    json.Field("has_tiling", impl.tiling != nullptr);
    json.Key("shape_depends").List(impl.shape_depends).Key("tiling_depends").List(impl.tiling_depends);
    json.Key("hccl_groups").List(def.mc2.groups);
    DescribeTilings(json, library, def.type);
    DescribeTemplates(json, library, def.type);
    json.Close('}');
}
}  // namespace

std::string DescribeLibrary(Library &library) {
    Json json;
    json.Open('{').Field("status", "ok").Key("ops").Open('[');
    for (const auto &entry : library.creators) {
        const ops::OpDef *def = Definition(library, entry.first);
        DescribeOp(json, library, *def, library.impls[entry.first]);
    }
    return json.Close(']').Close('}').Text();
}
}  // namespace ascendops_host
