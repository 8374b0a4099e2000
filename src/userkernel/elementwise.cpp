// ElementwiseKernel: the expression in a loop over the broadcast shape, a run of neighbouring
// indices for each block.
//
// Where the expression does not ask for its index, axes may be walked in the order of the output's
// memory; otherwise `i` counts in C order.
#include <algorithm>
#include <sstream>

#include "array/pending.h"
#include "base/text.h"
#include "treadle/error.h"
#include "treadle/user_kernel.h"
#include "userkernel/operands.h"
#include "userkernel/variant.h"

namespace td {

using base::cat;
using userkernel::Operand;

namespace userkernel {

class ElementwiseState {
 public:
  std::vector<KernelParameter> in, out;
  std::string operation;
  ElementwiseOptions options;
  bool asks_index = false, asks_indexer = false;
  Variants variants;
};

namespace {

struct Call {
  const ElementwiseState& kernel;
  Types types;
  std::vector<Operand> operands;
  Shape shape;
  fuse::Walk walk;                  // of the element operands, in their order
  std::vector<std::size_t> walked;  // which operands these are
  bool splits = false;              // some operand needs coordinates
  bool rows = false;                // the last axis is long: a block walks pieces of rows
};

constexpr std::int64_t kLongRow = 64;
constexpr std::int64_t kPiece = 1024;  // columns of a row that a block does at once

// The head of the loop over indices: in one run, or over pieces of rows, where the other
// coordinates cost nothing per element.
std::string print_loop(const fuse::Walk& walk, bool rows, bool splits) {
  if (!rows)
    return "  const td_index _first = (td_index)blockIdx.x * _chunk;\n"
           "  const td_index _stop = _size - _first < _chunk ? _size : _first + _chunk;\n"
           "  for (td_index _i = _first + (td_index)threadIdx.x; _i < _stop; _i += "
           "(td_index)blockDim.x) {\n" +
           (splits ? fuse::split_index("_i", "_c", "_d", walk.dims.size()) : "");
  std::size_t last = walk.dims.size() - 1;
  std::string inner = cat("_d", last);
  return cat("  const td_index _pieces = (", inner, " + ", kPiece - 1, ") / ", kPiece,
             ", _total = _size / ", inner, " * _pieces;\n",
             "  const td_index _first = (td_index)blockIdx.x * _chunk;\n"
             "  const td_index _stop = _total - _first < _chunk ? _total : _first + _chunk;\n"
             "  for (td_index _t = _first; _t < _stop; ++_t) {\n"
             "  const td_index _row = _t / _pieces, _begin = (_t - _row * _pieces) * ",
             kPiece, ";\n", "  const td_index _end = ", inner, " - _begin < ", kPiece, " ? ", inner,
             " : _begin + ", kPiece, ";\n", fuse::split_index("_row", "_c", "_d", last),
             "  for (td_index _c", last, " = _begin + (td_index)threadIdx.x; _c", last,
             " < _end; _c", last, " += (td_index)blockDim.x) {\n    const td_index _i = _row * ",
             inner, " + _c", last, ";\n");
}

std::string print_kernel(const Call& call) {
  const ElementwiseState& k = call.kernel;
  const ElementwiseOptions& options = k.options;
  bool has_n = false;
  for (const Operand& operand : call.operands) has_n = has_n || operand.param->name == "n";
  std::string all = options.preamble + options.loop_prep + k.operation + options.after_loop;
  std::string where = " of kernel '" + options.name + "'";
  std::ostringstream text;
  text << print_head(call.types, call.operands, all) << "typedef "
       << (call.walk.wide ? "long long" : "int") << " td_index;\n"
       << marked("preamble" + where, options.preamble) << "extern \"C\" __global__ void "
       << entry_name(options.name) << "(" << print_parameters(call.operands)
       << "td_index _size, td_index _chunk";
  for (std::size_t d = 0; d < call.walk.dims.size(); ++d) text << ", td_index _d" << d;
  for (std::size_t w = 0; w < call.walked.size(); ++w)
    for (std::size_t d = 0; d < stride_count(call.walk, w); ++d)
      text << ", td_index _p" << call.walked[w] << "_" << d;
  if (k.asks_indexer) text << print_indexer_parameters("_ind", call.shape.size());
  text << ") {\n" << print_locals(call.operands);
  if (!has_n) text << "  const ptrdiff_t n = _size;\n  (void)n;\n";
  if (k.asks_indexer) text << print_indexer("_ind", call.shape.size(), "_size");
  text << "  {\n"
       << marked("loop_prep" + where, options.loop_prep) << "  ;\n"
       << print_loop(call.walk, call.rows, call.splits)
       << "    const ptrdiff_t i = _i;\n    (void)i;\n";
  if (k.asks_indexer) text << "    _ind.set(i);\n";
  for (std::size_t w = 0; w < call.walked.size(); ++w) {
    std::size_t at = call.walked[w];
    text << print_element(call.operands[at], at,
                          place(call.walk, w, "_i", "_c", "_p" + std::to_string(at)));
  }
  text << "    {\n"
       << marked("operation" + where, k.operation)
       << (call.rows ? "    ;}\n  }\n  }\n" : "    ;}\n  }\n")
       << marked("after_loop" + where, options.after_loop) << "  ;}\n}\n";
  return text.str();
}

std::string key_of(const Call& call) {
  std::string key;
  append_key(call.operands, key);
  key.push_back(call.walk.wide ? 'w' : 'n');
  key.push_back(call.rows ? 'r' : 'l');
  key.push_back(static_cast<char>(call.walk.dims.size()));
  for (fuse::Access access : call.walk.access) key.push_back(static_cast<char>(access));
  if (call.kernel.asks_indexer) key.push_back(static_cast<char>(call.shape.size()));
  for (const auto& [name, dtype] : call.types.placeholders) {
    key += name;
    key.push_back(static_cast<char>(dtype));
  }
  return key;
}

// The shape that the kernel runs over; CuPy's rules for `size`.
Shape find_shape(const ElementwiseState& kernel, const std::vector<Operand>& operands,
                 std::int64_t size) {
  const std::string& name = kernel.options.name;
  std::optional<Shape> shape = common_shape(name, operands);
  if (size >= 0 && shape)
    throw ValueError(cat("Specified 'size' cannot be used by kernel '", name,
                         "': an array that is not raw decides the number of indices"));
  if (size >= 0) return {size};
  if (!shape)
    throw ValueError(cat("Loop size is undecided. Kernel '", name,
                         "' got no array that is not raw; pass size=, the number of indices"));
  return *shape;
}

void add_outputs(Call& call, std::size_t given, std::int64_t size) {
  const ElementwiseState& k = call.kernel;
  for (std::size_t o = 0; o < k.out.size(); ++o) {
    const KernelParameter& param = k.out[o];
    if (given == 0) {
      if (param.raw && size < 0)
        throw ValueError(cat("Output array size is undecided: output '", param.name,
                             "' of kernel '", k.options.name,
                             "' is raw; pass size=, or the array itself"));
      Operand operand;
      operand.kind = param.raw ? Operand::Kind::raw : Operand::Kind::element;
      operand.param = &param;
      operand.output = true;
      operand.dtype = call.types.params[k.in.size() + o];
      operand.array = empty(call.shape, operand.dtype);
      call.operands.push_back(std::move(operand));
    } else if (!param.raw && call.operands[k.in.size() + o].array.shape() != call.shape) {
      throw ValueError(cat("Out shape is mismatched: output '", param.name, "' of kernel '",
                           k.options.name, "' has shape ",
                           base::tuple_text(call.operands[k.in.size() + o].array.shape()),
                           ", the operands broadcast to ", base::tuple_text(call.shape)));
    }
  }
}

void make_walk(Call& call) {
  std::vector<const array::View*> views;
  std::size_t leader = 0;
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    Operand& operand = call.operands[k];
    if (operand.kind != Operand::Kind::element) continue;
    if (operand.array.shape() != call.shape) operand.array = operand.array.broadcast_to(call.shape);
    if (operand.output && (views.empty() || !call.operands[call.walked[leader]].output))
      leader = views.size();
    call.walked.push_back(k);
    views.push_back(&array::view_of(operand.array));
  }
  std::vector<int> axes(call.shape.size());
  for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int>(k);
  bool keep = call.kernel.asks_index || views.empty();
  call.walk = fuse::make_walk(call.shape, axes, views, leader, keep);
  for (std::size_t w = 0; w < call.walked.size(); ++w)
    call.splits =
        call.splits || stride_count(call.walk, w) > 0 || call.walk.access[w] == fuse::Access::unit;
  call.rows = call.splits && call.walk.dims.back() >= kLongRow;
}

std::int64_t parts(std::int64_t length, std::int64_t size) { return (length + size - 1) / size; }

// How many blocks, and how many indices (or pieces of rows) for each. A device with few slots
// loops; one with many gives each thread one element (fuse/launch_map.cpp).
std::pair<std::int64_t, std::int64_t> deal_out(driver::DeviceState& device, const Call& call,
                                               int block_size) {
  std::int64_t items = call.walk.count, grain = block_size;
  if (call.rows) {
    std::int64_t width = call.walk.dims.back();
    items = items / width * parts(width, kPiece);
    grain = 1;
  }
  std::int64_t most = (call.rows ? 64 : 256) * fuse::resident_blocks(device);
  std::int64_t chunk = parts(parts(items, most), grain) * grain;
  return {parts(items, chunk), chunk};
}

void run(Call& call, int block_size) {
  const ElementwiseState& k = call.kernel;
  const auto& device = driver::current_device();
  array::flush(*device);
  Variant& variant = const_cast<ElementwiseState&>(k).variants.get(
      key_of(call), call.types.params, [&] { return print_kernel(call); },
      "kernel '" + k.options.name + "'", k.options.options);
  CUfunction function = variant.function(device, entry_name(k.options.name));
  auto [blocks, chunk] = deal_out(*device, call, block_size);
  bool wide = call.walk.wide;
  fuse::Arguments arguments;
  pack(arguments, call.operands);
  arguments.index(call.walk.count, wide);
  arguments.index(chunk, wide);
  for (std::int64_t dim : call.walk.dims) arguments.index(dim, wide);
  for (std::size_t w = 0; w < call.walked.size(); ++w)
    for (std::size_t d = 0; d < stride_count(call.walk, w); ++d)
      arguments.index(call.walk.strides[w][d], wide);
  if (k.asks_indexer)
    for (std::int64_t length : call.shape) arguments.add(length);
  launch(*device, function, k.options.name, blocks, static_cast<unsigned>(block_size), arguments,
         driver::current_stream(device)->handle());
}

}  // namespace
}  // namespace userkernel

