#include "call_site.h"

#include "bind.h"

namespace td::python {
namespace {

struct Place {
  PyCodeObject* code = nullptr;  // owned, so that its address stays its own; never given back
  int offset = -1;
  std::string text;
};

constexpr std::size_t kPlaces = 64;  // a power of two
thread_local Place places[kPlaces];

#if PY_VERSION_HEX >= 0x030B0000
int offset_of(PyFrameObject* frame) { return PyFrame_GetLasti(frame); }
#else
int offset_of(PyFrameObject* frame) { return PyFrame_GetLineNumber(frame); }
#endif

std::string describe(PyFrameObject* frame, PyCodeObject* code) {
  Py_ssize_t size = 0;
  const char* name = PyUnicode_AsUTF8AndSize(code->co_filename, &size);
  if (!name) {
    PyErr_Clear();
    return "";
  }
  std::string_view file(name, static_cast<std::size_t>(size));
  if (auto slash = file.rfind('/'); slash != std::string_view::npos) file = file.substr(slash + 1);
  return std::string(file) + ":" + std::to_string(PyFrame_GetLineNumber(frame));
}

}  // namespace

const char* call_site() {
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return nullptr;
  PyCodeObject* code = PyFrame_GetCode(frame);
  int offset = offset_of(frame);
  std::size_t hash = (reinterpret_cast<std::size_t>(code) >> 4) ^ static_cast<std::size_t>(offset);
  Place& place = places[hash % kPlaces];
  if (place.code == code && place.offset == offset) {
    Py_DECREF(code);
    return place.text.c_str();
  }
  Py_XDECREF(place.code);
  place = {code, offset, describe(frame, code)};
  return place.text.c_str();
}

}  // namespace td::python
