// Lazy fusion from outside: switching it off, asking what would be launched, and a log of what was.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "treadle/array.h"

namespace [[gnu::visibility("default")]] td {

// Off: every operation on arrays is launched by itself, at once. For the whole process; the
// environment variable TREADLE_FUSION=0 sets it at the start.
bool fusion();
void set_fusion(bool on);

// On: where a fused element-wise kernel is not compiled yet, a thread of low priority compiles it
// and its operations are launched one by one meanwhile, if their kernels are at hand and their
// temporaries are small; the results have the same bits. Off: the compiler is waited for. For the
// whole process; the environment variable TREADLE_BACKGROUND_COMPILES=0 sets it at the start.
bool background_compiles();
void set_background_compiles(bool on);
// Returns when nothing is left to compile in the background: fused kernels, and the software
// device's better code for kernels that run a lot. What was compiled is used from the next launch
// on.
void wait_for_compiles();

// One kernel of generated code as it is planned. Bytes are those of distinct elements, so an
// operand that is broadcast counts once; what a kernel reads again while it is in a cache does not
// count.
struct PlannedKernel {
  std::string kind;                     // "element-wise", "reduction"
  Shape shape;                          // what is iterated over
  std::vector<std::string> operations;  // names, in the order of computation
  int reads = 0, writes = 0;            // operands in memory
  std::uint64_t bytes_read = 0, bytes_written = 0;
  std::string cut;      // why this is not part of an earlier kernel; "" for the first
  bool wanted = false;  // one of the asked arrays needs it
};

// The kernels that a flush would launch now on the device of the arrays, in order. Computes nothing
// and launches nothing. An array whose value is in memory adds none.
std::vector<PlannedKernel> explain(std::span<const Array> arrays);

// While the log is on, every flush appends the kernels that it launches.
void log_kernels(bool on);
// What was logged since the last call.
std::vector<PlannedKernel> take_logged_kernels();
// Generated kernels that this process has launched.
int generated_launches();

}  // namespace td
