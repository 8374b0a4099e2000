// The queue of pending operations of a device: lazy inside, eager to the eye.
//
// Nodes stand in program order, and a flush launches all of them, in an order that keeps every read
// before a later write of the same memory and after an earlier one. So anything outside the queue
// that touches device memory only has to flush first. A node that nobody can see any more (its
// storage is gone and no later node needs it) is dropped.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "array/impl.h"

namespace td {
struct PlannedKernel;  // treadle/fusion.h
}

namespace td::array {

struct Node;

struct Input {
  enum class Kind : std::uint8_t { leaf, node, scalar } kind = Kind::leaf;
  View view;  // leaf: broadcast to the node's shape. node: what is read if the value is stored
  Node* node = nullptr;         // value of an earlier node of the queue at the same indices
  Scalar scalar;                // already checked against `loop`
  DType loop = DType::float64;  // the dtype that the operation wants it in
};

// Made within a Recording and owned by the queue; memory of nodes is used again by the thread that
// freed it.
struct Node {
  enum class Kind : std::uint8_t { copy, map, reduce } kind = Kind::copy;
  Op op{};                // map
  Reduction reduction{};  // reduce
  int arity = 1;
  Input inputs[3];
  DType result = DType::float64;  // what the operation yields, before the cast to out.dtype
  Shape shape;                    // iteration shape: that of the inputs
  std::vector<bool> reduced;      // reduce: per axis of `shape`
  double correction = 0;          // reduce: taken off the number of elements
  // Where the value goes: for in-place work `out.storage` is set and the view is over `shape`;
  // otherwise the storage is `fresh`, held by the arrays that show it, and `out` is its layout.
  // Reductions: `out` is over the kept axes, in order.
  View out;
  std::weak_ptr<Storage> fresh;
  bool launched = false;
  int place = -1;  // among the nodes of a flush
  bool in_place() const { return out.storage != nullptr; }

  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory) noexcept;
};
using NodePtr = std::unique_ptr<Node>;

// Holds the queue of a device while an operation is recorded: between `read` and `record` no other
// thread may launch the nodes that are referred to, nor may another Recording of this thread begin.
// A long queue, and what is pending for another stream than the thread's current one, is launched
// first.
class Recording {
 public:
  explicit Recording(const std::shared_ptr<driver::DeviceState>& device);
  struct IfFree {};
  // Holds the queue only if that needs no waiting and recording one node makes no launch.
  Recording(const std::shared_ptr<driver::DeviceState>& device, IfFree);
  explicit operator bool() const { return lock_.owns_lock(); }

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

// Adds a node that writes to `written`. Within a Recording.
void record(const std::shared_ptr<driver::DeviceState>& device, NodePtr node, Storage& written);
// Sets a fresh input of a node of `shape` to an operand: a pending node's value where the view
// shows exactly that, else a leaf. Within a Recording.
void read(Input& input, const View& view, const Shape& shape, DType loop);

// Launches everything pending on the device. A value that memory did not suffice for is not an
// error here: its storage says so when somebody asks for it.
void flush(driver::DeviceState& device);
// The same for callers who ask for no value, as those who wait for the device: throws OutOfMemory
// if a value that somebody can still ask for has failed.
void flush_and_report(driver::DeviceState& device);

}  // namespace td::array

namespace td::fuse {

// Implemented by src/fuse. Launches `nodes` (program order) on `stream`. False when memory did not
// suffice for all of them: the storages of those say so at every use, the others are launched.
bool launch_nodes(driver::DeviceState& device, CUstream stream, std::vector<array::NodePtr>& nodes);

// What launch_nodes would launch; `wanted` marks the kernels that these storages need.
std::vector<PlannedKernel> explain_nodes(driver::DeviceState& device,
                                         std::vector<array::NodePtr>& nodes,
                                         const std::vector<const array::Storage*>& wanted);

// Sequences into a contiguous 1-D array, rounded as NumPy's arange and linspace round them. `last`
// replaces the last sample of a linspace unless it is NaN. Floating dtypes take start and step, the
// others whole_start and whole_step.
void launch_arange(const Array& out, double start, double step, std::int64_t whole_start,
                   std::int64_t whole_step);
void launch_linspace(const Array& out, double start, double step, double last);

}  // namespace td::fuse
