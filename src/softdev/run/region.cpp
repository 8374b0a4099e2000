#include "softdev/run/region.h"

#include <algorithm>
#include <cstring>

namespace td::softdev {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

// Planes and rows that lie without gaps become longer rows.
CopyRegion flatten(CopyRegion region) {
  if (region.height == 1) {
    region.to_pitch = region.to_slice;
    region.from_pitch = region.from_slice;
    region.height = std::exchange(region.depth, 1);
  }
  bool dense = region.to_pitch == region.width && region.from_pitch == region.width;
  bool planes = region.depth == 1 || (region.to_slice == region.to_pitch * region.height &&
                                      region.from_slice == region.from_pitch * region.height);
  if (planes) region.height *= std::exchange(region.depth, 1);
  if (dense && planes) region.width *= std::exchange(region.height, 1);
  return region;
}

// Row `index` of all planes.
void copy_row(const CopyRegion& r, std::size_t index) {
  std::size_t plane = index / r.height, row = index % r.height;
  std::memmove(r.to + plane * r.to_slice + row * r.to_pitch,
               r.from + plane * r.from_slice + row * r.from_pitch, r.width);
}

class CopyOp final : public Op {
 public:
  CopyOp(Context& context, const CopyRegion& region)
      : Op(Kind::work, context), region_(flatten(region)) {
    std::size_t rows = region_.height * region_.depth;
    if (rows == 1) {
      set_units((region_.width + kPiece - 1) / kPiece, 1);
    } else {
      set_units(rows, std::max<std::size_t>(1, kPiece / std::max<std::size_t>(1, region_.width)));
    }
  }
  CopyOp(Context& context, const CopyRegion& region, std::unique_ptr<char[]> staged)
      : CopyOp(context, region) {
    staged_ = std::move(staged);
  }
  void run(Executor*, std::uint64_t begin, std::uint64_t end) override {
    if (region_.height * region_.depth == 1) {
      std::size_t at = begin * kPiece, stop = std::min(end * kPiece, region_.width);
      std::memmove(region_.to + at, region_.from + at, stop - at);
      return;
    }
    for (std::uint64_t row = begin; row < end; ++row) copy_row(region_, row);
  }

 private:
  CopyRegion region_;
  std::unique_ptr<char[]> staged_;
};

template <class T>
class FillOp final : public Op {
 public:
  FillOp(Context& context, FillRegion region) : Op(Kind::work, context), region_(region) {
    if (region_.pitch == region_.width * sizeof(T))
      region_.width *= std::exchange(region_.height, 1);
    if (region_.height == 1) {
      set_units((region_.width + kElements - 1) / kElements, 1);
    } else {
      set_units(region_.height,
                std::max<std::size_t>(1, kElements / std::max<std::size_t>(1, region_.width)));
    }
  }
  void run(Executor*, std::uint64_t begin, std::uint64_t end) override {
    T value = static_cast<T>(region_.value);
    if (region_.height == 1) {
      T* to = reinterpret_cast<T*>(region_.to);
      std::fill(to + begin * kElements,
                to + std::min<std::uint64_t>(end * kElements, region_.width), value);
      return;
    }
    for (std::uint64_t row = begin; row < end; ++row)
      std::fill_n(reinterpret_cast<T*>(region_.to + row * region_.pitch), region_.width, value);
  }

 private:
  static constexpr std::size_t kElements = kPiece / sizeof(T);
  FillRegion region_;
};

}  // namespace

void copy_now(const CopyRegion& region) {
  CopyRegion flat = flatten(region);
  for (std::size_t row = 0; row < flat.height * flat.depth; ++row) copy_row(flat, row);
}

Ref<Op> make_copy_op(Context& context, const CopyRegion& region) {
  return Ref<Op>(new CopyOp(context, region));
}

Ref<Op> make_staged_copy_op(Context& context, const CopyRegion& region) {
  auto staged = std::make_unique<char[]>(region.bytes());
  CopyRegion aside = region;
  aside.to = staged.get();
  aside.to_pitch = region.width;
  aside.to_slice = region.width * region.height;
  copy_now(aside);
  CopyRegion rest = region;
  rest.from = staged.get();
  rest.from_pitch = aside.to_pitch;
  rest.from_slice = aside.to_slice;
  return Ref<Op>(new CopyOp(context, rest, std::move(staged)));
}

Ref<Op> make_fill_op(Context& context, const FillRegion& region) {
  if (region.element == 1) return Ref<Op>(new FillOp<std::uint8_t>(context, region));
  if (region.element == 2) return Ref<Op>(new FillOp<std::uint16_t>(context, region));
  return Ref<Op>(new FillOp<std::uint32_t>(context, region));
}

}  // namespace td::softdev
