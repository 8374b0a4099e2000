// The random number generator; treadle/random.py adds NumPy's conveniences.
#include <algorithm>
#include <mutex>

#include "bind.h"

namespace td::python {
namespace {

// One generator may be used by several threads.
struct LockedGenerator {
  explicit LockedGenerator(std::uint64_t seed) : generator(seed) {}
  Generator generator;
  std::mutex mutex;
};

template <class F>
Array draw(LockedGenerator& g, const F& use) {
  return without_gil([&] {
    std::lock_guard lock(g.mutex);
    return use(g.generator);
  });
}

Array call_draw(const std::string& name, nb::handle parameters, nb::handle shape, nb::handle dtype,
                std::uint64_t seed, std::uint64_t number) {
  auto row = std::find_if(random::distributions().begin(), random::distributions().end(),
                          [&](const auto& r) { return r.name == name; });
  if (row == random::distributions().end())
    throw InternalError("there is no distribution of the name " + name);
  std::vector<Operand> operands;
  for (nb::handle parameter : parameters) operands.push_back(require_operand(parameter));
  Shape s = to_shape(shape);
  DType d = to_dtype(dtype);
  return without_gil([&] { return random::draw(row->distribution, operands, s, d, seed, number); });
}

}  // namespace

void bind_random(nb::module_& m) {
  m.def("_random_draw", call_draw);
  nb::class_<LockedGenerator>(m, "Generator")
      .def("__init__",
           [](LockedGenerator* self, std::uint64_t seed) { new (self) LockedGenerator(seed); })
      .def("random",
           [](LockedGenerator& g, nb::handle shape, nb::handle dtype) {
             Shape s = to_shape(shape);
             DType d = to_dtype(dtype);
             return draw(g, [&](Generator& r) { return r.random(s, d); });
           })
      .def("standard_normal",
           [](LockedGenerator& g, nb::handle shape, nb::handle dtype) {
             Shape s = to_shape(shape);
             DType d = to_dtype(dtype);
             return draw(g, [&](Generator& r) { return r.standard_normal(s, d); });
           })
      .def("integers", [](LockedGenerator& g, std::int64_t low, std::int64_t high, nb::handle shape,
                          nb::handle dtype) {
        Shape s = to_shape(shape);
        DType d = to_dtype(dtype);
        return draw(g, [&](Generator& r) { return r.integers(low, high, s, d); });
      });
}

}  // namespace td::python
