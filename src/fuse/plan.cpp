// From pending nodes to kernels: drops what nobody sees, groups what may share a kernel, and keeps
// the order of every two accesses to the same memory of which one is a write.
//
// Groups run one after the other. Inside a group all loads come before all stores and every thread
// works on one index, so two accesses to the same memory may share a group only if they touch the
// same element at the same index.
#include <algorithm>

#include "base/text.h"
#include "fuse/describe.h"
#include "fuse/program.h"

namespace td::fuse {
namespace {

using array::Input;
using array::Node;
using array::Storage;

struct Access {
  int node;
  const View* view;
  bool write;
};

struct Group {
  bool reduces = false;
  Shape shape;
  std::vector<int> nodes;
  std::size_t operands = 0;
  std::string cut;  // why the first node did not join an earlier group
};

class Planner {
 public:
  Planner(driver::DeviceState& device, std::vector<std::shared_ptr<Node>>& nodes)
      : device_(device), nodes_(nodes), facts_(nodes.size()) {}

  void run(CUstream stream) {
    plan();
    const bool log = logging();
    for (Group& group : groups_) {
      Program program = build(group, true);
      if (log) log_kernel(described(program, group));
      if (program.reduces)
        launch_reduce(device_, stream, program);
      else
        launch_map(device_, stream, program);
      for (int i : group.nodes) nodes_[i]->launched = true;
    }
  }

  // What `run` would launch. The nodes stay as they are.
  std::vector<PlannedKernel> explain(const std::vector<const Storage*>& wanted) {
    plan();
    std::vector<bool> groups = wanted_groups(wanted);
    std::vector<PlannedKernel> kernels;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      Program program = build(groups_[g], false);
      if (!program.reduces && program.stores.empty()) continue;
      kernels.push_back(described(program, groups_[g]));
      kernels.back().wanted = groups[g];
    }
    return kernels;
  }

 private:
  void plan() {
    find_needed();
    if (nodes_.size() == 1) {
      // The common case of a value that is asked for at once: nothing to group and no order.
      if (!facts_[0].needed) return;
      facts_[0].group = 0;
      groups_.push_back({nodes_[0]->kind == Node::Kind::reduce, nodes_[0]->shape, {0}, 0, ""});
    } else {
      find_homes();
      for (std::size_t i = 0; i < nodes_.size(); ++i) enter(static_cast<int>(i));
      for (Storage* storage : touched_) storage->slot = -1;
    }
    keep_what_crosses_groups();
  }

  static PlannedKernel described(const Program& program, const Group& group) {
    PlannedKernel kernel = describe(program);
    kernel.cut = group.cut;
    return kernel;
  }

  // The groups that the values of these storages come from.
  std::vector<bool> wanted_groups(const std::vector<const Storage*>& wanted) {
    std::vector<bool> nodes(nodes_.size()), groups(groups_.size());
    for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
      const Storage* mine = facts_[i].storage.get();
      if (facts_[i].group < 0) continue;
      nodes[i] =
          nodes[i] || (mine && std::find(wanted.begin(), wanted.end(), mine) != wanted.end());
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

  struct Facts {
    std::shared_ptr<Storage> storage;  // where the value is kept, once that is known
    bool alive = false;                // somebody outside can see the value
    bool needed = false;
    int home = -1;  // the reduction whose kernel computes this value
    int group = -1;
    int step = -1;  // place in the program of its group
  };

  // The place of a node in `nodes_`; nodes are few, and a flush visits each input once or twice.
  int index_of(const Node* node) const {
    for (std::size_t i = nodes_.size(); i-- > 0;)
      if (nodes_[i].get() == node) return static_cast<int>(i);
    return -1;
  }

  template <class Visit>
  void for_each_input_node(int i, Visit visit) {
    Node& node = *nodes_[i];
    for (int k = 0; k < node.arity; ++k)
      if (node.inputs[k].kind == Input::Kind::node) visit(index_of(node.inputs[k].node.get()));
  }

  void find_needed() {
    for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
      Node& node = *nodes_[i];
      Facts& f = facts_[i];
      f.storage = node.in_place() ? node.out.storage : node.fresh.lock();
      f.alive = f.storage != nullptr;
      f.needed = f.needed || f.alive;
      if (f.needed) for_each_input_node(i, [&](int p) { facts_[p].needed = true; });
    }
  }

