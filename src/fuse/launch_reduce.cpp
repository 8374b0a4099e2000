// Reduction kernels, with the element-wise work in front of them fused in. Two shapes:
//   row     the lanes of a block (or of 32 threads) share one result: the fast axis is reduced
//   column  a thread owns one result: the fast axis is kept, or rows are very short
// When the results alone cannot fill the device, each is split into chunks, and a second small
// kernel combines the partial accumulators. The order of combination depends on the shape only, so
// results repeat exactly.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "fuse/geometry.h"
#include "fuse/kernel_cache.h"

namespace td::fuse {
namespace {

constexpr std::int64_t kShortRow = 32;   // shorter rows are left to one thread each
constexpr std::int64_t kLongRow = 1024;  // longer rows get a whole block
constexpr std::size_t kAccumulatorBytes =
    32;  // the largest accumulator: a complex128 with its place

struct Plan {
  Walk kept, reduced;  // operands: the leaves; `kept` has the result behind them
  bool column = false;
  int lanes = 256;
  int width = 1;  // elements per access in a row
  int splits = 1;
  std::int64_t chunk = 0;
  bool wide = false;
  std::vector<CUdeviceptr> addresses;
};

std::size_t leader(const Program& program) {
  std::size_t best = 0;
  int most = -1;
  for (std::size_t k = 0; k < program.leaves.size(); ++k) {
    int steps = 0;
    for (std::int64_t s : program.leaves[k].strides) steps += s != 0;
    if (steps > most) {
      most = steps;
      best = k;
    }
  }
  return best;
}

// True when the axis with the smallest stride is kept.
bool fast_axis_is_kept(const Program& program) {
  if (program.leaves.empty()) return false;
  const Strides& s = program.leaves[leader(program)].strides;
  int fast = -1;
  for (std::size_t k = 0; k < s.size(); ++k)
    if (s[k] != 0 && program.shape[k] > 1 && (fast < 0 || std::llabs(s[k]) <= std::llabs(s[fast])))
      fast = static_cast<int>(k);
  return fast >= 0 && !program.reduced[fast];
}

// The result's view with zero strides on the reduced axes, so that it walks beside the leaves.
View result_over_shape(const Program& program) {
  View view = program.out;
  view.shape = program.shape;
  view.strides.assign(program.shape.size(), 0);
  std::size_t next = 0;
  for (std::size_t k = 0; k < program.shape.size(); ++k)
    if (!program.reduced[k]) view.strides[k] = program.out.strides[next++];
  return view;
}

int row_width(const Program& program, const Plan& plan) {
  std::size_t largest = 1;
  for (std::size_t k = 0; k < program.leaves.size(); ++k) {
    if (plan.reduced.access[k] == Access::constant) continue;
    if (plan.reduced.access[k] != Access::flat) return 1;
    largest = std::max(largest, itemsize(program.leaves[k].dtype));
  }
  auto width = static_cast<std::int64_t>(16 / largest);
  for (std::size_t k = 0; k < program.leaves.size(); ++k) {
    if (plan.reduced.access[k] == Access::constant) continue;
    if (plan.addresses[k] % (static_cast<std::size_t>(width) * itemsize(program.leaves[k].dtype)) !=
        0)
      return 1;
    for (std::int64_t stride : plan.kept.strides[k])
      if (stride % width != 0) return 1;
  }
  return static_cast<int>(width);
}

void choose_splits(driver::DeviceState& device, Plan& plan) {
  std::int64_t outputs = plan.kept.count, length = plan.reduced.count;
  std::int64_t per_block = plan.column ? kBlock : kBlock / plan.lanes;
  std::int64_t blocks = (outputs + per_block - 1) / per_block;
  std::int64_t least = plan.column ? 64 : std::int64_t{plan.lanes} * 16;  // elements worth a chunk
  std::int64_t wanted =
      std::max<std::int64_t>(1, resident_blocks(device) / std::max<std::int64_t>(blocks, 1));
  std::int64_t splits = std::clamp<std::int64_t>((length + least - 1) / least, 1, wanted);
  std::int64_t grain = plan.column ? 4 : std::int64_t{plan.lanes} * plan.width * 4;
  plan.chunk = ((length + splits - 1) / splits + grain - 1) / grain * grain;
  plan.splits =
      plan.chunk > 0
          ? static_cast<int>(std::max<std::int64_t>(1, (length + plan.chunk - 1) / plan.chunk))
          : 1;
}

Plan make_plan(driver::DeviceState& device, const Program& program) {
  Plan plan;
  std::vector<const View*> operands;
  std::vector<int> kept, reduced;
  for (const View& leaf : program.leaves) {
    operands.push_back(&leaf);
    plan.addresses.push_back(leaf.storage->address() + static_cast<CUdeviceptr>(leaf.offset));
  }
  for (std::size_t k = 0; k < program.shape.size(); ++k)
    (program.reduced[k] ? reduced : kept).push_back(static_cast<int>(k));
  std::size_t lead = leader(program);
  View result = result_over_shape(program);
  bool places = info(program.reduction).takes_one_axis();  // an index counts in C order
  plan.reduced = make_walk(program.shape, reduced, operands, lead, places || operands.empty());
  operands.push_back(&result);
  plan.kept = make_walk(program.shape, kept, operands, lead, false);
  plan.wide = plan.kept.wide || plan.reduced.wide;
  std::int64_t length = plan.reduced.count;
  plan.column = (fast_axis_is_kept(program) && plan.kept.count >= kShortRow) ||
                (length < kShortRow && plan.kept.count > 1);
  plan.lanes = length >= kLongRow || plan.kept.count == 1 ? 256 : 32;
  plan.width = plan.column ? 1 : row_width(program, plan);
  choose_splits(device, plan);
  return plan;
}

class ReducePrinter {
 public:
  ReducePrinter(const Program& program, const Plan& plan) : program_(program), plan_(plan) {}

