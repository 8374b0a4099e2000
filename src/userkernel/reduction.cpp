// ReductionKernel: map every element, combine, and turn each accumulator into results.
//
// As src/fuse/launch_reduce.cpp: lanes of a block share a result (row), or a thread owns one
// (column); results that cannot fill the device are split into chunks, whose accumulators a second
// kernel combines. The order depends on shapes and device only.
#include <algorithm>
#include <cstdlib>
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

class ReductionState {
 public:
  std::vector<KernelParameter> in, out;
  std::string map_expr, reduce_expr, post_map_expr;
  std::optional<std::string> identity;
  ReductionOptions options;
  bool asks_index = false;    // i or _J: both count in C order
  bool asks_indexer = false;  // _in_ind or _out_ind
  Variants variants;

  bool ordered() const { return asks_index || asks_indexer; }
};

namespace {

constexpr std::int64_t kShortRow = 32;   // shorter rows are left to one thread each
constexpr std::int64_t kLongRow = 1024;  // longer rows get a whole block

struct Call {
  const ReductionState& kernel;
  Types types;
  std::vector<Operand> operands;
  Shape shape;                // of the elements
  std::vector<bool> reduced;  // per axis
  Shape kept_shape;
  // The elements that are walked, in the order of `walked`; the last view of each walk is `index`,
  // whose offsets are C-order indices into `shape`.
  fuse::Walk kept, rows;
  std::vector<std::size_t> walked;
  bool column = false;
  int lanes = 256;
  int splits = 1;
  std::int64_t chunk = 0;
  bool wide = false;
};

// ---- text ----

class Printer {
 public:
  explicit Printer(const Call& call) : call_(call), k_(call.kernel) {}

  std::string text() {
    std::string all = k_.options.preamble + k_.map_expr + k_.reduce_expr + k_.post_map_expr +
                      k_.options.reduce_type + k_.identity.value_or("");
    std::string type = k_.options.reduce_type.empty()
                           ? std::string(type_name(call_.types.params[k_.in.size()]))
                           : k_.options.reduce_type;
    out_ << print_head(call_.types, call_.operands, all) << "typedef "
         << (call_.wide ? "long long" : "int") << " td_index;\n"
         << marked("preamble" + where(), k_.options.preamble) << "typedef"
         << marked("reduce_type" + where(), type) << " _type_reduce;\n"
         << "TD_FN _type_reduce _combine(_type_reduce a, _type_reduce b) { return ("
         << marked("reduce_expr" + where(), k_.reduce_expr) << "); }\n";
    if (call_.splits > 1)
      out_ << "extern \"C\" { __device__ char td_accumulator[sizeof(_type_reduce)]; }\n";
    main_kernel();
    if (call_.splits > 1) finish_kernel();
    return out_.str();
  }

 private:
  std::string where() const { return " of kernel '" + k_.options.name + "'"; }

  void head(const std::string& name) {
    out_
        << "extern \"C\" __global__ void __launch_bounds__(256) " << name << "("
        << print_parameters(call_.operands)
        << "_type_reduce* _part, td_index _outputs, td_index _length, td_index _chunk, int _splits";
    walk_parameters(call_.kept, "_k");
    walk_parameters(call_.rows, "_r");
    if (k_.asks_indexer)
      out_ << print_indexer_parameters("_in_ind", call_.shape.size())
           << print_indexer_parameters("_out_ind", call_.kept_shape.size());
    out_ << ") {\n" << print_locals(call_.operands);
    if (k_.asks_indexer)
      out_ << print_indexer("_in_ind", call_.shape.size(), "(ptrdiff_t)_outputs * _length")
           << print_indexer("_out_ind", call_.kept_shape.size(), "_outputs");
  }

  void walk_parameters(const fuse::Walk& walk, const std::string& prefix) {
    for (std::size_t d = 0; d < walk.dims.size(); ++d) out_ << ", td_index " << prefix << "d" << d;
    for (std::size_t w = 0; w < walk.access.size(); ++w)
      for (std::size_t d = 0; d < stride_count(walk, w); ++d)
        out_ << ", td_index " << prefix << w << "_" << d;
  }

