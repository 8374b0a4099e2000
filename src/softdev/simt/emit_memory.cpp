// Memory: loads, stores, atomics, copies.
//
// A dead lane never touches global memory. Shared memory and local arrays belong to the running
// worker alone, so that a masked store there may be load, select, store; shared memory may be read
// a little outside (kernel_abi.h).
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <utility>

#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

constexpr std::int64_t shared_slack = 1024;  // bytes around shared memory that may be read

// Number of lanes that make one contiguous access: all of them, or a power of two of at least 4 so
// that every group of that many lanes is contiguous. 0 when there is none.
unsigned contiguous_group(ArrayRef<std::int64_t> lanes, std::int64_t size) {
  for (unsigned group = lanes.size(); group >= 4; group /= 2) {
    bool fits = true;
    for (unsigned l = 0; l < lanes.size() && fits; ++l)
      fits = lanes[l] == lanes[l / group * group] + static_cast<std::int64_t>(l % group) * size;
    if (fits) return group;
  }
  return 0;
}

// Same for groups in which all lanes have one address.
unsigned equal_group(ArrayRef<std::int64_t> lanes) {
  for (unsigned group = lanes.size(); group >= 4; group /= 2) {
    bool fits = true;
    for (unsigned l = 0; l < lanes.size() && fits; ++l) fits = lanes[l] == lanes[l / group * group];
    if (fits) return group;
  }
  return 0;
}

}  // namespace

Space WarpEmitter::space_of(const Value* pointer) const {
  unsigned space = pointer->getType()->getPointerAddressSpace();
  if (space == 3) return Space::shared;
  if (space == 5) return Space::local;
  const Value* object = getUnderlyingObject(pointer, 16);
  if (isa<AllocaInst>(object)) return Space::local;
  auto* variable = dyn_cast<GlobalVariable>(object);
  return variable && is_shared(*variable) ? Space::shared : Space::global;
}

// As space_of, for accesses that treat dead lanes like live ones: in a local array that is sound
// only when every lane uses the same place of its own copy, since a dead lane's own index may be
// outside.
Space WarpEmitter::space_of(const Value* pointer, ArrayRef<std::int64_t> lanes) const {
  Space space = space_of(pointer);
  if (space != Space::local) return space;
  auto* array = dyn_cast<AllocaInst>(getUnderlyingObject(pointer, 16));
  if (!array) return Space::global;
  auto stride = static_cast<std::int64_t>(local_stride(*array, data_));
  for (unsigned l = 0; l < lanes.size(); ++l)
    if (lanes[l] != lanes[0] + static_cast<std::int64_t>(l) * stride) return Space::global;
  return space;
}

Value* WarpEmitter::scratch() {
  if (!scratch_) scratch_ = stack_slot(ArrayType::get(b_.getInt8Ty(), 64), Align(64), "scratch");
  return scratch_;
}

// Dead lanes point to a scratch slot.
Value* WarpEmitter::live_pointers(Value* pointers) {
  return full_ ? pointers : b_.CreateSelect(mask_, pointers, splat(scratch()));
}

// An access at base + lanes when its guards hold, and lane by lane otherwise.
Value* WarpEmitter::guarded_access(const Shape& address, function_ref<Value*()> fast,
                                   function_ref<Value*()> slow) {
  if (address.guards.empty()) return fast();
  Value* holds = b_.getTrue();
  for (const CastInst* guard : address.guards)
    holds = b_.CreateAnd(holds, b_.CreateLoad(b_.getInt1Ty(), guards_[guard]));
  BasicBlock* regular = new_block("regular");
  BasicBlock* wraps = new_block("wraps");
  BasicBlock* done = new_block("accessed");
  b_.CreateCondBr(holds, regular, wraps);
  b_.SetInsertPoint(regular);
  auto before = local_;
  Value* one = fast();
  BasicBlock* after_fast = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(wraps);
  local_ = before;
  bool compact = std::exchange(compact_, true);
  Value* other = slow();
  compact_ = compact;
  local_ = before;
  BasicBlock* after_slow = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  if (!one) return nullptr;
  PHINode* result = b_.CreatePHI(one->getType(), 2);
  result->addIncoming(one, after_fast);
  result->addIncoming(other, after_slow);
  return result;
}