  std::string text() {
    const ReductionInfo& row = info(program_.reduction);
    out_ << print_prelude(program_, plan_.wide) << "typedef " << row.functor << "<"
         << cuda_name(program_.input) << "> F;\ntypedef F::A A;\n\n";
    if (plan_.column)
      column_kernel();
    else
      row_kernel();
    return out_.str();
  }

  // The second kernel is a text of its own, since most reductions do without it.
  std::string finish_text() {
    bool half = is_half(program_.input), complex = info(program_.input).kind == 'c';
    out_ << device_headers(half, complex, true, false) << "\ntypedef "
         << (plan_.wide ? "long long" : "int") << " td_index;\ntypedef "
         << info(program_.reduction).functor << "<" << cuda_name(program_.input)
         << "> F;\ntypedef F::A A;\n\n";
    finish_kernel();
    return out_.str();
  }

 private:
  std::size_t leaves() const { return program_.leaves.size(); }
  std::string type(std::size_t k) const { return std::string(cuda_name(program_.leaves[k].dtype)); }
  std::string out_type() const { return std::string(cuda_name(program_.output)); }

  static std::string sum(const std::string& coordinate, const std::string& stride,
                         std::size_t count) {
    std::string text;
    for (std::size_t d = 0; d < count; ++d)
      text +=
          (d ? " + " : "") + coordinate + std::to_string(d) + " * " + stride + std::to_string(d);
    return text.empty() ? "0" : text;
  }

  void walk_parameters(const Walk& walk, const char* dim, const char* stride, std::size_t first,
                       std::size_t last) {
    for (std::size_t d = 0; d < walk.dims.size(); ++d) out_ << ", td_index " << dim << d;
    for (std::size_t k = first; k < last; ++k)
      for (std::size_t d = 0; d < walk.dims.size(); ++d)
        out_ << ", td_index " << stride << k << "_" << d;
  }

  void head(const char* name) {
    out_ << "extern \"C\" __global__ void __launch_bounds__(256) " << name << "("
         << parameter_list(program_) << out_type()
         << "* out, A* part, td_index outputs, td_index length, td_index chunk, int splits, double "
            "count";
    walk_parameters(plan_.kept, "kd", "k", 0, leaves() + 1);
    walk_parameters(plan_.reduced, "rd", "r", 0, leaves());
    out_ << ") {\n";
  }

  // Pointers p<k> to the first element of result m, and the range of this chunk.
  void begin_result() {
    out_ << split_index("m", "c", "kd", plan_.kept.dims.size());
    for (std::size_t k = 0; k < leaves(); ++k)
      out_ << "      const " << type(k) << "* p" << k << " = a" << k << " + ("
           << sum("c", "k" + std::to_string(k) + "_", plan_.kept.dims.size()) << ");\n";
    out_ << "      const td_index first = split * chunk;\n"
         << "      const td_index last = first + chunk < length ? first + chunk : length;\n";
  }

