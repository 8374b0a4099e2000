// Emits the code of one warp (or part of one) for one kernel under one thread layout.
//
// Values: uniform and offset-shaped ones are scalars, varying ones <W x T>; masks are <W x i1>. A
// value that is used outside its block lives in a stack slot (made into SSA form later), because
// under linearisation a definition need not dominate its uses.
//
// Invariant: a block with side effects, a loop or a uniform branch is executed only with at least
// one live lane. Scalar loads and scalar branches rely on it. Dead lanes may hold anything, poison
// included: masks are combined by select, never by `and`.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>

#include <set>

#include "softdev/simt/builtins.h"
#include "softdev/simt/control_plan.h"
#include "softdev/simt/kernel_abi.h"
#include "softdev/simt/layout.h"
#include "softdev/simt/shape.h"

namespace td::softdev::simt {

class ScalarCode;
struct Progress;

// What all versions of a kernel share.
struct KernelContext {
  llvm::Function* thread = nullptr;
  llvm::Module* host = nullptr;
  const DataSegment* data = nullptr;
  SharedLayout shared;
  std::vector<ParamLayout> params;
  bool has_barrier = false;
  bool needs_full_warp = false;
  bool has_avx2 = true, has_avx512 = false;
  std::uint32_t local_bytes = 0;
  std::uint32_t block[3] = {0, 0, 0};  // LowerRequest::block
  bool has_fixed_block() const { return block[0] != 0; }
  std::uint32_t fixed_threads() const { return block[0] * block[1] * block[2]; }
  ScalarCode* scalar = nullptr;        // functions that are called and not inlined
  const Progress* progress = nullptr;  // null: no fair mode
};

// Scalars of the launch, available everywhere in the generated function.
struct LaunchValues {
  llvm::Value* block_frame = nullptr;
  llvm::Value* launch_frame = nullptr;
  llvm::Value* shared = nullptr;
  llvm::Value* globals = nullptr;
  llvm::Value* block_index[3] = {};
  llvm::Value* grid_dim[3] = {};
  llvm::Value* block_dim[3] = {};
  llvm::Value* worker = nullptr;
  std::vector<llvm::Value*> params;
  // Of lane 0, set for each warp:
  llvm::Value* thread[3] = {};
  llvm::Value* first = nullptr;  // linear index
  llvm::Value* lanes = nullptr;  // threads in the warp, 1 to W
  // When barriers are phases (phases.h); null otherwise. Slots of i32: what the barriers of this
  // round collect, and what those of the round before have collected, by kind (0 count, 1 and, 2
  // or).
  llvm::Value* warp_number = nullptr;
  llvm::Value* warp_count = nullptr;
  llvm::Value* collected[3] = {};
  llvm::Value* result[3] = {};
  llvm::Value* grid_pending = nullptr;  // slot of i32: the block has come to the grid barrier
};

enum class Space { global, shared, local };

// Whether base + lanes of `shape` stays inside the base's type in every lane; computed in 64 bits.
llvm::Value* no_wrap_check(llvm::IRBuilder<>& b, llvm::Value* base, const Shape& shape,
                           bool is_signed);

class WarpEmitter {
 public:
  WarpEmitter(const KernelContext& kernel, const Shapes& shapes, const ControlPlan& plan,
              const LaunchValues& launch, llvm::Function* function);

  // Emits the body from `at` on; control arrives at `next` when all lanes have returned.
  void emit(llvm::BasicBlock* at, llvm::BasicBlock* next);
  // The scalar (base) value of an expression of launch facts and parameters
  // (Shapes::is_entry_expression).
  llvm::Value* entry_value(const llvm::Value* value, llvm::IRBuilder<>& b);

 private:
  // A copy of a range of blocks. Targets outside the range belong to the parent.
  struct Scope {
    Scope* parent = nullptr;
    unsigned begin = 0, end = 0;
    bool may_split = true;                         // full-mask copies may still be made inside
    const llvm::BasicBlock* full_owner = nullptr;  // its lanes are all alive in this copy
    llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> landings, loop_heads;
  };
  using Deferred = std::set<unsigned>;

  // emit_body.cpp: control flow.
  static bool may_be_undefined(const llvm::Value* value);
  void emit_range(Scope& scope, unsigned begin, unsigned end);
  void emit_block(Scope& scope, const llvm::BasicBlock* block);
  unsigned emit_split(Scope& scope, const llvm::BasicBlock* block);
  bool wants_split(const Scope& scope, const llvm::BasicBlock* block, unsigned end) const;
  bool needs_live_lane(const llvm::BasicBlock* block) const;
  void enter(Scope& scope, const llvm::BasicBlock* block, bool guard);
  void leave(Scope& scope, const llvm::BasicBlock* block);
  void read_for_edges(const llvm::BasicBlock* block);
  void read_ahead(const llvm::Value* value);
  void leave_latch(Scope& scope, const llvm::BasicBlock* block, const llvm::Loop* loop);
  void take_edge(Scope& scope, const llvm::BasicBlock* from, unsigned successor,
                 llvm::Value* edge_mask);
  void jump(Scope& scope, Deferred targets);
  llvm::BasicBlock* landing(Scope& scope, const llvm::BasicBlock* block);
  llvm::BasicBlock* loop_head(Scope& scope, const llvm::BasicBlock* header);
  llvm::BasicBlock* new_block(const llvm::Twine& name);
  bool is_full(const Scope& scope, const llvm::BasicBlock* block) const;
  llvm::Value* mask_of(const Scope& scope, const llvm::BasicBlock* block);
  llvm::AllocaInst* mask_slot(const llvm::BasicBlock* owner);
  void clear_masks(const llvm::Loop* level);
  void note_exits(const llvm::BasicBlock* to, llvm::Value* edge_mask);

