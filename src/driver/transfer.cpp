// Which way a copy takes:
//   pinned host memory, or a device that shares the host's memory (attribute INTEGRATED): one
//   driver copy up to 64 KiB: through a slot of a pinned ring; an upload then returns without
//   waiting for the device larger: in pieces through pinned buffers, by up to eight threads (by the
//   caller alone when there is one piece)
//
// Order: the staging streams wait for the caller's stream first and the caller's stream waits for
// them at the end, so a staged copy has its place in the caller's stream like any other work.
#include "driver/transfer.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <thread>

namespace td::driver {

namespace {

constexpr std::size_t kSlotBytes = std::size_t{64} << 10;
constexpr int kSlots = 16;
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
constexpr std::size_t kSmallestPiece = std::size_t{256} << 10;
constexpr int kLanes = 8;

struct Slot {
  char* memory = nullptr;
  CUevent free = nullptr;  // recorded behind the last copy from or to the slot
  bool used = false;
  bool taken = false;  // by a caller, at this moment
};

// One staging stream with two buffers: one is filled or emptied while the other one travels.
struct Lane {
  CUstream stream = nullptr;
  Slot buffers[2];
};

// Runs a function for indices 0 … count-1 on persistent threads, the caller among them. One user at
// a time.
class Crew {
 public:
  explicit Crew(int helpers) {
    for (int i = 0; i < helpers; ++i) std::thread([this] { work(); }).detach();
  }
  void run(int count, const std::function<void(int)>& function) {
    std::unique_lock lock(mutex_);
    function_ = &function;
    next_ = 0;
    count_ = count;
    running_ = 0;
    wake_.notify_all();
    take(lock);
    done_.wait(lock, [&] { return next_ >= count_ && running_ == 0; });
    function_ = nullptr;
  }

 private:
  void take(std::unique_lock<std::mutex>& lock) {
    while (function_ && next_ < count_) {
      int index = next_++;
      ++running_;
      const auto* function = function_;
      lock.unlock();
      (*function)(index);
      lock.lock();
      if (--running_ == 0 && next_ >= count_) done_.notify_all();
    }
  }
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return function_ && next_ < count_; });
      take(lock);
    }
  }
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int)>* function_ = nullptr;
  int next_ = 0, count_ = 0, running_ = 0;
};

int lane_count() {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores, 1, kLanes);
}

// One crew for all devices, leaked: its threads outlive static objects.
Crew& crew() {
  static Crew& threads = *new Crew(lane_count() - 1);
  return threads;
}

std::mutex crew_mutex;  // the crew's one user

}  // namespace

class Stager::Impl {
 public:
  explicit Impl(DeviceState& device) : device_(device) {}

  void copy(const StreamState& stream, CUdeviceptr device_side, char* host, std::size_t bytes,
            bool up) {
    device_.make_current();
    if (direct(host)) return direct_copy(stream, device_side, host, bytes, up);
    if (bytes <= kSlotBytes) return small_copy(stream, device_side, host, bytes, up);
    staged_copy(stream, device_side, host, bytes, up);
  }

  void forget() {
    std::scoped_lock lock(ring_mutex_, lanes_mutex_);
    for (Slot& slot : ring_) slot = {.taken = slot.taken};
    for (Lane& lane : lanes_) lane = {};
    fork_ = nullptr;
    next_slot_ = 0;
  }

 private:
  bool direct(const void* host) {
    if (device_.attribute(cuda::INTEGRATED)) return true;
    unsigned type = 0;  // stays 0 for memory that the driver does not know: pageable
    auto address = reinterpret_cast<CUdeviceptr>(host);
    CUresult result =
        device_.api().cuPointerGetAttribute(&type, cuda::POINTER_MEMORY_TYPE, address);
    return result == 0 && type == cuda::MEMORYTYPE_HOST;
  }

  void enqueue(CUstream stream, CUdeviceptr device_side, char* host, std::size_t bytes, bool up) {
    if (up)
      TD_CALL(device_, cuMemcpyHtoDAsync, device_side, host, bytes, stream);
    else
      TD_CALL(device_, cuMemcpyDtoHAsync, host, device_side, bytes, stream);
  }

  void direct_copy(const StreamState& stream, CUdeviceptr device_side, char* host,
                   std::size_t bytes, bool up) {
    enqueue(stream.handle(), device_side, host, bytes, up);
    TD_CALL(device_, cuStreamSynchronize, stream.handle());
  }

  void small_copy(const StreamState& stream, CUdeviceptr device_side, char* host, std::size_t bytes,
                  bool up) {
    Lease lease(*this);
    Slot& slot = lease.slot;
    prepare(slot, kSlotBytes);
    if (up) std::memcpy(slot.memory, host, bytes);
    enqueue(stream.handle(), device_side, slot.memory, bytes, up);
    mark(slot, stream.handle());
    if (up) return;
    TD_CALL(device_, cuEventSynchronize, slot.free);
    std::memcpy(host, slot.memory, bytes);
  }

  // A slot of the ring for one caller. No lock is held while the caller waits for the device: what
  // it waits for may need another thread's copy first.
  struct Lease {
    explicit Lease(Impl& owner) : owner(owner), slot(owner.take_slot()) {}
    ~Lease() {
      {
        std::lock_guard lock(owner.ring_mutex_);
        slot.taken = false;
      }
      owner.slot_free_.notify_one();
    }
    Impl& owner;
    Slot& slot;
  };

