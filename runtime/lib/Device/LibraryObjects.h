//===- LibraryObjects.h - What oneDNN makes and takes back ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_DEVICE_LIBRARYOBJECTS_H
#define SMP_RUNTIME_LIB_DEVICE_LIBRARYOBJECTS_H

#include <oneapi/dnnl/dnnl.h>
#include <utility>

namespace smp::runtime::dnnl {

/// Owns an object of the library's C interface.
template <typename Handle, dnnl_status_t (*Destroy)(Handle)> class Owned {
public:
  Owned() = default;
  Owned(Owned &&other) noexcept { std::swap(handle, other.handle); }
  Owned &operator=(Owned &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Owned() {
    if (handle)
      Destroy(handle);
  }
  Handle get() const { return handle; }
  Handle *out() { return &handle; }
  explicit operator bool() const { return handle; }

private:
  Handle handle = nullptr;
};

using Engine = Owned<dnnl_engine_t, dnnl_engine_destroy>;
using Stream = Owned<dnnl_stream_t, dnnl_stream_destroy>;
using Memory = Owned<dnnl_memory_t, dnnl_memory_destroy>;
using Attributes = Owned<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using Description = Owned<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;
using Primitive = Owned<dnnl_primitive_t, dnnl_primitive_destroy>;
using Iterator =
    Owned<dnnl_primitive_desc_iterator_t, dnnl_primitive_desc_iterator_destroy>;

inline bool ok(dnnl_status_t status) { return status == dnnl_success; }

} // namespace smp::runtime::dnnl

#endif // SMP_RUNTIME_LIB_DEVICE_LIBRARYOBJECTS_H