Value* WarpEmitter::gather(Value* pointers, Type* type, Align align, bool is_volatile) {
  if (compact_) {
    Value* addresses = lane_array(pointers, "gather.pointers");
    auto* result_type = FixedVectorType::get(type, width_);
    AllocaInst* results = stack_slot(ArrayType::get(type, width_), Align(64), "gather.values");
    for_each_lane("gather", [&](Value* lane) {
      Value* pointer = b_.CreateLoad(b_.getPtrTy(), lane_address(addresses, b_.getPtrTy(), lane));
      b_.CreateStore(b_.CreateAlignedLoad(type, pointer, align, is_volatile),
                     lane_address(results, type, lane));
    });
    return b_.CreateAlignedLoad(result_type, results, Align(64));
  }
  bool plain =
      type->isFloatTy() || type->isDoubleTy() || type->isIntegerTy(32) || type->isIntegerTy(64);
  if (kernel_.has_avx512 && plain && !is_volatile) {
    auto* result_type = FixedVectorType::get(type, width_);
    return b_.CreateMaskedGather(result_type, pointers, align, mask_,
                                 Constant::getNullValue(result_type));
  }
  pointers = live_pointers(pointers);
  Value* result = PoisonValue::get(FixedVectorType::get(type, width_));
  for (unsigned l = 0; l < width_; ++l) {
    Value* element =
        b_.CreateAlignedLoad(type, b_.CreateExtractElement(pointers, l), align, is_volatile);
    result = b_.CreateInsertElement(result, element, l);
  }
  return result;
}

void WarpEmitter::scatter(Value* pointers, Value* value, Align align, bool is_volatile) {
  if (compact_) {
    Type* type = cast<VectorType>(value->getType())->getElementType();
    Value* addresses = lane_array(pointers, "scatter.pointers");
    Value* values = lane_array(value, "scatter.values");
    for_each_lane("scatter", [&](Value* lane) {
      Value* pointer = b_.CreateLoad(b_.getPtrTy(), lane_address(addresses, b_.getPtrTy(), lane));
      b_.CreateAlignedStore(b_.CreateLoad(type, lane_address(values, type, lane)), pointer, align,
                            is_volatile);
    });
    return;
  }
  pointers = live_pointers(pointers);
  for (unsigned l = 0; l < width_; ++l)
    b_.CreateAlignedStore(b_.CreateExtractElement(value, l), b_.CreateExtractElement(pointers, l),
                          align, is_volatile);
}

namespace {

Value* join(IRBuilder<>& b, SmallVector<Value*> parts) {
  while (parts.size() > 1) {
    SmallVector<Value*> halves;
    for (unsigned i = 0; i < parts.size(); i += 2) {
      unsigned count = cast<FixedVectorType>(parts[i]->getType())->getNumElements();
      SmallVector<int> lanes;
      for (unsigned l = 0; l < 2 * count; ++l) lanes.push_back(l);
      halves.push_back(b.CreateShuffleVector(parts[i], parts[i + 1], lanes));
    }
    parts = halves;
  }
  return parts[0];
}

Value* slice(IRBuilder<>& b, Value* vector, unsigned begin, unsigned count) {
  if (cast<FixedVectorType>(vector->getType())->getNumElements() == count) return vector;
  SmallVector<int> lanes;
  for (unsigned l = 0; l < count; ++l) lanes.push_back(begin + l);
  return b.CreateShuffleVector(vector, lanes);
}

// Lanes in falling order make one access that is turned round.
bool fall_by(ArrayRef<std::int64_t> lanes, std::int64_t size) {
  for (unsigned l = 1; l < lanes.size(); ++l)
    if (lanes[l] != lanes[0] - static_cast<std::int64_t>(l) * size) return false;
  return true;
}

}  // namespace