ElementwiseKernel::ElementwiseKernel(const std::string& in_params, const std::string& out_params,
                                     std::string operation, ElementwiseOptions options)
    : state_(std::make_shared<userkernel::ElementwiseState>()) {
  userkernel::check_kernel_name(options.name);
  state_->in = parse_parameters(in_params, true);
  state_->out = parse_parameters(out_params, false);
  userkernel::check_names(options.name, state_->in, state_->out);
  state_->operation = std::move(operation);
  state_->options = std::move(options);
  for (const std::string* text : {&state_->operation, &state_->options.preamble,
                                  &state_->options.loop_prep, &state_->options.after_loop}) {
    state_->asks_indexer = state_->asks_indexer || userkernel::mentions(*text, "_ind");
    state_->asks_index = state_->asks_index || userkernel::mentions(*text, "i") ||
                         userkernel::mentions(*text, "_i") || state_->asks_indexer;
  }
}

std::vector<Array> ElementwiseKernel::operator()(std::span<const KernelArg> args,
                                                 const ElementwiseCall& options) const {
  const userkernel::ElementwiseState& k = *state_;
  const std::string& name = k.options.name;
  std::size_t nin = k.in.size(), all = nin + k.out.size();
  if (args.size() != nin && args.size() != all)
    throw TypeError(cat("kernel '", name, "' takes ", nin, " arguments, or ", all,
                        " with its outputs, got ", args.size()));
  if (options.block_size <= 0) throw ValueError("block_size must be greater than zero");
  int most = driver::current_device()->attribute(cuda::MAX_THREADS_PER_BLOCK);
  userkernel::Call call{k, userkernel::infer_types(name, k.in, k.out, args)};
  call.operands = userkernel::bind(name, k.in, k.out, args, call.types);
  call.shape = userkernel::find_shape(k, call.operands, options.size);
  userkernel::add_outputs(call, args.size() - nin, options.size);
  std::vector<Array> results;
  for (std::size_t o = nin; o < call.operands.size(); ++o)
    results.push_back(call.operands[o].array);
  for (std::int64_t length : call.shape)
    if (length == 0) return results;
  userkernel::separate(call.operands);
  userkernel::make_walk(call);
  userkernel::run(call, std::min(options.block_size, most));
  return results;
}

const std::string& ElementwiseKernel::name() const { return state_->options.name; }
const std::vector<KernelParameter>& ElementwiseKernel::in_params() const { return state_->in; }
const std::vector<KernelParameter>& ElementwiseKernel::out_params() const { return state_->out; }
std::vector<std::pair<std::vector<DType>, std::string>> ElementwiseKernel::codes() const {
  return state_->variants.codes();
}

}  // namespace td
