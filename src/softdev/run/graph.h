// Graphs: work as nodes with dependencies, and their executable form.
//
// A graph belongs to the program, which does not use one graph from two threads at a time (CUDA's
// rule); its handles stay safe to look at. An executable graph is flat: child graphs are put in
// place of their nodes, everything is in an order in which it could run. A launch makes an
// operation for each item and hands them to the scheduler with their edges.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "softdev/run/work.h"

struct CUuserObject_st {
  std::atomic<bool> alive{false};
  void* object = nullptr;
  CUhostFn destroy = nullptr;
  std::atomic<unsigned> references{0};
  void clear() { alive = false; }
};

struct CUgraphNode_st {
  std::atomic<bool> alive{false};
  CUgraph graph = nullptr;
  CUcontext context = nullptr;  // that its work runs in
  td::softdev::Work work;
  std::vector<CUgraphNode> dependencies, dependents;
  CUgraphNode original = nullptr;     // of a clone
  std::vector<void*> param_pointers;  // into the packed parameters, for those who ask
  std::map<int, CUlaunchAttributeValue> attributes;
  void clear() {
    alive = false;
    graph = nullptr;
    work = {};
    dependencies.clear();
    dependents.clear();
    original = nullptr;
    param_pointers.clear();
    attributes.clear();
  }
};

struct CUgraph_st {
  std::atomic<bool> alive{false};
  std::vector<CUgraphNode> nodes;     // in the order of their making
  CUgraph original = nullptr;         // of a clone
  bool child = false;                 // belongs to a node
  std::vector<CUuserObject> objects;  // one entry a reference
  void clear() {
    alive = false;
    nodes.clear();
    original = nullptr;
    child = false;
    objects.clear();
  }
};

struct CUgraphExec_st {
  struct Item {
    CUgraphNode node = nullptr;  // whose work it is; null for the ends of child graphs
    CUcontext context = nullptr;
    td::softdev::Work work;
    std::vector<std::uint32_t> after;
    bool enabled = true;
  };
  std::atomic<bool> alive{false};
  std::uint64_t flags = 0;
  std::mutex mutex;  // guards the rest: a launch and an update may meet
  std::vector<Item> items;
  td::softdev::Ref<td::softdev::Op> last;  // end of the newest launch: launches do not overlap
  std::vector<CUuserObject> objects;
  void clear() {
    alive = false;
    items.clear();
    last = {};
    objects.clear();
  }
};

namespace td::softdev {

CUgraph make_graph();
// With all nodes and child graphs.
void destroy_graph(CUgraph graph);
CUgraph clone_graph(CUgraph graph);
bool is_live(CUgraph graph);
bool is_live(CUgraphNode node);
bool is_live(CUgraphExec exec);

// CUDA_ERROR_INVALID_VALUE when a dependency is not a node of the graph, or is named twice.
CUresult add_node(CUgraph graph, Context& context, const CUgraphNode* dependencies,
                  std::size_t count, Work work, CUgraphNode* out);
CUresult add_edge(CUgraphNode from, CUgraphNode to);
CUresult remove_edge(CUgraphNode from, CUgraphNode to);
void destroy_node(CUgraphNode node);
int type_of(const Work& work);  // CUgraphNodeType

CUresult instantiate(CUgraph graph, std::uint64_t flags, CUgraphExec* out);
void destroy_exec(CUgraphExec exec);
CUresult launch_graph(Context& context, CUgraphExec exec, CUstream_st& stream);
// The item of a node; null when the executable graph was not made from it.
CUgraphExec_st::Item* find_item(CUgraphExec exec, CUgraphNode node);
// Takes over the parameters of a graph of the same shape.
CUresult update_exec(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info);

// Objects of the program that live as long as graphs refer to them.
CUuserObject make_user_object(void* object, CUhostFn destroy, unsigned references);
bool is_live(CUuserObject object);
void release_user_object(CUuserObject object, unsigned count);

// Graphviz text of the graph.
std::string describe_graph(CUgraph graph);

}  // namespace td::softdev