  static bool splits(const fuse::Walk& walk) {
    for (std::size_t w = 0; w < walk.access.size(); ++w)
      if (walk.access[w] != fuse::Access::flat && walk.access[w] != fuse::Access::constant)
        return true;
    return false;
  }

  void shared() {
    if (call_.lanes > 1)
      out_ << "  __shared__ alignas(16) char _bytes[256 * sizeof(_type_reduce)];\n"
              "  _type_reduce* _shared = reinterpret_cast<_type_reduce*>(_bytes);\n";
  }

  // Leaves the combination of the first `_valid` lanes in lane 0's `_s`.
  void tree(int lanes, const std::string& stride) {
    out_ << "    _shared[threadIdx.x] = _s;\n    __syncthreads();\n"
         << "    for (int _half = " << lanes / 2 << "; _half > 0; _half /= 2) {\n"
         << "      if (_lane < _half && _lane + _half < _valid) {\n"
         << "        _s = _combine(_s, _shared[threadIdx.x + _half * " << stride << "]);\n"
         << "        _shared[threadIdx.x] = _s;\n      }\n"
         << "      if (_valid > _half) _valid = _half;\n      __syncthreads();\n    }\n";
  }

  std::string start() const {
    return k_.identity ? cat(" = _type_reduce(", marked("identity" + where(), *k_.identity), ")")
                       : "";
  }

  void accumulate(const std::string& condition, const std::string& value) {
    if (k_.identity)
      out_ << "      _s = _combine(_s, " << value << ");\n";
    else
      out_ << "      _s = " << condition << " ? " << value << " : _combine(_s, " << value << ");\n";
  }

  void element(std::size_t w, std::size_t at) {
    std::string name = std::to_string(w);
    out_ << print_element(
        call_.operands[at], at,
        cat("_b", w, " + (", place(call_.rows, w, "_r", "_rc", "_r" + name), ")"));
  }

  void main_kernel() {
    int lanes = call_.lanes, per = 256 / lanes;
    std::string slot =
        call_.column ? cat("(int)threadIdx.x % ", per) : cat("(int)threadIdx.x / ", lanes);
    std::string lane =
        call_.column ? cat("(int)threadIdx.x / ", per) : cat("(int)threadIdx.x % ", lanes);
    head(entry_name(k_.options.name));
    shared();
    out_ << "  const int _slot = " << slot << ", _lane = " << lane << ";\n  (void)_lane;\n"
         << "  const long long _groups = ((long long)_outputs + " << per - 1 << ") / " << per
         << " * _splits;\n"
         << "  for (long long _g = blockIdx.x; _g < _groups; _g += gridDim.x) {\n"
         << "    const int _split = (int)(_g % _splits);\n"
         << "    const td_index _o = (td_index)(_g / _splits) * " << per << " + _slot;\n"
         << "    const td_index _begin = (td_index)_split * _chunk;\n"
         << "    const td_index _end = _length - _begin < _chunk ? _length : _begin + _chunk;\n"
         << "    _type_reduce _s" << start() << ";\n    if (_o < _outputs) {\n";
    bases();
    out_ << "#pragma unroll 4\n    for (td_index _r = _begin + _lane; _r < _end; _r += " << lanes
         << ") {\n";
    if (splits(call_.rows)) out_ << fuse::split_index("_r", "_rc", "_rd", call_.rows.dims.size());
    for (std::size_t w = 0; w < call_.walked.size(); ++w)
      if (!call_.operands[call_.walked[w]].output) element(w, call_.walked[w]);
    if (k_.ordered()) indices();
    out_ << "      const _type_reduce _v = static_cast<_type_reduce>("
         << marked("map_expr" + where(), k_.map_expr) << ");\n";
    accumulate("_r == _begin + _lane", "_v");
    out_ << "    }\n    }\n";
    if (lanes > 1) {
      out_ << "    int _valid = _end - _begin < " << lanes << " ? (int)(_end - _begin) : " << lanes
           << ";\n";
      tree(lanes, call_.column ? std::to_string(per) : "1");
    }
    out_ << "    if (_o < _outputs && _lane == 0) {\n";
    if (call_.splits > 1)
      out_ << "      _part[(long long)_o * _splits + _split] = _s;\n";
    else
      results();
    out_ << "    }\n";
    if (lanes > 1) out_ << "    __syncthreads();\n";
    out_ << "  }\n}\n";
  }

