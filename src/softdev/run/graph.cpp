#include "softdev/run/graph.h"

#include <algorithm>
#include <sstream>

namespace td::softdev {

namespace {

using namespace td::cuda;

bool has(const std::vector<CUgraphNode>& list, CUgraphNode node) {
  return std::find(list.begin(), list.end(), node) != list.end();
}

void retain_objects(const std::vector<CUuserObject>& objects) {
  for (CUuserObject object : objects) object->references.fetch_add(1);
}

// Nodes in an order in which they could run: each after what it depends on, else as they were made.
// Empty when there is a cycle.
std::vector<CUgraphNode> sorted(CUgraph graph) {
  std::map<CUgraphNode, std::size_t> open;
  for (CUgraphNode node : graph->nodes) open[node] = node->dependencies.size();
  std::vector<CUgraphNode> order;
  std::vector<CUgraphNode> ready;
  for (CUgraphNode node : graph->nodes)
    if (open[node] == 0) ready.push_back(node);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    order.push_back(ready[i]);
    for (CUgraphNode next : ready[i]->dependents)
      if (--open[next] == 0) ready.push_back(next);
  }
  if (order.size() != graph->nodes.size()) order.clear();
  return order;
}

using Items = std::vector<CUgraphExec_st::Item>;

// Appends a graph's items; `before` is what its first nodes wait for. False when there is a cycle.
bool flatten(CUgraph graph, const std::vector<std::uint32_t>& before, Items& items,
             std::vector<std::uint32_t>* ends) {
  std::vector<CUgraphNode> order = sorted(graph);
  if (order.empty() && !graph->nodes.empty()) return false;
  std::map<CUgraphNode, std::uint32_t> place;
  for (CUgraphNode node : order) {
    std::vector<std::uint32_t> after;
    for (CUgraphNode earlier : node->dependencies) after.push_back(place[earlier]);
    if (after.empty()) after = before;
    if (auto* child = std::get_if<GraphWork>(&node->work)) {
      items.push_back({nullptr, node->context, EmptyWork{}, std::move(after), true});
      std::vector<std::uint32_t> inner;
      auto begin = static_cast<std::uint32_t>(items.size() - 1);
      if (!flatten(child->graph, {begin}, items, &inner)) return false;
      if (inner.empty()) inner = {begin};
      items.push_back({node, node->context, EmptyWork{}, std::move(inner), true});
    } else {
      items.push_back({node, node->context, node->work, std::move(after), true});
    }
    place[node] = static_cast<std::uint32_t>(items.size() - 1);
    if (node->dependents.empty()) ends->push_back(place[node]);
  }
  return true;
}

Work clone_work(const Work& work) {
  if (auto* child = std::get_if<GraphWork>(&work)) {
    CUgraph copy = clone_graph(child->graph);
    copy->child = true;
    return GraphWork{copy};
  }
  return work;
}

void note_record(const Work& work, Ref<Op> op) {
  if (auto* record = std::get_if<RecordWork>(&work)) {
    std::lock_guard lock(Scheduler::get().mutex());
    record->event->record = std::move(op);
  }
}

}  // namespace

CUgraph make_graph() { return handle_pool<CUgraph_st>().make(); }

void destroy_graph(CUgraph graph) {
  graph->alive = false;
  for (CUgraphNode node : graph->nodes) {
    if (auto* child = std::get_if<GraphWork>(&node->work)) destroy_graph(child->graph);
    handle_pool<CUgraphNode_st>().recycle(node);
  }
  for (CUuserObject object : graph->objects) release_user_object(object, 1);
  handle_pool<CUgraph_st>().recycle(graph);
}