  // emit_values.cpp
  llvm::Type* host_type(llvm::Type* type) const;
  llvm::Type* lanes_type(llvm::Type* type) const;
  llvm::Value* scalar(const llvm::Value* value);
  llvm::Value* vector(const llvm::Value* value);
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Constant* lane_constants(llvm::Type* type, const Shape& shape) const;
  llvm::Value* stored_value(const llvm::Value* value);
  llvm::AllocaInst* slot(const llvm::Instruction* value);
  llvm::AllocaInst* stack_slot(llvm::Type* type, llvm::Align align, const llvm::Twine& name);
  void define(const llvm::Instruction& instruction, llvm::Value* value);
  void emit_instruction(const llvm::Instruction& instruction);
  llvm::Value* emit_operation(const llvm::Instruction& instruction, bool as_vector);
  llvm::Value* emit_binary(const llvm::BinaryOperator& op, bool as_vector);
  llvm::Value* emit_vector_division(const llvm::BinaryOperator& op, llvm::Value* x, llvm::Value* y);
  llvm::Value* emit_cast(const llvm::CastInst& cast, bool as_vector);
  llvm::Value* emit_address(const llvm::GetElementPtrInst& gep, bool as_vector);
  llvm::Value* emit_select(const llvm::SelectInst& select, bool as_vector);
  llvm::Value* emit_local_array(const llvm::AllocaInst& array);
  llvm::Value* operand(const llvm::Value* value, bool as_vector) {
    return as_vector ? vector(value) : scalar(value);
  }

  // emit_memory.cpp, emit_atomics.cpp
  llvm::Value* guarded_access(const Shape& address, llvm::function_ref<llvm::Value*()> fast,
                              llvm::function_ref<llvm::Value*()> slow);
  Space space_of(const llvm::Value* pointer) const;
  Space space_of(const llvm::Value* pointer, llvm::ArrayRef<std::int64_t> lanes) const;
  llvm::Value* emit_load(const llvm::LoadInst& load);
  void emit_store(const llvm::StoreInst& store);
  llvm::Value* load_offsets(llvm::Value* base, llvm::ArrayRef<std::int64_t> lanes, llvm::Type* type,
                            llvm::Align align, Space space, bool is_volatile);
  void store_offsets(llvm::Value* base, llvm::ArrayRef<std::int64_t> lanes, llvm::Value* value,
                     llvm::Align align, Space space, bool is_volatile);
  llvm::Value* gather(llvm::Value* pointers, llvm::Type* type, llvm::Align align, bool is_volatile);
  void scatter(llvm::Value* pointers, llvm::Value* value, llvm::Align align, bool is_volatile);
  void fence_of(llvm::AtomicOrdering wanted, llvm::AtomicOrdering at_least);
  llvm::Value* live_pointers(llvm::Value* pointers);
  llvm::Value* scratch();
  llvm::Value* emit_atomic(const llvm::Instruction& instruction);
  llvm::Value* atomic_step(const llvm::Instruction& instruction, llvm::Value* pointer,
                           llvm::Value* a, llvm::Value* b);
  llvm::Value* combine_first(const llvm::AtomicRMWInst& atomic);
  llvm::Value* sum_of_lanes_below(llvm::Value* values, llvm::Value* one);
  llvm::Value* add_floats(const llvm::AtomicRMWInst& atomic);
  void emit_copy(const llvm::CallInst& call, Builtin kind);
  // Runs `body(lane, builder position)` for each live lane in ascending order; b_ is positioned in
  // the body and after it.
  // `straight`: without a loop where all lanes are alive; the body is short and emits no values of
  // the block.
  void for_each_lane(const llvm::Twine& name, llvm::function_ref<void(llvm::Value*)> body,
                     bool straight = false);
  llvm::Value* lane_array(llvm::Value* vector, const llvm::Twine& name);
  llvm::Value* lane_address(llvm::Value* array, llvm::Type* element, llvm::Value* lane);

