#include "fuse/coming_kernels.h"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/background.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/text.h"
#include "fuse/kernel_cache.h"
#include "treadle/fusion.h"

namespace td::fuse {
namespace {

// More than this on their way come so late that waiting for an own compilation is better.
constexpr std::size_t kMostComing = 64;
// Kernels that nobody has collected; the oldest go first. Most are in the disk cache as well.
constexpr std::size_t kMostKept = 256;

enum class State : char { queued, at_work, here, failed, called_off };

struct Request {
  std::shared_ptr<driver::DeviceState> device;
  compile::Source source;
  std::atomic<State> state{State::queued};
  // Of one that is here: where loading takes a compiler too, that has been done.
  std::string image;
  std::shared_ptr<driver::PreparedImage> prepared;
};

using Key = std::pair<driver::DeviceState*, std::string>;

struct Requests {
  std::mutex mutex;
  std::map<Key, std::shared_ptr<Request>> by_key;
  std::deque<Key> kept;  // those that are here, and some that were
  std::size_t coming = 0;
};
Requests& requests() { return base::guarded_instance<Requests, base::LockRank::requests>(); }

bool take_up(Request& request) {
  State queued = State::queued;
  return request.state.compare_exchange_strong(queued, State::at_work);
}

State make(Request& request) {
  try {
    driver::DeviceState& device = *request.device;
    compile::Image image = compile::compile(request.source, image_target(device));
    if (base::is_compiled_when_loaded(device.provider().image_format))
      request.prepared = std::make_shared<driver::PreparedImage>(request.device, image.bytes);
    else
      request.image = std::move(image.bytes);
    return State::here;
  } catch (const std::exception& error) {
    base::log(base::LogLevel::info, base::cat("in the background: ", error.what()));
    return State::failed;
  }
}

void keep_locked(Requests& all, const Key& key) {
  all.kept.push_back(key);
  if (all.kept.size() <= kMostKept) return;
  auto oldest = all.by_key.find(all.kept.front());
  if (oldest != all.by_key.end() && oldest->second->state == State::here) all.by_key.erase(oldest);
  all.kept.pop_front();
}

// What the background thread does.
void carry_out(const std::shared_ptr<Request>& request, const Key& key) {
  Requests& all = requests();
  if (take_up(*request)) {
    State outcome = make(*request);
    request->source = {};
    std::lock_guard lock(all.mutex);
    request->state = outcome;
    if (outcome == State::here) keep_locked(all, key);
  }
  request->state.notify_all();
  std::lock_guard lock(all.mutex);
  --all.coming;
}

}  // namespace

Arrival arrival_of(driver::DeviceState& device, const std::string& key) {
  Requests& all = requests();
  std::lock_guard lock(all.mutex);
  auto found = all.by_key.find({&device, key});
  if (found == all.by_key.end()) return Arrival::unknown;
  switch (found->second->state) {
    case State::queued:
    case State::at_work:
      base::Background::get().keep_going();
      return Arrival::coming;
    case State::here:
      return Arrival::here;
    default:
      return Arrival::failed;
  }
}

bool ask_for_kernel(driver::DeviceState& device, const std::string& key, compile::Source source) {
  Requests& all = requests();
  std::lock_guard lock(all.mutex);
  if (all.coming >= kMostComing) return false;
  auto request = std::make_shared<Request>();
  request->device = device.shared_from_this();
  request->source = std::move(source);
  Key place{&device, key};
  all.by_key[place] = request;
  ++all.coming;
  base::Background::get().ask([request, place] { carry_out(request, place); },
                              base::Background::Urgency::awaited);
  return true;
}

std::shared_ptr<driver::LoadedModule> collect_kernel(driver::DeviceState& device,
                                                     const std::string& key) {
  Requests& all = requests();
  std::shared_ptr<Request> request;
  {
    std::lock_guard lock(all.mutex);
    auto found = all.by_key.find({&device, key});
    if (found == all.by_key.end()) return nullptr;
    request = found->second;
  }
  State queued = State::queued;
  request->state.compare_exchange_strong(queued, State::called_off);
  request->state.wait(State::at_work);
  if (request->state == State::failed) return nullptr;
  {
    std::lock_guard lock(all.mutex);
    all.by_key.erase({&device, key});
  }
  if (request->state == State::called_off) return nullptr;
  return request->prepared
             ? std::make_shared<driver::LoadedModule>(request->prepared)
             : std::make_shared<driver::LoadedModule>(request->device, request->image);
}

}  // namespace td::fuse

namespace td {
namespace {

std::atomic<bool>& background_flag() {
  static std::atomic<bool> flag = [] {
    const char* text = std::getenv("TREADLE_BACKGROUND_COMPILES");
    return !(text && (std::string_view(text) == "0" || std::string_view(text) == "off"));
  }();
  return flag;
}

}  // namespace

bool background_compiles() { return background_flag().load(std::memory_order_relaxed); }
void set_background_compiles(bool on) { background_flag().store(on, std::memory_order_relaxed); }
void wait_for_compiles() { base::Background::get().wait(); }

}  // namespace td