// Loads at base + lanes[l]. `type` is a type of host memory.
Value* WarpEmitter::load_offsets(Value* base, ArrayRef<std::int64_t> lanes, Type* type, Align align,
                                 Space space, bool is_volatile) {
  auto size = static_cast<std::int64_t>(data_.getTypeStoreSize(type));
  auto [low, high] = std::minmax_element(lanes.begin(), lanes.end());
  bool near = *high - *low + size <= shared_slack;
  bool unmasked = full_ || space == Space::local || (space == Space::shared && near);
  unsigned group = contiguous_group(lanes, size);
  auto address = [&](std::int64_t offset) {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), base, offset);
  };
  if (group) {
    auto* part_type = FixedVectorType::get(type, group);
    SmallVector<Value*> parts;
    for (unsigned l = 0; l < lanes.size(); l += group) {
      Value* at = address(lanes[l]);
      if (unmasked)
        parts.push_back(b_.CreateAlignedLoad(part_type, at, align, is_volatile));
      else
        parts.push_back(b_.CreateMaskedLoad(part_type, at, align, slice(b_, mask_, l, group),
                                            Constant::getNullValue(part_type)));
    }
    return join(b_, parts);
  }
  if (fall_by(lanes, size)) {
    auto* whole = FixedVectorType::get(type, width_);
    Value* at = address(lanes.back());
    Value* loaded =
        unmasked
            ? b_.CreateAlignedLoad(whole, at, align, is_volatile)
            : static_cast<Value*>(b_.CreateMaskedLoad(
                  whole, at, align, b_.CreateVectorReverse(mask_), Constant::getNullValue(whole)));
    return b_.CreateVectorReverse(loaded);
  }
  if (unsigned equal = unmasked ? equal_group(lanes) : 0) {
    SmallVector<Value*> parts;
    for (unsigned l = 0; l < lanes.size(); l += equal)
      parts.push_back(b_.CreateVectorSplat(
          equal, b_.CreateAlignedLoad(type, address(lanes[l]), align, is_volatile)));
    return join(b_, parts);
  }
  if (!unmasked) {
    Shape shape;
    shape.lanes.assign(lanes.begin(), lanes.end());
    Value* pointers =
        b_.CreateGEP(b_.getInt8Ty(), splat(base), lane_constants(b_.getInt64Ty(), shape));
    return gather(pointers, type, align, is_volatile);
  }
  Value* result = PoisonValue::get(FixedVectorType::get(type, width_));
  for (unsigned l = 0; l < lanes.size(); ++l)
    result = b_.CreateInsertElement(
        result, b_.CreateAlignedLoad(type, address(lanes[l]), align, is_volatile), l);
  return result;
}

void WarpEmitter::store_offsets(Value* base, ArrayRef<std::int64_t> lanes, Value* value,
                                Align align, Space space, bool is_volatile) {
  Type* type = cast<VectorType>(value->getType())->getElementType();
  auto size = static_cast<std::int64_t>(data_.getTypeStoreSize(type));
  auto [low, high] = std::minmax_element(lanes.begin(), lanes.end());
  bool blend =
      space == Space::local || (space == Space::shared && *high - *low + size <= shared_slack);
  unsigned group = contiguous_group(lanes, size);
  if (!group) {
    Shape shape;
    shape.lanes.assign(lanes.begin(), lanes.end());
    Value* pointers =
        b_.CreateGEP(b_.getInt8Ty(), splat(base), lane_constants(b_.getInt64Ty(), shape));
    return scatter(pointers, value, align, is_volatile);
  }
  for (unsigned l = 0; l < lanes.size(); l += group) {
    Value* at = b_.CreateConstGEP1_64(b_.getInt8Ty(), base, lanes[l]);
    Value* part = slice(b_, value, l, group);
    if (full_) {
      b_.CreateAlignedStore(part, at, align, is_volatile);
    } else if (blend) {
      Value* old = b_.CreateAlignedLoad(part->getType(), at, align, is_volatile);
      b_.CreateAlignedStore(b_.CreateSelect(slice(b_, mask_, l, group), part, old), at, align,
                            is_volatile);
    } else {
      b_.CreateMaskedStore(part, at, align, slice(b_, mask_, l, group));
    }
  }
}

