// What a piece of work asked of the driver, for treadle.benchmarking.
#include "treadle/call_counts.h"

#include "bind.h"

namespace td::python {

void bind_call_counts(nb::module_& m) {
  m.def("_count_calls",
        [](const Device& device, bool on) { without_gil([&] { count_calls(device, on); }); });
  m.def("_counted_streams", [] {
    nb::list found;
    for (void* stream : counted_streams()) found.append(reinterpret_cast<std::uintptr_t>(stream));
    return found;
  });
  m.def("_call_counts", [] {
    nb::dict found;
    for (const CallCount& row : call_counts())
      found[row.function.c_str()] = nb::make_tuple(row.calls, row.failures, row.bytes);
    return found;
  });
}

}  // namespace td::python
