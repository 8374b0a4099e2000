// RawKernel and RawModule. The call of a kernel is the hot path: the type's call slot reads the
// tuples itself and builds the argument list without any Python-level code.
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "call_site.h"
#include "kernel_args.h"
#include "pointer.h"

namespace td::python {
namespace {

std::uint32_t to_extent(PyObject* object, const char* what) {
  Py_ssize_t value = PyNumber_AsSsize_t(object, PyExc_OverflowError);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  if (value < 0 || value > 0xffffffffll)
    throw ValueError(std::string(what) + " has a dimension of " + std::to_string(value) +
                     "; it must be a positive number of 32 bits");
  return static_cast<std::uint32_t>(value);
}

// A NumPy array of one element is a value: its exact type, or its bytes when it is a struct.
std::optional<KernelArg> host_value(nb::handle object) {
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "nbytes")) return {};
  if (nb::cast<std::int64_t>(object.attr("size")) != 1) return {};
  nb::object bytes = object.attr("tobytes")();
  const char* data = PyBytes_AS_STRING(bytes.ptr());
  auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()));
  nb::object dtype = object.attr("dtype");
  if (nb::cast<std::string>(nb::str(dtype.attr("kind"))) != "V") {
    TypedScalar scalar{to_dtype(dtype), {}};
    __builtin_memcpy(scalar.bytes, data, size);
    return scalar;
  }
  return Bytes{{data, data + size}};
}

KernelArg to_kernel_arg(PyObject* object, Py_ssize_t position) {
  if (const Array* array = as_array(object)) return *array;
  if (auto typed = to_typed_scalar(object)) return *typed;
  if (auto scalar = to_weak_scalar(object)) return *scalar;
  if (object == Py_None) return DevicePointer{};
  if (auto pointer = to_pointer(object)) return *pointer;
  if (auto handle = to_texel_object(object)) {
    TypedScalar scalar{DType::uint64, {}};
    __builtin_memcpy(scalar.bytes, &*handle, sizeof *handle);
    return scalar;
  }
  if (auto value = host_value(object)) return *value;
  throw TypeError("argument " + std::to_string(position) + " is a " + class_name(object) +
                  ", which a kernel cannot take; pass treadle arrays (treadle.asarray(x) copies "
                  "host data to the "
                  "device), numbers, NumPy scalars or one NumPy struct");
}

struct CallOptions {
  std::size_t shared = 0;
  bool strided = false, cooperative = false;
  PyObject* stream = nullptr;
  PyObject* grid = nullptr;
  PyObject* block = nullptr;
  PyObject* args = nullptr;
};

void read_keyword(CallOptions& call, const std::string& name, PyObject* value) {
  if (name == "shared_mem") {
    Py_ssize_t bytes = PyNumber_AsSsize_t(value, PyExc_OverflowError);
    if (bytes == -1 && PyErr_Occurred()) throw nb::python_error();
    if (bytes < 0)
      throw ValueError("shared_mem is " + std::to_string(bytes) + "; it must not be negative");
    call.shared = static_cast<std::size_t>(bytes);
  } else if (name == "strided") {
    call.strided = PyObject_IsTrue(value) == 1;
  } else if (name == "cooperative") {
    call.cooperative = PyObject_IsTrue(value) == 1;
  } else if (name == "stream") {
    call.stream = value == Py_None ? nullptr : value;
  } else if (PyObject** slot = name == "grid"    ? &call.grid
                               : name == "block" ? &call.block
                               : name == "args"  ? &call.args
                                                 : nullptr;
             slot && !*slot) {
    *slot = value;
  } else {
    throw TypeError(
        "a kernel call has no keyword '" + name +
        "' (or has it twice); it takes grid, block, args, shared_mem=, stream=, strided= and "
        "cooperative=");
  }
}

void launch_on(const Stream& stream, const Kernel& kernel, const LaunchConfig& config,
               const std::vector<KernelArg>& args, bool strided) {
  Stream before = Stream::current();
  stream.use();
  try {
    kernel.launch(config, std::span<const KernelArg>(args), strided);
  } catch (...) {
    before.use();
    throw;
  }
  before.use();
}

// What becomes of views that are not C-contiguous where a call does not say strided=.
enum class StridedRule { refuse, warn, pass };
StridedRule strided_rule = StridedRule::refuse;  // under the GIL

