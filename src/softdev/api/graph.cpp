// Graphs: life, dependencies, questions, user objects.
#include "softdev/run/graph.h"

#include <algorithm>
#include <fstream>

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

CUresult with_graph(CUgraph graph, const auto& body) {
  return guarded_call([&]() -> CUresult {
    return is_live(graph) ? body() : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
  });
}
CUresult with_node(CUgraphNode node, const auto& body) {
  return guarded_call([&]() -> CUresult {
    return is_live(node) ? body() : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
  });
}

// CUDA's way to give a list: its length without a buffer; with one, as much as there is room for,
// the rest of the room cleared.
template <class T>
CUresult give_list(const std::vector<T>& list, T* out, std::size_t* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  if (!out) {
    *count = list.size();
    return CUDA_SUCCESS;
  }
  for (std::size_t i = 0; i < *count; ++i) out[i] = i < list.size() ? list[i] : T{};
  *count = std::min(*count, list.size());
  return CUDA_SUCCESS;
}

// All edges here are plain ones.
CUresult check_edges(const CUgraphEdgeData* edges, std::size_t count) {
  for (std::size_t i = 0; edges && i < count; ++i)
    if (edges[i].from_port || edges[i].to_port || edges[i].type) return CUDA_ERROR_NOT_SUPPORTED;
  return CUDA_SUCCESS;
}
void give_edges(CUgraphEdgeData* edges, const std::size_t* count) {
  if (edges && count) std::fill_n(edges, *count, CUgraphEdgeData{});
}

CUresult edges_of(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  return with_graph(graph, [&]() -> CUresult {
    if (!from != !to) return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode> starts, ends;
    for (CUgraphNode node : graph->nodes)
      for (CUgraphNode next : node->dependents) {
        starts.push_back(node);
        ends.push_back(next);
      }
    std::size_t room = count ? *count : 0;
    CUresult result = give_list(starts, from, count);
    return result == CUDA_SUCCESS && to ? give_list(ends, to, &room) : result;
  });
}

