// Launches of kernels that are written in Python. The types of the arguments are a key; the first
// launch with a key asks Python for the kernel, every later one packs the arguments and launches
// without any Python-level code.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "bind.h"
#include "call_site.h"
#include "kernel_args.h"
#include "treadle/occupancy.h"
#include "treadle/ptx.h"
#include "treadle/python_kernel.h"

namespace td::python {
namespace {

// An argument that Python has taken apart: its bytes, what stands for its type in a key, and the
// number of its parameters, of 8 bytes each if several.
struct PackedValue {
  std::string key, bytes;
  std::size_t words;
};

// The key of a list of arguments and the values of their parameters: an array is its address, shape
// and strides, each word a parameter; a number is itself, a tuple its items, None nothing.
class Packer {
 public:
  std::string key;
  std::vector<unsigned char> bytes;  // every value at a multiple of 16
  std::vector<std::size_t> at;       // where each parameter's value begins
  std::vector<std::uint8_t> dtypes;  // of numbers; kOther else
  std::size_t parameters = 0;        // more than `at` holds: see words
  std::vector<std::uint16_t> words;  // parameters of 8 bytes from there on
  static constexpr std::uint8_t kOther = 255;

  void clear() {
    key.clear();
    used_ = 0;
    flushed_ = false;
    parameters = 0;
    at.clear();
    dtypes.clear();
    words.clear();
  }

  // False: not an argument that this knows.
  bool add(PyObject* object) {
    if (const Array* array = as_array(object)) {
      add_array(*array);
    } else if (PyBool_Check(object)) {
      key.push_back('b');
      bool value = object == Py_True;
      put(&value, sizeof value, DType::bool_);
    } else if (PyLong_CheckExact(object)) {
      return add_int(object);
    } else if (PyFloat_CheckExact(object)) {
      key.push_back('f');
      double value = PyFloat_AS_DOUBLE(object);
      put(&value, sizeof value, DType::float64);
    } else if (object == Py_None) {
      key.push_back('n');
    } else if (PyTuple_Check(object)) {
      return add_tuple(object);
    } else if (PyComplex_CheckExact(object)) {
      key.push_back('c');
      double value[2] = {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)};
      put(value, sizeof value, DType::complex128);
    } else if (auto typed = to_typed_scalar(object)) {
      key.push_back('s');
      key.push_back(static_cast<char>(typed->dtype));
      put(typed->bytes, sizeof typed->bytes, typed->dtype);
    } else if (nb::isinstance<PackedValue>(object)) {
      const auto& value = *nb::inst_ptr<PackedValue>(object);
      key += value.key;
      key.push_back('\0');
      put(value.bytes.data(), value.bytes.size(), kOther, value.words);
    } else {
      return false;
    }
    return true;
  }

 private:
  // Memory for the next parameter's value.
  unsigned char* room(std::size_t size, std::uint8_t dtype, std::size_t count = 1) {
    at.push_back(used_);
    dtypes.push_back(dtype);
    words.push_back(static_cast<std::uint16_t>(count));
    parameters += count;
    used_ += (size + 15) / 16 * 16;
    if (used_ > bytes.size()) bytes.resize(2 * used_);
    return bytes.data() + at.back();
  }
  void put(const void* data, std::size_t size, std::uint8_t dtype, std::size_t count = 1) {
    std::memcpy(room(size, dtype, count), data, size);
  }
  void put(const void* data, std::size_t size, DType dtype) {
    put(data, size, static_cast<std::uint8_t>(dtype));
  }

  void add_array(const Array& array) {
    if (!flushed_) {
      flush_all();
      flushed_ = true;
    }
    ArrayParameter facts = array_parameter(array);
    std::size_t ndim = facts.shape.size(), axes = ndim ? ndim : 1;
    const char type[] = {facts.writeable ? 'a' : 'r', static_cast<char>(facts.dtype),
                         static_cast<char>(ndim),
                         facts.c_contiguous   ? 'C'
                         : facts.f_contiguous ? 'F'
                                              : 'A'};
    key.append(type, sizeof type);
    unsigned char* to = room(8 + 16 * axes, kOther, 1 + 2 * axes);
    std::memcpy(to, &facts.address, 8);
    if (ndim) {
      std::memcpy(to + 8, facts.shape.data(), 8 * ndim);
      std::memcpy(to + 8 + 8 * ndim, facts.strides.data(), 8 * ndim);
    } else {
      std::int64_t one[2] = {1, 0};
      std::memcpy(to + 8, one, sizeof one);
    }
  }

  bool add_int(PyObject* object) {
    int overflow = 0;
    std::int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (!overflow) {
      key.push_back('i');
      put(&value, sizeof value, DType::int64);
      return true;
    }
    std::uint64_t large = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    key.push_back('u');
    put(&large, sizeof large, DType::uint64);
    return true;
  }

