// gert::Tensor: shape, format, dtype, and (for value-depend inputs) the elements.
#pragma once

#include <cstring>

#include "exe_graph/runtime/storage_format.h"
#include "exe_graph/runtime/storage_shape.h"
#include "exe_graph/runtime/stride.h"
#include "exe_graph/runtime/tensor_data.h"
#include "graph/ge_error_codes.h"
#include "graph/types.h"

namespace gert {
class Tensor {
public:
    Tensor() = default;
    Tensor(const StorageShape &shape, const StorageFormat &format, ge::DataType dtype)
        : storage_shape_(shape), storage_format_(format), data_type_(dtype) {}
    Tensor(const StorageShape &shape, const StorageFormat &format, const TensorPlacement placement,
           const ge::DataType dtype, TensorAddress addr)
        : storage_shape_(shape), storage_format_(format), data_type_(dtype), tensor_data_(addr, 0, placement) {
        tensor_data_.SetSize(static_cast<size_t>(ge::GetSizeInBytes(GetShapeSize(), dtype)));
    }

    int64_t GetShapeSize() const { return storage_shape_.GetStorageShape().GetShapeSize(); }
    template <class T>
    const T *GetData() const {
        return static_cast<const T *>(GetAddr());
    }
    template <class T>
    T *GetData() {
        return static_cast<T *>(GetAddr());
    }
    const void *GetAddr() const { return tensor_data_.GetAddr(); }
    void *GetAddr() { return tensor_data_.GetAddr(); }
    size_t GetSize() const { return tensor_data_.GetSize(); }
    void SetSize(const size_t size) { tensor_data_.SetSize(size); }
    ge::DataType GetDataType() const { return data_type_; }
    void SetDataType(const ge::DataType dtype) { data_type_ = dtype; }

    const Shape &GetStorageShape() const { return storage_shape_.GetStorageShape(); }
    Shape &MutableStorageShape() { return storage_shape_.MutableStorageShape(); }
    const Shape &GetOriginShape() const { return storage_shape_.GetOriginShape(); }
    Shape &MutableOriginShape() { return storage_shape_.MutableOriginShape(); }
    const StorageShape &GetShape() const { return storage_shape_; }
    StorageShape &GetShape() { return storage_shape_; }

    ge::Format GetStorageFormat() const { return storage_format_.GetStorageFormat(); }
    void SetStorageFormat(const ge::Format format) { storage_format_.SetStorageFormat(format); }
    ge::Format GetOriginFormat() const { return storage_format_.GetOriginFormat(); }
    void SetOriginFormat(const ge::Format format) { storage_format_.SetOriginFormat(format); }
    const StorageFormat &GetFormat() const { return storage_format_; }
    StorageFormat &MutableFormat() { return storage_format_; }
    ExpandDimsType GetExpandDimsType() const { return storage_format_.GetExpandDimsType(); }

    TensorPlacement GetPlacement() const { return tensor_data_.GetPlacement(); }
    void SetPlacement(const TensorPlacement placement) { tensor_data_.SetPlacement(placement); }
    const TensorData &GetTensorData() const { return tensor_data_; }
    TensorData &MutableTensorData() { return tensor_data_; }

private:
    StorageShape storage_shape_;
    StorageFormat storage_format_;
    ge::DataType data_type_ = ge::DT_UNDEFINED;
    TensorData tensor_data_;
};
}  // namespace gert
