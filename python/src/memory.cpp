// treadle.cuda's memory: pieces, pools, allocators, pinned memory, and arrays over memory.
#include "treadle/memory.h"

#include <nanobind/stl/vector.h>

#include "pointer.h"
#include "treadle/locked_pages.h"

namespace td::python {
namespace {

MemoryPointer whole(DeviceMemory memory) {
  std::uint64_t address = without_gil([&] { return memory.address(); });
  std::size_t bytes = memory.bytes();
  return {std::move(memory), address, bytes};
}

MemoryPointer shifted(const MemoryPointer& p, std::int64_t by) {
  auto step = static_cast<std::uint64_t>(by);
  return {p.memory, p.pointer.address + step, p.bytes - static_cast<std::size_t>(by)};
}

DeviceMemory unowned(std::uint64_t address, std::size_t bytes, nb::object owner, int device) {
  Device where = without_gil([&] {
    Device current = Device::current();
    if (device < 0) return current;
    std::string name = current.name();
    return Device::from_name(name.substr(0, name.find(':') + 1) + std::to_string(device));
  });
  return DeviceMemory::unowned(where, address, bytes, python_owner(std::move(owner)));
}

void bind_pieces(nb::module_& m) {
  nb::class_<DeviceMemory> cls(m, "Memory");
  cls.def("__init__",
          [](DeviceMemory* self, std::size_t size) {
            new (self) DeviceMemory(without_gil([&] { return DeviceMemory::direct(size); }));
          })
      .def_prop_ro("ptr", [](const DeviceMemory& d) { return d.address(); })
      .def_prop_ro("size", &DeviceMemory::bytes)
      .def_prop_ro("device", &DeviceMemory::device)
      .def_prop_ro("device_id", [](const DeviceMemory& d) { return d.device().ordinal(); })
      .def("__int__", [](const DeviceMemory& d) { return d.address(); });
  nb::setattr(cls, "__module__", nb::str("treadle.cuda"));
  nb::class_<MemoryPointer, Pointer> pointer(m, "MemoryPointer");
  pointer
      .def(
          "__init__",
          [](MemoryPointer* self, const DeviceMemory& memory, std::int64_t offset) {
            new (self) MemoryPointer(shifted(whole(memory), offset));
          },
          nb::arg("mem"), nb::arg("offset"))
      .def_prop_ro("mem", [](const MemoryPointer& p) { return p.memory; })
      .def_prop_ro("device", [](const MemoryPointer& p) { return p.memory.device(); })
      .def_prop_ro("device_id", [](const MemoryPointer& p) { return p.memory.device().ordinal(); })
      .def("__add__", shifted, nb::is_operator())
      .def(
          "__sub__", [](const MemoryPointer& p, std::int64_t by) { return shifted(p, -by); },
          nb::is_operator());
  nb::setattr(pointer, "__module__", nb::str("treadle.cuda"));
  m.def("_managed_memory",
        [](std::size_t size) { return without_gil([&] { return DeviceMemory::managed(size); }); });
  m.def("_unowned_memory", unowned);
  m.def("_device_at",
        [](std::uint64_t address) { return without_gil([&] { return device_at(address); }); });
  m.def("_copy_memory", [](std::uint64_t to, std::uint64_t from, std::size_t bytes, bool blocking) {
    without_gil([&] { copy_memory(to, from, bytes, blocking); });
  });
  m.def("_fill_memory", [](std::uint64_t to, int value, std::size_t bytes, bool blocking) {
    without_gil([&] { fill_memory(to, static_cast<unsigned char>(value), bytes, blocking); });
  });
}

// ---- pools and allocators ----

MemoryPools::Source source_of(nb::handle allocator) {
  if (allocator.is_none()) return MemoryPools::Source::device;
  nb::object source = nb::getattr(allocator, "_treadle_source", nb::none());
  if (source.is_none())
    throw TypeError(
        "MemoryPool takes no allocator of Python's; give malloc_managed, or none, or pass your "
        "function to set_allocator itself");
  return nb::cast<std::string>(source) == "managed" ? MemoryPools::Source::managed
                                                    : MemoryPools::Source::device;
}

Allocator python_allocator(nb::object function) {
  std::shared_ptr<void> owner = python_owner(function);
  return [owner](std::size_t bytes) {
    nb::gil_scoped_acquire held;
    nb::object result = nb::handle(static_cast<PyObject*>(owner.get()))(bytes);
    if (!nb::isinstance<MemoryPointer>(result))
      throw TypeError("the allocator answered a " + class_name(result) +
                      "; it must answer a MemoryPointer");
    const auto& pointer = nb::cast<const MemoryPointer&>(result);
    auto kept = std::make_shared<DeviceMemory>(pointer.memory);
    return DeviceMemory::unowned(pointer.memory.device(), pointer.pointer.address, pointer.bytes,
                                 kept);
  };
}

// None: straight from the driver. A pool's malloc, alloc and malloc_managed need no Python later.
Allocator to_allocator(nb::object function) {
  if (function.is_none()) return DeviceMemory::direct;
  nb::object self = nb::getattr(function, "__self__", nb::none());
  nb::object source = nb::getattr(function, "_treadle_source", nb::none());
  if (!source.is_none()) {
    auto name = nb::cast<std::string>(source);
    if (name == "managed") return DeviceMemory::managed;
    return {};
  }
  if (nb::isinstance<MemoryPools>(self)) {
    MemoryPools pools = nb::cast<MemoryPools&>(self);
    if (nb::cast<bool>(nb::getattr(self, "_is_default"))) return {};
    return [pools](std::size_t bytes) { return pools.allocate(bytes); };
  }
  if (!PyCallable_Check(function.ptr()))
    throw TypeError("an allocator must be a function of a size, not " + class_name(function));
  return python_allocator(std::move(function));
}

void bind_pools(nb::module_& m) {
  nb::class_<MemoryPools> cls(m, "MemoryPool", nb::dynamic_attr());
  cls.def(
         "__init__",
         [](MemoryPools* self, nb::handle allocator) {
           new (self) MemoryPools(source_of(allocator));
         },
         nb::arg("allocator").none() = nb::none())
      .def("malloc",
           [](const MemoryPools& p, std::size_t size) {
             return whole(without_gil([&] { return p.allocate(size); }));
           })
      .def("used_bytes", [](const MemoryPools& p) { return p.info().used; })
      .def("free_bytes", [](const MemoryPools& p) { return p.info().cached; })
      .def("total_bytes", [](const MemoryPools& p) { return p.info().used + p.info().cached; })
      .def("n_free_blocks", [](const MemoryPools& p) { return p.free_blocks(); })
      .def("get_limit", [](const MemoryPools& p) { return p.info().limit; })
      .def("_set_limit", [](const MemoryPools& p, std::size_t bytes) { p.set_limit(bytes); })
      .def("_free_all_blocks",
           [](const MemoryPools& p) { without_gil([&] { p.free_all_blocks(); }); });
  nb::setattr(cls, "__module__", nb::str("treadle.cuda"));
  m.def("_standard_pools", [] { return MemoryPools::standard(); });
  m.def(
      "_set_allocator", [](nb::object f) { set_allocator(to_allocator(std::move(f))); },
      nb::arg().none());
  m.def(
      "_push_allocator", [](nb::object f) { push_allocator(to_allocator(std::move(f))); },
      nb::arg().none());
  m.def("_pop_allocator", pop_allocator);
}

// ---- observers ----

PyObject* observer = nullptr;

void tell(const MemoryReport& report) {
  if (!Py_IsInitialized()) return;
  nb::gil_scoped_acquire held;
  if (!observer) return;
  constexpr const char* kinds[] = {"reserve", "allocate", "free"};
  // A hook may run while another error is on its way.
  nb::error_scope pending;
  try {
    nb::borrow(observer)(kinds[static_cast<int>(report.kind)], report.device, report.asked,
                         report.bytes, report.address);
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("a memory hook of treadle");
  }
}

void observe(nb::object function) {
  Py_XDECREF(observer);
  observer = function.is_none() ? nullptr : function.release().ptr();
  observe_memory(observer ? tell : nullptr);
}

// ---- pinned memory ----

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const PinnedBuffer& buffer = *nb::inst_ptr<PinnedBuffer>(self);
  return PyBuffer_FillInfo(view, self, buffer.data(), static_cast<Py_ssize_t>(buffer.bytes()), 0,
                           flags);
}

void bind_pinned(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                                {0, nullptr}};
  nb::class_<PinnedBuffer> cls(m, "PinnedMemoryPointer", nb::type_slots(slots));
  cls.def_prop_ro("ptr",
                  [](const PinnedBuffer& b) { return reinterpret_cast<std::uintptr_t>(b.data()); })
      .def("size", &PinnedBuffer::bytes)
      .def("__int__",
           [](const PinnedBuffer& b) { return reinterpret_cast<std::uintptr_t>(b.data()); });
  nb::setattr(cls, "__module__", nb::str("treadle.cuda"));
  nb::class_<PinnedPool> pool(m, "PinnedMemoryPool");
  pool.def(nb::init<>())
      .def("malloc", [](const PinnedPool& p,
                        std::size_t size) { return without_gil([&] { return p.allocate(size); }); })
      .def("n_free_blocks", &PinnedPool::free_blocks)
      .def("free_all_blocks",
           [](const PinnedPool& p) { without_gil([&] { p.free_all_blocks(); }); });
  nb::setattr(pool, "__module__", nb::str("treadle.cuda"));
  m.def("_standard_pinned_pool", [] { return PinnedPool::standard(); });
  nb::class_<LockedPages>(m, "_LockedPages")
      .def("__init__",
           [](LockedPages* self, std::uintptr_t address, std::size_t bytes) {
             new (self) LockedPages(
                 without_gil([&] { return LockedPages(reinterpret_cast<void*>(address), bytes); }));
           })
      .def_prop_ro("device_address", [](const LockedPages& l) { return l.device_address(); })
      .def("release", [](LockedPages& l) { without_gil([&] { l.release(); }); });
  m.def("_pinned_memory",
        [](std::size_t size) { return without_gil([&] { return PinnedBuffer(size); }); });
}