void warn_of_views(const Kernel& kernel, const std::vector<KernelArg>& args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto* array = std::get_if<Array>(&args[i]);
    if (!array || array->c_contiguous()) continue;
    std::string text = "kernel '" + kernel.name() + "': parameter " + std::to_string(i) +
                       " gets the plain data pointer of a view of shape " +
                       nb::repr(to_tuple(array->shape())).c_str() + " with strides " +
                       nb::repr(to_tuple(array->strides())).c_str() +
                       " bytes; a kernel that counts on rows one after the other reads other "
                       "elements: pass ascontiguousarray(x) to it";
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw nb::python_error();
  }
}

const char* strided_arguments() {
  return strided_rule == StridedRule::refuse ? "error"
         : strided_rule == StridedRule::warn ? "warn"
                                             : "pass";
}

void set_strided_arguments(const std::string& rule) {
  if (rule == "error")
    strided_rule = StridedRule::refuse;
  else if (rule == "warn")
    strided_rule = StridedRule::warn;
  else if (rule == "pass")
    strided_rule = StridedRule::pass;
  else
    throw ValueError("strided_arguments must be 'error', 'warn' or 'pass', not '" + rule + "'");
}

void call_kernel(const Kernel& kernel, PyObject* args, PyObject* kwargs) {
  CallOptions call;
  Py_ssize_t count = PyTuple_GET_SIZE(args);
  if (count > 3)
    throw TypeError(
        "a kernel call takes three positional arguments: grid, block and the tuple of arguments");
  PyObject** positional[] = {&call.grid, &call.block, &call.args};
  for (Py_ssize_t i = 0; i < count; ++i) *positional[i] = PyTuple_GET_ITEM(args, i);
  if (kwargs) {
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(kwargs, &at, &key, &value);)
      read_keyword(call, nb::cast<std::string>(nb::handle(key)), value);
  }
  if (!call.grid || !call.block || !call.args)
    throw TypeError(
        "a kernel call needs grid, block and the tuple of arguments: kernel((blocks,), (threads,), "
        "(a, b, n))");
  LaunchConfig config{to_dim3(call.grid, "grid"), to_dim3(call.block, "block"), call.shared,
                      call_site(), call.cooperative};
  std::vector<KernelArg> list = to_kernel_args(call.args);
  if (!call.strided && strided_rule != StridedRule::refuse) {
    if (strided_rule == StridedRule::warn) warn_of_views(kernel, list);
    call.strided = true;
  }
  if (!call.stream) {
    without_gil([&] { kernel.launch(config, std::span<const KernelArg>(list), call.strided); });
    return;
  }
  Stream stream = nb::cast<Stream>(nb::handle(call.stream));
  without_gil([&] { launch_on(stream, kernel, config, list, call.strided); });
}

