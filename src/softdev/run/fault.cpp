#include "softdev/run/fault.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <mutex>
#include <sstream>

#include "base/author_name.h"
#include "base/text.h"
#include "softdev/jit/code_space.h"
#include "softdev/run/compile_guard.h"
#include "base/fork.h"
#include "softdev/run/memory.h"
#include "softdev/run/no_sanitize.h"
#include "softdev/run/switch.h"

// The bounds of section td_rt_text, from the linker.
extern "C" {
extern const char __start_td_rt_text[] __attribute__((visibility("hidden")));
extern const char __stop_td_rt_text[] __attribute__((visibility("hidden")));
}

namespace td::softdev {

namespace {

using namespace td::cuda;

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::size_t kAlternateStackBytes = 64 * 1024;
constexpr std::size_t kSmallestUsefulStack = 16 * 1024;

struct Previous {
  struct sigaction action;
};
// By signal number; written under install_mutex, read by handlers.
Previous previous[NSIG];
std::atomic<bool> chaining[NSIG];
std::atomic<int> interrupt_number{0};

std::mutex& install_mutex() {
  static std::mutex& mutex = *[] {
    auto* made = new std::mutex;
    base::guard_across_fork(*made, base::LockRank::print);
    return made;
  }();
  return mutex;
}

bool in_runtime_text(std::uintptr_t pc) {
  return pc >= reinterpret_cast<std::uintptr_t>(__start_td_rt_text) &&
         pc < reinterpret_cast<std::uintptr_t>(__stop_td_rt_text);
}

void recover_at(ucontext_t* context, void* recovery) {
  auto& registers = context->uc_mcontext.gregs;
  registers[REG_RSP] = reinterpret_cast<greg_t>(recovery);
  registers[REG_RIP] = reinterpret_cast<greg_t>(&td_recover);
}

// Hands a signal to whoever had it before us.
void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& action = previous[signal].action;
  // A handler that restores "the previous one" (us) and raises the signal again has had its turn.
  bool raised_again = info->si_code <= 0 && chaining[signal].load();
  bool by_default = !(action.sa_flags & SA_SIGINFO) &&
                    (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
  if (raised_again || by_default) {
    // The instruction runs again and ends the process the ordinary way.
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    if (info->si_code <= 0) raise(signal);
    return;
  }
  chaining[signal] = true;
  if (action.sa_flags & SA_SIGINFO) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  chaining[signal] = false;
}

TD_ON_WARP_STACK void on_fault(int signal, siginfo_t* info, void* raw_context) {
  auto* context = static_cast<ucontext_t*>(raw_context);
  auto pc = static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
  auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Executor* executor = Executor::current();
  void* recovery = executor && info->si_code > 0 ? executor->recovery_point() : nullptr;
  bool wild_jump = signal == SIGSEGV && pc == address;
  bool overflow =
      recovery && signal != SIGFPE && signal != SIGILL && executor->in_stack_guard(address);
  if (!recovery || !(code_space_holds(pc) || in_runtime_text(pc) || wild_jump || overflow)) {
    if (info->si_code > 0) leave_crashed_work();
    chain(signal, info, raw_context);
    return;
  }
  Leave leave;
  leave.cause = overflow    ? Leave::Cause::stack_overflow
                : wild_jump ? Leave::Cause::bad_jump
                            : Leave::Cause::signal;
  leave.signal = signal;
  leave.code = info->si_code;
  leave.address = address;
  leave.program_counter = pc;
  executor->note_leave(leave);
  recover_at(context, recovery);
}

TD_ON_WARP_STACK void on_interrupt(int, siginfo_t*, void* raw_context) {
  auto* context = static_cast<ucontext_t*>(raw_context);
  auto pc = static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
  Executor* executor = Executor::current();
  if (!executor || executor->stop_ticket.load() != executor->ticket.load()) return;
  void* recovery = executor->recovery_point();
  if (!recovery || !code_space_holds(pc)) return;
  Leave leave;
  leave.cause = Leave::Cause::interrupted;
  leave.program_counter = pc;
  executor->note_leave(leave);
  recover_at(context, recovery);
}

int choose_interrupt_signal() {
  for (int signal = SIGRTMAX - 2; signal > SIGRTMIN; --signal) {
    struct sigaction present = {};
    if (sigaction(signal, nullptr, &present) == 0 && !(present.sa_flags & SA_SIGINFO) &&
        present.sa_handler == SIG_DFL)
      return signal;
  }
  return SIGRTMAX - 2;
}

// A thread's own stack for signal handlers, given back when the thread ends.
struct AlternateStack {
  void* memory = nullptr;

