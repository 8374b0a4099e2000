#include "fuse/describe.h"

#include <atomic>
#include <mutex>

#include "fuse/kernel_cache.h"

namespace td::fuse {
namespace {

// Bytes of the distinct elements of a view.
std::uint64_t bytes_of(const View& view) {
  std::uint64_t count = 1;
  for (std::size_t k = 0; k < view.shape.size(); ++k)
    if (view.strides[k] != 0 || view.shape[k] == 0)
      count *= static_cast<std::uint64_t>(view.shape[k]);
  return count * itemsize(view.dtype);
}

std::atomic<bool> log_is_on{false};

struct Log {
  std::mutex mutex;
  std::vector<PlannedKernel> kernels;
};
Log& the_log() {
  static auto* log = new Log;
  return *log;
}

}  // namespace

PlannedKernel describe(const Program& program) {
  PlannedKernel kernel;
  kernel.kind = !program.reduces() ? "element-wise" : program.stages() == 1 ? "reduction" : "rows";
  kernel.shape = program.shape;
  for (const Step& step : program.steps)
    kernel.operations.emplace_back(step.copy ? "copy" : info(step.op).name);
  for (const Root& root : program.roots) kernel.operations.emplace_back(info(root.reduction).name);
  for (const View& leaf : program.leaves) kernel.bytes_read += bytes_of(leaf);
  kernel.reads = static_cast<int>(program.leaves.size());
  for (const Store& store : program.stores) kernel.bytes_written += bytes_of(store.view);
  for (const KeptStore& store : program.kept_stores) kernel.bytes_written += bytes_of(store.view);
  kernel.writes = static_cast<int>(program.stores.size() + program.kept_stores.size());
  return kernel;
}

bool logging() { return log_is_on.load(std::memory_order_relaxed); }

void log_kernel(PlannedKernel kernel) {
  std::lock_guard lock(the_log().mutex);
  the_log().kernels.push_back(std::move(kernel));
}

}  // namespace td::fuse

namespace td {

void log_kernels(bool on) { fuse::log_is_on.store(on, std::memory_order_relaxed); }

std::vector<PlannedKernel> take_logged_kernels() {
  std::lock_guard lock(fuse::the_log().mutex);
  return std::exchange(fuse::the_log().kernels, {});
}

int generated_launches() { return fuse::launch_count(); }

}  // namespace td