  Slot& take_slot() {
    std::unique_lock lock(ring_mutex_);
    while (true) {
      for (int i = 0; i < kSlots; ++i) {
        Slot& slot = ring_[next_slot_++ % kSlots];
        if (slot.taken) continue;
        slot.taken = true;
        return slot;
      }
      slot_free_.wait(lock);
    }
  }

  // The slot has memory and no copy uses it any more.
  void prepare(Slot& slot, std::size_t bytes) {
    if (!slot.memory) {
      void* memory = nullptr;
      TD_CALL(device_, cuMemHostAlloc, &memory, bytes, cuda::HOSTALLOC_PORTABLE);
      slot.memory = static_cast<char*>(memory);
      TD_CALL(device_, cuEventCreate, &slot.free, cuda::EVENT_DISABLE_TIMING);
    }
    if (slot.used) TD_CALL(device_, cuEventSynchronize, slot.free);
    slot.used = false;
  }

  void mark(Slot& slot, CUstream stream) {
    TD_CALL(device_, cuEventRecord, slot.free, stream);
    slot.used = true;
  }

  void staged_copy(const StreamState& stream, CUdeviceptr device_side, char* host,
                   std::size_t bytes, bool up) {
    // One staged copy at a time; a second one goes through the driver rather than wait for what the
    // first waits for.
    std::unique_lock crew_lock(crew_mutex, std::try_to_lock);
    if (!crew_lock) return direct_copy(stream, device_side, host, bytes, up);
    std::lock_guard lock(lanes_mutex_);
    std::size_t piece =
        std::clamp(bytes / (2 * kLanes) / kSlotBytes * kSlotBytes, kSmallestPiece, kPieceBytes);
    std::size_t pieces = (bytes + piece - 1) / piece;
    int lanes = static_cast<int>(std::min<std::size_t>(lane_count(), pieces));
    if (!fork_) TD_CALL(device_, cuEventCreate, &fork_, cuda::EVENT_DISABLE_TIMING);
    TD_CALL(device_, cuEventRecord, fork_, stream.handle());
    std::mutex failure_mutex;
    std::exception_ptr failure;
    auto work = [&](int index) {
      try {
        device_.make_current();
        run_lane(lanes_[index], device_side, host, bytes, piece, index, lanes, up);
      } catch (...) {
        std::lock_guard guard(failure_mutex);
        failure = std::current_exception();
      }
    };
    if (lanes == 1)
      work(0);
    else
      crew().run(lanes, work);
    if (failure) std::rethrow_exception(failure);
    if (!up) return;  // all data are in host memory
    for (int i = 0; i < lanes; ++i)
      for (Slot& buffer : lanes_[i].buffers)
        if (buffer.used) TD_CALL(device_, cuStreamWaitEvent, stream.handle(), buffer.free, 0);
  }

  // Pieces index, index + lanes, index + 2 lanes, … by this lane.
  void run_lane(Lane& lane, CUdeviceptr device_side, char* host, std::size_t bytes,
                std::size_t piece, int index, int lanes, bool up) {
    if (!lane.stream)
      TD_CALL(device_, cuStreamCreateWithPriority, &lane.stream, cuda::STREAM_NON_BLOCKING, 0);
    TD_CALL(device_, cuStreamWaitEvent, lane.stream, fork_, 0);
    const std::size_t first = index * piece, stride = lanes * piece;
    auto size_at = [&](std::size_t offset) { return std::min(piece, bytes - offset); };
    int turn = 0;
    std::size_t behind = bytes;  // download: offset of the piece that is on its way; bytes = none
    for (std::size_t offset = first; offset < bytes; offset += stride, turn ^= 1) {
      Slot& buffer = lane.buffers[turn];
      prepare(buffer, kPieceBytes);
      if (up) std::memcpy(buffer.memory, host + offset, size_at(offset));
      enqueue(lane.stream, device_side + offset, buffer.memory, size_at(offset), up);
      mark(buffer, lane.stream);
      if (!up && behind < bytes) arrive(lane.buffers[turn ^ 1], host + behind, size_at(behind));
      behind = offset;
    }
    if (!up && behind < bytes) arrive(lane.buffers[turn ^ 1], host + behind, size_at(behind));
  }

  void arrive(Slot& buffer, char* host, std::size_t bytes) {
    TD_CALL(device_, cuEventSynchronize, buffer.free);
    std::memcpy(host, buffer.memory, bytes);
  }

  DeviceState& device_;
  std::mutex ring_mutex_, lanes_mutex_;
  std::condition_variable slot_free_;
  Slot ring_[kSlots];
  unsigned next_slot_ = 0;
  Lane lanes_[kLanes];
  CUevent fork_ = nullptr;  // the point of the caller's stream behind which the copy comes
};

Stager::Stager(DeviceState& device) : impl_(std::make_unique<Impl>(device)) {}
Stager::~Stager() = default;
void Stager::upload(const StreamState& stream, CUdeviceptr to, const char* from,
                    std::size_t bytes) {
  impl_->copy(stream, to, const_cast<char*>(from), bytes, true);  // an upload only reads it
}
void Stager::download(const StreamState& stream, char* to, CUdeviceptr from, std::size_t bytes) {
  impl_->copy(stream, from, to, bytes, false);
}
void Stager::forget() { impl_->forget(); }

void upload(const StreamState& stream, CUdeviceptr device, const void* host, std::size_t bytes) {
  if (bytes) stream.device().stager().upload(stream, device, static_cast<const char*>(host), bytes);
}

void download(const StreamState& stream, void* host, CUdeviceptr device, std::size_t bytes) {
  if (bytes) stream.device().stager().download(stream, static_cast<char*>(host), device, bytes);
}

}  // namespace td::driver
