#include "fuse/plan.h"

#include <algorithm>

#include "base/text.h"

namespace td::fuse {
namespace {

bool overlap(const View& a, const View& b) {
  array::Extent x = a.extent(), y = b.extent();
  return x.begin < y.end && y.begin < x.end;
}
bool same_places(const View& a, const View& b) {
  return a.offset == b.offset && a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides;
}

}  // namespace

Planner::~Planner() {
  for (Facts& f : facts_)
    if (f.storage) f.storage->maker = -1;
  forget_accesses();
}

void Planner::plan() {
  enumerate();
  find_needed();
  if (nodes_.size() == 1 && nodes_[0]->kind != Node::Kind::reduce) {
    // The common case of a value that is asked for at once: nothing to group and no order.
    if (!facts_[0].needed) return;
    facts_[0].group = 0;
    facts_[0].stored = true;
    groups_.push_back({false, nodes_[0]->shape, {0}, 0, "", {}, 0});
    return;
  }
  if (reduces_) find_homes();
  for (std::size_t i = 0; i < nodes_.size(); ++i) enter(static_cast<int>(i));
  forget_accesses();
  keep_what_crosses_groups();
}

// Finds who makes each fresh storage, and which of them are seen from outside: somebody but the
// pending nodes holds it.
void Planner::enumerate() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = *nodes_[i];
    Facts& f = facts_[i];
    node.place = static_cast<int>(i);
    reduces_ = reduces_ || node.kind == Node::Kind::reduce;
    if (node.in_place()) {
      f.alive = shares_memory_ = true;
    } else if ((f.storage = node.fresh.lock())) {
      f.storage->maker = node.place;
      f.holders = f.storage.use_count() - 1;
    }
  }
  for (const NodePtr& node : nodes_) {
    for (int k = 0; k < node->arity; ++k)
      if (const Storage* read = node->inputs[k].view.storage.get())
        if (int p = maker_of(read); p >= 0) {
          --facts_[p].holders;
          shares_memory_ = true;
        }
    if (node->in_place())
      if (int p = maker_of(node->out.storage.get()); p >= 0) --facts_[p].holders;
  }
  for (Facts& f : facts_) f.alive = f.alive || f.holders > 0;
}

void Planner::find_needed() {
  for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
    Node& node = *nodes_[i];
    Facts& f = facts_[i];
    if (node.in_place()) f.storage = node.out.storage;
    f.needed = f.needed || f.alive;
    if (!f.needed) continue;
    for_each_input_node(i, [&](int p) { facts_[p].needed = true; });
    auto reads = [&](const Storage* storage) {
      int p = maker_of(storage);
      if (p >= 0 && p < i) facts_[p].needed = true;
    };
    for (int k = 0; k < node.arity; ++k)
      if (node.inputs[k].kind == Input::Kind::leaf) reads(node.inputs[k].view.storage.get());
    if (node.in_place()) reads(node.out.storage.get());  // what it does not overwrite
  }
}

// A value is computed in the kernel of the first reduction that uses it.
void Planner::find_homes() {
  std::vector<int> home(nodes_.size(), -1);
  for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
    Node& node = *nodes_[i];
    if (!facts_[i].needed) continue;
    if (node.kind == Node::Kind::reduce)
      facts_[i].home = i;
    else if (!node.in_place() && home[i] >= 0 && nodes_[home[i]]->shape == node.shape)
      facts_[i].home = home[i];
    int mine = facts_[i].home;
    if (mine < 0) continue;
    for_each_input_node(i, [&](int p) {
      if (nodes_[p]->kind != Node::Kind::reduce && (home[p] < 0 || mine < home[p])) home[p] = mine;
    });
  }
}

void Planner::enter(int i) {
  Facts& f = facts_[i];
  if (!f.needed) return;
  if (f.home == i)
    place_reduction(i);
  else if (f.home < 0)
    place(i);
  if (shares_memory_) note_accesses(i);
}