  std::string reduced_offset(std::size_t k, const std::string& index) const {
    switch (plan_.reduced.access[k]) {
      case Access::flat:
        return index;
      case Access::constant:
        return "0";
      default:
        return sum("e", "r" + std::to_string(k) + "_", plan_.reduced.dims.size());
    }
  }

  bool needs_coordinates() const {
    return std::any_of(plan_.reduced.access.begin(), plan_.reduced.access.end(),
                       [](Access a) { return a != Access::flat && a != Access::constant; });
  }

  // y = the reduction's input at `index`.
  void evaluate(const std::string& index, const std::string& y) {
    if (needs_coordinates()) out_ << split_index(index, "e", "rd", plan_.reduced.dims.size());
    out_ << "    element(";
    for (std::size_t k = 0; k < leaves(); ++k)
      out_ << "p" << k << "[" << reduced_offset(k, index) << "], ";
    out_ << scalar_arguments(program_) << y << ");\n";
  }

  // Accumulates indices r, r + stride, … below `last`, four in flight.
  void accumulate(const std::string& stride) {
    out_ << "      const int unroll = TD_WIDTH(4);\n"
         << "      for (; r + (unroll - 1) * " << stride << " < last; r += unroll * " << stride
         << ") {\n"
         << "        " << cuda_name(program_.input) << " y[unroll];\n"
         << "#pragma unroll\n        for (int u = 0; u < unroll; ++u) {\n    const td_index q = r "
            "+ u * "
         << stride << ";\n";
    evaluate("q", "y[u]");
    out_ << "        }\n#pragma unroll\n        for (int u = 0; u < unroll; ++u)\n"
         << "          acc[u] = F::combine(acc[u], F::lift(y[u], r + u * " << stride
         << "));\n      }\n"
         << "#ifndef __TREADLE__\n      for (; r < last; r += " << stride << ") {\n        "
         << cuda_name(program_.input) << " y;\n";
    evaluate("r", "y");
    out_ << "        acc[0] = F::combine(acc[0], F::lift(y, r));\n      }\n#endif\n";
  }

  // Whole groups of `width` elements first; chunks and rows start at multiples of the width.
  void accumulate_wide() {
    std::string w = std::to_string(plan_.width);
    out_ << "#ifndef __TREADLE__\n      {\n      const td_index whole = last - last % " << w
         << ";\n"
         << "      td_index g = first + lane * " << w << ";\n"
         << "      for (; g + 3 * " << plan_.lanes << " * " << w << " < whole; g += 4 * "
         << plan_.lanes << " * " << w << ") {\n";
    for (std::size_t k = 0; k < leaves(); ++k) wide_loads(k, w);
    out_ << "#pragma unroll\n        for (int u = 0; u < 4; ++u)\n#pragma unroll\n        for (int "
            "j = 0; j < "
         << w << "; ++j) {\n          " << cuda_name(program_.input) << " y;\n";
    wide_element("x", "[u]");
    out_ << "          acc[u] = F::combine(acc[u], F::lift(y, g + u * " << plan_.lanes << " * " << w
         << " + j));\n"
         << "        }\n      }\n      for (; g < whole; g += " << plan_.lanes << " * " << w
         << ") {\n"
         << "#pragma unroll\n        for (int j = 0; j < " << w << "; ++j) {\n          "
         << cuda_name(program_.input) << " y;\n";
    evaluate("(g + j)", "y");
    out_ << "          acc[0] = F::combine(acc[0], F::lift(y, g + j));\n        }\n      }\n"
         << "      r = whole + lane;\n      }\n#endif\n";
  }

  void wide_loads(std::size_t k, const std::string& w) {
    if (plan_.reduced.access[k] == Access::constant) return;
    out_ << "        td_vec<" << type(k) << ", " << w << "> x" << k << "[4];\n"
         << "#pragma unroll\n        for (int u = 0; u < 4; ++u) x" << k << "[u] = td_load<" << w
         << ">(p" << k << " + g + u * " << plan_.lanes << " * " << w << ");\n";
  }