// ---- ndarray(shape, dtype, memptr, strides, order) ----

Array make_array(nb::handle shape, nb::handle dtype, nb::handle memory, nb::handle strides,
                 const std::string& order) {
  Shape lengths = to_shape(shape);
  DType type = dtype.is_none() ? DType::float64 : to_dtype(dtype);
  if (order != "C" && order != "F")
    throw ValueError("order must be 'C' or 'F', not '" + order + "'");
  if (memory.is_none()) {
    Array fresh = without_gil([&] { return empty(lengths, type, order[0]); });
    if (strides.is_none()) return fresh;
    try {
      return strided_view(fresh, lengths, to_shape(strides), 0, type, true);
    } catch (const ValueError& error) {
      throw ValueError(std::string("ndarray() with strides and no memptr: ") + error.what());
    }
  }
  if (!nb::isinstance<MemoryPointer>(memory))
    throw TypeError("ndarray: memptr must be a MemoryPointer, not " + class_name(memory));
  const auto& pointer = nb::cast<const MemoryPointer&>(memory);
  std::optional<Strides> steps;
  if (!strides.is_none()) steps = to_shape(strides);
  if (strides.is_none() && order == "F") {
    std::int64_t step = static_cast<std::int64_t>(itemsize(type));
    steps.emplace();
    for (std::int64_t length : lengths) {
      steps->push_back(step);
      step *= length;
    }
  }
  return without_gil([&] {
    std::size_t offset = pointer.pointer.address - pointer.memory.address();
    return array_over(pointer.memory, offset, lengths, type, steps);
  });
}

}  // namespace

std::shared_ptr<void> python_owner(nb::object object) {
  return {object.release().ptr(), [](void* p) {
            if (!Py_IsInitialized()) return;
            nb::gil_scoped_acquire held;
            Py_DECREF(static_cast<PyObject*>(p));
          }};
}

void bind_array_constructor(nb::class_<Array>& cls) {
  cls.def(
      "__init__",
      [](Array* self, nb::handle shape, nb::handle dtype, nb::handle memptr, nb::handle strides,
         std::optional<std::string> order) {
        new (self) Array(make_array(shape, dtype, memptr, strides, order.value_or("C")));
      },
      nb::arg("shape"), nb::arg("dtype").none() = nb::none(), nb::arg("memptr").none() = nb::none(),
      nb::arg("strides").none() = nb::none(), nb::arg("order").none() = "C");
  cls.def_prop_ro("data", [](const Array& a) {
    return without_gil([&] {
      std::uint64_t address = a.data();
      return MemoryPointer(memory_of(a), address, a.nbytes());
    });
  });
}

void bind_memory(nb::module_& m) {
  bind_pieces(m);
  bind_pools(m);
  bind_pinned(m);
  m.def("_observe_memory", observe, nb::arg().none());
}

}  // namespace td::python