  // Where each operand's row begins.
  void bases() {
    if (splits(call_.kept)) out_ << fuse::split_index("_o", "_kc", "_kd", call_.kept.dims.size());
    for (std::size_t w = 0; w < call_.kept.access.size(); ++w) {
      bool index = w == call_.walked.size();
      if (index ? !k_.ordered() : call_.operands[call_.walked[w]].output) continue;
      out_ << "    const td_index _b" << w << " = "
           << place(call_.kept, w, "_o", "_kc", "_k" + std::to_string(w)) << ";\n";
    }
  }

  void indices() {
    std::size_t w = call_.walked.size();
    out_ << "      const ptrdiff_t i = _b" << w << " + ("
         << place(call_.rows, w, "_r", "_rc", "_r" + std::to_string(w)) << ");\n"
         << "      const ptrdiff_t _J = _r;\n      (void)i, (void)_J;\n";
    if (k_.asks_indexer) out_ << "      _in_ind.set(i);\n      _out_ind.set(_o);\n";
  }

  // The outputs' elements of result `_o`, and the user's last step.
  void results() {
    if (splits(call_.kept)) out_ << fuse::split_index("_o", "_kc", "_kd", call_.kept.dims.size());
    for (std::size_t w = 0; w < call_.walked.size(); ++w) {
      std::size_t at = call_.walked[w];
      if (call_.operands[at].output)
        out_ << print_element(call_.operands[at], at,
                              place(call_.kept, w, "_o", "_kc", "_k" + std::to_string(w)));
    }
    if (k_.asks_indexer) out_ << "      _out_ind.set(_o);\n";
    out_ << "      _type_reduce a = _s;\n      {"
         << marked("post_map_expr" + where(), k_.post_map_expr) << "      ;}\n";
  }

  void finish_kernel() {
    head(entry_name(k_.options.name + "_finish"));
    out_ << "  __shared__ alignas(16) char _bytes[256 * sizeof(_type_reduce)];\n"
            "  _type_reduce* _shared = reinterpret_cast<_type_reduce*>(_bytes);\n"
            "  const int _lane = (int)threadIdx.x;\n"
            "  for (td_index _o = blockIdx.x; _o < _outputs; _o += gridDim.x) {\n"
            "    int _valid = _splits < 256 ? _splits : 256;\n"
            "    _type_reduce _s"
         << start()
         << ";\n    for (int _r = _lane; _r < _splits; _r += 256) {\n"
            "      const _type_reduce _v = _part[(long long)_o * _splits + _r];\n";
    accumulate("_r == _lane", "_v");
    out_ << "    }\n";
    tree(256, "1");
    out_ << "    if (_lane == 0) {\n";
    results();
    out_ << "    }\n    __syncthreads();\n  }\n}\n";
  }