  void wide_element(const std::string& name, const std::string& suffix) {
    out_ << "          element(";
    for (std::size_t k = 0; k < leaves(); ++k) {
      if (plan_.reduced.access[k] == Access::constant)
        out_ << "p" << k << "[0], ";
      else
        out_ << name << k << suffix << ".at[j], ";
    }
    out_ << scalar_arguments(program_) << "y);\n";
  }

  std::string out_place() const {
    return "out[" + sum("c", "k" + std::to_string(leaves()) + "_", plan_.kept.dims.size()) + "]";
  }

  void write_result(const std::string& accumulator) {
    out_ << split_index("m", "c", "kd", plan_.kept.dims.size()) << "      if (splits == 1) "
         << out_place() << " = F::finish(" << accumulator
         << ", count);\n      else part[split * outputs + m] = " << accumulator << ";\n";
  }

  void row_kernel() {
    head("td_reduce");
    int lanes = plan_.lanes, rows = 256 / lanes;
    out_ << "  __shared__ A shared[256];\n"
         << "  const int lane = threadIdx.x % " << lanes << ", sub = threadIdx.x / " << lanes
         << ";\n"
         << "  const td_index groups = (outputs + " << rows - 1 << ") / " << rows << ";\n"
         << "  for (td_index g = blockIdx.x; g < groups * splits; g += gridDim.x) {\n"
         << "    const td_index split = g / groups, m = (g - split * groups) * " << rows
         << " + sub;\n"
         << "    A acc[TD_WIDTH(4)];\n#pragma unroll\n    for (int u = 0; u < TD_WIDTH(4); ++u) "
            "acc[u] = F::none();\n"
         << "    if (m < outputs) {\n";
    begin_result();
    out_ << "      td_index r = first + lane;\n";
    if (plan_.width > 1) accumulate_wide();
    accumulate(std::to_string(lanes));
    out_ << "    }\n#pragma unroll\n    for (int u = 1; u < TD_WIDTH(4); ++u) acc[0] = "
            "F::combine(acc[0], acc[u]);\n";
    tree();
    out_ << "    if (lane == 0 && m < outputs) {\n";
    write_result("shared[threadIdx.x]");
    out_ << "    }\n    __syncthreads();\n  }\n}\n\n";
  }

  // Combines the lanes' accumulators in shared memory; lane 0 has the result.
  void tree() {
    out_ << "    shared[threadIdx.x] = acc[0];\n    __syncthreads();\n"
         << "    for (int s = " << plan_.lanes / 2 << "; s > 0; s >>= 1) {\n"
         << "      if (lane < s) shared[threadIdx.x] = F::combine(shared[threadIdx.x], "
            "shared[threadIdx.x + s]);\n"
         << "      __syncthreads();\n    }\n";
  }

  void column_kernel() {
    head("td_reduce");
    out_ << "  const td_index tiles = (outputs + 255) / 256;\n"
         << "  for (td_index g = blockIdx.x; g < tiles * splits; g += gridDim.x) {\n"
         << "    const td_index split = g / tiles, m = (g - split * tiles) * 256 + threadIdx.x;\n"
         << "    A acc[TD_WIDTH(4)];\n#pragma unroll\n    for (int u = 0; u < TD_WIDTH(4); ++u) "
            "acc[u] = F::none();\n"
         << "    if (m < outputs) {\n      {\n";
    begin_result();
    out_ << "      td_index r = first;\n";
    accumulate("1");
    out_ << "      }\n#pragma unroll\n      for (int u = 1; u < TD_WIDTH(4); ++u) acc[0] = "
            "F::combine(acc[0], acc[u]);\n";
    write_result("acc[0]");
    out_ << "    }\n  }\n}\n\n";
  }