  bool add_tuple(PyObject* object) {
    key.push_back('(');
    if (!PyTuple_CheckExact(object)) {  // a named tuple: its class is part of the type
      PyTypeObject* type = Py_TYPE(object);
      key.append(reinterpret_cast<const char*>(&type), sizeof type);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
      if (!add(PyTuple_GET_ITEM(object, i))) return false;
    key.push_back(')');
    return true;
  }

  std::size_t used_ = 0;
  bool flushed_ = false;
};

struct Variant {
  std::optional<Kernel> kernel;
  std::vector<std::uint8_t> dtypes;  // wanted of every parameter; empty: as given
  bool cooperative = false;
  int reports = 0;  // not 0: the kernel may report a failure, and Python looks after the launch
  std::mutex reporting;                                   // a report belongs to one launch
  std::unordered_map<std::size_t, std::uint32_t> blocks;  // by dynamic shared memory: for_all's

  // Threads of a block for a launch over so many tasks: of the highest occupancy, and 256 where
  // that is as good.
  std::uint32_t block_for_all(std::size_t shared) {
    auto [found, is_new] = blocks.try_emplace(shared, 0);
    if (is_new) {
      constexpr int kUsual = 256;
      int best = best_block(*kernel, shared).threads;
      if (best > kUsual && active_blocks(*kernel, kUsual, shared) * kUsual >=
                               active_blocks(*kernel, best, shared) * best)
        best = kUsual;
      found->second = static_cast<std::uint32_t>(best);
    }
    return found->second;
  }
};

// The base class of treadle's Dispatcher: the variants by key.
class PythonKernel {
 public:
  explicit PythonKernel(Py_ssize_t count) : count_(count) {}
  PythonKernel(const PythonKernel&) = delete;
  PythonKernel& operator=(const PythonKernel&) = delete;

  Py_ssize_t count() const { return count_; }  // of its parameters
  // The variant used last, when it has this key.
  Variant* last(const std::string& key) const {
    return last_ && key == last_key_ ? last_ : nullptr;
  }
  Variant& find(const std::string& key, nb::handle owner, PyObject* args) {
    auto found = variants_.find(key);
    // Another thread may have made it meanwhile, and be launching it: the first one stays.
    if (found == variants_.end()) found = variants_.try_emplace(key, make(owner, args)).first;
    last_ = found->second.get();
    last_key_ = key;
    return *last_;
  }
  void clear() {
    last_ = nullptr;
    variants_.clear();
  }

 private:
  // (kernel, dtypes or None, cooperative, number of the variant if it reports)
  static std::unique_ptr<Variant> make(nb::handle owner, PyObject* args) {
    nb::object made = owner.attr("_variant")(nb::handle(args));
    nb::object kernel = made[0], dtypes = made[1], cooperative = made[2], reports = made[3];
    auto variant = std::make_unique<Variant>();
    variant->kernel = nb::cast<Kernel>(kernel);
    if (!dtypes.is_none())
      for (nb::handle dtype : nb::list(dtypes))
        variant->dtypes.push_back(dtype.is_none() ? Packer::kOther
                                                  : static_cast<std::uint8_t>(to_dtype(dtype)));
    variant->cooperative = cooperative.is(Py_True);
    variant->reports = nb::cast<int>(reports);
    return variant;
  }

  Py_ssize_t count_;
  std::unordered_map<std::string, std::unique_ptr<Variant>> variants_;
  Variant* last_ = nullptr;
  std::string last_key_;
};

// kernel[grid, block, stream, shared], or kernel.forall(tasks): what is called with the arguments.
struct PythonLaunch {
  nb::object kernel;  // PythonKernel
  LaunchConfig config;
  std::optional<Stream> stream;
  std::optional<std::int64_t> tasks;  // then the grid follows from it, and the block if it is 0
  nb::object callbacks;               // a list, once it was asked for: called before each launch
};

// The block and the grid of a launch over so many tasks.
void spread_tasks(std::int64_t tasks, Variant& variant, LaunchConfig& config) {
  if (!config.block.x) config.block.x = variant.block_for_all(config.shared);
  std::int64_t block = config.block.x;
  std::int64_t blocks = tasks / block + (tasks % block != 0);
  constexpr std::int64_t kMost = 0xffffffff;  // more than any device takes: refused with the limit
  config.grid.x = static_cast<std::uint32_t>(std::min(blocks, kMost));
}

// Launches are configured by Python, which warns about those that fill little of the device.
bool watch_configurations = false;

void convert_numbers(Packer& packed, const Variant& variant) {
  for (std::size_t i = 0; i < variant.dtypes.size() && i < packed.at.size(); ++i) {
    std::uint8_t want = variant.dtypes[i], have = packed.dtypes[i];
    if (want == Packer::kOther || have == Packer::kOther || want == have) continue;
    unsigned char* slot = packed.bytes.data() + packed.at[i];
    auto from = static_cast<DType>(have), to = static_cast<DType>(want);
    nb::handle source = numpy_dtype(from), target = numpy_dtype(to);
    nb::object numpy = nb::module_::import_("numpy");
    nb::bytes data(reinterpret_cast<const char*>(slot), itemsize(from));
    nb::object array = numpy.attr("frombuffer")(data, source).attr("astype")(target);
    nb::object bytes = array.attr("tobytes")();
    std::memcpy(slot, PyBytes_AS_STRING(bytes.ptr()),
                static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr())));
  }
}

