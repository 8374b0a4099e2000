#include "fuse/out_of_memory.h"

#include <exception>

#include "treadle/error.h"

namespace td::fuse {
namespace {

// Why the storage cannot be used; null when it can.
std::exception_ptr trouble(const View& view) {
  try {
    view.storage->address();
    return nullptr;
  } catch (const OutOfMemory&) {
    return std::current_exception();
  }
}

std::exception_ptr trouble(const Step& step, const std::vector<std::exception_ptr>& leaves,
                           const std::vector<std::exception_ptr>& steps) {
  for (int a = 0; a < step.arity; ++a) {
    Value value = step.args[a];
    if (value.kind == Value::Kind::leaf && leaves[value.index]) return leaves[value.index];
    if (value.kind == Value::Kind::step && steps[value.index]) return steps[value.index];
  }
  return nullptr;
}

// The steps and leaves that the stores need, renumbered.
Program restricted(const Program& program, std::vector<Store> stores) {
  std::vector<bool> needed(program.steps.size());
  for (const Store& store : stores) needed[store.step] = true;
  for (std::size_t k = program.steps.size(); k-- > 0;)
    for (int a = 0; needed[k] && a < program.steps[k].arity; ++a)
      if (program.steps[k].args[a].kind == Value::Kind::step)
        needed[program.steps[k].args[a].index] = true;
  Program kept;
  kept.shape = program.shape;
  kept.scalars = program.scalars;
  std::vector<int> step_place(program.steps.size(), -1), leaf_place(program.leaves.size(), -1);
  for (std::size_t k = 0; k < program.steps.size(); ++k) {
    if (!needed[k]) continue;
    Step step = program.steps[k];
    for (int a = 0; a < step.arity; ++a) {
      Value& value = step.args[a];
      if (value.kind == Value::Kind::scalar) continue;
      if (value.kind == Value::Kind::leaf && leaf_place[value.index] < 0) {
        leaf_place[value.index] = static_cast<int>(kept.leaves.size());
        kept.leaves.push_back(program.leaves[value.index]);
      }
      int place =
          value.kind == Value::Kind::leaf ? leaf_place[value.index] : step_place[value.index];
      value.index = static_cast<std::uint8_t>(place);
    }
    step_place[k] = static_cast<int>(kept.steps.size());
    kept.steps.push_back(step);
  }
  for (Store& store : stores) {
    store.step = static_cast<std::uint8_t>(step_place[store.step]);
    kept.stores.push_back(std::move(store));
  }
  return kept;
}

}  // namespace

void launch_what_fits(driver::DeviceState& device, CUstream stream, Program& program) {
  if (program.reduces()) {
    for (Store& store : program.stores) store.view.storage->fail(std::current_exception());
    for (KeptStore& store : program.kept_stores) store.view.storage->fail(std::current_exception());
    return;
  }
  std::vector<std::exception_ptr> leaves, steps;
  for (const View& leaf : program.leaves) leaves.push_back(trouble(leaf));
  for (const Step& step : program.steps) steps.push_back(trouble(step, leaves, steps));
  std::vector<Store> stores;
  for (Store& store : program.stores) {
    std::exception_ptr error = steps[store.step] ? steps[store.step] : trouble(store.view);
    if (error)
      store.view.storage->fail(error);
    else
      stores.push_back(std::move(store));
  }
  if (stores.empty()) return;
  Program kept = restricted(program, std::move(stores));
  try {
    launch_map(device, stream, kept);
  } catch (const OutOfMemory&) {
    for (Store& store : kept.stores) store.view.storage->fail(std::current_exception());
  }
}

}  // namespace td::fuse
