// What the tests of the Clang front end share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compile/clang_plugin.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"

namespace td::compile::test {

inline ClangReply compile(const std::string& source, const std::vector<std::string>& options = {},
                          const std::vector<std::string>& names = {}) {
  ClangRequest request;
  request.source = source;
  request.options = options;
  request.name_expressions = names;
  ClangReply reply;
  td_cc_compile(request, reply);
  return reply;
}

// The image of a source that must compile, read back and verified.
struct Image {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;

  explicit Image(const ClangReply& reply) {
    EXPECT_TRUE(reply.ok) << reply.log;
    if (!reply.ok) return;
    auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(reply.image, "image"), context);
    EXPECT_TRUE(static_cast<bool>(parsed)) << llvm::toString(parsed.takeError());
    module = std::move(*parsed);
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    EXPECT_FALSE(llvm::verifyModule(*module, &stream)) << problems;
  }

  std::string text() const {
    std::string result;
    llvm::raw_string_ostream stream(result);
    module->print(stream, nullptr);
    return result;
  }
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace td::compile::test
