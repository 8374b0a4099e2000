#include "softdev/run/fair_block.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "softdev/run/switch.h"

namespace td::softdev {

namespace {

constexpr std::size_t kGroupGuard = 64 * 1024;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

}  // namespace

extern "C" [[noreturn]] __attribute__((visibility("hidden"))) TD_ON_WARP_STACK void
td_fiber_finished(FairBlock* block) {
  block->fiber_finished();
}

// One mapping: shared memory, then the stacks of groups of up to 32 fibers with a guard below each
// group. Within a group a stack is kept from its neighbour by the checks of scalar code.
const char* FairBlock::prepare(const FairShape& shape) {
  std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  shape_ = shape;
  std::uint32_t fibers = count();
  std::size_t stack = round_up(shape.stack_bytes, page);
  if (memory_ && room_ >= fibers && stack_bytes_ >= stack && shared_room_ >= shape.shared_bytes)
    return nullptr;
  if (memory_) munmap(memory_, memory_bytes_);
  memory_ = nullptr;
  std::size_t group = shape.lanes == 1 ? kWarpSize : 1, groups = (fibers + group - 1) / group;
  std::size_t shared = round_up(shape.shared_bytes + 2 * kSharedSlack, page);
  std::size_t stride = kGroupGuard + group * stack;
  std::size_t bytes = shared + groups * stride + kGroupGuard;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return "no memory for the stacks of the kernel's threads";
  memory_ = static_cast<unsigned char*>(memory);
  memory_bytes_ = bytes;
  for (std::size_t g = 0; g <= groups; ++g)
    if (mprotect(memory_ + shared + g * stride, kGroupGuard, PROT_NONE) != 0) {
      munmap(memory, bytes);
      memory_ = nullptr;
      return "no memory for the stacks of the kernel's threads";
    }
  stacks_ = memory_ + shared;
  stack_bytes_ = stack;
  shared_room_ = shape.shared_bytes;
  if (room_ < fibers) fibers_.reset(new Fiber[fibers]);
  room_ = fibers;
  return nullptr;
}

FairBlock::~FairBlock() {
  if (memory_) munmap(memory_, memory_bytes_);
}

bool FairBlock::in_stack_guard(std::uintptr_t address) const {
  auto base = reinterpret_cast<std::uintptr_t>(stacks_);
  auto end = reinterpret_cast<std::uintptr_t>(memory_) + memory_bytes_;
  if (!memory_ || address < base || address >= end) return false;
  std::size_t group = shape_.lanes == 1 ? kWarpSize : 1;
  return (address - base) % (kGroupGuard + group * stack_bytes_) < kGroupGuard;
}

const ThreadFrame* FairBlock::current_thread() const {
  return current_ && shape_.lanes == 1 ? &current_->thread : nullptr;
}

TD_ON_WARP_STACK void FairBlock::start_fiber(std::uint32_t number, const FairCode& code) {
  Fiber& fiber = fibers_[number];
  fiber = {};
  fiber.first = number * shape_.lanes;
  fiber.lanes = std::min(shape_.lanes, shape_.threads - fiber.first);
  std::size_t group = shape_.lanes == 1 ? kWarpSize : 1;
  std::size_t stride = kGroupGuard + group * stack_bytes_;
  unsigned char* bottom =
      stacks_ + number / group * stride + kGroupGuard + number % group * stack_bytes_;
  // Staggered: equal page offsets of all stacks would collide in the first-level cache.
  unsigned char* top = bottom + stack_bytes_ - (number % 16) * 128;
  auto* frame = reinterpret_cast<void**>(top) - 7;
  frame[0] = this;                                                  // r15
  frame[1] = reinterpret_cast<void*>(&td_fiber_finished);           // r14
  frame[2] = reinterpret_cast<void*>(std::uintptr_t{fiber.first});  // r13
  frame[3] = &frame_;                                               // r12
  frame[4] = shape_.lanes == 1           ? reinterpret_cast<void*>(code.thread)
             : shape_.lanes == kWarpSize ? reinterpret_cast<void*>(code.warp)
                                         : reinterpret_cast<void*>(code.block);  // rbx
  frame[5] = nullptr;                                                            // rbp
  frame[6] = reinterpret_cast<void*>(&td_warp_entry);
  fiber.stack_pointer = frame;
  if (shape_.lanes == 1) {
    const std::uint32_t* size = frame_.launch->block;
    ThreadFrame& thread = fiber.thread;
    thread.block = &frame_;
    thread.linear = number;
    thread.index[0] = number % size[0];
    thread.index[1] = number / size[0] % size[1];
    thread.index[2] = number / size[0] / size[1];
    thread.stack_limit = bottom + kScalarReserve;
    frame[3] = &thread;
  }
}

TD_ON_WARP_STACK void FairBlock::start(Executor& executor, const LaunchFrame& launch,
                                       const std::uint32_t index[3], const FairCode& code) {
  frame_.launch = &launch;
  frame_.shared = memory_ + kSharedSlack;
  for (int i = 0; i < 3; ++i) frame_.block_idx[i] = index[i];
  frame_.worker = executor.index();
  frame_.scheduler = &executor;
  frame_.fair = this;
  ready_first_ = ready_last_ = current_ = nullptr;
  ready_ = waiting_active_masks_ = 0;
  alive_ = shape_.threads;
  progress_ = false;
  for (Barrier& barrier : barriers_) barrier = {};
  for (std::uint32_t i = 0; i < count(); ++i) {
    start_fiber(i, code);
    make_ready(fibers_[i]);
  }
}

TD_ON_WARP_STACK FairBlock::Status FairBlock::resume() {
  if (!ready_) {
    for (std::uint32_t i = 0; i < count(); ++i)
      if (fibers_[i].state == Fiber::State::grid) make_ready(fibers_[i]);
    progress_ = true;
  }
  turns_ = ready_;
  current_ = take_ready();
  td_switch(&runner_stack_pointer_, current_->stack_pointer);
  return status_;
}

bool FairBlock::made_progress() { return std::exchange(progress_, false); }

// ---- the ready queue ----

TD_ON_WARP_STACK void FairBlock::make_ready(Fiber& fiber) {
  fiber.state = Fiber::State::ready;
  fiber.next = nullptr;
  (ready_last_ ? ready_last_->next : ready_first_) = &fiber;
  ready_last_ = &fiber;
  ++ready_;
}

TD_ON_WARP_STACK Fiber* FairBlock::take_ready() {
  Fiber* fiber = ready_first_;
  if (!fiber) return nullptr;
  ready_first_ = fiber->next;
  if (!ready_first_) ready_last_ = nullptr;
  --ready_;
  return fiber;
}

TD_ON_WARP_STACK void FairBlock::leave_to_runner(Fiber& fiber, Status status) {
  status_ = status;
  td_switch(&fiber.stack_pointer, runner_stack_pointer_);
}

// The current fiber waits: its state says for what.
TD_ON_WARP_STACK void FairBlock::wait() {
  Fiber* self = current_;
  if (!ready_ && waiting_active_masks_) release_active_masks();
  Fiber* next = take_ready();
  if (next == self) return;
  if (!next) return leave_to_runner(*self, status_without_ready());
  current_ = next;
  td_switch(&self->stack_pointer, next->stack_pointer);
}

TD_ON_WARP_STACK FairBlock::Status FairBlock::status_without_ready() const {
  if (alive_ == 0) return Status::finished;
  for (std::uint32_t i = 0; i < count(); ++i)
    if (fibers_[i].state != Fiber::State::grid && fibers_[i].state != Fiber::State::finished)
      return Status::stuck;
  return Status::at_grid_barrier;
}

// ---- called by fibers ----

TD_ON_WARP_STACK void FairBlock::yield() {
  Fiber* self = current_;
  if (turns_ <= 1) {
    if (waiting_active_masks_) release_active_masks();
    make_ready(*self);
    return leave_to_runner(*self, Status::stalled);
  }
  --turns_;
  make_ready(*self);
  Fiber* next = take_ready();
  if (next == self) return;
  current_ = next;
  td_switch(&self->stack_pointer, next->stack_pointer);
}

TD_ON_WARP_STACK std::uint32_t FairBlock::barrier(std::uint32_t id, std::uint32_t threads,
                                                  std::uint32_t lanes, std::uint32_t holds,
                                                  BarrierKind kind, const char* place) {
  Fiber& self = *current_;
  id %= kMaxBarriers;
  Barrier& barrier = barriers_[id];
  barrier.arrived += lanes;
  barrier.holds += holds;
  barrier.threads = std::max(barrier.threads, threads);
  if (kind == BarrierKind::arrive) {
    release_barrier_if_complete(id);
    return 0;
  }
  self.state = Fiber::State::barrier;
  self.barrier = id;
  self.kind = kind;
  self.place = place;
  release_barrier_if_complete(id);
  // Complete: it is in the ready queue, and its turn comes.
  wait();
  return static_cast<std::uint32_t>(self.result);
}

TD_ON_WARP_STACK void FairBlock::release_barrier_if_complete(std::uint32_t id) {
  Barrier& barrier = barriers_[id];
  if (barrier.arrived < (barrier.threads ? barrier.threads : alive_)) return;
  for (std::uint32_t i = 0; i < count(); ++i) {
    Fiber& fiber = fibers_[i];
    if (fiber.state != Fiber::State::barrier || fiber.barrier != id) continue;
    fiber.result = fiber.kind == BarrierKind::count ? barrier.holds
                   : fiber.kind == BarrierKind::all ? barrier.holds == barrier.arrived
                                                    : barrier.holds != 0;
    make_ready(fiber);
  }
  barrier = {};
}

TD_ON_WARP_STACK std::uint64_t FairBlock::warp_op(ThreadFrame* thread, WarpOp op,
                                                  std::uint32_t mask, std::uint64_t value,
                                                  std::uint32_t b, std::uint32_t c,
                                                  const char* place) {
  if (shape_.lanes != 1)
    td_rt_trap(thread->block, static_cast<std::uint32_t>(TrapKind::divergent_barrier),
               thread->linear, 1, place);
  Fiber& self = fibers_[thread->linear];
  std::uint32_t bit = 1u << thread->linear % kWarpSize;
  self.op = op;
  self.mask = op == WarpOp::active_mask || mask & bit ? mask : bit;
  self.value = value;
  self.b = b;
  self.c = c;
  self.place = place;
  if (op == WarpOp::active_mask) {
    self.state = Fiber::State::active_mask;
    ++waiting_active_masks_;
    wait();
    return self.result;
  }
  self.state = Fiber::State::warp_op;
  complete_warp_op(self);
  wait();
  return self.result;
}

// Looks whether everyone is there for the operation that `one` waits in.
TD_ON_WARP_STACK bool FairBlock::complete_warp_op(Fiber& one) {
  Fiber* warp = &fibers_[one.first / kWarpSize * kWarpSize];
  std::uint32_t lanes = std::min(kWarpSize, shape_.threads - warp->first);
  std::uint32_t group = 0, missing = 0;
  for (std::uint32_t l = 0; l < lanes; ++l) {
    if (!(one.mask >> l & 1) || warp[l].state == Fiber::State::finished) continue;
    bool same =
        warp[l].state == Fiber::State::warp_op && warp[l].op == one.op && warp[l].mask == one.mask;
    (same ? group : missing) |= 1u << l;
  }
  if (missing) return false;
  compute_warp_op(warp, group);
  for (std::uint32_t l = 0; l < lanes; ++l)
    if (group >> l & 1) make_ready(warp[l]);
  return true;
}

// Lanes that have come to one __activemask while all others ran as far as they could: together
// they are what it answers.
TD_ON_WARP_STACK void FairBlock::release_active_masks() {
  waiting_active_masks_ = 0;
  for (std::uint32_t i = 0; i < count(); ++i) {
    Fiber& first = fibers_[i];
    if (first.state != Fiber::State::active_mask) continue;
    std::uint32_t end = std::min(count(), i / kWarpSize * kWarpSize + kWarpSize), bits = 0;
    for (std::uint32_t k = i; k < end; ++k)
      if (fibers_[k].state == Fiber::State::active_mask && fibers_[k].b == first.b)
        bits |= 1u << k % kWarpSize;
    std::uint32_t site = first.b;
    for (std::uint32_t k = i; k < end; ++k) {
      if (fibers_[k].state != Fiber::State::active_mask || fibers_[k].b != site) continue;
      fibers_[k].result = bits;
      make_ready(fibers_[k]);
    }
  }
}

TD_ON_WARP_STACK void FairBlock::grid_barrier(const char* place) {
  current_->state = Fiber::State::grid;
  current_->place = place;
  wait();
}

TD_ON_WARP_STACK void FairBlock::fiber_finished() {
  Fiber& self = *current_;
  self.state = Fiber::State::finished;
  alive_ -= self.lanes;
  progress_ = true;
  for (std::uint32_t id = 0; id < kMaxBarriers; ++id)
    if (barriers_[id].arrived) release_barrier_if_complete(id);
  if (shape_.lanes == 1) {
    std::uint32_t begin = self.first / kWarpSize * kWarpSize;
    for (std::uint32_t i = begin; i < std::min(begin + kWarpSize, count()); ++i)
      if (fibers_[i].state == Fiber::State::warp_op) complete_warp_op(fibers_[i]);
  }
  wait();
  __builtin_unreachable();
}

// ---- for people ----

namespace {

void add_thread(std::string& out, std::uint32_t linear, const std::uint32_t* size) {
  out += base::cat("(", linear % size[0], ", ", linear / size[0] % size[1], ", ",
                   linear / size[0] / size[1], ")");
}

}  // namespace

// All fibers that wait where `leader` does, as ranges of threads.
void FairBlock::describe_group(std::string& out, const Fiber& leader) const {
  constexpr unsigned kMostRanges = 8;
  const std::uint32_t* size = frame_.launch->block;
  out += leader.state == Fiber::State::barrier ? "the barrier"
         : leader.state == Fiber::State::grid  ? "the grid barrier"
                                               : "the warp-level operation";
  if (leader.state == Fiber::State::barrier && leader.barrier)
    out += base::cat(" ", leader.barrier);
  if (leader.place) out += base::cat(" at ", leader.place);
  if (leader.state == Fiber::State::warp_op) {
    char mask[16];
    std::snprintf(mask, sizeof mask, "0x%x", leader.mask);
    out += base::cat(" with mask ", mask);
  }
  out += " is waited at by threads ";
  auto same = [&](const Fiber& fiber) {
    return fiber.state == leader.state && fiber.barrier == leader.barrier &&
           fiber.mask == leader.mask && fiber.place == leader.place;
  };
  unsigned ranges = 0;
  for (std::uint32_t i = 0; i < count(); ++i) {
    if (!same(fibers_[i])) continue;
    std::uint32_t end = i;
    while (end + 1 < count() && same(fibers_[end + 1])) ++end;
    if (++ranges > kMostRanges) {
      out += ", ...";
      return;
    }
    if (ranges > 1) out += ", ";
    add_thread(out, fibers_[i].first, size);
    std::uint32_t last = fibers_[end].first + fibers_[end].lanes - 1;
    if (last != fibers_[i].first) {
      out += " to ";
      add_thread(out, last, size);
    }
    i = end;
  }
}

std::string FairBlock::describe_stuck() const {
  std::string out = "threads wait for one another for ever: ";
  for (std::uint32_t i = 0; i < count(); ++i) {
    const Fiber& fiber = fibers_[i];
    if (fiber.state == Fiber::State::finished) continue;
    bool seen = false;
    for (std::uint32_t k = 0; k < i && !seen; ++k)
      seen = fibers_[k].state == fiber.state && fibers_[k].barrier == fiber.barrier &&
             fibers_[k].mask == fiber.mask && fibers_[k].place == fiber.place;
    if (seen) continue;
    if (out.back() != ' ') out += "; ";
    describe_group(out, fiber);
  }
  return out;
}

}  // namespace td::softdev
