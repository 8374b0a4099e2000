#include "softdev/simt/layout.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

#include "softdev/simt/scalar.h"
#include "softdev/simt/unsupported.h"

namespace td::softdev::simt {
namespace {

using namespace llvm;

constexpr unsigned shared_space = 3, constant_space = 4;

// Serialises constants into the segment's bytes; pointers to other variables become relocations.
class DataWriter {
 public:
  DataWriter(const DataLayout& layout, DataSegment& segment, LowerReply& reply)
      : layout_(layout), segment_(segment), reply_(reply) {}

  void write(const Constant* value, std::uint64_t at) {
    if (value->isNullValue() || isa<UndefValue>(value)) return;
    if (auto* number = dyn_cast<ConstantInt>(value)) return bits(number->getValue(), at);
    if (auto* number = dyn_cast<ConstantFP>(value))
      return bits(number->getValueAPF().bitcastToAPInt(), at);
    if (auto* data = dyn_cast<ConstantDataSequential>(value)) return sequence(data, at);
    if (isa<ConstantAggregate>(value)) return aggregate(value, at);
    pointer(value, at);
  }

 private:
  void bits(const APInt& value, std::uint64_t at) {
    for (unsigned i = 0; i * 8 < value.getBitWidth(); ++i) {
      unsigned width = std::min(8u, value.getBitWidth() - i * 8);
      reply_.data[at + i] = static_cast<char>(value.extractBitsAsZExtValue(width, i * 8));
    }
  }
  void sequence(const ConstantDataSequential* data, std::uint64_t at) {
    std::uint64_t step = data->getElementByteSize();
    for (unsigned i = 0; i < data->getNumElements(); ++i)
      write(data->getElementAsConstant(i), at + i * step);
  }
  void aggregate(const Constant* value, std::uint64_t at) {
    for (unsigned i = 0; i < value->getNumOperands(); ++i) {
      std::uint64_t offset = 0;
      if (auto* type = dyn_cast<StructType>(value->getType()))
        offset = layout_.getStructLayout(type)->getElementOffset(i);
      else
        offset = i * layout_.getTypeAllocSize(value->getOperand(i)->getType());
      write(cast<Constant>(value->getOperand(i)), at + offset);
    }
  }
  void pointer(const Constant* value, std::uint64_t at) {
    APInt offset(64, 0);
    const Value* base = value->stripAndAccumulateConstantOffsets(layout_, offset, true);
    if (auto* function = dyn_cast<Function>(base); function && offset.isZero()) {
      if (function->isDeclaration()) return;  // a pure virtual one: a call jumps to nowhere
      reply_.code_pointers.push_back({at, ScalarCode::symbol_of(*function)});
      segment_.functions.push_back(const_cast<Function*>(function));
      return;
    }
    auto* variable = dyn_cast<GlobalVariable>(base);
    if (!variable || !segment_.offsets.count(variable))
      throw Unsupported(
          "the initial value of a __device__ variable needs an address that is only known on a GPU "
          "(of a shared variable): not supported on the software device yet");
    reply_.data_pointers.push_back({at, segment_.offsets.lookup(variable) + offset.getSExtValue()});
  }

  const DataLayout& layout_;
  DataSegment& segment_;
  LowerReply& reply_;
};

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

bool is_shared(const llvm::GlobalVariable& variable) {
  return variable.getAddressSpace() == shared_space;
}

DataSegment lay_out_data(Module& module, LowerReply& reply) {
  const DataLayout& layout = module.getDataLayout();
  DataSegment segment;
  std::uint64_t size = 0;
  SmallVector<GlobalVariable*> variables;
  for (GlobalVariable& variable : module.globals())
    if (!is_shared(variable) && !variable.getName().starts_with("llvm."))
      variables.push_back(&variable);
  auto is_constant = [](GlobalVariable* v) { return v->getAddressSpace() == constant_space; };
  std::stable_partition(variables.begin(), variables.end(), is_constant);
  for (GlobalVariable* variable : variables) {
    if (variable->isDeclaration())
      throw Unsupported("variable `" + variable->getName().str() +
                        "` is declared but not defined: define it in the same source");
    std::uint64_t bytes = layout.getTypeAllocSize(variable->getValueType());
    std::uint64_t align =
        std::max<std::uint64_t>(variable->getAlign().valueOrOne().value(), bytes >= 32 ? 32 : 1);
    size = round_up(size, align);
    segment.offsets[variable] = size;
    if (!variable->hasPrivateLinkage())
      reply.globals.push_back({variable->getName().str(), size, bytes, is_constant(variable)});
    size += std::max<std::uint64_t>(bytes, 1);
    if (is_constant(variable)) segment.constant_end = size;
  }
  reply.data.assign(size, '\0');
  DataWriter writer(layout, segment, reply);
  for (auto& [variable, offset] : segment.offsets) writer.write(variable->getInitializer(), offset);
  return segment;
}

void lay_out_shared(const Function& function, SharedLayout& shared) {
  const DataLayout& layout = function.getParent()->getDataLayout();
  SmallVector<const GlobalVariable*> dynamic;
  std::uint64_t size = shared.static_bytes;
  for (const Instruction& instruction : instructions(function))
    for (const Use& use : instruction.operands()) {
      auto* variable = dyn_cast<GlobalVariable>(use.get());
      if (!variable || !is_shared(*variable) || shared.offsets.count(variable)) continue;
      std::uint64_t bytes = layout.getTypeAllocSize(variable->getValueType());
      if (bytes == 0) {
        dynamic.push_back(variable);
        continue;
      }
      std::uint64_t align =
          std::max<std::uint64_t>(variable->getAlign().valueOrOne().value(), bytes >= 32 ? 32 : 8);
      size = round_up(size, align);
      shared.offsets[variable] = size;
      size += bytes;
    }
  for (auto* variable : dynamic) shared.offsets[variable] = round_up(size, 16);
  shared.static_bytes = static_cast<std::uint32_t>(size);
}

std::vector<ParamLayout> lay_out_params(const Function& kernel, std::uint32_t& total) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  std::vector<ParamLayout> params;
  std::uint64_t at = 0;
  for (const Argument& argument : kernel.args()) {
    Type* type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
    std::uint64_t align = layout.getABITypeAlign(type).value();
    if (argument.hasByValAttr())
      align = std::max<std::uint64_t>(align, argument.getParamAlign().valueOrOne().value());
    std::uint64_t size = layout.getTypeAllocSize(type);
    at = round_up(at, align);
    params.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(size),
                      static_cast<std::uint32_t>(align)});
    at += size;
  }
  total = static_cast<std::uint32_t>(at);
  return params;
}

}  // namespace td::softdev::simt