CUgraph clone_graph(CUgraph graph) {
  CUgraph copy = make_graph();
  copy->original = graph;
  copy->objects = graph->objects;
  retain_objects(copy->objects);
  std::map<CUgraphNode, CUgraphNode> twin;
  for (CUgraphNode node : graph->nodes) {
    CUgraphNode made = handle_pool<CUgraphNode_st>().make();
    made->graph = copy;
    made->context = node->context;
    made->work = clone_work(node->work);
    made->original = node;
    made->attributes = node->attributes;
    copy->nodes.push_back(made);
    twin[node] = made;
  }
  for (CUgraphNode node : graph->nodes) {
    for (CUgraphNode other : node->dependencies) twin[node]->dependencies.push_back(twin[other]);
    for (CUgraphNode other : node->dependents) twin[node]->dependents.push_back(twin[other]);
  }
  return copy;
}

bool is_live(CUgraph graph) { return is_alive(graph); }
bool is_live(CUgraphNode node) { return is_alive(node); }
bool is_live(CUgraphExec exec) { return is_alive(exec); }
bool is_live(CUuserObject object) { return is_alive(object); }

CUresult add_node(CUgraph graph, Context& context, const CUgraphNode* dependencies,
                  std::size_t count, Work work, CUgraphNode* out) {
  if (count && !dependencies) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i)
    if (!is_live(dependencies[i]) || dependencies[i]->graph != graph ||
        std::find(dependencies, dependencies + i, dependencies[i]) != dependencies + i)
      return CUDA_ERROR_INVALID_VALUE;
  CUgraphNode node = handle_pool<CUgraphNode_st>().make();
  node->graph = graph;
  node->context = &context;
  node->work = std::move(work);
  node->dependencies.assign(dependencies, dependencies + count);
  for (CUgraphNode earlier : node->dependencies) earlier->dependents.push_back(node);
  graph->nodes.push_back(node);
  *out = node;
  return CUDA_SUCCESS;
}

CUresult add_edge(CUgraphNode from, CUgraphNode to) {
  if (!is_live(from) || !is_live(to) || from->graph != to->graph || from == to ||
      has(to->dependencies, from))
    return CUDA_ERROR_INVALID_VALUE;
  from->dependents.push_back(to);
  to->dependencies.push_back(from);
  return CUDA_SUCCESS;
}

CUresult remove_edge(CUgraphNode from, CUgraphNode to) {
  if (!is_live(from) || !is_live(to) || !has(to->dependencies, from))
    return CUDA_ERROR_INVALID_VALUE;
  std::erase(from->dependents, to);
  std::erase(to->dependencies, from);
  return CUDA_SUCCESS;
}

void destroy_node(CUgraphNode node) {
  for (CUgraphNode earlier : node->dependencies) std::erase(earlier->dependents, node);
  for (CUgraphNode later : node->dependents) std::erase(later->dependencies, node);
  std::erase(node->graph->nodes, node);
  if (auto* child = std::get_if<GraphWork>(&node->work)) destroy_graph(child->graph);
  handle_pool<CUgraphNode_st>().recycle(node);
}

int type_of(const Work& work) {
  struct Type {
    int operator()(const EmptyWork&) const { return NODE_EMPTY; }
    int operator()(const KernelWork&) const { return NODE_KERNEL; }
    int operator()(const CopyWork&) const { return NODE_MEMCPY; }
    int operator()(const FillWork&) const { return NODE_MEMSET; }
    int operator()(const HostWork&) const { return NODE_HOST; }
    int operator()(const GraphWork&) const { return NODE_GRAPH; }
    int operator()(const WaitWork&) const { return NODE_WAIT_EVENT; }
    int operator()(const RecordWork&) const { return NODE_EVENT_RECORD; }
    int operator()(const ValueWork&) const { return NODE_BATCH_MEM_OP; }
  };
  return std::visit(Type{}, work);
}

CUresult instantiate(CUgraph graph, std::uint64_t flags, CUgraphExec* out) {
  Items items;
  std::vector<std::uint32_t> ends;
  if (!flatten(graph, {}, items, &ends)) return CUDA_ERROR_INVALID_VALUE;
  CUgraphExec exec = handle_pool<CUgraphExec_st>().make();
  exec->flags = flags;
  exec->items = std::move(items);
  exec->objects = graph->objects;
  retain_objects(exec->objects);
  *out = exec;
  return CUDA_SUCCESS;
}