// Of the storage of a view, by the nodes that were entered; valid until the next one is.
std::span<const Planner::Access> Planner::accesses(const View& view) const {
  int slot = view.storage->slot;
  return slot < 0 ? std::span<const Access>() : table_[static_cast<std::size_t>(slot)];
}

void Planner::note_access(Storage& storage, Access access) {
  if (storage.slot < 0) {
    storage.slot = static_cast<int>(table_.size());
    table_.emplace_back();
    touched_.push_back(&storage);
  }
  table_[static_cast<std::size_t>(storage.slot)].push_back(access);
}

void Planner::forget_accesses() {
  for (Storage* storage : touched_) storage->slot = -1;
  touched_.clear();
}

void Planner::note_accesses(int i) {
  Node& node = *nodes_[i];
  for (int k = 0; k < node.arity; ++k) {
    const Input& input = node.inputs[k];
    if (input.kind == Input::Kind::leaf) {
      note_access(*input.view.storage, {i, &input.view, false});
    } else if (input.kind == Input::Kind::node) {
      // Should the value be read back from memory, it must not have been overwritten by then.
      int p = input.node->place;
      if (facts_[p].storage) note_access(*facts_[p].storage, {i, &nodes_[p]->out, false});
    }
  }
  if (facts_[i].storage) note_access(*facts_[i].storage, {i, &node.out, true});
}

// The first group that node `i` may join or follow.
int Planner::earliest(int i) {
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
      int p = input.node->place;
      bool reduction = nodes_[p]->kind == Node::Kind::reduce;
      after(p, reduction || nodes_[p]->shape == node.shape, "needs the result of a reduction");
    } else if (input.kind == Input::Kind::leaf) {
      for (const Access& access : accesses(input.view)) {
        if (access.node >= i || !access.write || !overlap(*access.view, input.view)) continue;
        int g = facts_[access.node].group;
        bool shows = g >= 0 && groups_[g].reduces && facts_[access.node].kept &&
                     shows_kept(input.view, access.node, groups_[g]);
        after(access.node, shows, "reads memory that an earlier kernel writes");
      }
    }
  }
  if (node.in_place()) {
    for (const Access& access : accesses(node.out)) {
      if (access.node < i && overlap(*access.view, node.out))
        after(access.node, same_places(*access.view, node.out),
              "writes memory that an earlier kernel reads or writes at other indices");
    }
  }
  return first;
}

void Planner::place(int i) {
  if (facts_[i].group >= 0) return;
  int first = earliest(i);
  std::string cut = std::move(cut_);
  for (int g = first; g < static_cast<int>(groups_.size()); ++g) {
    std::size_t operands = operand_count(i, g);
    std::string refusal = refuse(i, g, operands);
    if (refusal.empty()) {
      settle(i, g);
      return;
    }
    cut = std::move(refusal);
  }
  int g = static_cast<int>(groups_.size());
  groups_.push_back({false, nodes_[i]->shape, {}, 0, std::move(cut), {}, 0});
  settle(i, g);
}

// Why a node may not join a group that comes late enough; "" when it may.
std::string Planner::refuse(int i, int g, std::size_t operands) {
  const Group& group = groups_[g];
  if (group.operands + operands > kMaxOperands)
    return base::cat("size limit: ", kMaxOperands, " operands a kernel");
  if (group.nodes.size() >= kMaxSteps)
    return base::cat("size limit: ", kMaxSteps, " operations a kernel");
  if (group.reduces) return place_in(i, group, g).refusal;
  if (nodes_[i]->kind == Node::Kind::reduce) return "a reduction";
  if (group.shape != nodes_[i]->shape)
    return base::cat("another shape than ", base::tuple_text(group.shape));
  return "";
}

// Kernel operands that node `i` adds to group `g`.
std::size_t Planner::operand_count(int i, int g) {
  const Node& node = *nodes_[i];
  std::size_t count = facts_[i].alive;
  for (int k = 0; k < node.arity; ++k) {
    const Input& input = node.inputs[k];
    count += input.kind != Input::Kind::node || facts_[input.node->place].group != g;
  }
  return count;
}