// False: an argument must be adapted by Python first.
bool launch(const PythonLaunch& how, PyObject* args) {
  if (how.tasks == 0) return true;
  PythonKernel& self = *nb::inst_ptr<PythonKernel>(how.kernel);
  thread_local Packer packed;
  packed.clear();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
    if (!packed.add(PyTuple_GET_ITEM(args, i))) return false;
  Variant* variant = self.last(packed.key);
  if (!variant) [[unlikely]] {
    // Compiling runs Python code, which may launch: what was packed is kept apart.
    Packer mine;
    std::swap(mine, packed);
    variant = &self.find(mine.key, how.kernel, args);
    std::swap(mine, packed);
  }
  if (!variant->dtypes.empty()) convert_numbers(packed, *variant);
  constexpr std::size_t kMost = 256;
  void* addresses[kMost];
  std::vector<void*> many;
  std::size_t count = packed.parameters;
  std::span<void*> parameters(addresses, count);
  if (count > kMost) {
    many.resize(count);
    parameters = many;
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < packed.at.size(); ++i)
    for (std::size_t word = 0; word < packed.words[i]; ++word)
      parameters[next++] = packed.bytes.data() + packed.at[i] + 8 * word;
  if (how.callbacks.is_valid())
    for (nb::handle callback : nb::list(how.callbacks)) callback(*variant->kernel, how);
  LaunchConfig config = how.config;
  if (how.tasks) {
    spread_tasks(*how.tasks, *variant, config);
    if (watch_configurations) how.kernel.attr("_warn_of_small_grid")(config.grid.x);
  }
  config.where = call_site();
  config.cooperative = variant->cooperative;
  const Kernel& kernel = *variant->kernel;
  std::unique_lock<std::mutex> reporting(variant->reporting, std::defer_lock);
  without_gil([&] {
    if (variant->reports) reporting.lock();
    if (!how.stream) {
      launch_packed(kernel, config, parameters);
      return;
    }
    Stream before = Stream::current();
    how.stream->use();
    try {
      launch_packed(kernel, config, parameters);
    } catch (...) {
      before.use();
      throw;
    }
    before.use();
  });
  if (variant->reports)
    how.kernel.attr("_look")(variant->reports,
                             how.stream ? nb::cast(*how.stream) : nb::object(nb::none()));
  return true;
}

PyObject* launch_tp_call(PyObject* self, PyObject* args, PyObject* kwargs) noexcept {
  try {
    const PythonLaunch& how = *nb::inst_ptr<PythonLaunch>(self);
    nb::object full = nb::borrow(args);
    bool keywords = kwargs && PyDict_GET_SIZE(kwargs);
    if (keywords || PyTuple_GET_SIZE(args) != nb::inst_ptr<PythonKernel>(how.kernel)->count())
      full = how.kernel.attr("_bind")(full, keywords ? nb::borrow(kwargs) : nb::dict());
    if (!launch(how, full.ptr())) how.kernel.attr("_launch_adapted")(nb::handle(self), full);
    Py_RETURN_NONE;
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

// An int, or a tuple of one to three of them: false for anything else.
bool quick_dim3(PyObject* object, Dim3& dim) {
  PyObject** items = &object;
  Py_ssize_t count = 1;
  if (PyTuple_CheckExact(object)) {
    items = &PyTuple_GET_ITEM(object, 0);
    count = PyTuple_GET_SIZE(object);
    if (count < 1 || count > 3) return false;
  }
  std::uint32_t* parts[] = {&dim.x, &dim.y, &dim.z};
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!PyLong_CheckExact(items[i])) return false;
    int overflow = 0;
    long value = PyLong_AsLongAndOverflow(items[i], &overflow);
    if (overflow || value < 0 || value > 0xffffffffl) return false;
    *parts[i] = static_cast<std::uint32_t>(value);
  }
  return true;
}

