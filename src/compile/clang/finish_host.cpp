#include "compile/clang/finish_host.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace td::compile {

using namespace llvm;

namespace {

constexpr const char* kManaged = "treadle.managed";

StringRef text_of(const Constant* constant) {
  const auto* global = dyn_cast<GlobalVariable>(constant->stripPointerCasts());
  if (global == nullptr || !global->hasInitializer()) return "";
  const auto* data = dyn_cast<ConstantDataSequential>(global->getInitializer());
  return data != nullptr && data->isCString() ? data->getAsCString() : "";
}

// Clang lists annotated globals in llvm.global.annotations as {global, text, file, line,
// arguments}.
std::vector<GlobalVariable*> managed_variables(Module& module) {
  std::vector<GlobalVariable*> result;
  GlobalVariable* list = module.getNamedGlobal("llvm.global.annotations");
  if (list == nullptr) return result;
  for (const Use& use : list->getInitializer()->operands()) {
    auto* entry = cast<ConstantStruct>(use);
    auto* global = dyn_cast<GlobalVariable>(entry->getOperand(0)->stripPointerCasts());
    if (global != nullptr && text_of(cast<Constant>(entry->getOperand(1))) == kManaged)
      result.push_back(global);
  }
  list->eraseFromParent();
  return result;
}

// Registration names the variable itself: its address is the key under which the runtime knows it.
bool is_registration(const Instruction& user) {
  return user.getFunction()->getName() == "__cuda_register_globals";
}

void redirect(Module& module, GlobalVariable& variable) {
  Type* pointer = PointerType::getUnqual(module.getContext());
  auto* address = new GlobalVariable(module, pointer, false, GlobalValue::InternalLinkage,
                                     &variable, variable.getName() + ".managed");
  convertUsersOfConstantsToInstructions({&variable});
  for (Use& use : make_early_inc_range(variable.uses())) {
    auto* user = dyn_cast<Instruction>(use.getUser());
    if (user == nullptr || is_registration(*user)) continue;
    Instruction* before = user;
    if (auto* phi = dyn_cast<PHINode>(user)) before = phi->getIncomingBlock(use)->getTerminator();
    use.set(new LoadInst(pointer, address, "", before->getIterator()));
  }
  // __td_register_managed(&address, &variable), once the variables are registered.
  FunctionCallee note = module.getOrInsertFunction(
      "__td_register_managed", Type::getVoidTy(module.getContext()), pointer, pointer);
  Function* start =
      Function::Create(FunctionType::get(Type::getVoidTy(module.getContext()), false),
                       GlobalValue::InternalLinkage, "__td_managed_" + variable.getName(), module);
  IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", start));
  builder.CreateCall(note, {address, &variable});
  builder.CreateRetVoid();
  appendToGlobalCtors(module, start, 65535);
}

// __cudaRegisterLinkedBinary<id>(globals, wrapper, id, callback) ->
// __td_register_relocatable(globals, wrapper)
void define_linked_registration(Module& module) {
  Type* pointer = PointerType::getUnqual(module.getContext());
  for (Function& function : module) {
    if (!function.isDeclaration() || !function.getName().starts_with("__cudaRegisterLinkedBinary"))
      continue;
    FunctionCallee note = module.getOrInsertFunction(
        "__td_register_relocatable", Type::getVoidTy(module.getContext()), pointer, pointer);
    function.setLinkage(GlobalValue::InternalLinkage);
    IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", &function));
    builder.CreateCall(note, {function.getArg(0), function.getArg(1)});
    builder.CreateRetVoid();
  }
}

}  // namespace

void finish_host(Module& module) {
  define_linked_registration(module);
  for (GlobalVariable* variable : managed_variables(module)) redirect(module, *variable);
}

}  // namespace td::compile
