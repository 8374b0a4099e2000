#include "fuse/step_by_step.h"

#include <algorithm>

#include "treadle/error.h"

namespace td::fuse {
namespace {

constexpr int kClockRate = 13, kMultiprocessorCount = 16;  // CUdevice_attribute

// The values in between may take a third of the shortest wait for a compiler that was measured
// (33 ms, NVRTC for an H200) …
constexpr double kSeconds = 0.01;
// … on a device whose multiprocessors move so many bytes a clock at least. Copies and sums of
// arrays in bench/results move 16 on an H200 and 2 to 6 on the software device.
constexpr double kBytesPerClock = 2;
// And no more than this part of the device's memory, so that nothing fails that would have fitted.
constexpr std::size_t kPartOfMemory = 64;

double most_traffic(driver::DeviceState& device) {
  int kilohertz = device.attribute(kClockRate);
  if (kilohertz <= 0) kilohertz = 1'000'000;  // not known
  return kSeconds * kBytesPerClock * 1e3 * kilohertz * device.attribute(kMultiprocessorCount);
}

std::size_t most_memory(driver::DeviceState& device) {
  std::size_t bytes = 0;
  TD_CALL(device, cuDeviceTotalMem, &bytes, device.handle());
  return bytes / kPartOfMemory;
}

bool overlap(const View& a, const View& b) {
  if (a.storage != b.storage) return false;
  array::Extent x = a.extent(), y = b.extent();
  return x.begin < y.end && y.begin < x.end;
}

// True when each step sees the same memory as in the fused kernel.
bool keeps_order(const Program& program) {
  for (const Store& store : program.stores) {
    const View& view = store.view;
    if (array::may_self_overlap(view.shape, view.strides, itemsize(view.dtype))) return false;
    for (const Store& other : program.stores)
      if (&other != &store && (other.step == store.step || overlap(other.view, view))) return false;
    for (std::size_t k = store.step + 1u; k < program.steps.size(); ++k)
      for (int a = 0; a < program.steps[k].arity; ++a) {
        Value value = program.steps[k].args[a];
        if (value.kind == Value::Kind::leaf && overlap(program.leaves[value.index], view))
          return false;
      }
  }
  return true;
}

// Where the values of the steps go.
class Places {
 public:
  Places(driver::DeviceState& device, const Program& program)
      : device_(device), program_(program), views_(program.steps.size()) {
    find_last_uses();
    for (const Store& store : program.stores) views_[store.step] = store.view;
    for (std::size_t k = 0; k < views_.size(); ++k)
      if (is_temporary(k)) views_[k] = temporary(k);
  }

  // Nobody sees its value.
  bool is_dead(std::size_t k) const { return !is_stored(k) && last_use_[k] == 0; }
  const View& view(std::size_t k) const { return views_[k]; }

  // Takes the memory for the temporaries.
  bool allocate() {
    std::size_t bytes = 0;
    for (const Slot& slot : slots_) bytes += slot.storage->bytes();
    if (traffic_ > most_traffic(device_) || (bytes > 0 && bytes > most_memory(device_)))
      return false;
    try {
      for (const Slot& slot : slots_) slot.storage->address();
    } catch (const OutOfMemory&) {
      return false;
    }
    return true;
  }

 private:
  // Memory for values one after the other.
  struct Slot {
    std::shared_ptr<array::Storage> storage;
    std::size_t last_use;  // of the value that it holds
  };

  bool is_stored(std::size_t k) const { return views_[k].storage != nullptr; }
  bool is_temporary(std::size_t k) const { return !is_stored(k) && last_use_[k] > 0; }

  void find_last_uses() {
    last_use_.assign(program_.steps.size(), 0);
    for (std::size_t k = 0; k < program_.steps.size(); ++k)
      for (int a = 0; a < program_.steps[k].arity; ++a)
        if (Value value = program_.steps[k].args[a]; value.kind == Value::Kind::step)
          last_use_[value.index] = k;
  }

  // Dense, in the axis order of the first result, as the walk of the fused kernel is.
  View temporary(std::size_t k) {
    DType dtype = program_.steps[k].stored;
    const Strides* order[] = {&program_.stores[0].view.strides};
    std::size_t bytes = static_cast<std::size_t>(array::size_of(program_.shape)) * itemsize(dtype);
    traffic_ += 2.0 * static_cast<double>(bytes);
    auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) {
      return s.last_use < k && s.storage->bytes() == bytes;
    });
    if (slot == slots_.end())
      slot = slots_.insert(
          slot, {std::make_shared<array::Storage>(device_.shared_from_this(), bytes, nullptr), 0});
    slot->last_use = last_use_[k];
    return {slot->storage, program_.shape,
            array::keep_order_strides(program_.shape, order, itemsize(dtype)), 0, dtype};
  }

  driver::DeviceState& device_;
  const Program& program_;
  std::vector<View> views_;
  std::vector<std::size_t> last_use_;  // by a later step; 0: none
  std::vector<Slot> slots_;
  double traffic_ = 0;  // bytes that are written and read again
};

// Step `k` alone; an operand that it takes twice is one leaf, as the planner has it.
Program step_alone(const Program& program, std::size_t k, const Places& places) {
  Program alone;
  alone.shape = program.shape;
  Step step = program.steps[k];
  for (int a = 0; a < step.arity; ++a) {
    Value& value = step.args[a];
    if (value.kind == Value::Kind::scalar) {
      alone.scalars.push_back(program.scalars[value.index]);
      value.index = static_cast<std::uint8_t>(alone.scalars.size() - 1);
      continue;
    }
    const View& view =
        value.kind == Value::Kind::leaf ? program.leaves[value.index] : places.view(value.index);
    auto same = std::find_if(alone.leaves.begin(), alone.leaves.end(),
                             [&](const View& leaf) { return leaf.same_elements(view); });
    value = {Value::Kind::leaf, static_cast<std::uint8_t>(same - alone.leaves.begin())};
    if (same == alone.leaves.end()) alone.leaves.push_back(view);
  }
  alone.steps.push_back(step);
  alone.stores.push_back({0, places.view(k)});
  return alone;
}

}  // namespace

std::optional<std::vector<Program>> split_into_steps(driver::DeviceState& device,
                                                     const Program& program) {
  if (program.steps.size() < 2 || !keeps_order(program)) return {};
  Places places(device, program);
  if (!places.allocate()) return {};
  std::vector<Program> steps;
  for (std::size_t k = 0; k < program.steps.size(); ++k) {
    if (places.is_dead(k)) continue;
    steps.push_back(step_alone(program, k, places));
    if (!load_map(device, steps.back())) return {};
  }
  return steps;
}

}  // namespace td::fuse