// kernel[grid, block]; everything else is for Python, which knows the messages.
PyObject* kernel_subscript(PyObject* self, PyObject* config) noexcept {
  try {
    LaunchConfig launch;
    if (!watch_configurations && PyTuple_CheckExact(config) && PyTuple_GET_SIZE(config) == 2 &&
        quick_dim3(PyTuple_GET_ITEM(config, 0), launch.grid) &&
        quick_dim3(PyTuple_GET_ITEM(config, 1), launch.block))
      return nb::cast(PythonLaunch{nb::borrow(self), launch, {}, {}, {}}).release().ptr();
    return nb::handle(self).attr("_configure")(nb::handle(config)).release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

}  // namespace

void bind_python_kernel(nb::module_& m) {
  m.def("_ptx_of", [](const std::string& text, const std::vector<std::string>& options, int cc) {
    ModuleOptions given;
    given.options = options;
    return without_gil([&] { return ptx_of(text, given, cc); });
  });
  m.def("_watch_configurations", [](bool on) { watch_configurations = on; });
  m.def("_python_prelude", [] { return std::string(python_prelude()); });
  m.def("_python_part", [](const std::string& name) { return python_part(name); });
  nb::class_<PackedValue>(m, "_PackedValue")
      .def(
          "__init__",
          [](PackedValue* self, const std::string& key, nb::bytes bytes, std::size_t words) {
            new (self) PackedValue{"V" + key, std::string(bytes.c_str(), bytes.size()), words};
          },
          nb::arg("key"), nb::arg("bytes"), nb::arg("words") = 1)
      .def_prop_ro("key", [](const PackedValue& v) { return v.key; });
  m.def("_load_python_kernel", [](nb::bytes key) -> nb::object {
    auto found = load_python_kernel({key.c_str(), key.size()});
    return found ? nb::object(nb::bytes(found->data(), found->size())) : nb::object(nb::none());
  });
  m.def("_store_python_kernel", [](nb::bytes key, nb::bytes value) {
    store_python_kernel({key.c_str(), key.size()}, {value.c_str(), value.size()});
  });
  static const PyType_Slot kernel_slots[] = {
      {Py_mp_subscript, reinterpret_cast<void*>(kernel_subscript)}, {0, nullptr}};
  nb::class_<PythonKernel>(m, "_PythonKernel", nb::type_slots(kernel_slots),
                           nb::is_weak_referenceable())
      .def(nb::init<Py_ssize_t>())
      .def("_clear", &PythonKernel::clear);
  static const PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(launch_tp_call)},
                                      {0, nullptr}};
  nb::class_<PythonLaunch>(m, "_PythonLaunch", nb::type_slots(slots))
      .def(
          "__init__",
          [](PythonLaunch* self, nb::object kernel, nb::handle grid, nb::handle block,
             std::optional<Stream> stream, std::size_t shared) {
            new (self) PythonLaunch{std::move(kernel),
                                    LaunchConfig{to_dim3(grid.ptr(), "the grid"),
                                                 to_dim3(block.ptr(), "the block"), shared},
                                    std::move(stream),
                                    {},
                                    {}};
          },
          nb::arg("kernel"), nb::arg("grid"), nb::arg("block"), nb::arg("stream").none(),
          nb::arg("shared"))
      .def_static(
          "over_tasks",
          [](nb::object kernel, std::int64_t tasks, std::uint32_t block,
             std::optional<Stream> stream, std::size_t shared) {
            LaunchConfig config{{1, 1, 1}, {block, 1, 1}, shared};
            return PythonLaunch{std::move(kernel), config, std::move(stream), tasks, {}};
          },
          nb::arg("kernel"), nb::arg("tasks"), nb::arg("block"), nb::arg("stream").none(),
          nb::arg("shared"))
      .def_prop_ro("griddim",
                   [](const PythonLaunch& l) {
                     return nb::make_tuple(l.config.grid.x, l.config.grid.y, l.config.grid.z);
                   })
      .def_prop_ro("blockdim",
                   [](const PythonLaunch& l) {
                     return nb::make_tuple(l.config.block.x, l.config.block.y, l.config.block.z);
                   })
      .def_prop_ro("sharedmem", [](const PythonLaunch& l) { return l.config.shared; })
      .def_prop_ro("stream", [](const PythonLaunch& l) { return l.stream; })
      .def_prop_ro("tasks", [](const PythonLaunch& l) { return l.tasks; })
      .def_prop_ro("kernel", [](const PythonLaunch& l) { return l.kernel; })
      .def_prop_ro("pre_launch_callbacks",
                   [](PythonLaunch& l) {
                     if (!l.callbacks.is_valid()) l.callbacks = nb::list();
                     return l.callbacks;
                   })
      .def("launch", [](const PythonLaunch& l, nb::tuple args) { return launch(l, args.ptr()); });
}

}  // namespace td::python
