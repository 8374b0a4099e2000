// ElementwiseKernel and ReductionKernel: arguments in, arrays out. The Python classes are in
// python/treadle/_user_kernels.py.
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "kernel_args.h"
#include "treadle/user_kernel.h"

namespace td::python {
namespace {

nb::list parameters(const std::vector<KernelParameter>& list) {
  nb::list result;
  for (const KernelParameter& p : list) {
    nb::dict row;
    row["name"] = p.name;
    row["ctype"] = p.type;
    row["dtype"] = p.dtype ? nb::object(nb::borrow(numpy_dtype(*p.dtype))) : nb::object(nb::none());
    row["raw"] = p.raw;
    row["is_const"] = p.is_const;
    result.append(row);
  }
  return result;
}

template <class Kernel>
nb::list codes(const Kernel& kernel) {
  nb::list result;
  for (const auto& [dtypes, text] : kernel.codes()) {
    nb::list types;
    for (DType dtype : dtypes) types.append(numpy_dtype(dtype));
    result.append(nb::make_tuple(nb::tuple(types), text));
  }
  return result;
}

nb::object outputs(std::vector<Array> arrays) {
  nb::list result;
  for (Array& array : arrays) result.append(wrap(std::move(array)));
  return nb::tuple(result);
}

nb::object call_elementwise(const ElementwiseKernel& kernel, nb::tuple args, std::int64_t size,
                            int block_size) {
  std::vector<KernelArg> list = to_kernel_args(args.ptr());
  return outputs(without_gil([&] { return kernel(list, {size, block_size}); }));
}

nb::object call_reduction(const ReductionKernel& kernel, nb::tuple args, nb::handle axis,
                          bool keepdims) {
  std::vector<KernelArg> list = to_kernel_args(args.ptr());
  std::optional<Axes> axes = to_axes(axis);
  return outputs(without_gil([&] { return kernel(list, {axes, keepdims}); }));
}

template <class Kernel>
void bind_facts(nb::class_<Kernel>& cls) {
  cls.def_prop_ro("in_params", [](const Kernel& k) { return parameters(k.in_params()); })
      .def_prop_ro("out_params", [](const Kernel& k) { return parameters(k.out_params()); })
      .def("codes", codes<Kernel>);
}

}  // namespace

void bind_user_kernel(nb::module_& m) {
  nb::class_<ElementwiseKernel> elementwise(m, "_ElementwiseKernel");
  elementwise
      .def("__init__",
           [](ElementwiseKernel* self, const std::string& in, const std::string& out,
              std::string operation, std::string name, std::string preamble, std::string loop_prep,
              std::string after_loop, std::vector<std::string> options) {
             new (self)
                 ElementwiseKernel(in, out, std::move(operation),
                                   {std::move(name), std::move(preamble), std::move(loop_prep),
                                    std::move(after_loop), std::move(options)});
           })
      .def("__call__", call_elementwise, nb::arg("args"), nb::arg("size"), nb::arg("block_size"));
  bind_facts(elementwise);
  nb::class_<ReductionKernel> reduction(m, "_ReductionKernel");
  reduction
      .def(
          "__init__",
          [](ReductionKernel* self, const std::string& in, const std::string& out, std::string map,
             std::string reduce, std::string post, std::optional<std::string> identity,
             std::string name, std::string type, std::string preamble,
             std::vector<std::string> options) {
            new (self) ReductionKernel(
                in, out, std::move(map), std::move(reduce), std::move(post), std::move(identity),
                {std::move(name), std::move(type), std::move(preamble), std::move(options)});
          },
          nb::arg("in_params"), nb::arg("out_params"), nb::arg("map_expr"), nb::arg("reduce_expr"),
          nb::arg("post_map_expr"), nb::arg("identity").none(), nb::arg("name"),
          nb::arg("reduce_type"), nb::arg("preamble"), nb::arg("options"))
      .def("__call__", call_reduction, nb::arg("args"), nb::arg("axis").none(),
           nb::arg("keepdims"));
  bind_facts(reduction);
}

}  // namespace td::python
