#include "softdev/run/transfer.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace td::softdev {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
// Pageable uploads up to this size are copied aside instead of waiting for the stream.
constexpr std::size_t kStageUpTo = std::size_t{256} << 10;

class CopyOp final : public Op {
 public:
  CopyOp(Context& context, void* to, const void* from, std::size_t bytes)
      : Op(Kind::work, context),
        to_(static_cast<char*>(to)),
        from_(static_cast<const char*>(from)),
        bytes_(bytes) {
    set_units((bytes + kPiece - 1) / kPiece, 1);
  }
  // Keeps a copy of the source.
  CopyOp(Context& context, void* to, std::unique_ptr<char[]> staged, std::size_t bytes)
      : CopyOp(context, to, staged.get(), bytes) {
    staged_ = std::move(staged);
  }
  void run(Executor*, std::uint64_t begin, std::uint64_t end) override {
    std::size_t at = begin * kPiece, stop = std::min(end * kPiece, bytes_);
    std::memmove(to_ + at, from_ + at, stop - at);
  }

 private:
  char* to_;
  const char* from_;
  std::size_t bytes_;
  std::unique_ptr<char[]> staged_;
};

template <class T>
class FillOp final : public Op {
 public:
  FillOp(Context& context, void* to, T value, std::size_t count)
      : Op(Kind::work, context), to_(static_cast<T*>(to)), value_(value), count_(count) {
    set_units((count + kElements - 1) / kElements, 1);
  }
  void run(Executor*, std::uint64_t begin, std::uint64_t end) override {
    std::fill(to_ + begin * kElements, to_ + std::min<std::uint64_t>(end * kElements, count_),
              value_);
  }

 private:
  static constexpr std::size_t kElements = kPiece / sizeof(T);
  T* to_;
  T value_;
  std::size_t count_;
};

}  // namespace

CUresult enqueue_copy(Context& context, CUstream_st& stream, void* to, const void* from,
                      std::size_t bytes, bool synchronous) {
  Ref<Op> op(new CopyOp(context, to, from, bytes));
  Scheduler::get().enqueue(stream.queue, *op, nullptr, synchronous);
  return synchronous ? context.wait(*op) : static_cast<CUresult>(cuda::CUDA_SUCCESS);
}

CUresult enqueue_pageable_upload(Context& context, CUstream_st& stream, void* to, const void* from,
                                 std::size_t bytes) {
  if (bytes > kStageUpTo) return enqueue_copy(context, stream, to, from, bytes, true);
  auto staged = std::make_unique<char[]>(bytes);
  std::memcpy(staged.get(), from, bytes);
  Ref<Op> op(new CopyOp(context, to, std::move(staged), bytes));
  Scheduler::get().enqueue(stream.queue, *op);
  return cuda::CUDA_SUCCESS;
}

void enqueue_fill(Context& context, CUstream_st& stream, void* to, unsigned char value,
                  std::size_t count) {
  Ref<Op> op(new FillOp<unsigned char>(context, to, value, count));
  Scheduler::get().enqueue(stream.queue, *op);
}

void enqueue_fill(Context& context, CUstream_st& stream, void* to, unsigned value,
                  std::size_t count) {
  Ref<Op> op(new FillOp<unsigned>(context, to, value, count));
  Scheduler::get().enqueue(stream.queue, *op);
}

}  // namespace td::softdev
