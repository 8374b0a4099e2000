#include "softdev/run/memory_op.h"

#include "softdev/run/memory.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

bool is_wide(int operation) {
  return operation == MEM_OP_WAIT_VALUE_64 || operation == MEM_OP_WRITE_VALUE_64;
}
bool is_wait(int operation) {
  return operation == MEM_OP_WAIT_VALUE_32 || operation == MEM_OP_WAIT_VALUE_64;
}

template <class T>
bool holds(const T* address, T value, unsigned how) {
  T now = __atomic_load_n(address, __ATOMIC_ACQUIRE);
  switch (how) {
    case WAIT_VALUE_GEQ:  // in cyclic order
      return static_cast<std::make_signed_t<T>>(now - value) >= 0;
    case WAIT_VALUE_EQ:
      return now == value;
    case WAIT_VALUE_AND:
      return (now & value) != 0;
    default:
      return static_cast<T>(~(now | value)) != 0;
  }
}

class MemoryOp final : public Op {
 public:
  MemoryOp(Context& context, std::vector<CUstreamBatchMemOpParams> operations)
      : Op(Kind::polled, context), operations_(std::move(operations)) {}
  void run(Executor*, std::uint64_t, std::uint64_t) override {}
  bool poll() override {
    for (; at_ < operations_.size(); ++at_)
      if (!step(operations_[at_])) return false;
    return true;
  }

 private:
  static bool step(const CUstreamBatchMemOpParams& op) {
    const auto& memory = op.memory;
    auto* narrow = reinterpret_cast<std::uint32_t*>(memory.address);
    auto* wide = reinterpret_cast<std::uint64_t*>(memory.address);
    unsigned how = memory.flags & ~WAIT_VALUE_FLUSH;
    switch (op.operation) {
      case MEM_OP_WAIT_VALUE_32:
        return holds(narrow, memory.value, how);
      case MEM_OP_WAIT_VALUE_64:
        return holds(wide, memory.value64, how);
      case MEM_OP_WRITE_VALUE_32:
        __atomic_store_n(narrow, memory.value, __ATOMIC_RELEASE);
        return true;
      case MEM_OP_WRITE_VALUE_64:
        __atomic_store_n(wide, memory.value64, __ATOMIC_RELEASE);
        return true;
      default:
        return true;  // barriers: everything before is done and visible
    }
  }

  std::vector<CUstreamBatchMemOpParams> operations_;
  std::size_t at_ = 0;
};

}  // namespace

CUresult check_memory_ops(const std::vector<CUstreamBatchMemOpParams>& operations) {
  for (const auto& op : operations) {
    switch (op.operation) {
      case MEM_OP_WAIT_VALUE_32:
      case MEM_OP_WAIT_VALUE_64:
      case MEM_OP_WRITE_VALUE_32:
      case MEM_OP_WRITE_VALUE_64: {
        std::size_t bytes = is_wide(op.operation) ? 8 : 4;
        unsigned known = is_wait(op.operation) ? 3u | WAIT_VALUE_FLUSH : 1u;
        if (op.memory.address % bytes || (op.memory.flags & ~known) ||
            !Arena::get().holds(op.memory.address, bytes))
          return CUDA_ERROR_INVALID_VALUE;
        break;
      }
      case MEM_OP_FLUSH_REMOTE_WRITES:
      case MEM_OP_BARRIER:
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

Ref<Op> make_memory_op(Context& context, std::vector<CUstreamBatchMemOpParams> operations) {
  return Ref<Op>(new MemoryOp(context, std::move(operations)));
}

}  // namespace td::softdev