  // A value that only one reduction uses is computed in that reduction's kernel.
  void find_homes() {
    constexpr int unknown = -1, several = -2;
    std::vector<int> home(nodes_.size(), unknown);
    for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
      Node& node = *nodes_[i];
      if (!facts_[i].needed) continue;
      bool reduces = node.kind == Node::Kind::reduce;
      if (reduces)
        facts_[i].home = i;
      else if (!facts_[i].alive && home[i] >= 0 && nodes_[home[i]]->shape == node.shape)
        facts_[i].home = home[i];
      int mine = facts_[i].home >= 0 ? facts_[i].home : several;
      for_each_input_node(i, [&](int p) {
        bool fits =
            nodes_[p]->kind != Node::Kind::reduce && (home[p] == unknown || home[p] == mine);
        home[p] = fits ? mine : several;
      });
    }
  }

  void enter(int i) {
    Facts& f = facts_[i];
    if (!f.needed) return;
    if (f.home < 0) {
      place(i);
    } else if (f.home == i) {
      place_reduction(i);
    }
    note_accesses(i);
  }

  std::vector<Access>& accesses(Storage* storage) {
    if (storage->slot < 0) {
      storage->slot = static_cast<int>(table_.size());
      table_.emplace_back();
      touched_.push_back(storage);
    }
    return table_[storage->slot];
  }

  void note_accesses(int i) {
    Node& node = *nodes_[i];
    for (int k = 0; k < node.arity; ++k) {
      const Input& input = node.inputs[k];
      if (input.kind == Input::Kind::leaf) {
        accesses(input.view.storage.get()).push_back({i, &input.view, false});
      } else if (input.kind == Input::Kind::node) {
        // Should the value be read back from memory, it must not have been overwritten by then.
        int p = index_of(input.node.get());
        if (facts_[p].storage)
          accesses(facts_[p].storage.get()).push_back({i, &nodes_[p]->out, false});
      }
    }
    if (facts_[i].storage) accesses(facts_[i].storage.get()).push_back({i, &node.out, true});
  }

  static bool overlap(const View& a, const View& b) {
    array::Extent x = a.extent(), y = b.extent();
    return x.begin < y.end && y.begin < x.end;
  }
  static bool same_places(const View& a, const View& b) {
    return a.offset == b.offset && a.dtype == b.dtype && a.shape == b.shape &&
           a.strides == b.strides;
  }

  // The first group that node `i` may join or follow.
  int earliest(int i) {
    Node& node = *nodes_[i];
    int first = 0;
    cut_.clear();
    auto after = [&](int other, bool may_share, const char* why) {
      if (facts_[other].group < 0) {
        if (!facts_[other].needed) return;
        facts_[other].home = -1;  // its reduction would come too late
        std::string kept = std::move(cut_);
        place(other);
        cut_ = std::move(kept);
      }
      int least = facts_[other].group + (may_share ? 0 : 1);
      if (least > first && !may_share) cut_ = why;
      first = std::max(first, least);
    };
    for (int k = 0; k < node.arity; ++k) {
      const Input& input = node.inputs[k];
      if (input.kind == Input::Kind::node) {
        int p = index_of(input.node.get());
        after(p, nodes_[p]->kind != Node::Kind::reduce && nodes_[p]->shape == node.shape,
              "needs the result of a reduction");
      } else if (input.kind == Input::Kind::leaf) {
        for (std::size_t a = 0; a < accesses(input.view.storage.get()).size(); ++a) {
          Access access = accesses(input.view.storage.get())[a];
          if (access.node < i && access.write && overlap(*access.view, input.view))
            after(access.node, false, "reads memory that an earlier kernel writes");
        }
      }
    }
    if (node.in_place()) {
      for (std::size_t a = 0; a < accesses(node.out.storage.get()).size(); ++a) {
        Access access = accesses(node.out.storage.get())[a];
        if (access.node < i && overlap(*access.view, node.out))
          after(access.node, same_places(*access.view, node.out),
                "writes memory that an earlier kernel reads or writes at other indices");
      }
    }
    return first;
  }