  const Call& call_;
  const ReductionState& k_;
  std::ostringstream out_;
};

std::string key_of(const Call& call) {
  std::string key;
  auto put = [&](auto value) { key.push_back(static_cast<char>(value)); };
  append_key(call.operands, key);
  for (const fuse::Walk* walk : {&call.kept, &call.rows}) {
    put(walk->dims.size());
    for (fuse::Access access : walk->access) put(access);
  }
  put(call.wide);
  put(call.column);
  put(call.lanes & 0xff);
  put(call.splits > 1);
  if (call.kernel.asks_indexer) {
    put(call.shape.size());
    put(call.kept_shape.size());
  }
  for (const auto& [name, dtype] : call.types.placeholders) {
    key += name;
    put(dtype);
  }
  return key;
}

// ---- geometry ----

void find_axes(Call& call, const std::optional<Axes>& axes) {
  int n = static_cast<int>(call.shape.size());
  call.reduced.assign(call.shape.size(), !axes);
  if (axes)
    for (int axis : array::normalize_axes(*axes, n))
      call.reduced[static_cast<std::size_t>(axis)] = true;
  for (std::size_t k = 0; k < call.shape.size(); ++k)
    if (!call.reduced[k]) call.kept_shape.push_back(call.shape[k]);
}

// Outputs over the kept axes; what is returned has the reduced axes too when they are kept as 1.
std::vector<Array> add_outputs(Call& call, std::size_t given, bool keepdims) {
  const ReductionState& k = call.kernel;
  Shape wanted = call.kept_shape;
  if (keepdims) {
    wanted = call.shape;
    for (std::size_t d = 0; d < wanted.size(); ++d)
      if (call.reduced[d]) wanted[d] = 1;
  }
  std::vector<Array> results;
  for (std::size_t o = 0; o < k.out.size(); ++o) {
    const KernelParameter& param = k.out[o];
    if (param.raw)
      throw TypeError(cat("kernel '", k.options.name, "': output '", param.name,
                          "' cannot be raw in a reduction"));
    if (given == 0) {
      Operand operand;
      operand.kind = Operand::Kind::element;
      operand.param = &param;
      operand.output = true;
      operand.dtype = call.types.params[k.in.size() + o];
      operand.array = empty(wanted, operand.dtype);
      call.operands.push_back(std::move(operand));
    }
    Operand& operand = call.operands[k.in.size() + o];
    if (operand.array.shape() != wanted)
      throw ValueError(cat("Out shape is mismatched: output '", param.name, "' of kernel '",
                           k.options.name, "' has shape ", base::tuple_text(operand.array.shape()),
                           ", the result ", base::tuple_text(wanted)));
    results.push_back(operand.array);
  }
  return results;
}

// An output's view with zero strides on the reduced axes, so that it walks beside the elements.
array::View output_over_shape(const Call& call, const Array& output, bool keepdims) {
  array::View view = array::view_of(output);
  Strides strides(call.shape.size(), 0);
  std::size_t next = 0;
  for (std::size_t k = 0; k < call.shape.size(); ++k) {
    if (!call.reduced[k]) strides[k] = view.strides[keepdims ? k : next++];
  }
  view.shape = call.shape;
  view.strides = std::move(strides);
  return view;
}

bool fast_axis_is_kept(const Call& call, const array::View& lead) {
  int fast = -1;
  for (std::size_t k = 0; k < lead.strides.size(); ++k) {
    auto at = static_cast<std::size_t>(fast);
    if (lead.strides[k] != 0 && call.shape[k] > 1 &&
        (fast < 0 || std::llabs(lead.strides[k]) <= std::llabs(lead.strides[at])))
      fast = static_cast<int>(k);
  }
  return fast >= 0 && !call.reduced[static_cast<std::size_t>(fast)];
}

void choose_splits(driver::DeviceState& device, Call& call) {
  std::int64_t outputs = call.kept.count, length = call.rows.count, lanes = call.lanes;
  std::int64_t per = fuse::kBlock / lanes;
  std::int64_t blocks = std::max<std::int64_t>((outputs + per - 1) / per, 1);
  std::int64_t least = lanes == 1 ? 64 : lanes * 16;  // elements worth a chunk
  std::int64_t wanted = std::max<std::int64_t>(1, fuse::resident_blocks(device) / blocks);
  std::int64_t splits = std::clamp<std::int64_t>((length + least - 1) / least, 1, wanted);
  std::int64_t grain = lanes * 4;
  call.chunk =
      std::max<std::int64_t>(((length + splits - 1) / splits + grain - 1) / grain * grain, 1);
  call.splits = static_cast<int>(std::max<std::int64_t>(1, (length + call.chunk - 1) / call.chunk));
}

void make_walks(driver::DeviceState& device, Call& call, bool keepdims) {
  std::vector<array::View> views;
  views.reserve(call.operands.size() + 1);
  std::size_t leader = 0;
  int most = -1;
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    Operand& operand = call.operands[k];
    if (operand.kind != Operand::Kind::element) continue;
    if (operand.output) {
      views.push_back(output_over_shape(call, operand.array, keepdims));
    } else {
      if (operand.array.shape() != call.shape)
        operand.array = operand.array.broadcast_to(call.shape);
      views.push_back(array::view_of(operand.array));
      int steps = 0;
      for (std::int64_t s : views.back().strides) steps += s != 0;
      if (steps > most) most = steps, leader = views.size() - 1;
    }
    call.walked.push_back(k);
  }
  views.push_back({nullptr, call.shape, array::contiguous_strides(call.shape, 1), 0, DType::int8});
  std::vector<const array::View*> pointers;
  for (const array::View& view : views) pointers.push_back(&view);
  if (!call.kernel.ordered()) pointers.pop_back();
  std::vector<int> kept, reduced;
  for (std::size_t k = 0; k < call.shape.size(); ++k)
    (call.reduced[k] ? reduced : kept).push_back(static_cast<int>(k));
  bool keep_order = call.kernel.ordered();
  call.rows = fuse::make_walk(call.shape, reduced, pointers, leader, keep_order);
  call.kept = fuse::make_walk(call.shape, kept, pointers, leader, keep_order);
  call.wide = call.kept.wide || call.rows.wide;
  std::int64_t length = call.rows.count;
  call.column = (fast_axis_is_kept(call, views[leader]) && call.kept.count >= kShortRow) ||
                (length < kShortRow && call.kept.count > 1);
  // Few results of long columns are shared by eight threads each, which still read whole lines.
  bool few = call.kept.count < fuse::kBlock * fuse::resident_blocks(device);
  if (call.column)
    call.lanes = few && length >= kLongRow ? 8 : 1;
  else
    call.lanes = length >= kLongRow || call.kept.count == 1 ? 256 : 32;
  choose_splits(device, call);
}