PyObject* kernel_tp_call(PyObject* self, PyObject* args, PyObject* kwargs) noexcept {
  try {
    call_kernel(*nb::inst_ptr<Kernel>(self), args, kwargs);
    Py_RETURN_NONE;
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

ModuleOptions to_options(std::vector<std::string> options, std::vector<std::string> expressions,
                         const std::string& file_name, int first_line, bool cooperative) {
  ModuleOptions result;
  result.options = std::move(options);
  result.name_expressions = std::move(expressions);
  if (!file_name.empty()) result.file_name = file_name;
  result.first_line = first_line;
  result.cooperative = cooperative;
  return result;
}

// CuPy's choices of a compiler. The device decides here; cuComplex.h and headers are found anyway.
void check_backend(const std::string& backend) {
  if (backend != "nvrtc" && backend != "nvcc")
    throw ValueError("backend must be 'nvrtc' or 'nvcc', not '" + backend + "'");
}

void make_kernel(Kernel* self, std::string code, std::string name, std::vector<std::string> options,
                 const std::string& backend, bool, bool cooperative, bool,
                 const std::string& file_name, int first_line) {
  check_backend(backend);
  new (self) Kernel(std::move(code), std::move(name),
                    to_options(std::move(options), {}, file_name, first_line, cooperative));
}

void make_module(Module* self, std::optional<std::string> code, nb::handle path,
                 std::vector<std::string> options, const std::string& backend, bool,
                 bool cooperative, std::optional<std::vector<std::string>> name_expressions, bool,
                 const std::string& file_name, int first_line) {
  check_backend(backend);
  if (code.has_value() == !path.is_none())
    throw TypeError(
        "RawModule needs code=, the source of its kernels, or path=, a file of compiled ones");
  std::vector<std::string> expressions = name_expressions.value_or(std::vector<std::string>{});
  if (!path.is_none()) {
    if (!options.empty() || !expressions.empty())
      throw ValueError("RawModule(path=) compiles nothing: leave options and name_expressions");
    nb::module_ os = nb::module_::import_("os");
    nb::object file = nb::module_::import_("io").attr("open")(path, "rb");
    nb::bytes image = nb::cast<nb::bytes>(file.attr("read")());
    file.attr("close")();
    std::string name = nb::cast<std::string>(os.attr("fspath")(path));
    new (self) Module(Module::from_image(std::string(image.c_str(), image.size()),
                                         to_options({}, {}, name, 1, cooperative)));
    return;
  }
  new (self) Module(std::move(*code), to_options(std::move(options), std::move(expressions),
                                                 file_name, first_line, cooperative));
}

nb::list params(const Kernel& kernel) {
  const std::vector<ParamInfo>& list =
      without_gil([&]() -> const std::vector<ParamInfo>& { return kernel.params(); });
  constexpr const char* kinds[] = {"scalar", "pointer", "aggregate", "unknown"};
  nb::list result;
  for (const ParamInfo& p : list) {
    nb::dict row;
    row["name"] = p.name;
    row["type"] = p.type;
    row["kind"] = kinds[static_cast<int>(p.kind)];
    row["dtype"] = p.dtype ? nb::object(nb::borrow(numpy_dtype(*p.dtype))) : nb::object(nb::none());
    row["size"] = p.size;
    row["offset"] = p.offset;
    result.append(row);
  }
  return result;
}

// CUfunction_attribute by CuPy's names.
constexpr int kMaxDynamicShared = 8, kCarveout = 9;
struct KernelAttribute {
  const char* name;
  int number;
};
constexpr KernelAttribute kAttributes[] = {
    {"max_threads_per_block", 0},
    {"shared_size_bytes", 1},
    {"const_size_bytes", 2},
    {"local_size_bytes", 3},
    {"num_regs", 4},
    {"ptx_version", 5},
    {"binary_version", 6},
    {"max_dynamic_shared_size_bytes", kMaxDynamicShared},
    {"preferred_shared_memory_carveout", kCarveout},
};

int attribute(const Kernel& kernel, int number) {
  return without_gil([&] { return kernel.attribute(number); });
}

nb::dict attributes(const Kernel& kernel) {
  nb::dict result;
  for (const KernelAttribute& row : kAttributes) result[row.name] = attribute(kernel, row.number);
  return result;
}

void bind_raw_kernel(nb::module_& m) {
  static const PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(kernel_tp_call)},
                                      {0, nullptr}};
  nb::class_<Kernel> cls(m, "RawKernel", nb::type_slots(slots), nb::is_weak_referenceable());
  cls.def("__init__", make_kernel, nb::arg("code"), nb::arg("name"),
          nb::arg("options") = nb::make_tuple(), nb::arg("backend") = "nvrtc", nb::kw_only(),
          nb::arg("translate_cucomplex") = false, nb::arg("enable_cooperative_groups") = false,
          nb::arg("jitify") = false, nb::arg("file_name") = "", nb::arg("first_line") = 1)
      .def_prop_ro("code", [](const Kernel& k) { return k.code(); })
      .def_prop_ro("options",
                   [](const Kernel& k) { return nb::tuple(nb::cast(k.options().options)); })
      .def_prop_ro("backend", [](const Kernel&) { return "nvrtc"; })
      .def_prop_ro("enable_cooperative_groups",
                   [](const Kernel& k) { return k.options().cooperative; })
      .def_prop_ro("kernel", [](nb::object self) { return self; })
      .def_prop_ro(
          "ptr",
          [](const Kernel& k) {
            return without_gil([&] { return reinterpret_cast<std::uintptr_t>(k.handle()); });
          })
      .def_prop_ro("name", [](const Kernel& k) { return k.name(); })
      .def_prop_ro("params", params)
      .def_prop_ro("attributes", attributes)
      .def(
          "compile",
          [](const Kernel& k, nb::handle) {
            without_gil([&] {
              k.params();
              k.attribute(0);
            });
          },
          nb::arg("log_stream").none() = nb::none())
      .def("__repr__", [](const Kernel& k) { return "<treadle.RawKernel " + k.name() + ">"; });
  for (const KernelAttribute& row : kAttributes)
    if (row.number != kMaxDynamicShared && row.number != kCarveout)
      cls.def_prop_ro(row.name,
                      [number = row.number](const Kernel& k) { return attribute(k, number); });
  cls.def_prop_rw(
      "max_dynamic_shared_size_bytes",
      [](const Kernel& k) { return attribute(k, kMaxDynamicShared); },
      [](const Kernel& k, std::size_t bytes) {
        without_gil([&] { k.set_max_dynamic_shared(bytes); });
      });
  cls.def_prop_rw(
      "preferred_shared_memory_carveout", [](const Kernel& k) { return attribute(k, kCarveout); },
      [](const Kernel& k, int percent) {
        without_gil([&] { k.set_attribute(kCarveout, percent); });
      });
  cls.def("set_max_dynamic_shared_size_bytes", [](const Kernel& k, std::size_t bytes) {
    without_gil([&] { k.set_max_dynamic_shared(bytes); });
  });
  nb::setattr(cls, "__module__", nb::str("treadle"));
}

}  // namespace