template <class Change>
CUresult change_edges(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                      std::size_t count, const Change& change) {
  return with_graph(graph, [&]() -> CUresult {
    if (count && (!from || !to)) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_live(from[i]) || from[i]->graph != graph) return CUDA_ERROR_INVALID_VALUE;
      if (CUresult error = change(from[i], to[i])) return error;
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult td_soft_cuGraphCreate(CUgraph* graph, unsigned flags) {
  return guarded_call([&]() -> CUresult {
    if (!graph || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *graph = make_graph();
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuGraphDestroy(CUgraph graph) {
  return with_graph(graph, [&]() -> CUresult {
    if (graph->child) return CUDA_ERROR_INVALID_VALUE;
    destroy_graph(graph);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuGraphClone(CUgraph* clone, CUgraph graph) {
  return with_graph(graph, [&]() -> CUresult {
    if (!clone) return CUDA_ERROR_INVALID_VALUE;
    *clone = clone_graph(graph);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuGraphNodeFindInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  return with_graph(clone, [&]() -> CUresult {
    if (!out || !clone->original) return CUDA_ERROR_INVALID_VALUE;
    for (CUgraphNode node : clone->nodes) {
      if (node->original != original) continue;
      *out = node;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult td_soft_cuGraphNodeGetType(CUgraphNode node, int* type) {
  return with_node(node, [&]() -> CUresult {
    if (!type) return CUDA_ERROR_INVALID_VALUE;
    *type = type_of(node->work);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return with_graph(graph, [&] { return give_list(graph->nodes, nodes, count); });
}

CUresult td_soft_cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return with_graph(graph, [&] {
    std::vector<CUgraphNode> roots;
    for (CUgraphNode node : graph->nodes)
      if (node->dependencies.empty()) roots.push_back(node);
    return give_list(roots, nodes, count);
  });
}

CUresult td_soft_cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                                 std::size_t* count) {
  return edges_of(graph, from, to, count);
}
CUresult td_soft_cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                                    CUgraphEdgeData* edges, std::size_t* count) {
  CUresult result = edges_of(graph, from, to, count);
  if (result == CUDA_SUCCESS && from) give_edges(edges, count);
  return result;
}

CUresult td_soft_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes,
                                            std::size_t* count) {
  return with_node(node, [&] { return give_list(node->dependencies, nodes, count); });
}
CUresult td_soft_cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes,
                                               CUgraphEdgeData* edges, std::size_t* count) {
  CUresult result = td_soft_cuGraphNodeGetDependencies(node, nodes, count);
  if (result == CUDA_SUCCESS && nodes) give_edges(edges, count);
  return result;
}
CUresult td_soft_cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes,
                                              std::size_t* count) {
  return with_node(node, [&] { return give_list(node->dependents, nodes, count); });
}
CUresult td_soft_cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                                 CUgraphEdgeData* edges, std::size_t* count) {
  CUresult result = td_soft_cuGraphNodeGetDependentNodes(node, nodes, count);
  if (result == CUDA_SUCCESS && nodes) give_edges(edges, count);
  return result;
}

CUresult td_soft_cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from,
                                        const CUgraphNode* to, std::size_t count) {
  return change_edges(graph, from, to, count, add_edge);
}
CUresult td_soft_cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                           const CUgraphNode* to, const CUgraphEdgeData* edges,
                                           std::size_t count) {
  CUresult error = check_edges(edges, count);
  return error ? error : change_edges(graph, from, to, count, add_edge);
}
CUresult td_soft_cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from,
                                           const CUgraphNode* to, std::size_t count) {
  return change_edges(graph, from, to, count, remove_edge);
}
CUresult td_soft_cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                              const CUgraphNode* to, const CUgraphEdgeData* edges,
                                              std::size_t count) {
  CUresult error = check_edges(edges, count);
  return error ? error : change_edges(graph, from, to, count, remove_edge);
}

CUresult td_soft_cuGraphDestroyNode(CUgraphNode node) {
  return with_node(node, [&]() -> CUresult {
    destroy_node(node);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned) {
  return with_graph(graph, [&]() -> CUresult {
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    std::ofstream out(path);
    out << describe_graph(graph);
    return out.flush() ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}

CUresult td_soft_cuUserObjectCreate(CUuserObject* out, void* object, CUhostFn destroy,
                                    unsigned references, unsigned flags) {
  return guarded_call([&]() -> CUresult {
    // The one flag that exists must be given: the destructor is called asynchronously.
    if (!out || !destroy || references == 0 || flags != 1) return CUDA_ERROR_INVALID_VALUE;
    *out = make_user_object(object, destroy, references);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuUserObjectRetain(CUuserObject object, unsigned count) {
  return guarded_call([&]() -> CUresult {
    if (!is_live(object) || count == 0) return CUDA_ERROR_INVALID_VALUE;
    object->references += count;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuUserObjectRelease(CUuserObject object, unsigned count) {
  return guarded_call([&]() -> CUresult {
    if (!is_live(object) || count == 0 || count > object->references)
      return CUDA_ERROR_INVALID_VALUE;
    release_user_object(object, count);
    return CUDA_SUCCESS;
  });
}

// Flag 1 moves references of the caller to the graph instead of making new ones.
CUresult td_soft_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                         unsigned flags) {
  return with_graph(graph, [&]() -> CUresult {
    if (!is_live(object) || count == 0 || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    if (flags == 0) object->references += count;
    graph->objects.insert(graph->objects.end(), count, object);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return with_graph(graph, [&]() -> CUresult {
    auto held = std::count(graph->objects.begin(), graph->objects.end(), object);
    if (count == 0 || held < static_cast<std::ptrdiff_t>(count)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i)
      graph->objects.erase(std::find(graph->objects.begin(), graph->objects.end(), object));
    release_user_object(object, count);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
