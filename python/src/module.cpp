// treadle._treadle: the extension module. Each line binds one part of the C++ API.
#include <chrono>
#include <thread>

#include "bind.h"
#include "pointer.h"

void td::python::WithoutGil::wait_until_left() {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (inside_.load(std::memory_order_acquire) > 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(100us);
}

NB_MODULE(_treadle, m) {
  using namespace td::python;
  Py_AtExit(WithoutGil::wait_until_left);
  nb::set_leak_warnings(false);  // arrays of daemon threads outlive the interpreter, rightly
  bind_errors(m);
  bind_dtypes(m);
  bind_device(m);
  bind_stream(m);
  bind_pointer(m);
  bind_memory(m);
  bind_array(m);
  bind_creation(m);
  bind_transfer(m);
  bind_operations(m);
  bind_indexing(m);
  bind_kernel(m);
  bind_user_kernel(m);
  bind_python_kernel(m);
  bind_fft(m);
  bind_linalg(m);
  bind_random(m);
  bind_call_counts(m);
  bind_diagnose(m);
  bind_program(m);
  bind_texture(m);
  bind_sorting(m);
  bind_views(m);
  bind_runtime(m);
  bind_graph(m);
  bind_fusion(m);
  bind_occupancy(m);
}