void add_walk(fuse::Arguments& arguments, const fuse::Walk& walk, bool wide) {
  for (std::int64_t dim : walk.dims) arguments.index(dim, wide);
  for (std::size_t w = 0; w < walk.access.size(); ++w)
    for (std::size_t d = 0; d < stride_count(walk, w); ++d)
      arguments.index(walk.strides[w][d], wide);
}

void run(Call& call) {
  const ReductionState& k = call.kernel;
  const auto& device = driver::current_device();
  array::flush(*device);
  Variant& variant = const_cast<ReductionState&>(k).variants.get(
      key_of(call), call.types.params, [&] { return Printer(call).text(); },
      "kernel '" + k.options.name + "'", k.options.options);
  CUfunction function = variant.function(device, entry_name(k.options.name));
  CUstream stream = driver::current_stream(device)->handle();
  std::int64_t outputs = call.kept.count;
  std::optional<driver::Memory> part;
  if (call.splits > 1)
    part.emplace(device,
                 static_cast<std::size_t>(outputs) * static_cast<std::size_t>(call.splits) *
                     variant.size_of(device, "td_accumulator"),
                 stream);
  fuse::Arguments arguments;
  pack(arguments, call.operands);
  arguments.add(part ? part->address() : CUdeviceptr{0});
  arguments.index(outputs, call.wide);
  arguments.index(call.rows.count, call.wide);
  arguments.index(call.chunk, call.wide);
  arguments.add(call.splits);
  add_walk(arguments, call.kept, call.wide);
  add_walk(arguments, call.rows, call.wide);
  if (k.asks_indexer) {
    for (std::int64_t length : call.shape) arguments.add(length);
    for (std::int64_t length : call.kept_shape) arguments.add(length);
  }
  std::int64_t per = fuse::kBlock / call.lanes;
  std::int64_t blocks = (outputs + per - 1) / per * call.splits;
  launch(*device, function, k.options.name, std::min(blocks, 4 * fuse::resident_blocks(*device)),
         fuse::kBlock, arguments, stream);
  if (call.splits == 1) return;
  std::string finish = k.options.name + "_finish";
  launch(*device, variant.function(device, entry_name(finish)), finish,
         std::min(outputs, 8 * fuse::resident_blocks(*device)), fuse::kBlock, arguments, stream);
}

