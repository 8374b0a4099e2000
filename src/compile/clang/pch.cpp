#include "compile/clang/pch.h"

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <mutex>

#include "clang/Basic/Version.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Sema.h"
#include "clang/Serialization/ASTWriter.h"
#include "compile/clang/files.h"
#include "compile/clang/frontend.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

namespace td::compile {

using namespace clang;
using llvm::MemoryBuffer;
using llvm::StringRef;

namespace {

// In front of the bytes in a file.
struct FileHeader {
  char magic[8] = {'t', 'd', 'p', 'c', 'h', '0', '0', '1'};
  std::uint64_t key = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

// Access to a private member of Sema, by the rule that an explicit instantiation may name one.
llvm::SmallSetVector<Decl*, 4>& deferred_checks(Sema& sema);
template <auto member>
struct DeferredChecks {
  friend llvm::SmallSetVector<Decl*, 4>& deferred_checks(Sema& sema) { return sema.*member; }
};
template struct DeferredChecks<&Sema::DeclsToCheckForDeferredDiags>;

// Clang notes every device function for a check at the end of the translation unit, and a
// precompiled header keeps the notes: each user's compile would then read all our functions back.
// They have passed the check already.
class Writer : public PCHGenerator {
 public:
  using PCHGenerator::PCHGenerator;
  void InitializeSema(Sema& sema) override {
    sema_ = &sema;
    PCHGenerator::InitializeSema(sema);
  }
  void HandleTranslationUnit(ASTContext& context) override {
    deferred_checks(*sema_).clear();
    PCHGenerator::HandleTranslationUnit(context);
  }

 private:
  Sema* sema_ = nullptr;
};

class PrecompileAction : public ASTFrontendAction {
 public:
  std::shared_ptr<PCHBuffer> result = std::make_shared<PCHBuffer>();

 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& instance, StringRef) override {
    // No time stamps: the same prelude gives the same bytes.
    return std::make_unique<Writer>(instance.getPreprocessor(), instance.getModuleCache(), kPchFile,
                                    "", result, instance.getFrontendOpts().ModuleFileExtensions,
                                    false, false);
  }
  TranslationUnitKind getTranslationUnitKind() override { return TU_Prefix; }
  bool hasASTFileSupport() const override { return false; }
};

std::uint64_t key_of(const Options& options) {
  std::string text = getClangFullVersion() + (options.prelude ? options.prelude : "");
  for (const std::string& argument : language_arguments(options)) text += '\n' + argument;
  return llvm::xxh3_64bits(text) ^ device_headers_hash();
}

std::shared_ptr<const std::string> make_pch(const Options& options, std::string& log) {
  Options clean;
  clean.standard = options.standard;
  clean.contract = options.contract;
  clean.prelude = options.prelude;
  FrontendJob job{&clean, nullptr, nullptr, &log};
  std::unique_ptr<CompilerInstance> instance = make_frontend(std::move(job));
  if (!instance) return nullptr;
  PrecompileAction action;
  if (!instance->ExecuteAction(action) || instance->getDiagnostics().hasErrorOccurred())
    return nullptr;
  return std::make_shared<std::string>(action.result->Data.data(), action.result->Data.size());
}

std::string file_of(const std::string& folder, std::uint64_t key) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, "prelude-" + llvm::utohexstr(key, true, 16) + ".pch");
  return std::string(path);
}

std::shared_ptr<const std::string> read_pch(const std::string& folder, std::uint64_t key) {
  auto file = MemoryBuffer::getFile(file_of(folder, key), false, false);
  if (!file || (*file)->getBufferSize() < sizeof(FileHeader)) return nullptr;
  const StringRef content = (*file)->getBuffer();
  FileHeader header;
  std::memcpy(&header, content.data(), sizeof header);
  const StringRef bytes = content.drop_front(sizeof header);
  if (std::memcmp(header.magic, FileHeader().magic, sizeof header.magic) != 0 ||
      header.key != key || header.bytes != bytes.size() ||
      header.checksum != llvm::xxh3_64bits(bytes)) {
    return nullptr;
  }
  return std::make_shared<std::string>(bytes);
}

void write_pch(const std::string& folder, std::uint64_t key, const std::string& bytes) {
  if (llvm::sys::fs::create_directories(folder)) return;
  const std::string path = file_of(folder, key);
  int descriptor = -1;
  llvm::SmallString<256> temporary;
  if (llvm::sys::fs::createUniqueFile(path + ".%%%%%%%%", descriptor, temporary)) return;
  bool written = false;
  {
    llvm::raw_fd_ostream stream(descriptor, true);
    FileHeader header;
    header.key = key;
    header.bytes = bytes.size();
    header.checksum = llvm::xxh3_64bits(bytes);
    stream.write(reinterpret_cast<const char*>(&header), sizeof header);
    stream.write(bytes.data(), bytes.size());
    stream.close();
    written = !stream.has_error();
    stream.clear_error();
  }
  if (!written || llvm::sys::fs::rename(temporary, path)) llvm::sys::fs::remove(temporary);
}

// Where the build puts the preludes of the usual options: beside the plug-in (make_prelude.cpp).
const std::string& shipped_folder() {
  static const std::string folder = [] {
    Dl_info here{};
    if (!dladdr(reinterpret_cast<void*>(&precompiled_prelude), &here) || !here.dli_fname)
      return std::string();
    return (llvm::sys::path::parent_path(here.dli_fname) + "/prelude").str();
  }();
  return folder;
}

}  // namespace

std::unique_ptr<MemoryBuffer> precompiled_prelude(const Options& options, const std::string& folder,
                                                  std::string& log) {
  static std::mutex mutex;
  static auto& kept = *new std::map<std::uint64_t, std::shared_ptr<const std::string>>;
  const std::uint64_t key = key_of(options);
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<const std::string>& bytes = kept[key];
  if (!bytes) bytes = read_pch(shipped_folder(), key);
  if (!bytes && !folder.empty()) bytes = read_pch(folder, key);
  if (!bytes) {
    std::string own_log;
    bytes = make_pch(options, own_log);
    if (!bytes) {
      log += own_log;
      kept.erase(key);
      return nullptr;
    }
    if (!folder.empty()) write_pch(folder, key, *bytes);
  }
  // Never freed: at most one for each standard, contraction mode and set of headers.
  return MemoryBuffer::getMemBuffer(*bytes, kPchFile, false);
}

}  // namespace td::compile