  void place(int i) {
    if (facts_[i].group >= 0) return;
    Node& node = *nodes_[i];
    int first = earliest(i);
    std::string cut = std::move(cut_);
    for (int g = first; g < static_cast<int>(groups_.size()); ++g) {
      Group& group = groups_[g];
      std::size_t operands = operand_count(i, g);
      std::string refusal = refuse(group, node, operands);
      if (!refusal.empty()) {
        cut = std::move(refusal);
        continue;
      }
      group.nodes.push_back(i);
      group.operands += operands;
      facts_[i].group = g;
      return;
    }
    facts_[i].group = static_cast<int>(groups_.size());
    groups_.push_back({false, node.shape, {i}, operand_count(i, facts_[i].group), std::move(cut)});
  }

  // Why a node may not join a group that comes late enough; "" when it may.
  static std::string refuse(const Group& group, const Node& node, std::size_t operands) {
    if (group.reduces) return "an earlier kernel is a reduction";
    if (group.shape != node.shape)
      return base::cat("another shape than ", base::tuple_text(group.shape));
    if (group.operands + operands > kMaxOperands)
      return base::cat("size limit: ", kMaxOperands, " operands a kernel");
    if (group.nodes.size() >= kMaxSteps)
      return base::cat("size limit: ", kMaxSteps, " operations a kernel");
    return "";
  }

  // Kernel operands that node `i` adds to group `g`.
  std::size_t operand_count(int i, int g) {
    const Node& node = *nodes_[i];
    std::size_t count = facts_[i].alive;
    for (int k = 0; k < node.arity; ++k) {
      const Input& input = node.inputs[k];
      count += input.kind != Input::Kind::node || facts_[index_of(input.node.get())].group != g;
    }
    return count;
  }

  void place_reduction(int i) {
    Group group{true, nodes_[i]->shape, {}, 1, groups_.empty() ? "" : "a reduction"};
    for (int p = 0; p <= i; ++p) {
      if (facts_[p].home != i || !facts_[p].needed || facts_[p].group >= 0) continue;
      for (int k = 0; k < nodes_[p]->arity; ++k)
        group.operands += nodes_[p]->inputs[k].kind != Input::Kind::node;
      if (group.operands > kMaxOperands && p != i) {
        facts_[p].home = -1;
        place(p);
        continue;
      }
      group.nodes.push_back(p);
    }
    // Placing one of them may have taken its operands along.
    std::erase_if(group.nodes, [&](int p) { return facts_[p].group >= 0; });
    // Everything that the group reads from elsewhere has to be placed, and so lies in front of it.
    for (int p : group.nodes)
      for_each_input_node(p, [&](int q) {
        bool inside = std::find(group.nodes.begin(), group.nodes.end(), q) != group.nodes.end();
        if (!inside) place(q);
      });
    for (int p : group.nodes) facts_[p].group = static_cast<int>(groups_.size());
    groups_.push_back(std::move(group));
  }

  // ---- building programs ----

  Value leaf(Program& program, View view) {
    for (std::size_t k = 0; k < program.leaves.size(); ++k)
      if (program.leaves[k].same_elements(view))
        return {Value::Kind::leaf, static_cast<std::uint8_t>(k)};
    program.leaves.push_back(std::move(view));
    return {Value::Kind::leaf, static_cast<std::uint8_t>(program.leaves.size() - 1)};
  }