Shape element_shape(const ReductionState& k, const std::vector<Operand>& operands) {
  std::vector<Operand> inputs(operands.begin(),
                              operands.begin() + static_cast<std::ptrdiff_t>(k.in.size()));
  std::optional<Shape> shape = common_shape(k.options.name, inputs);
  if (!shape)
    throw ValueError(cat("Loop size is undecided. Kernel '", k.options.name,
                         "' needs an input array that is not raw"));
  return *shape;
}

std::int64_t count(const Shape& shape) {
  std::int64_t n = 1;
  for (std::int64_t length : shape) n *= length;
  return n;
}

}  // namespace
}  // namespace userkernel

ReductionKernel::ReductionKernel(const std::string& in_params, const std::string& out_params,
                                 std::string map_expr, std::string reduce_expr,
                                 std::string post_map_expr, std::optional<std::string> identity,
                                 ReductionOptions options)
    : state_(std::make_shared<userkernel::ReductionState>()) {
  userkernel::check_kernel_name(options.name);
  userkernel::ReductionState& k = *state_;
  k.in = parse_parameters(in_params, true);
  k.out = parse_parameters(out_params, false);
  if (k.out.empty()) throw ValueError(cat("kernel '", options.name, "' has no output parameter"));
  userkernel::check_names(options.name, k.in, k.out);
  k.map_expr = std::move(map_expr);
  k.reduce_expr = std::move(reduce_expr);
  k.post_map_expr = std::move(post_map_expr);
  if (identity && !identity->empty()) k.identity = std::move(identity);
  k.options = std::move(options);
  for (const std::string* text : {&k.map_expr, &k.post_map_expr, &k.options.preamble}) {
    k.asks_index =
        k.asks_index || userkernel::mentions(*text, "i") || userkernel::mentions(*text, "_J");
    k.asks_indexer = k.asks_indexer || userkernel::mentions(*text, "_in_ind") ||
                     userkernel::mentions(*text, "_out_ind");
  }
}

std::vector<Array> ReductionKernel::operator()(std::span<const KernelArg> args,
                                               const ReductionCall& options) const {
  const userkernel::ReductionState& k = *state_;
  const std::string& name = k.options.name;
  std::size_t nin = k.in.size(), all = nin + k.out.size();
  if (args.size() != nin && args.size() != all)
    throw TypeError(cat("kernel '", name, "' takes ", nin, " arguments, or ", all,
                        " with its outputs, got ", args.size()));
  userkernel::Call call{k, userkernel::infer_types(name, k.in, k.out, args), {}, {}, {}, {}, {}, {},
                        {}};
  call.operands = userkernel::bind(name, k.in, k.out, args, call.types);
  call.shape = userkernel::element_shape(k, call.operands);
  userkernel::find_axes(call, options.axes);
  std::vector<Array> results = userkernel::add_outputs(call, args.size() - nin, options.keepdims);
  if (userkernel::count(call.kept_shape) == 0) return results;
  if (userkernel::count(call.shape) == 0 && !k.identity)
    throw ValueError(
        cat("zero-size array to reduction operation ", name, " which has no identity"));
  userkernel::separate(call.operands);
  userkernel::make_walks(*driver::current_device(), call, options.keepdims);
  userkernel::run(call);
  return results;
}

const std::string& ReductionKernel::name() const { return state_->options.name; }
const std::vector<KernelParameter>& ReductionKernel::in_params() const { return state_->in; }
const std::vector<KernelParameter>& ReductionKernel::out_params() const { return state_->out; }
std::vector<std::pair<std::vector<DType>, std::string>> ReductionKernel::codes() const {
  return state_->variants.codes();
}

}  // namespace td
