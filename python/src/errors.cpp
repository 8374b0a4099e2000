// One translator: the error classes of include/treadle/error.h become the Python classes of
// treadle/errors.py.
#include "bind.h"
#include "treadle/launch_error.h"

namespace td::python {
namespace {

// Kept for the life of the process: errors may be raised while the interpreter is closing.
struct Classes {
  PyObject* compile;
  PyObject* cuda;
  PyObject* memory;
  PyObject* limit;
  PyObject* internal;
};
Classes classes;

void raise_compile(const CompileError& error) {
  nb::object instance = nb::handle(classes.compile)(error.what(), error.log);
  PyErr_SetObject(classes.compile, instance.ptr());
}

void raise_driver(PyObject* cls, const DriverError& error) {
  nb::object instance = nb::handle(cls)(error.what(), error.code, error.name, error.call);
  PyErr_SetObject(cls, instance.ptr());
}

// From the most derived class to the base.
void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const CompileError& e) {
    raise_compile(e);
  } catch (const OutOfMemory& e) {
    raise_driver(classes.memory, e);
  } catch (const DriverError& e) {
    raise_driver(classes.cuda, e);
  } catch (const AxisError& e) {
    nb::object axis_error = nb::module_::import_("numpy").attr("exceptions").attr("AxisError");
    PyErr_SetString(axis_error.ptr(), e.what());
  } catch (const LinAlgError& e) {
    nb::object linalg_error = nb::module_::import_("numpy").attr("linalg").attr("LinAlgError");
    PyErr_SetString(linalg_error.ptr(), e.what());
  } catch (const LaunchLimitError& e) {
    nb::object instance =
        nb::handle(classes.limit)(e.what(), 1, "CUDA_ERROR_INVALID_VALUE", "cuLaunchKernel");
    PyErr_SetObject(classes.limit, instance.ptr());
  } catch (const ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const OverflowError& e) {
    PyErr_SetString(PyExc_OverflowError, e.what());
  } catch (const NotSupported& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what());
  } catch (const InternalError& e) {
    PyErr_SetString(classes.internal, e.what());
  } catch (const Error& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

}  // namespace

void set_python_error() {
  try {
    translate(std::current_exception(), nullptr);
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void bind_errors(nb::module_&) {
  nb::module_ errors = nb::module_::import_("treadle.errors");
  classes.compile = nb::object(errors.attr("CompileError")).release().ptr();
  classes.cuda = nb::object(errors.attr("CUDAError")).release().ptr();
  classes.memory = nb::object(errors.attr("OutOfMemoryError")).release().ptr();
  classes.limit = nb::object(errors.attr("LaunchLimitError")).release().ptr();
  classes.internal = nb::object(errors.attr("InternalError")).release().ptr();
  nb::register_exception_translator(translate);
}

}  // namespace td::python