// Adds `i` to group `g`, which does not refuse it.
void Planner::settle(int i, int g) {
  Group& group = groups_[g];
  if (group.reduces) {
    Place at = place_in(i, group, g);
    facts_[i].kept = at.kept;
    facts_[i].stage = at.stage;
    const Node& node = *nodes_[i];
    if (node.kind == Node::Kind::reduce)
      group.accumulator_bytes += accumulator_bytes(node.reduction, node.inputs[0].loop);
  }
  group.operands += operand_count(i, g);
  group.nodes.push_back(i);
  facts_[i].group = g;
}

// All of `nodes`, in order, into a group that has reductions; or none of them. Everything that they
// need from elsewhere has been placed.
bool Planner::join(const std::vector<int>& nodes, int g) {
  std::vector<int> settled;
  Group& group = groups_[g];
  std::size_t operands = group.operands, accumulators = group.accumulator_bytes;
  for (int i : nodes) {
    bool late = earliest(i) > g;
    std::string refusal = late ? cut_ : refuse(i, g, operand_count(i, g));
    if (!late && refusal.empty() && facts_[i].group < 0) {
      settle(i, g);
      settled.push_back(i);
      continue;
    }
    for (int done : settled) {
      facts_[done].group = -1;
      facts_[done].kept = false;
      facts_[done].stage = 0;
    }
    group.nodes.resize(group.nodes.size() - settled.size());
    group.operands = operands;
    group.accumulator_bytes = accumulators;
    cut_ = std::move(refusal);
    return false;
  }
  return true;
}

// The nodes that are computed in the kernel of reduction `i`, once everything else that they need
// is placed.
std::vector<int> Planner::own_nodes(int i) {
  std::vector<int> own;
  for (std::size_t before = 0;;) {
    own.clear();
    for (int p = 0; p <= i; ++p)
      if (facts_[p].home == i && facts_[p].needed && facts_[p].group < 0) own.push_back(p);
    if (own.size() == before) return own;
    before = own.size();
    for (int p : own) {
      for_each_input_node(p, [&](int q) {
        if (facts_[q].home != i) place(q);
      });
      for (int k = 0; k < nodes_[p]->arity; ++k) {
        const Input& input = nodes_[p]->inputs[k];
        if (input.kind != Input::Kind::leaf) continue;
        for (const Access& access : accesses(input.view)) {
          if (access.node < p && access.write && facts_[access.node].needed &&
              facts_[access.node].group < 0 && overlap(*access.view, input.view)) {
            facts_[access.node].home = -1;
            place(access.node);
          }
        }
      }
    }
    // Placing one of them may have taken its operands along: look again.
  }
}

void Planner::place_reduction(int i) {
  std::vector<int> own = own_nodes(i);
  std::size_t operands = 1;
  for (int p : own) {
    operands += facts_[p].alive;
    for (int k = 0; k < nodes_[p]->arity; ++k)
      operands += nodes_[p]->inputs[k].kind != Input::Kind::node;
    if (operands > kMaxOperands && p != i && facts_[p].group < 0) {
      facts_[p].home = -1;
      place(p);
    }
  }
  own = own_nodes(i);
  std::string cut = groups_.empty() ? "" : "a reduction";
  for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
    const Group& group = groups_[g];
    if (!group.reduces || group.shape != nodes_[i]->shape || group.reduced != nodes_[i]->reduced)
      continue;
    if (join(own, g)) return;
    if (!cut_.empty()) cut = cut_;
  }
  int g = static_cast<int>(groups_.size());
  groups_.push_back({true, nodes_[i]->shape, {}, 0, std::move(cut), nodes_[i]->reduced, 0});
  for (int p : own) settle(p, g);
}

}  // namespace td::fuse
