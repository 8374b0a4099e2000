// From groups of nodes to programs, and on to the launches.
#include <algorithm>
#include <optional>

#include "fuse/out_of_memory.h"
#include "fuse/plan.h"
#include "treadle/error.h"

namespace td::fuse {
namespace {

PlannedKernel described(const Program& program, const std::string& cut) {
  PlannedKernel kernel = describe(program);
  kernel.cut = cut;
  return kernel;
}

bool writes_nothing(const Program& program) {
  return program.stores.empty() && program.kept_stores.empty();
}

// False when memory did not suffice for some of it; what it sufficed for has been launched.
bool launch(driver::DeviceState& device, CUstream stream, Program& program,
            const std::string& cut) {
  if (writes_nothing(program)) return true;
  std::optional<PlannedKernel> row;
  if (logging()) row = described(program, cut);
  bool complete = true, as_planned = true;
  try {
    if (program.plain_reduction())
      launch_reduce(device, stream, program);
    else if (program.reduces())
      launch_staged(device, stream, program);
    else
      as_planned = launch_map(device, stream, program);
  } catch (const OutOfMemory&) {
    launch_what_fits(device, stream, program);
    complete = false;
  }
  if (row && as_planned) log_kernel(*std::move(row));
  return complete;
}

Value add_leaf(Program& program, View view) {
  for (std::size_t k = 0; k < program.leaves.size(); ++k)
    if (program.leaves[k].same_elements(view))
      return {Value::Kind::leaf, static_cast<std::uint8_t>(k)};
  program.leaves.push_back(std::move(view));
  return {Value::Kind::leaf, static_cast<std::uint8_t>(program.leaves.size() - 1)};
}

Value add_scalar(Program& program, const Input& input) {
  program.scalars.push_back({input.scalar, input.loop});
  return {Value::Kind::scalar, static_cast<std::uint8_t>(program.scalars.size() - 1)};
}

// All of a step but its arguments.
Step step_of(const Node& node) {
  Step step;
  step.copy = node.kind == Node::Kind::copy;
  step.op = node.op;
  step.arity = static_cast<std::uint8_t>(node.arity);
  for (int k = 0; k < node.arity; ++k) step.loops[k] = node.inputs[k].loop;
  step.result = node.result;
  step.stored = node.out.dtype;
  return step;
}

Root root_of(const Node& node) {
  Root root;
  root.reduction = node.reduction;
  root.input = node.inputs[0].loop;
  root.output = node.result;
  root.correction = node.correction;
  return root;
}

// A result of the reductions of `program` as a view over its full shape.
View over_full_shape(const Program& program, View view) {
  view.strides = *strides_over(program.shape, program.reduced, view);
  view.shape = program.shape;
  return view;
}

// The common case of a value that is asked for at once: nothing to group, and no order to keep.
bool launch_alone(driver::DeviceState& device, CUstream stream, Node& node) {
  View out = node.out;
  if (!out.storage) out.storage = node.fresh.lock();
  if (!out.storage) return true;  // nobody sees the value
  Program program;
  program.shape = node.shape;
  program.leaves.reserve(static_cast<std::size_t>(node.arity));
  auto argument = [&](Input& input) {
    return input.kind == Input::Kind::scalar ? add_scalar(program, input)
                                             : add_leaf(program, std::move(input.view));
  };
  if (node.kind == Node::Kind::reduce) {
    program.reduced = node.reduced;
    Root root = root_of(node);
    root.value = argument(node.inputs[0]);
    program.roots.push_back(root);
    program.kept_stores.push_back(
        {{Value::Kind::root, 0}, over_full_shape(program, std::move(out))});
  } else {
    Step step = step_of(node);
    for (int k = 0; k < node.arity; ++k) step.args[k] = argument(node.inputs[k]);
    program.steps.push_back(step);
    program.stores.push_back({0, std::move(out)});
  }
  bool complete = launch(device, stream, program, "");
  node.launched = true;
  return complete;
}

}  // namespace

// False when memory did not suffice for some of it; what it sufficed for has been launched.
bool Planner::run(CUstream stream) {
  bool complete = true;
  plan();
  for (Group& group : groups_) {
    Program program = build(group, true);
    complete &= launch(device_, stream, program, group.cut);
    for (int i : group.nodes) nodes_[i]->launched = true;
  }
  return complete;
}

std::vector<PlannedKernel> Planner::explain(const std::vector<const Storage*>& wanted) {
  plan();
  std::vector<bool> groups = wanted_groups(wanted);
  std::vector<PlannedKernel> kernels;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Program program = build(groups_[g], false);
    if (writes_nothing(program)) continue;
    kernels.push_back(described(program, groups_[g].cut));
    kernels.back().wanted = groups[g];
  }
  return kernels;
}

// The groups that the values of these storages come from.
std::vector<bool> Planner::wanted_groups(const std::vector<const Storage*>& wanted) {
  std::vector<bool> nodes(nodes_.size()), groups(groups_.size());
  for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
    const Storage* mine = facts_[i].storage.get();
    if (facts_[i].group < 0) continue;
    nodes[i] = nodes[i] || (mine && std::find(wanted.begin(), wanted.end(), mine) != wanted.end());
    if (!nodes[i]) continue;
    groups[facts_[i].group] = true;
    for_each_input_node(i, [&](int p) { nodes[p] = true; });
    for (int k = 0; k < nodes_[i]->arity; ++k)
      for (int p = 0; p < i; ++p)
        if (nodes_[i]->inputs[k].kind == Input::Kind::leaf &&
            facts_[p].storage == nodes_[i]->inputs[k].view.storage)
          nodes[p] = true;
  }
  return groups;
}

