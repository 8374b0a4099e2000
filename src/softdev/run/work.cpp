#include "softdev/run/work.h"

#include <algorithm>

#include "softdev/run/array.h"
#include "softdev/run/capture.h"
#include "softdev/run/memory.h"
#include "softdev/run/memory_op.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

constexpr std::size_t kMaxPitch = 2147483647;

class HostOp final : public Op {
 public:
  HostOp(Context& context, const HostWork& work) : Op(Kind::host, context), work_(work) {}
  void run(Executor*, std::uint64_t, std::uint64_t) override { work_.function(work_.user_data); }
  bool runs_after_failure() const override { return work_.after_failure; }

 private:
  HostWork work_;
};

// What was recorded in the event when the operation was made.
class WaitRecordOp final : public Op {
 public:
  WaitRecordOp(Context& context, Ref<Op> record)
      : Op(Kind::polled, context), record_(std::move(record)) {}
  void run(Executor*, std::uint64_t, std::uint64_t) override {}
  bool poll() override { return !record_ || record_->done(); }

 private:
  Ref<Op> record_;
};

// One side of a copy, as both structures name it.
struct Side {
  std::size_t x, y, z, lod;
  unsigned type;
  std::uintptr_t host;
  CUdeviceptr device;
  CUarray array;
  std::size_t pitch, height;
};

struct Place {
  char* at = nullptr;
  std::size_t pitch = 0, slice = 0;
  bool pageable = false;
};

CUresult in_array(const Side& side, const CUDA_MEMCPY3D& p, Place* out) {
  if (!is_live(side.array)) return CUDA_ERROR_INVALID_HANDLE;
  const ArrayShape& shape = side.array->shape;
  std::size_t row = std::size_t{shape.width} * shape.texel;
  bool fits = side.x <= row && p.WidthInBytes <= row - side.x && side.y <= shape.height &&
              p.Height <= shape.height - side.y && side.z <= shape.depth &&
              p.Depth <= shape.depth - side.z;
  if (!fits || side.x % shape.texel || p.WidthInBytes % shape.texel)
    return CUDA_ERROR_INVALID_VALUE;
  out->at =
      reinterpret_cast<char*>(shape.data) + side.z * shape.slice + side.y * shape.pitch + side.x;
  out->pitch = shape.pitch;
  out->slice = shape.slice;
  return CUDA_SUCCESS;
}

CUresult in_memory(const Side& side, const CUDA_MEMCPY3D& p, Place* out) {
  std::size_t pitch = side.pitch, height = side.height;
  if (p.Height == 1 && p.Depth == 1 && pitch == 0) pitch = side.x + p.WidthInBytes;
  if (p.Depth == 1 && height == 0) height = side.y + p.Height;
  if (pitch < p.WidthInBytes || side.x > pitch - p.WidthInBytes || height < p.Height ||
      side.y > height - p.Height)
    return CUDA_ERROR_INVALID_VALUE;
  bool flat = p.Height == 1 && p.Depth == 1;
  if (!flat && side.type != MEMORYTYPE_HOST && pitch > kMaxPitch) return CUDA_ERROR_INVALID_VALUE;
  std::uintptr_t base =
      side.type == MEMORYTYPE_HOST ? side.host : static_cast<std::uintptr_t>(side.device);
  if (base == 0) return CUDA_ERROR_INVALID_VALUE;
  std::uintptr_t first = base + side.z * pitch * height + side.y * pitch + side.x;
  std::size_t span = (p.Depth - 1) * pitch * height + (p.Height - 1) * pitch + p.WidthInBytes;
  out->pageable = side.type != MEMORYTYPE_DEVICE && is_pageable(first);
  if (!out->pageable && !Arena::get().holds(first, span)) return CUDA_ERROR_INVALID_VALUE;
  out->at = reinterpret_cast<char*>(first);
  out->pitch = pitch;
  out->slice = pitch * height;
  return CUDA_SUCCESS;
}

