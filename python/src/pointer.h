// A raw device address in Python: what RawModule.get_global answers, and what a kernel's pointer
// parameter takes.
#pragma once

#include "bind.h"
#include "treadle/memory.h"

namespace td::python {

struct Pointer {
  DevicePointer pointer;
  std::size_t bytes = 0;
};

// An address within memory that it keeps alive.
struct MemoryPointer : Pointer {
  DeviceMemory memory;
  MemoryPointer(DeviceMemory m, std::uint64_t address, std::size_t n)
      : Pointer{DevicePointer{address}, n}, memory(std::move(m)) {}
};

// The handle of a texture or surface object.
std::optional<std::uint64_t> to_texel_object(nb::handle object);
void bind_pointer(nb::module_& m);
// A Pointer, or x.data of an array.
std::optional<DevicePointer> to_pointer(nb::handle object);

}  // namespace td::python