  AlternateStack() {
    stack_t present = {};
    if (sigaltstack(nullptr, &present) == 0 && !(present.ss_flags & SS_DISABLE) &&
        present.ss_size >= kSmallestUsefulStack)
      return;
    memory = mmap(nullptr, kAlternateStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      memory = nullptr;
      return;
    }
    stack_t ours = {};
    ours.ss_sp = memory;
    ours.ss_size = kAlternateStackBytes;
    sigaltstack(&ours, nullptr);
  }
  ~AlternateStack() {
    if (!memory) return;
    stack_t present = {};
    if (sigaltstack(nullptr, &present) == 0 && present.ss_sp == memory) {
      stack_t none = {};
      none.ss_flags = SS_DISABLE;
      sigaltstack(&none, nullptr);
    }
    munmap(memory, kAlternateStackBytes);
  }
};

std::string hex(std::uintptr_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

FaultReport explain_signal(const Leave& leave) {
  switch (leave.signal) {
    case SIGFPE:
      return {CUDA_ERROR_LAUNCH_FAILED,
              "integer division by zero, or the smallest integer divided by -1"};
    case SIGILL:
      return {CUDA_ERROR_ILLEGAL_INSTRUCTION,
              "an illegal instruction (code that the compiler took as unreachable)"};
    default:
      break;
  }
  // The processor gives no address when bits above the address space are set.
  if (leave.code == SI_KERNEL)
    return {CUDA_ERROR_ILLEGAL_ADDRESS,
            "an access through a pointer that is not an address of this machine"};
  return {CUDA_ERROR_ILLEGAL_ADDRESS, base::cat("an illegal access at ", hex(leave.address), ", ",
                                                Arena::get().describe(leave.address))};
}

// Errors of texture and surface calls; of other traps nothing.
void explain_texture(const Leave& leave, FaultReport* report) {
  switch (static_cast<TrapKind>(leave.trap_kind)) {
    case TrapKind::bad_texture:
      *report = {CUDA_ERROR_ILLEGAL_ADDRESS,
                 base::cat("a texture or surface call with the handle ", hex(leave.address),
                           ", which is not that of a living object of its kind (never made, "
                           "destroyed, or a texture for a surface)")};
      return;
    case TrapKind::surface_outside:
      *report = {CUDA_ERROR_ILLEGAL_ADDRESS,
                 base::cat("a surface access outside of the surface, x = ",
                           static_cast<std::int32_t>(leave.address),
                           " bytes; cudaBoundaryModeZero and cudaBoundaryModeClamp allow that")};
      return;
    case TrapKind::surface_misaligned:
      *report = {CUDA_ERROR_MISALIGNED_ADDRESS,
                 base::cat("a surface access at x = ", static_cast<std::int32_t>(leave.address),
                           " bytes, which is not a multiple of its size; x counts bytes")};
      return;
    default:
      return;
  }
}

}  // namespace

int interrupt_signal() {
  int number = interrupt_number.load();
  if (number) return number;
  std::lock_guard lock(install_mutex());
  if (!interrupt_number) interrupt_number = choose_interrupt_signal();
  return interrupt_number;
}

void install_fault_handlers() {
  int interrupt = interrupt_signal();
  std::lock_guard lock(install_mutex());
  for (int signal : kFaultSignals) {
    struct sigaction present = {};
    if (sigaction(signal, nullptr, &present) != 0) continue;
    if ((present.sa_flags & SA_SIGINFO) && present.sa_sigaction == on_fault) continue;
    previous[signal].action = present;
    struct sigaction ours = {};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    sigaction(signal, &ours, nullptr);
  }
  struct sigaction ours = {};
  ours.sa_sigaction = on_interrupt;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  sigaction(interrupt, &ours, nullptr);
}

void keep_fault_handlers() {
  constexpr std::uint64_t kCycles = 1000000;  // well under a millisecond
  static std::atomic<std::uint64_t> checked{0};
  std::uint64_t now = __builtin_ia32_rdtsc();
  if (now - checked.load(std::memory_order_relaxed) < kCycles) return;
  checked.store(now, std::memory_order_relaxed);
  struct sigaction present = {};
  if (sigaction(SIGSEGV, nullptr, &present) == 0 &&
      !((present.sa_flags & SA_SIGINFO) && present.sa_sigaction == on_fault))
    install_fault_handlers();
}

void ensure_alternate_stack() {
  static thread_local AlternateStack stack;
  (void)stack;
}

std::string place(const char* kernel, const BlockFrame& frame) {
  return base::cat("kernel ", base::author_name(kernel), ", block (", frame.block_idx[0], ", ",
                   frame.block_idx[1], ", ", frame.block_idx[2], ")");
}

FaultReport explain(const Executor& executor, const char* kernel) {
  const Leave& leave = executor.leave();
  FaultReport report;
  switch (leave.cause) {
    case Leave::Cause::none:
    case Leave::Cause::interrupted:
      return {CUDA_ERROR_LAUNCH_TIMEOUT, "interrupted"};
    case Leave::Cause::stack_overflow:
      report = {CUDA_ERROR_HARDWARE_STACK_ERROR,
                "stack overflow; raise CU_LIMIT_STACK_SIZE for deep recursion"};
      break;
    case Leave::Cause::bad_jump:
      report = {CUDA_ERROR_INVALID_PC, base::cat("a jump to ", hex(leave.address))};
      break;
    case Leave::Cause::assertion:
      report = {CUDA_ERROR_ASSERT, "a device-side assert failed:"};
      break;
    case Leave::Cause::trap:
      report = {CUDA_ERROR_LAUNCH_FAILED, "__trap()"};
      if (leave.trap_kind == static_cast<std::uint32_t>(TrapKind::divergent_barrier))
        report.text = "a barrier was reached by some threads of a warp only";
      if (leave.trap_kind == static_cast<std::uint32_t>(TrapKind::unreachable))
        report.text = "code that the compiler took as unreachable was reached";
      if (leave.trap_kind == static_cast<std::uint32_t>(TrapKind::bad_free))
        report.text = base::cat("free() or delete of ", hex(leave.address),
                                ", which is not a live allocation of the kernels' heap (freed "
                                "twice, or not from malloc or new in a kernel)");
      explain_texture(leave, &report);
      if (leave.line) report.text += base::cat(" (line ", leave.line, ")");
      break;
    case Leave::Cause::signal:
      report = explain_signal(leave);
      break;
  }
  std::string who = executor.leave_text();
  if (const ThreadFrame* thread = executor.running_thread(); thread && who.empty())
    who = base::cat(", thread (", thread->index[0], ", ", thread->index[1], ", ", thread->index[2],
                    ")");
  report.text = base::cat(place(kernel, executor.running_frame()), ": ", report.text, who);
  return report;
}

}  // namespace td::softdev
