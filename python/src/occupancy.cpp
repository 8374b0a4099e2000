// The occupancy calculator: its values as read-only objects, its functions under private names for
// treadle/occupancy.py.
#include "treadle/occupancy.h"

#include <nanobind/stl/vector.h>

#include "bind.h"

namespace td::python {
namespace {

void bind_multiprocessor(nb::module_& m) {
  using M = Multiprocessor;
  nb::class_<M>(m, "_Multiprocessor")
      .def_ro("major", &M::major)
      .def_ro("minor", &M::minor)
      .def_ro("threads", &M::threads)
      .def_ro("blocks", &M::blocks)
      .def_ro("block_threads", &M::block_threads)
      .def_ro("registers", &M::registers)
      .def_ro("block_registers", &M::block_registers)
      .def_ro("thread_registers", &M::thread_registers)
      .def_ro("register_granule", &M::register_granule)
      .def_ro("barriers", &M::barriers)
      .def_ro("shared", &M::shared)
      .def_ro("plain_shared", &M::plain_shared)
      .def_ro("block_shared", &M::block_shared)
      .def_ro("reserved_shared", &M::reserved_shared)
      .def_ro("shared_granule", &M::shared_granule)
      .def_prop_ro("carve_outs_kb", [](const M& row) {
        return std::vector<int>(row.carve_outs_kb.begin(), row.carve_outs_kb.end());
      });
  m.def("_multiprocessors", [] {
    auto rows = multiprocessors();
    return std::vector<M>(rows.begin(), rows.end());
  });
  m.def("_multiprocessor", [](int major, int minor) { return multiprocessor(major, minor); });
  m.def("_multiprocessor_of",
        [](const Device& device) { return without_gil([&] { return multiprocessor(device); }); });
}

void bind_needs(nb::module_& m) {
  using N = KernelNeeds;
  nb::class_<N>(m, "_KernelNeeds")
      .def(
          "__init__",
          [](N* self, int registers, std::size_t shared, int max_threads, int barriers,
             int carve_out) { new (self) N{registers, shared, max_threads, barriers, carve_out}; },
          nb::arg("registers") = N{}.registers, nb::arg("shared") = N{}.shared,
          nb::arg("max_threads") = N{}.max_threads, nb::arg("barriers") = N{}.barriers,
          nb::arg("carve_out") = N{}.carve_out)
      .def_rw("registers", &N::registers)
      .def_rw("shared", &N::shared)
      .def_rw("max_threads", &N::max_threads)
      .def_rw("barriers", &N::barriers)
      .def_rw("carve_out", &N::carve_out);
  m.def("_kernel_needs",
        [](const Kernel& kernel) { return without_gil([&] { return kernel_needs(kernel); }); });
  m.def("_compiled_needs", [](const Kernel& kernel, int compute_capability) {
    return without_gil([&] {
      return kernel_needs(kernel.code(), kernel.options(), kernel.name(), compute_capability);
    });
  });
}

nb::list names_of(unsigned limits) {
  constexpr std::pair<OccupancyLimit, const char*> names[] = {
      {OccupancyLimit::threads, "threads"},   {OccupancyLimit::registers, "registers"},
      {OccupancyLimit::shared, "shared"},     {OccupancyLimit::blocks, "blocks"},
      {OccupancyLimit::barriers, "barriers"},
  };
  nb::list out;
  for (auto [limit, name] : names)
    if (limits & static_cast<unsigned>(limit)) out.append(name);
  return out;
}

nb::object bound(int limit) {
  return limit == Occupancy::kUnlimited ? nb::object(nb::none()) : nb::object(nb::int_(limit));
}

nb::dict to_dict(const Occupancy& found) {
  nb::dict out, limits;
  out["blocks"] = found.blocks;
  out["warps_per_block"] = found.warps;
  out["active_warps"] = found.active_warps;
  out["max_warps"] = found.max_warps;
  limits["threads"] = bound(found.by_threads);
  limits["registers"] = bound(found.by_registers);
  limits["shared"] = bound(found.by_shared);
  limits["blocks"] = bound(found.by_blocks);
  limits["barriers"] = bound(found.by_barriers);
  out["limits"] = limits;
  out["limited_by"] = names_of(found.limited_by);
  out["registers_per_block"] = found.registers;
  out["shared_per_block"] = found.shared;
  out["shared_of_multiprocessor"] = found.shared_in_all;
  out["needs_opt_in"] = found.needs_opt_in;
  return out;
}

}  // namespace

void bind_occupancy(nb::module_& m) {
  bind_multiprocessor(m);
  bind_needs(m);
  m.def("_occupancy",
        [](const Multiprocessor& on, const KernelNeeds& needs, int threads, std::size_t dynamic) {
          return to_dict(occupancy(on, needs, threads, dynamic));
        });
  m.def("_best_block_on",
        [](const Multiprocessor& on, const KernelNeeds& needs, int count, std::size_t dynamic) {
          BestBlock best = best_block(on, needs, count, dynamic);
          return nb::make_tuple(best.threads, best.min_grid);
        });
  m.def("_shared_that_fits",
        [](const Multiprocessor& on, const KernelNeeds& needs, int threads, int blocks) {
          return shared_that_fits(on, needs, threads, blocks);
        });
  m.def("_available_shared", [](const Kernel& kernel, int blocks, int threads) {
    return without_gil([&] { return available_shared(kernel, blocks, threads); });
  });
  m.def("_active_blocks", [](const Kernel& kernel, int threads, std::size_t shared) {
    return without_gil([&] { return active_blocks(kernel, threads, shared); });
  });
  m.def("_best_block", [](const Kernel& kernel, std::size_t shared) {
    BestBlock best = without_gil([&] { return best_block(kernel, shared); });
    return nb::make_tuple(best.threads, best.min_grid);
  });
}

}  // namespace td::python