// Values that a later group reads are kept in memory even if nobody outside sees them.
void Planner::keep_what_crosses_groups() {
  auto keep = [&](int p) {
    facts_[p].stored = true;
    if (facts_[p].storage) return;
    std::size_t bytes = static_cast<std::size_t>(array::size_of(nodes_[p]->out.shape)) *
                        itemsize(nodes_[p]->out.dtype);
    facts_[p].storage = std::make_shared<Storage>(device_.shared_from_this(), bytes, nullptr);
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    int g = facts_[i].group;
    if (g < 0) continue;
    if (facts_[i].alive) facts_[i].stored = true;
    for (int k = 0; k < nodes_[i]->arity; ++k) {
      const Input& input = nodes_[i]->inputs[k];
      if (input.kind == Input::Kind::node) {
        int p = input.node->place;
        if (facts_[p].group != g) keep(p);
      } else if (input.kind == Input::Kind::leaf) {
        int p = maker_of(input.view.storage.get());
        if (p >= 0 && kept_source(input, g) < 0) keep(p);
      }
    }
    // What an in-place write leaves alone, somebody has made.
    if (nodes_[i]->in_place())
      if (int p = maker_of(nodes_[i]->out.storage.get()); p >= 0) keep(p);
  }
}

// Input `k` of node `i`. `take`: the view may be taken out of it.
Value Planner::operand(Program& program, int i, int k, bool take) {
  Input& input = nodes_[i]->inputs[k];
  int g = facts_[i].group;
  if (input.kind == Input::Kind::scalar) return add_scalar(program, input);
  int p = input.kind == Input::Kind::node ? input.node->place : kept_source(input, g);
  if (p >= 0 && facts_[p].group == g) {
    bool root = nodes_[p]->kind == Node::Kind::reduce;
    return {root ? Value::Kind::root : Value::Kind::step,
            static_cast<std::uint8_t>(facts_[p].index)};
  }
  View view = input.kind == Input::Kind::node ? kept_view(p)
              : take                          ? std::move(input.view)
                                              : input.view;
  const Group& group = groups_[g];
  if (group.reduces && view.shape != group.shape) {
    view.strides = *strides_over(group.shape, group.reduced, view);
    view.shape = group.shape;
  }
  return add_leaf(program, std::move(view));
}

View Planner::kept_view(int p) const {
  View view = nodes_[p]->out;
  view.storage = facts_[p].storage;
  return view;
}

void Planner::add_store(Program& program, int i) {
  if (!facts_[i].stored) return;
  View view = kept_view(i);
  auto index = static_cast<std::uint8_t>(facts_[i].index);
  if (facts_[i].kept) {
    bool root = nodes_[i]->kind == Node::Kind::reduce;
    program.kept_stores.push_back({{root ? Value::Kind::root : Value::Kind::step, index},
                                   over_full_shape(program, std::move(view))});
    return;
  }
  for (Store& store : program.stores)
    if (store.view.same_elements(view)) {
      store.step = index;
      return;
    }
  program.stores.push_back({index, std::move(view)});
}

void Planner::add_root(Program& program, int i, bool take) {
  Root root = root_of(*nodes_[i]);
  root.value = operand(program, i, 0, take);
  root.stage = static_cast<std::uint8_t>(facts_[i].stage);
  facts_[i].index = static_cast<int>(program.roots.size());
  program.roots.push_back(root);
}

// `take`: the group is launched now, so its nodes' views may move into the program.
Program Planner::build(Group& group, bool take) {
  std::sort(group.nodes.begin(), group.nodes.end());
  Program program;
  program.shape = group.shape;
  program.reduced = group.reduced;
  program.leaves.reserve(4);
  program.steps.reserve(group.nodes.size());
  for (int i : group.nodes) {
    Node& node = *nodes_[i];
    if (node.kind == Node::Kind::reduce) {
      add_root(program, i, take);
    } else {
      Step step = step_of(node);
      step.kept = facts_[i].kept;
      step.stage = static_cast<std::uint8_t>(facts_[i].stage);
      for (int k = 0; k < node.arity; ++k) step.args[k] = operand(program, i, k, take);
      facts_[i].index = static_cast<int>(program.steps.size());
      program.steps.push_back(step);
    }
    add_store(program, i);
  }
  return program;
}

bool launch_nodes(driver::DeviceState& device, CUstream stream, std::vector<NodePtr>& nodes) {
  device.make_current();
  if (nodes.size() == 1) return launch_alone(device, stream, *nodes[0]);
  return Planner(device, nodes).run(stream);
}

std::vector<PlannedKernel> explain_nodes(driver::DeviceState& device, std::vector<NodePtr>& nodes,
                                         const std::vector<const Storage*>& wanted) {
  return Planner(device, nodes).explain(wanted);
}

}  // namespace td::fuse