CUresult find_place(const Side& side, const CUDA_MEMCPY3D& p, Place* out) {
  if (side.lod != 0) return CUDA_ERROR_INVALID_VALUE;
  switch (side.type) {
    case MEMORYTYPE_ARRAY:
      return in_array(side, p, out);
    case MEMORYTYPE_HOST:
    case MEMORYTYPE_DEVICE:
    case MEMORYTYPE_UNIFIED:
      return in_memory(side, p, out);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

Ref<Op> marker(Context& context) { return Ref<Op>(new MarkerOp(context)); }

struct MakeOp {
  Context& context;
  Ref<Op>* out;

  CUresult give(Ref<Op> op) const {
    *out = std::move(op);
    return CUDA_SUCCESS;
  }
  CUresult operator()(const EmptyWork&) const { return give(marker(context)); }
  CUresult operator()(const GraphWork&) const { return give(marker(context)); }
  CUresult operator()(const KernelWork& work) const {
    if (!work.function->alive) return CUDA_ERROR_INVALID_HANDLE;
    return give(make_launch_op(work.function, work.shape, work.params.data()));
  }
  CUresult operator()(const CopyWork& work) const {
    CheckedCopy copy;
    if (CUresult error = check_copy(work.params, &copy)) return error;
    return give(copy.region.bytes() ? make_copy_op(context, copy.region) : marker(context));
  }
  CUresult operator()(const FillWork& work) const {
    FillRegion region;
    if (CUresult error = check_fill(work.params, &region)) return error;
    return give(region.width && region.height ? make_fill_op(context, region) : marker(context));
  }
  CUresult operator()(const HostWork& work) const {
    return give(Ref<Op>(new HostOp(context, work)));
  }
  CUresult operator()(const WaitWork& work) const {
    if (!work.event->alive) return CUDA_ERROR_INVALID_HANDLE;
    std::lock_guard lock(Scheduler::get().mutex());
    return give(Ref<Op>(new WaitRecordOp(context, work.event->record)));
  }
  CUresult operator()(const RecordWork& work) const {
    if (!work.event->alive) return CUDA_ERROR_INVALID_HANDLE;
    return give(Ref<Op>(new EventOp(context)));
  }
  CUresult operator()(const ValueWork& work) const {
    return give(make_memory_op(context, work.operations));
  }
};

}  // namespace

bool is_pageable(std::uintptr_t address) {
  Allocation allocation;
  return !Arena::get().in_range(address) && !Arena::get().find(address, &allocation);
}

CUDA_MEMCPY3D linear_copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = params.dstMemoryType = MEMORYTYPE_UNIFIED;
  params.srcDevice = from;
  params.dstDevice = to;
  params.srcPitch = params.dstPitch = params.WidthInBytes = bytes;
  params.srcHeight = params.dstHeight = params.Height = params.Depth = 1;
  return params;
}

CUresult check_copy(const CUDA_MEMCPY3D& p, CheckedCopy* out) {
  *out = {};
  if (p.WidthInBytes == 0 || p.Height == 0 || p.Depth == 0) return CUDA_SUCCESS;
  Side from{p.srcXInBytes, p.srcY,          p.srcZ,
            p.srcLOD,      p.srcMemoryType, reinterpret_cast<std::uintptr_t>(p.srcHost),
            p.srcDevice,   p.srcArray,      p.srcPitch,
            p.srcHeight};
  Side to{p.dstXInBytes, p.dstY,          p.dstZ,
          p.dstLOD,      p.dstMemoryType, reinterpret_cast<std::uintptr_t>(p.dstHost),
          p.dstDevice,   p.dstArray,      p.dstPitch,
          p.dstHeight};
  Place source, destination;
  if (CUresult error = find_place(from, p, &source)) return error;
  if (CUresult error = find_place(to, p, &destination)) return error;
  out->region = {destination.at, destination.pitch, destination.slice, source.at, source.pitch,
                 source.slice,   p.WidthInBytes,    p.Height,          p.Depth};
  out->from_pageable = source.pageable;
  out->to_pageable = destination.pageable;
  return CUDA_SUCCESS;
}

CUresult check_fill(const CUDA_MEMSET_NODE_PARAMS& p, FillRegion* out) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
    return CUDA_ERROR_INVALID_VALUE;
  *out = {reinterpret_cast<char*>(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height};
  if (p.width == 0 || p.height == 0) return CUDA_SUCCESS;
  if (p.width > SIZE_MAX / p.elementSize || p.dst % p.elementSize) return CUDA_ERROR_INVALID_VALUE;
  std::size_t row = p.width * p.elementSize;
  if (p.height > 1 && (p.pitch < row || p.pitch % p.elementSize || p.pitch > kMaxPitch))
    return CUDA_ERROR_INVALID_VALUE;
  std::size_t span = (p.height - 1) * p.pitch + row;
  return Arena::get().holds(p.dst, span) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult make_op(Context& context, const Work& work, Ref<Op>* out) {
  return std::visit(MakeOp{context, out}, work);
}

CUresult submit(Context& context, CUstream_st& stream, Work work, bool wait) {
  if (is_captured(stream)) return capture_work(context, stream, std::move(work));
  if (CUresult error = refuse_implicit(context, stream)) return error;
  Ref<Op> op;
  if (CUresult error = make_op(context, work, &op)) return error;
  Scheduler::get().enqueue(stream.queue, *op, nullptr, wait);
  return wait ? context.wait(*op) : static_cast<CUresult>(CUDA_SUCCESS);
}

}  // namespace td::softdev