// What a plain access of each lane needs besides itself to be of the ordering `wanted`.
void WarpEmitter::fence_of(AtomicOrdering wanted, AtomicOrdering at_least) {
  if (isAtLeastOrStrongerThan(wanted, at_least))
    b_.CreateFence(AtomicOrdering::SequentiallyConsistent, SyncScope::SingleThread);
}

Value* WarpEmitter::emit_load(const LoadInst& load) {
  const Value* pointer = load.getPointerOperand();
  Type* type = host_type(load.getType());
  if (type->isAggregateType() || type->isVectorTy())
    refuse(load, "loading a whole structure as one value is");
  bool is_bool = type->isIntegerTy(1);
  Type* memory_type = is_bool ? b_.getInt8Ty() : type;
  Shape shape = shapes_.of(pointer);
  Value* result;
  // The lanes of an atomic access are volatile between fences of the compiler: x86 keeps loads, and
  // stores, in order.
  bool fixed = load.isVolatile() || load.isAtomic();
  if (shape.kind == Shape::uniform) {
    auto* made =
        b_.CreateAlignedLoad(memory_type, scalar(pointer), load.getAlign(), load.isVolatile());
    if (load.isAtomic()) made->setAtomic(load.getOrdering());
    result = made;
  } else if (shape.kind == Shape::offset) {
    result = guarded_access(
        shape,
        [&] {
          return load_offsets(scalar(pointer), shape.lanes, memory_type, load.getAlign(),
                              space_of(pointer, shape.lanes), fixed);
        },
        [&] { return gather(vector(pointer), memory_type, load.getAlign(), fixed); });
  } else {
    result = gather(vector(pointer), memory_type, load.getAlign(), fixed);
  }
  if (shape.kind != Shape::uniform) fence_of(load.getOrdering(), AtomicOrdering::Acquire);
  if (!is_bool) return result;
  return b_.CreateTrunc(result,
                        result->getType()->isVectorTy() ? static_cast<Type*>(mask_type()) : type);
}

void WarpEmitter::emit_store(const StoreInst& store) {
  const Value* pointer = store.getPointerOperand();
  const Value* stored = store.getValueOperand();
  if (stored->getType()->isAggregateType() || stored->getType()->isVectorTy())
    refuse(store, "storing a whole structure as one value is");
  Shape shape = shapes_.of(pointer);
  bool lanes = shape.kind != Shape::uniform || !shapes_.is_uniform(stored);
  Value* value = operand(stored, lanes);
  if (stored->getType()->isIntegerTy(1)) {
    Type* bytes =
        lanes ? static_cast<Type*>(FixedVectorType::get(b_.getInt8Ty(), width_)) : b_.getInt8Ty();
    value = b_.CreateZExt(value, bytes);
  }
  bool fixed = store.isVolatile() || store.isAtomic();
  if (shape.kind != Shape::uniform) fence_of(store.getOrdering(), AtomicOrdering::Release);
  if (shape.kind == Shape::uniform) {
    if (lanes) {
      // Several lanes write one place: the highest live lane wins.
      Value* bits = mask_bits32(mask_);
      Value* zeros = b_.CreateBinaryIntrinsic(Intrinsic::ctlz, bits, b_.getTrue());
      value = b_.CreateExtractElement(value, b_.CreateSub(b_.getInt32(31), zeros));
    }
    auto* made =
        b_.CreateAlignedStore(value, scalar(pointer), store.getAlign(), store.isVolatile());
    if (store.isAtomic()) made->setAtomic(store.getOrdering());
  } else if (shape.kind == Shape::offset) {
    guarded_access(
        shape,
        [&]() -> Value* {
          store_offsets(scalar(pointer), shape.lanes, value, store.getAlign(),
                        space_of(pointer, shape.lanes), fixed);
          return nullptr;
        },
        [&]() -> Value* {
          scatter(vector(pointer), value, store.getAlign(), fixed);
          return nullptr;
        });
  } else {
    scatter(vector(pointer), value, store.getAlign(), fixed);
  }
  if (shape.kind != Shape::uniform && store.getOrdering() == AtomicOrdering::SequentiallyConsistent)
    b_.CreateFence(AtomicOrdering::SequentiallyConsistent);
}

}  // namespace td::softdev::simt
