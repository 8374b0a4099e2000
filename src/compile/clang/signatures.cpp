#include "compile/clang/signatures.h"

#include <algorithm>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace td::compile {

using namespace clang;

namespace {

// Visits declarations, not bodies.
class KernelVisitor : public RecursiveASTVisitor<KernelVisitor> {
 public:
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool TraverseStmt(Stmt*) { return true; }
  bool TraverseTypeLoc(TypeLoc) { return true; }
  bool VisitFunctionDecl(FunctionDecl* function) {
    if (!function->hasAttr<CUDAGlobalAttr>() || function->isDependentContext()) return true;
    const FunctionDecl* definition = nullptr;
    // An instance that nothing uses has a pattern but no body of its own: it is not a kernel of the
    // image.
    if (!function->hasBody(definition) || definition->isDependentContext()) return true;
    if (seen_.insert(definition).second) found.push_back(definition);
    return true;
  }
  std::vector<const FunctionDecl*> found;

 private:
  llvm::SmallPtrSet<const FunctionDecl*, 8> seen_;
};

std::optional<DType> integer_dtype(std::size_t bytes, bool is_signed) {
  switch (bytes) {
    case 1:
      return is_signed ? DType::int8 : DType::uint8;
    case 2:
      return is_signed ? DType::int16 : DType::uint16;
    case 4:
      return is_signed ? DType::int32 : DType::uint32;
    case 8:
      return is_signed ? DType::int64 : DType::uint64;
    default:
      return std::nullopt;
  }
}

// Class types that stand for one number.
struct ClassRow {
  const char* name;  // without namespace
  std::size_t bytes;
  DType dtype;
};
const ClassRow kNumberClasses[] = {
    {"__half", 2, DType::float16},         {"td_half", 2, DType::float16},
    {"__nv_bfloat16", 2, DType::bfloat16}, {"td_bfloat", 2, DType::bfloat16},
    {"td_complex", 8, DType::complex64},   {"td_complex", 16, DType::complex128},
};

std::optional<DType> dtype_of_type(QualType type, const ASTContext& context) {
  type = type.getCanonicalType().getUnqualifiedType();
  if (type->isIncompleteType()) return std::nullopt;
  const std::size_t bytes =
      static_cast<std::size_t>(context.getTypeSizeInChars(type).getQuantity());
  if (type->isBooleanType()) return DType::bool_;
  if (type->isHalfType() || type->isFloat16Type()) return DType::float16;
  if (type->isIntegralOrEnumerationType())
    return integer_dtype(bytes, type->isSignedIntegerOrEnumerationType());
  if (type->isRealFloatingType() && bytes == 4) return DType::float32;
  if (type->isRealFloatingType() && bytes == 8) return DType::float64;
  if (const CXXRecordDecl* record = type->getAsCXXRecordDecl(); record && record->getIdentifier()) {
    for (const ClassRow& row : kNumberClasses) {
      if (record->getName() == row.name && bytes == row.bytes) return row.dtype;
    }
  }
  return std::nullopt;
}

ParamInfo describe(const ParmVarDecl& param, const ASTContext& context) {
  ParamInfo info;
  info.name = param.getNameAsString();
  info.type = param.getType().getAsString(context.getPrintingPolicy());
  const QualType type = param.getType().getCanonicalType();
  info.size = static_cast<std::size_t>(context.getTypeSizeInChars(type).getQuantity());
  info.align = static_cast<std::size_t>(context.getTypeAlignInChars(type).getQuantity());
  if (type->isPointerType() || type->isReferenceType()) {
    info.kind = ParamInfo::Kind::pointer;
    const QualType pointee = type->getPointeeType();
    info.pointee_const = pointee.isConstQualified();
    if (!pointee->isFunctionType()) info.dtype = dtype_of_type(pointee, context);
  } else {
    info.dtype = dtype_of_type(type, context);
    info.kind = info.dtype ? ParamInfo::Kind::scalar : ParamInfo::Kind::aggregate;
  }
  return info;
}

}  // namespace

bool KernelCollector::HandleTopLevelDecl(DeclGroupRef group) {
  declarations_.insert(declarations_.end(), group.begin(), group.end());
  return true;
}

std::vector<const FunctionDecl*> KernelCollector::kernels() const {
  KernelVisitor visitor;
  // A copy: a visit may load declarations of our precompiled headers, which arrive in the list
  // while it is read. They are not the user's.
  const std::vector<Decl*> own = declarations_;
  for (Decl* declaration : own) visitor.TraverseDecl(declaration);
  return visitor.found;
}

KernelSignature signature_of(const FunctionDecl& kernel) {
  const ASTContext& context = kernel.getASTContext();
  KernelSignature result;
  llvm::raw_string_ostream name(result.name);
  if (kernel.isExternC()) {
    name << kernel.getName();
  } else {
    kernel.getNameForDiagnostic(name, context.getPrintingPolicy(), true);
  }
  std::size_t offset = 0;
  for (const ParmVarDecl* param : kernel.parameters()) {
    ParamInfo info = describe(*param, context);
    offset = (offset + info.align - 1) / info.align * info.align;
    info.offset = offset;
    offset += info.size;
    result.params.push_back(std::move(info));
  }
  return result;
}

}  // namespace td::compile
