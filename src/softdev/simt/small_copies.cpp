#include "softdev/simt/small_copies.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

namespace td::softdev::simt {

using namespace llvm;

namespace {

constexpr unsigned most_pieces = 16;

struct Piece {
  std::uint64_t offset, bytes;
};

// As large as both alignments allow; the last ones smaller. Empty when these are too many.
SmallVector<Piece, most_pieces> pieces_of(std::uint64_t bytes, std::uint64_t alignment) {
  SmallVector<Piece, most_pieces> pieces;
  for (std::uint64_t at = 0; at < bytes; at += pieces.back().bytes) {
    if (pieces.size() == most_pieces) return {};
    std::uint64_t size = std::min<std::uint64_t>(alignment, 8);
    while (size > bytes - at) size /= 2;
    pieces.push_back({at, size});
  }
  return pieces;
}

bool expand(MemTransferInst& copy) {
  auto* length = dyn_cast<ConstantInt>(copy.getLength());
  if (!length || copy.isVolatile()) return false;
  Align to = copy.getDestAlign().valueOrOne(), from = copy.getSourceAlign().valueOrOne();
  auto pieces = pieces_of(length->getZExtValue(), std::min(to, from).value());
  if (pieces.empty()) return false;
  IRBuilder<> b(&copy);
  auto place = [&](Value* base, const Piece& piece) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, piece.offset);
  };
  SmallVector<Value*, most_pieces> values;
  for (const Piece& piece : pieces)
    values.push_back(b.CreateAlignedLoad(b.getIntNTy(8 * static_cast<unsigned>(piece.bytes)),
                                         place(copy.getRawSource(), piece), Align(piece.bytes)));
  for (auto [value, piece] : zip(values, pieces))
    b.CreateAlignedStore(value, place(copy.getRawDest(), piece), Align(piece.bytes));
  copy.eraseFromParent();
  return true;
}

}  // namespace

PreservedAnalyses ExpandSmallCopies::run(Function& function, FunctionAnalysisManager&) {
  bool changed = false;
  for (Instruction& instruction : make_early_inc_range(instructions(function)))
    if (auto* copy = dyn_cast<MemTransferInst>(&instruction)) changed |= expand(*copy);
  if (!changed) return PreservedAnalyses::all();
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}

}  // namespace td::softdev::simt
