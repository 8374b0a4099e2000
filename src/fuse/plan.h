// From pending nodes to kernels: drops what nobody sees, groups what may share a kernel, and keeps
// the order of every two accesses to the same memory of which one is a write.
//
// Groups run one after the other. A group without reductions loads before it stores and every
// thread works on one index, so two accesses to the same memory may share it only if they touch the
// same element at the same index.
//
// A group with reductions has one iteration shape and one set of reduced axes. *Full* nodes have a
// value for each index, *kept* nodes (the reductions and element-wise work on their results) one
// for each result. A full node that reads a kept value, broadcast, stands one stage later than
// that: its loop over the row runs when the result is known. Stages beyond the first need rows that
// stay in a cache meanwhile. Such a group writes fresh memory only, so no order can be violated
// inside of it.
#pragma once

#include <optional>

#include "fuse/describe.h"
#include "fuse/program.h"

namespace td::fuse {

using array::Input;
using array::Node;
using array::NodePtr;
using array::Storage;

// Strides over the full shape of a view over the kept axes, with or without the reduced ones as
// axes of length 1; nothing when the view has neither shape.
std::optional<Strides> strides_over(const Shape& shape, const std::vector<bool>& reduced,
                                    const View& view);

class Planner {
 public:
  Planner(driver::DeviceState& device, std::vector<NodePtr>& nodes)
      : device_(device), nodes_(nodes), facts_(nodes.size()) {}
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  bool run(CUstream stream);
  // What `run` would launch. The nodes stay as they are.
  std::vector<PlannedKernel> explain(const std::vector<const Storage*>& wanted);

 private:
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
    std::vector<bool> reduced;
    std::size_t accumulator_bytes = 0;
  };

  struct Facts {
    std::shared_ptr<Storage> storage;  // where the value is kept, once that is known
    long holders = 0;                  // of `storage`, nodes not counted
    bool alive = false;                // somebody outside can see the value
    bool needed = false;
    bool stored = false;  // goes to memory
    bool kept = false;    // in a group with reductions: one value for each result
    int home = -1;        // the reduction whose kernel computes this value
    int group = -1;
    int stage = 0;
    int index = -1;  // among the steps or roots of the program of its group
  };

  // Where a node stands in a group with reductions.
  struct Place {
    bool kept = false;
    int stage = 0;
    std::string refusal;  // not ""  when it may not stand there
  };

  // The node that makes a fresh storage which is held somewhere, or -1.
  static int maker_of(const Storage* storage) { return storage->maker; }
  template <class Visit>
  void for_each_input_node(int i, Visit visit) {
    Node& node = *nodes_[i];
    for (int k = 0; k < node.arity; ++k)
      if (node.inputs[k].kind == Input::Kind::node) visit(node.inputs[k].node->place);
  }

  // ---- grouping (plan.cpp) ----
  void plan();
  void enumerate();
  void find_needed();
  void find_homes();
  void enter(int i);
  std::span<const Access> accesses(const View& view) const;
  void note_access(Storage& storage, Access access);
  void note_accesses(int i);
  void forget_accesses();
  int earliest(int i);
  void place(int i);
  void place_reduction(int i);
  std::vector<int> own_nodes(int i);
  bool join(const std::vector<int>& nodes, int g);
  std::string refuse(int i, int g, std::size_t operands);
  std::size_t operand_count(int i, int g);

  // ---- groups with reductions (rows.cpp) ----
  Place place_in(int i, const Group& group, int g);
  void settle(int i, int g);
  bool shows_kept(const View& view, int p, const Group& group) const;
  int kept_source(const Input& input, int g) const;
  bool rows_fit(const Group& group) const;

  // ---- building programs (build.cpp) ----
  void keep_what_crosses_groups();
  Value operand(Program& program, int i, int k, bool take);
  View kept_view(int p) const;
  void add_store(Program& program, int i);
  void add_root(Program& program, int i, bool take);
  Program build(Group& group, bool take);
  std::vector<bool> wanted_groups(const std::vector<const Storage*>& wanted);

  driver::DeviceState& device_;
  std::vector<NodePtr>& nodes_;
  std::vector<Facts> facts_;
  std::vector<Group> groups_;
  // A node reads or overwrites memory that another one writes. Otherwise values flow from node to
  // node only, and the table stays empty.
  bool shares_memory_ = false;
  bool reduces_ = false;
  std::vector<std::vector<Access>> table_;
  std::vector<Storage*> touched_;
  std::string cut_;  // what `earliest` found
};

}  // namespace td::fuse