  // `take`: the view may be taken out of the input.
  Value operand(Program& program, int group, Input& input, bool take) {
    if (input.kind == Input::Kind::scalar) {
      program.scalars.push_back({input.scalar, input.loop});
      return {Value::Kind::scalar, static_cast<std::uint8_t>(program.scalars.size() - 1)};
    }
    if (input.kind == Input::Kind::leaf)
      return leaf(program, take ? std::move(input.view) : input.view);
    int p = index_of(input.node.get());
    if (facts_[p].group == group)
      return {Value::Kind::step, static_cast<std::uint8_t>(facts_[p].step)};
    return leaf(program, kept_view(p));
  }

  View kept_view(int p) {
    View view = nodes_[p]->out;
    view.storage = facts_[p].storage;
    return view;
  }

  // Values that a later group reads are kept in memory even if nobody outside sees them.
  void keep_what_crosses_groups() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (facts_[i].group < 0) continue;
      for_each_input_node(static_cast<int>(i), [&](int p) {
        if (facts_[p].group == facts_[i].group || facts_[p].storage) return;
        std::size_t bytes = static_cast<std::size_t>(array::size_of(nodes_[p]->out.shape)) *
                            itemsize(nodes_[p]->out.dtype);
        facts_[p].storage = std::make_shared<Storage>(device_.shared_from_this(), bytes, nullptr);
      });
    }
  }

  void add_store(Program& program, int i) {
    if (!facts_[i].storage) return;
    View view = kept_view(i);
    for (Store& store : program.stores)
      if (store.view.same_elements(view)) {
        store.step = static_cast<std::uint8_t>(facts_[i].step);
        return;
      }
    program.stores.push_back({static_cast<std::uint8_t>(facts_[i].step), std::move(view)});
  }

  // `take`: the group is launched now, so its nodes' views may move into the program.
  Program build(Group& group, bool take) {
    std::sort(group.nodes.begin(), group.nodes.end());
    Program program;
    program.shape = group.shape;
    program.leaves.reserve(4);
    for (int i : group.nodes) {
      Node& node = *nodes_[i];
      if (node.kind == Node::Kind::reduce) {
        program.reduces = true;
        program.reduction = node.reduction;
        program.reduced = node.reduced;
        program.root = operand(program, facts_[i].group, node.inputs[0], take);
        program.input = node.inputs[0].loop;
        program.output = node.result;
        program.out = kept_view(i);
        continue;
      }
      Step step;
      step.copy = node.kind == Node::Kind::copy;
      step.op = node.op;
      step.arity = static_cast<std::uint8_t>(node.arity);
      for (int k = 0; k < node.arity; ++k) {
        step.args[k] = operand(program, facts_[i].group, node.inputs[k], take);
        step.loops[k] = node.inputs[k].loop;
      }
      step.result = node.result;
      step.stored = node.out.dtype;
      facts_[i].step = static_cast<int>(program.steps.size());
      program.steps.push_back(step);
      if (!group.reduces) add_store(program, i);
    }
    return program;
  }

  driver::DeviceState& device_;
  std::vector<std::shared_ptr<Node>>& nodes_;
  std::vector<Facts> facts_;
  std::vector<Group> groups_;
  std::vector<std::vector<Access>> table_;
  std::vector<Storage*> touched_;
  std::string cut_;  // what `earliest` found
};

}  // namespace

void launch_nodes(driver::DeviceState& device, CUstream stream,
                  std::vector<std::shared_ptr<Node>>& nodes) {
  device.make_current();
  Planner(device, nodes).run(stream);
}

std::vector<PlannedKernel> explain_nodes(driver::DeviceState& device,
                                         std::vector<std::shared_ptr<Node>> nodes,
                                         const std::vector<const Storage*>& wanted) {
  return Planner(device, nodes).explain(wanted);
}

}  // namespace td::fuse
