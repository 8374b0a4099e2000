// What every file of the bindings shares: the list of bind functions, the GIL rule, and the
// conversions between Python objects and the values of the C++ API. Bindings convert, call inward
// and convert back; semantics are in C++.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <unistd.h>

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "treadle/treadle.h"

namespace td::python {

namespace nb = nanobind;

void bind_errors(nb::module_& m);
// Sets the Python error for the C++ exception that is being handled. For functions that Python
// calls directly: slots of a class.
void set_python_error();
template <class F>
PyType_Slot slot(int number, F* function) {
  return {number, reinterpret_cast<void*>(function)};
}
// What such a function answers: a new reference, or null with Python's error set.
template <class F>
PyObject* answer(const F& work) noexcept {
  try {
    return work().release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
void bind_dtypes(nb::module_& m);
void bind_device(nb::module_& m);
void bind_stream(nb::module_& m);
void bind_array(nb::module_& m);
void bind_creation(nb::module_& m);
void bind_transfer(nb::module_& m);
// Slots of the class, which Python calls without looking a method up: the operators of
// tables/ops.def; x[key] and x[key] = value.
void add_operator_slots(std::vector<PyType_Slot>& slots);
void add_index_slots(std::vector<PyType_Slot>& slots);
void bind_operators(nb::class_<Array>& cls);
void bind_operations(nb::module_& m);
void bind_indexing(nb::module_& m);
void bind_kernel(nb::module_& m);
void bind_user_kernel(nb::module_& m);
void bind_python_kernel(nb::module_& m);
void bind_fft(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_random(nb::module_& m);
void bind_call_counts(nb::module_& m);
void bind_diagnose(nb::module_& m);
void bind_program(nb::module_& m);
void bind_texture(nb::module_& m);
void bind_sorting(nb::module_& m);
void bind_views(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_array_constructor(nb::class_<Array>& cls);
void bind_runtime(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_fusion(nb::module_& m);
void bind_occupancy(nb::module_& m);

// The GIL is not held while an object of this class lives. A daemon thread that comes back when the
// interpreter is closing is ended by pthread_exit inside of PyEval_RestoreThread; unwinding C++
// frames would then call std::terminate, so such a thread sleeps until the process has ended.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) { inside_.fetch_add(1, std::memory_order_relaxed); }
  ~WithoutGil() noexcept(false) {
    SleepWhenUnwound guard;
    inside_.fetch_sub(1, std::memory_order_release);
    PyEval_RestoreThread(state_);
    guard.returned = true;
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  // For Py_AtExit: no thread can get the GIL any more, and those that are still inside may be in
  // the driver, which unloads itself next. Waits until they have left, 10 s at most.
  static void wait_until_left();

 private:
  static inline std::atomic<int> inside_{0};
  struct SleepWhenUnwound {
    ~SleepWhenUnwound() {
      while (!returned) pause();
    }
    bool returned = false;
  };
  PyThreadState* state_;
};

// Runs `work` without the GIL. Everything that can reach the driver goes through here; no other
// file names the GIL.
template <class F>
auto without_gil(F&& work) {
  WithoutGil released;
  return work();
}

// ---- dtypes ----
// NumPy's dtype object of a DType (borrowed).
nb::handle numpy_dtype(DType dtype);
// The DType of anything that numpy.dtype() takes: a dtype, a scalar class, a Python class, a name.
// TypeError when the device has no such type.
DType to_dtype(nb::handle object);
std::optional<DType> to_optional_dtype(nb::handle object);
// The DType of a NumPy scalar object (np.float32(1)), absent for anything else. Never raises.
std::optional<DType> numpy_scalar_dtype(nb::handle object);

// ---- shapes ----
// An int or a sequence of ints.
Shape to_shape(nb::handle object);
// None, an int or a sequence of ints.
std::optional<Axes> to_axes(nb::handle object);
nb::tuple to_tuple(std::span<const std::int64_t> values);

// ---- arrays and scalars ----
// The array inside a Python object, or null when the object is not one of ours.
const Array* as_array(nb::handle object);
// As as_array, but TypeError naming `what` and the cure.
const Array& to_array(nb::handle object, const char* what);
// `out=`: None gives an empty handle.
Array to_out(nb::handle object);
// A Python bool, int, float or complex (exact or subclass, but not a NumPy scalar): a weak scalar.
std::optional<Scalar> to_weak_scalar(nb::handle object);
// A NumPy scalar: its bytes with their exact type.
std::optional<TypedScalar> to_typed_scalar(nb::handle object);
// An array, a weak scalar, or a typed scalar as a 0-d array. Absent when the object is none of
// these.
std::optional<Operand> to_operand(nb::handle object);
// As to_operand, but TypeError: host arrays must be transferred explicitly.
Operand require_operand(nb::handle object);
// A Python int that no integer of 64 bits holds, as a double (infinite beyond its range).
std::optional<double> to_huge_integer(nb::handle object);
// Such an int where values of `dtype` are wanted. OverflowError: `dtype` is one of integers, or the
// int is too large for a float.
Scalar huge_integer_as(double value, DType dtype);
// As require_operand for a number or an array to be stored where values of `dtype` are.
Operand require_value(nb::handle object, DType dtype);
// As require_operand for values to be stored in `array`: host arrays and lists go to its device.
Operand to_value(const Array& array, nb::handle value);
nb::object to_python(const Scalar& scalar);
nb::object wrap(Array array);
// `view`, taken from the array inside a Python object: the object is its `base`.
Array view_from(const Array& source, Array view);
// Keeps a Python object alive from C++.
std::shared_ptr<void> python_owner(nb::object object);
// The short name of an object's class, for messages.
std::string class_name(nb::handle object);

}  // namespace td::python
