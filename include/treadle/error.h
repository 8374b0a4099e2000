// Errors that Treadle reports to its users.
//
// Two kinds exist. A *user* error says what was wrong, where, and what to do about it; it is one of
// the classes below and maps to one Python exception class each. An *internal* error (our own
// broken invariant) is td::InternalError and asks for a report. Every message that knows a cure
// ends with it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace [[gnu::visibility("default")]] td {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Python: ValueError. A shape, size, name or number that cannot be used.
class ValueError : public Error {
 public:
  using Error::Error;
};

// Python: TypeError. A dtype or kind of object that cannot be used.
class TypeError : public Error {
 public:
  using Error::Error;
};

// Python: IndexError. An index outside of an axis.
class IndexError : public Error {
 public:
  using Error::Error;
};

// Python: OverflowError. A Python integer that does not fit the dtype it must take.
class OverflowError : public Error {
 public:
  using Error::Error;
};

// Python: numpy.exceptions.AxisError (a ValueError and an IndexError). An axis that the array does
// not have.
class AxisError : public ValueError {
 public:
  using ValueError::ValueError;
};

// Python: NotImplementedError. Known, but not supported yet; the message names it.
class NotSupported : public Error {
 public:
  using Error::Error;
};

// Python: treadle.CompileError. `log` holds the compiler's full output, with the user's own file
// and line.
class CompileError : public Error {
 public:
  CompileError(std::string message, std::string compiler_log)
      : Error(std::move(message)), log(std::move(compiler_log)) {}
  std::string log;
};

// Python: treadle.CUDAError. A driver call that failed. `code` is the CUresult, `name` its CUDA
// spelling
// ("CUDA_ERROR_ILLEGAL_ADDRESS"), `call` the driver function.
class DriverError : public Error {
 public:
  DriverError(std::string message, int result, std::string result_name, std::string function)
      : Error(std::move(message)),
        code(result),
        name(std::move(result_name)),
        call(std::move(function)) {}
  int code;
  std::string name;
  std::string call;
};

// Python: treadle.OutOfMemoryError (a MemoryError). States the sizes asked for, in use, cached and
// free.
class OutOfMemory : public DriverError {
 public:
  using DriverError::DriverError;
};

// Python: treadle.InternalError. A bug of ours.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace td