// What was launched goes on.
void destroy_exec(CUgraphExec exec) {
  for (CUuserObject object : exec->objects) release_user_object(object, 1);
  handle_pool<CUgraphExec_st>().recycle(exec);
}

CUresult launch_graph(Context& context, CUgraphExec exec, CUstream_st& stream) {
  std::lock_guard lock(exec->mutex);
  std::vector<GroupItem> group;
  group.reserve(exec->items.size());
  for (const auto& item : exec->items) {
    Ref<Op> op;
    if (CUresult error = item.context->error.load()) return error;
    const Work nothing = EmptyWork{};
    if (CUresult error = make_op(*item.context, item.enabled ? item.work : nothing, &op))
      return error;
    group.push_back({std::move(op), item.after});
  }
  for (std::size_t i = 0; i < group.size(); ++i)
    if (exec->items[i].enabled) note_record(exec->items[i].work, group[i].op);
  exec->last = Scheduler::get().enqueue_group(stream.queue, context, group, exec->last.get());
  return CUDA_SUCCESS;
}

CUgraphExec_st::Item* find_item(CUgraphExec exec, CUgraphNode node) {
  for (auto& item : exec->items)
    if (item.node == node) return &item;
  return nullptr;
}

CUresult update_exec(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  Items items;
  std::vector<std::uint32_t> ends;
  auto refuse = [&](int result, CUgraphNode node) {
    *info = {result, node, nullptr};
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  };
  if (!flatten(graph, {}, items, &ends)) return refuse(UPDATE_ERROR, nullptr);
  std::lock_guard lock(exec->mutex);
  if (items.size() != exec->items.size()) return refuse(UPDATE_TOPOLOGY_CHANGED, nullptr);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& now = exec->items[i];
    if (items[i].after != now.after) return refuse(UPDATE_TOPOLOGY_CHANGED, items[i].node);
    if (items[i].work.index() != now.work.index())
      return refuse(UPDATE_NODE_TYPE_CHANGED, items[i].node);
    if (items[i].context != now.context) return refuse(UPDATE_PARAMETERS_CHANGED, items[i].node);
  }
  for (std::size_t i = 0; i < items.size(); ++i) exec->items[i].work = std::move(items[i].work);
  *info = {UPDATE_SUCCESS, nullptr, nullptr};
  return CUDA_SUCCESS;
}

CUuserObject make_user_object(void* object, CUhostFn destroy, unsigned references) {
  CUuserObject made = handle_pool<CUuserObject_st>().make();
  made->object = object;
  made->destroy = destroy;
  made->references = references;
  return made;
}

void release_user_object(CUuserObject object, unsigned count) {
  if (object->references.fetch_sub(count) != count) return;
  CUhostFn destroy = object->destroy;
  void* data = object->object;
  handle_pool<CUuserObject_st>().recycle(object);
  destroy(data);
}

std::string describe_graph(CUgraph graph) {
  constexpr const char* kNames[] = {"kernel", "copy",  "fill",  "host function",
                                    "graph",  "empty", "event", "event record"};
  std::ostringstream out;
  out << "digraph graph_0 {\n";
  std::map<CUgraphNode, std::size_t> number;
  for (CUgraphNode node : graph->nodes) {
    std::size_t index = number.size();
    number[node] = index;
    int type = type_of(node->work);
    out << "  node_" << index << " [label=\"" << index << ": "
        << (type < 8 ? kNames[type] : "memory operations");
    if (auto* kernel = std::get_if<KernelWork>(&node->work))
      out << " " << kernel->function->info.name;
    out << "\"];\n";
  }
  for (CUgraphNode node : graph->nodes)
    for (CUgraphNode next : node->dependents)
      out << "  node_" << number[node] << " -> node_" << number[next] << ";\n";
  out << "}\n";
  return out.str();
}

}  // namespace td::softdev
