// Reading of the packed arguments of a call. Little-endian; the writer is _pack_request in ascendops/twin/host.py.
//
//   i32 platform, i32 deterministic
//   2 x (inputs, outputs): u32 declared; each: u32 given; each: tensor
//   u32 attributes; each: u8 kind, value
//   tensor: i32 dtype, i32 origin format, i32 storage format, dims origin, dims storage, i64 bytes (-1: none), the bytes
//   dims: u32 rank, i64 each;  lists: u32 length, the values;  string: u32 length, the bytes
#include "request.h"

#include <cstring>

namespace ascendops_host {
namespace {
class Reader {
public:
    Reader(const uint8_t *bytes, size_t size) : at_(bytes), end_(bytes + size) {}

    template <typename T>
    T Take() {
        T value = T();
        Copy(&value, sizeof(T));
        return value;
    }
    void Copy(void *out, size_t size) {
        if (size > static_cast<size_t>(end_ - at_)) {
            ok_ = false;
            return;
        }
        if (size > 0) {
            (void)memcpy(out, at_, size);
            at_ += size;
        }
    }
    // A length that the rest of the request can hold at `element` bytes each.
    uint32_t Length(size_t element) {
        const uint32_t length = Take<uint32_t>();
        if (length > static_cast<size_t>(end_ - at_) / (element == 0 ? 1 : element)) {
            ok_ = false;
            return 0;
        }
        return length;
    }
    bool Ok() const { return ok_; }
    bool AtEnd() const { return ok_ && at_ == end_; }

private:
    const uint8_t *at_;
    const uint8_t *end_;
    bool ok_ = true;
};

void ReadDims(Reader &reader, gert::Shape &shape) {
    const uint32_t rank = reader.Length(sizeof(int64_t));
    for (uint32_t i = 0; i < rank; ++i) {
        (void)shape.AppendDim(reader.Take<int64_t>());
    }
}

void ReadTensor(Reader &reader, Call &call, std::deque<gert::Tensor> &tensors,
                std::vector<gert::CompileTimeTensorDesc> &descriptions) {
    tensors.emplace_back();
    gert::Tensor &tensor = tensors.back();
    tensor.SetDataType(static_cast<ge::DataType>(reader.Take<int32_t>()));
    tensor.SetOriginFormat(static_cast<ge::Format>(reader.Take<int32_t>()));
    tensor.SetStorageFormat(static_cast<ge::Format>(reader.Take<int32_t>()));
    ReadDims(reader, tensor.MutableOriginShape());
    ReadDims(reader, tensor.MutableStorageShape());
    const int64_t size = reader.Take<int64_t>();
    tensor.SetPlacement(gert::kOnDeviceHbm);
    if (size >= 0) {
        call.storage.emplace_back(static_cast<size_t>(size) / 8 + 1);
        reader.Copy(call.storage.back().data(), static_cast<size_t>(size));
        tensor.MutableTensorData() = gert::TensorData(call.storage.back().data(), static_cast<size_t>(size), gert::kOnHost);
    }
    gert::CompileTimeTensorDesc description;
    description.SetDataType(tensor.GetDataType());
    description.SetOriginFormat(tensor.GetOriginFormat());
    description.SetStorageFormat(tensor.GetStorageFormat());
    descriptions.push_back(description);
}

void ReadTensors(Reader &reader, Call &call, std::deque<gert::Tensor> &tensors,
                 std::vector<gert::CompileTimeTensorDesc> &descriptions, std::vector<gert::AnchorInstanceInfo> &declared) {
    const uint32_t count = reader.Length(4);
    for (uint32_t i = 0; i < count && reader.Ok(); ++i) {
        const uint32_t given = reader.Length(4);
        declared.emplace_back(static_cast<uint32_t>(tensors.size()), given);
        for (uint32_t j = 0; j < given && reader.Ok(); ++j) {
            ReadTensor(reader, call, tensors, descriptions);
        }
    }
}

// Extra bytes after a value: reading it as a wider type than it has must not leave the memory.
std::unique_ptr<uint8_t[]> Bytes(size_t size) { return std::unique_ptr<uint8_t[]>(new uint8_t[size + 64]()); }

std::unique_ptr<uint8_t[]> ReadList(Reader &reader, size_t element) {
    const uint32_t length = reader.Length(element);
    std::unique_ptr<uint8_t[]> bytes = Bytes(sizeof(gert::ContinuousVector) + length * element);
    auto *list = reinterpret_cast<gert::ContinuousVector *>(bytes.get());
    list->Init(length);
    (void)list->SetSize(length);
    reader.Copy(list->MutableData(), length * element);
    return bytes;
}

std::unique_ptr<uint8_t[]> ReadListList(Reader &reader) {
    const uint32_t length = reader.Length(4);
    std::vector<std::vector<int64_t>> rows(length);
    size_t size = sizeof(gert::ContinuousVectorVector) + length * sizeof(size_t);
    const size_t start = size;
    for (auto &row : rows) {
        row.resize(reader.Length(sizeof(int64_t)));
        reader.Copy(row.data(), row.size() * sizeof(int64_t));
        size += sizeof(gert::ContinuousVector) + row.size() * sizeof(int64_t);
    }
    std::unique_ptr<uint8_t[]> bytes = Bytes(size);
    auto *list = reinterpret_cast<gert::ContinuousVectorVector *>(bytes.get());
    list->Init(length);
    size_t offset = start;
    for (uint32_t i = 0; i < length; ++i) {
        list->Offsets()[i] = offset;
        auto *row = reinterpret_cast<gert::ContinuousVector *>(bytes.get() + offset);
        row->Init(rows[i].size());
        (void)row->SetSize(rows[i].size());
        if (!rows[i].empty()) {
            (void)memcpy(row->MutableData(), rows[i].data(), rows[i].size() * sizeof(int64_t));
        }
        offset += sizeof(gert::ContinuousVector) + rows[i].size() * sizeof(int64_t);
    }
    return bytes;
}

std::unique_ptr<uint8_t[]> ReadScalar(Reader &reader, size_t size) {
    std::unique_ptr<uint8_t[]> bytes = Bytes(size);
    reader.Copy(bytes.get(), size);
    return bytes;
}

void ReadAttr(Reader &reader, gert::RuntimeAttrs &attrs) {
    const char kind = static_cast<char>(reader.Take<uint8_t>());
    switch (kind) {
        case 'b': attrs.Add(kind, ReadScalar(reader, sizeof(bool))); break;
        case 'i': attrs.Add(kind, ReadScalar(reader, sizeof(int64_t))); break;
        case 'f': attrs.Add(kind, ReadScalar(reader, sizeof(float))); break;
        case 's': attrs.Add(kind, ReadScalar(reader, reader.Length(1))); break;
        case 'B': attrs.Add(kind, ReadList(reader, sizeof(bool))); break;
        case 'I': attrs.Add(kind, ReadList(reader, sizeof(int64_t))); break;
        case 'F': attrs.Add(kind, ReadList(reader, sizeof(float))); break;
        default: attrs.Add(kind, ReadListList(reader)); break;
    }
}
}  // namespace

bool ReadRequest(const uint8_t *bytes, size_t size, Call &call) {
    Reader reader(bytes, size);
    call.platform = FindPlatform(reader.Take<int32_t>());
    call.deterministic = reader.Take<int32_t>();
    ReadTensors(reader, call, call.inputs, call.node.inputs, call.node.ir_inputs);
    ReadTensors(reader, call, call.outputs, call.node.outputs, call.node.ir_outputs);
    const uint32_t attributes = reader.Length(1);
    for (uint32_t i = 0; i < attributes && reader.Ok(); ++i) {
        ReadAttr(reader, call.node.attrs);
    }
    return reader.AtEnd() && call.platform != nullptr;
}
}  // namespace ascendops_host