  void finish_kernel() {
    out_ << "extern \"C\" __global__ void __launch_bounds__(256) td_finish(" << out_type()
         << "* out, const A* part, td_index outputs, int splits, double count";
    for (std::size_t d = 0; d < plan_.kept.dims.size(); ++d) out_ << ", td_index kd" << d;
    for (std::size_t d = 0; d < plan_.kept.dims.size(); ++d) out_ << ", td_index o_" << d;
    out_ << ") {\n  __shared__ A shared[256];\n"
         << "  for (td_index m = blockIdx.x; m < outputs; m += gridDim.x) {\n    A acc = "
            "F::none();\n"
         << "    for (int s = threadIdx.x; s < splits; s += 256) acc = F::combine(acc, part[s * "
            "outputs + m]);\n"
         << "    shared[threadIdx.x] = acc;\n    __syncthreads();\n"
         << "    for (int s = 128; s > 0; s >>= 1) {\n"
         << "      if (threadIdx.x < s) shared[threadIdx.x] = F::combine(shared[threadIdx.x], "
            "shared[threadIdx.x + s]);\n"
         << "      __syncthreads();\n    }\n    if (threadIdx.x == 0) {\n"
         << split_index("m", "c", "kd", plan_.kept.dims.size()) << "      out["
         << sum("c", "o_", plan_.kept.dims.size())
         << "] = F::finish(shared[0], count);\n    }\n    __syncthreads();\n  }\n}\n";
  }

  const Program& program_;
  const Plan& plan_;
  std::ostringstream out_;
};

std::string plan_key(const Program& program, const Plan& plan) {
  std::string key = "reduce";
  key.reserve(160);
  append_key(program, key);
  auto put = [&](auto value) { key.push_back(static_cast<char>(value)); };
  put(plan.column);
  put(plan.lanes / 32);
  put(plan.width);
  put(plan.wide);
  put(plan.kept.dims.size());
  put(plan.reduced.dims.size());
  for (Access access : plan.reduced.access) put(access);
  return key;
}

std::string finish_key(const Program& program, const Plan& plan) {
  std::string key = "finish";
  for (std::size_t part :
       {static_cast<std::size_t>(program.reduction), static_cast<std::size_t>(program.input),
        static_cast<std::size_t>(plan.wide), plan.kept.dims.size()})
    key.push_back(static_cast<char>(part));
  return key;
}

void add_walk(Arguments& arguments, const Walk& walk, std::size_t first, std::size_t last,
              bool wide) {
  for (std::int64_t dim : walk.dims) arguments.index(dim, wide);
  for (std::size_t k = first; k < last; ++k)
    for (std::int64_t stride : walk.strides[k]) arguments.index(stride, wide);
}

}  // namespace

void launch_reduce(driver::DeviceState& device, CUstream stream, const Program& program) {
  Plan plan = make_plan(device, program);
  const LoadedKernel& loaded = kernel(
      device, plan_key(program, plan), [&] { return ReducePrinter(program, plan).text(); },
      "td_reduce");
  std::int64_t outputs = plan.kept.count;
  CUdeviceptr out = program.out.storage->address() + static_cast<CUdeviceptr>(program.out.offset);
  std::optional<driver::Memory> part;
  if (plan.splits > 1)
    part.emplace(device.shared_from_this(),
                 static_cast<std::size_t>(outputs) * plan.splits * kAccumulatorBytes, stream);
  CUdeviceptr part_address = part ? part->address() : 0;
  std::size_t leaves = program.leaves.size();
  auto count = static_cast<double>(plan.reduced.count);

  Arguments arguments;
  for (CUdeviceptr address : plan.addresses) arguments.add(address);
  for (const ScalarOperand& scalar : program.scalars) arguments.scalar(scalar.value, scalar.dtype);
  arguments.add(out);
  arguments.add(part_address);
  arguments.index(outputs, plan.wide);
  arguments.index(plan.reduced.count, plan.wide);
  arguments.index(plan.chunk, plan.wide);
  arguments.add(plan.splits);
  arguments.add(count);
  add_walk(arguments, plan.kept, 0, leaves + 1, plan.wide);
  add_walk(arguments, plan.reduced, 0, leaves, plan.wide);
  std::int64_t per_block = plan.column ? kBlock : kBlock / plan.lanes;
  std::int64_t blocks = (outputs + per_block - 1) / per_block * plan.splits;
  launch(device, stream, loaded, std::min(blocks, 4 * resident_blocks(device)), arguments);
  if (plan.splits == 1) return;

  const LoadedKernel& finish = kernel(
      device, finish_key(program, plan), [&] { return ReducePrinter(program, plan).finish_text(); },
      "td_finish");
  Arguments second;
  second.add(out);
  second.add(part_address);
  second.index(outputs, plan.wide);
  second.add(plan.splits);
  second.add(count);
  add_walk(second, plan.kept, leaves, leaves + 1, plan.wide);
  launch(device, stream, finish, std::min(outputs, 8 * resident_blocks(device)), second);
}

}  // namespace td::fuse
