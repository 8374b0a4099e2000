// Operations on many small matrices whose addresses lie in device memory: the threads of the device
// share them.
#pragma once

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "softdev/run/context.h"
#include "softdev/run/memory.h"

namespace td::softdev {

// Memory that an operation touches.
struct Span {
  const void* address;
  std::size_t bytes;
};

// `spans(i)` gives what matrix i touches, as a container of Span; `work(i)` computes it. `lists` is
// what has to be readable before that: the addresses themselves.
template <class Spans, class Work>
class BatchedOp final : public Op {
 public:
  BatchedOp(Context& context, const char* name, int count, std::vector<Span> lists, Spans spans,
            Work work)
      : Op(Kind::work, context),
        name_(name),
        lists_(std::move(lists)),
        spans_(std::move(spans)),
        work_(std::move(work)) {
    constexpr std::uint64_t kTogether = 16;
    count_ = static_cast<std::uint64_t>(count);
    together_ = kTogether;
    set_units((count_ + together_ - 1) / together_, 1);
  }
  void run(Executor*, std::uint64_t begin, std::uint64_t end) override {
    try {
      for (std::uint64_t i = begin * together_; i < std::min(end * together_, count_); ++i) {
        if (!holds(lists_) || !holds(spans_(i))) {
          context().fail(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
                         base::cat(name_, ": an operand lies outside of device memory"));
          return;
        }
        work_(i);
      }
    } catch (const std::bad_alloc&) {
      context().fail(cuda::CUDA_ERROR_OUT_OF_MEMORY,
                     base::cat(name_, ": no memory for its workspace"));
    }
  }

 private:
  template <class Container>
  static bool holds(const Container& spans) {
    return std::all_of(std::begin(spans), std::end(spans), [](const Span& span) {
      return span.bytes == 0 ||
             Arena::get().holds(reinterpret_cast<std::uintptr_t>(span.address), span.bytes);
    });
  }

  const char* name_;
  const std::vector<Span> lists_;
  const Spans spans_;
  const Work work_;
  std::uint64_t count_ = 0, together_ = 1;
};

template <class T>
Span span_of(const T* first, std::size_t count) {
  return {first, count * sizeof(T)};
}

// False when there is no memory for the operation.
template <class Spans, class Work>
bool enqueue_batched(Context& context, CUstream stream, const char* name, int count,
                     std::vector<Span> lists, Spans spans, Work work) {
  try {
    Ref<Op> op(new BatchedOp<Spans, Work>(context, name, count, std::move(lists), std::move(spans),
                                          std::move(work)));
    Scheduler::get().enqueue(stream->queue, *op);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace td::softdev