Dim3 to_dim3(PyObject* object, const char* what) {
  Dim3 dim;
  if (PyLong_Check(object)) {
    dim.x = to_extent(object, what);
    return dim;
  }
  if (!PyTuple_Check(object) && !PyList_Check(object)) {
    if (!PyIndex_Check(object))
      throw TypeError(std::string(what) + " must be a tuple of 1 to 3 integers");
    dim.x = to_extent(object, what);
    return dim;
  }
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  if (n < 1 || n > 3)
    throw ValueError(std::string(what) + " must have 1 to 3 dimensions, not " + std::to_string(n));
  std::uint32_t* parts[] = {&dim.x, &dim.y, &dim.z};
  for (Py_ssize_t i = 0; i < n; ++i)
    *parts[i] = to_extent(PySequence_Fast_GET_ITEM(object, i), what);
  return dim;
}

std::vector<KernelArg> to_kernel_args(PyObject* object) {
  if (!PyTuple_Check(object) && !PyList_Check(object))
    throw TypeError(
        "the kernel's arguments must be one tuple: kernel(grid, block, (a, b, n)), not " +
        class_name(object));
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  std::vector<KernelArg> list;
  list.reserve(static_cast<std::size_t>(n));
  for (Py_ssize_t i = 0; i < n; ++i)
    list.push_back(to_kernel_arg(PySequence_Fast_GET_ITEM(object, i), i));
  return list;
}

void bind_kernel(nb::module_& m) {
  bind_raw_kernel(m);
  nb::class_<Module> cls(m, "RawModule");
  cls.def("__init__", make_module, nb::arg("code").none() = nb::none(), nb::kw_only(),
          nb::arg("path").none() = nb::none(), nb::arg("options") = nb::make_tuple(),
          nb::arg("backend") = "nvrtc", nb::arg("translate_cucomplex") = false,
          nb::arg("enable_cooperative_groups") = false,
          nb::arg("name_expressions").none() = nb::none(), nb::arg("jitify") = false,
          nb::arg("file_name") = "", nb::arg("first_line") = 1)
      .def_prop_ro("code", [](const Module& m) { return m.code(); })
      .def_prop_ro("options",
                   [](const Module& m) { return nb::tuple(nb::cast(m.options().options)); })
      .def_prop_ro(
          "name_expressions",
          [](const Module& m) { return nb::tuple(nb::cast(m.options().name_expressions)); })
      .def_prop_ro("backend", [](const Module&) { return "nvrtc"; })
      .def_prop_ro("enable_cooperative_groups",
                   [](const Module& m) { return m.options().cooperative; })
      .def(
          "compile", [](const Module& m, nb::handle) { without_gil([&] { m.compile(); }); },
          nb::arg("log_stream").none() = nb::none())
      .def_prop_ro("_file_name", [](const Module& m) { return m.options().file_name; })
      .def_prop_ro("image",
                   [](const Module& m) {
                     std::string image = without_gil([&] { return m.image(); });
                     return nb::bytes(image.data(), image.size());
                   })
      .def("get_function",
           [](const Module& m, const std::string& n) {
             return without_gil([&] { return m.get(n); });
           })
      .def("get_global",
           [](const Module& m, const std::string& n) {
             return without_gil([&] {
               auto [pointer, bytes] = m.global(n);
               DeviceMemory memory = DeviceMemory::unowned(Device::current(), pointer.address,
                                                           bytes, std::make_shared<Module>(m));
               return MemoryPointer(memory, pointer.address, bytes);
             });
           })
      .def_prop_ro("kernel_names",
                   [](const Module& m) { return without_gil([&] { return m.kernel_names(); }); });
  nb::setattr(cls, "__module__", nb::str("treadle"));
  m.def("_strided_arguments", strided_arguments);
  m.def("_set_strided_arguments", set_strided_arguments);
  m.def("_module_from_image", [](nb::bytes image, std::string file_name, bool cooperative) {
    return Module::from_image(std::string(image.c_str(), image.size()),
                              to_options({}, {}, file_name, 1, cooperative));
  });
}

}  // namespace td::python