  // emit_calls.cpp
  llvm::Value* emit_call(const llvm::CallInst& call);
  llvm::Value* emit_register(const llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* emit_pure(const llvm::CallInst& call, bool as_vector);
  llvm::Value* emit_saturating(const llvm::CallInst& call, bool as_vector);
  llvm::Value* emit_math(const llvm::CallInst& call);
  llvm::Value* emit_in_parts(llvm::FunctionCallee callee, llvm::ArrayRef<llvm::Value*> operands,
                             unsigned part);
  llvm::Value* emit_library_call(const llvm::CallInst& call, llvm::StringRef name);
  llvm::Value* first_live(const llvm::Value* value);

  // emit_device_calls.cpp
  llvm::Value* call_lanes(llvm::FunctionCallee callee, const llvm::CallInst& call,
                          llvm::ArrayRef<llvm::Value*> before, llvm::ArrayRef<llvm::Value*> after);
  llvm::Value* emit_lane_call(const llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* emit_warp_call(const llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* emit_is_constant(const llvm::CallInst& call);

  // emit_calls.cpp: barriers, clocks, output
  llvm::Value* emit_barrier(const llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* emit_phase(const llvm::CallInst& call, const BuiltinRow& row, llvm::Value* arriving);
  llvm::Value* emit_fair_barrier(const llvm::CallInst& call, const BuiltinRow& row,
                                 llvm::Value* arriving);
  llvm::Value* emit_grid_barrier(const llvm::CallInst& call);
  void check_uniform(const llvm::CallInst& call, llvm::Value* arriving);
  void emit_yield(const llvm::BasicBlock* block);
  llvm::Value* emit_fence(const BuiltinRow& row);
  llvm::Value* emit_clock(const llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* emit_print(const llvm::CallInst& call);
  void emit_trap(const llvm::CallInst& call);
  void emit_assertion(const llvm::CallInst& call);
  llvm::FunctionCallee runtime(llvm::StringRef name, llvm::Type* result,
                               llvm::ArrayRef<llvm::Type*> params, bool returns);

  // emit_function_call.cpp
  llvm::Value* emit_function_call(const llvm::CallInst& call);
  llvm::Value* make_thread_frame();
  void fill_thread_frame(llvm::Value* frame, llvm::Value* lane);
  void make_slots(llvm::Type* type, llvm::SmallVectorImpl<llvm::AllocaInst*>& slots);
  void store_lane(llvm::Value* value, llvm::Value* lane, llvm::ArrayRef<llvm::AllocaInst*>& slots);
  llvm::Value* load_lanes(llvm::Type* type, llvm::ArrayRef<llvm::AllocaInst*>& slots);

  llvm::Value* linear_index();
  llvm::Value* thread_index(unsigned axis);

  // emit_warp_ops.cpp
  llvm::Value* emit_warp_op(const llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* emit_shuffle(const llvm::CallInst& call, int mode, llvm::Value** in_range);
  llvm::Value* emit_vote(const llvm::CallInst& call, int mode);
  llvm::Value* emit_ballot(const llvm::CallInst& call);
  llvm::Value* for_each_value(
      llvm::Value* keys,
      llvm::function_ref<llvm::Value*(llvm::Value* mask, llvm::Value* bits)> body);
  llvm::Value* for_each_group(
      const llvm::Value* member_mask,
      llvm::function_ref<llvm::Value*(llvm::Value* mask, llvm::Value* bits)> body);
  llvm::Value* emit_match_any(const llvm::CallInst& call);
  llvm::Value* emit_match_all(const llvm::CallInst& call);
  llvm::Value* emit_reduce(const llvm::CallInst& call, int op);
  llvm::Value* emit_mma(const llvm::CallInst& call);
  llvm::Value* permute(llvm::Value* values, llvm::Value* sources);

  // Masks.
  llvm::Value* mask_bits(llvm::Value* mask);    // iW
  llvm::Value* mask_bits32(llvm::Value* mask);  // i32
  llvm::Value* any(llvm::Value* mask);
  llvm::Value* all(llvm::Value* mask);
  llvm::Value* both(llvm::Value* mask, llvm::Value* condition);
  llvm::Value* but_not(llvm::Value* mask, llvm::Value* condition);
  llvm::Constant* full_mask() const;
  llvm::VectorType* mask_type() const;

  const KernelContext& kernel_;
  const Shapes& shapes_;
  const ControlPlan& plan_;
  const LaunchValues& launch_;
  llvm::Function* function_;
  llvm::LLVMContext& context_;
  const llvm::DataLayout& data_;  // of the thread's module
  unsigned width_;
  llvm::IRBuilder<> b_;
  llvm::BasicBlock* next_ = nullptr;

  llvm::MapVector<const llvm::Value*, llvm::AllocaInst*> slots_;
  llvm::MapVector<const llvm::BasicBlock*, llvm::AllocaInst*> masks_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> local_;  // values of the block being emitted
  llvm::DenseMap<const llvm::BasicBlock*, Deferred> deferred_;
  llvm::MapVector<const llvm::CastInst*, llvm::AllocaInst*>
      guards_;  // whether a guarded extension holds
  llvm::DenseMap<const llvm::AllocaInst*, llvm::AllocaInst*> arrays_;
  llvm::AllocaInst* exited_ =
      nullptr;  // lanes that have returned, kept only when a barrier needs to know
  llvm::AllocaInst* scratch_ = nullptr;
  llvm::Value* mask_ = nullptr;  // of the block being emitted
  bool full_ = false;            // mask_ is known to be full
  bool compact_;  // small code rather than fast code: the fallback for odd block shapes
  const llvm::BasicBlock* current_ = nullptr;
};

}  // namespace td::softdev::simt
