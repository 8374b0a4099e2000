#include "compile/clang/messages.h"

#include "clang/Basic/DiagnosticLex.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Preprocessor.h"
#include "compile/clang/files.h"
#include "llvm/ADT/SmallString.h"

namespace td::compile {

using namespace clang;

namespace {

bool in_our_headers(const SourceManager& sources, SourceLocation location) {
  const SourceLocation spelling = sources.getSpellingLoc(location);
  if (spelling.isInvalid()) return false;
  const auto file = sources.getFileEntryRefForID(sources.getFileID(spelling));
  return file && (file->getName().starts_with(kHeaderFolder) ||
                  file->getName().starts_with(kProgramFolder));
}

// While the prelude is precompiled.
bool headers_are_the_source(const SourceManager& sources) {
  return in_our_headers(sources, sources.getLocForStartOfFile(sources.getMainFileID()));
}

bool from_command_line(const SourceManager& sources, SourceLocation location) {
  const PresumedLoc place = sources.getPresumedLoc(location);
  return place.isValid() && place.getFilename() == llvm::StringRef("<built-in>");
}

// The nearest place that the user wrote, or an invalid location. Within an argument of a macro of
// ours (assert) that is the argument itself.
SourceLocation user_location(const SourceManager& sources, SourceLocation location) {
  for (SourceLocation at = location; at.isMacroID();
       at = sources.getImmediateExpansionRange(at).getBegin()) {
    if (at == location || !in_our_headers(sources, at)) continue;
    const SourceLocation argument = sources.getSpellingLoc(location);
    if (!in_our_headers(sources, argument)) return argument;
  }
  while (location.isMacroID() && in_our_headers(sources, location)) {
    location = sources.getImmediateExpansionRange(location).getBegin();
  }
  if (location.isValid() && in_our_headers(sources, location)) return {};
  return location;
}

// Texture references (texture<T, dim, mode>) and their functions.
bool names_texture_reference(llvm::StringRef text) {
  if (text.starts_with("no template named ") || text.starts_with("unknown type name "))
    return text.contains("'texture'") || text.contains("'surface'");
  return text.starts_with("use of undeclared identifier ") &&
         (text.contains("'cudaReadMode") || text.contains("'cudaBindTexture") ||
          text.contains("'cudaUnbindTexture'") || text.contains("'cudaBindSurfaceToArray'"));
}

// Our own words where Clang wraps them or where its words do not fit.
void reword(const Diagnostic& info, llvm::SmallString<128>& text) {
  const llvm::StringRef marker = "[treadle]";
  if (const std::size_t found = llvm::StringRef(text).find(marker);
      found != llvm::StringRef::npos) {
    text.erase(text.begin(), text.begin() + found + marker.size());
  } else if (info.getID() == diag::err_ref_bad_target &&
             llvm::StringRef(text).starts_with("reference to __global__ function")) {
    text =
        "launching a kernel from a kernel is known, but not supported on the software device yet";
  } else if (names_texture_reference(text)) {
    text +=
        "; texture references were removed in CUDA 12: make a texture object "
        "(cudaCreateTextureObject), pass it to the kernel and fetch with tex2D<T>(object, x, y)";
  }
}

}  // namespace

void Messages::BeginSourceFile(const LangOptions& language, const Preprocessor* pp) {
  printer_ = std::make_unique<TextDiagnostic>(stream_, language, options_.get(), pp);
}

void Messages::EndSourceFile() {
  print_pending();
  printer_.reset();
}

void Messages::print_pending() {
  // After another error it is a consequence of that one.
  if (!pending_.empty() && !error_shown_) {
    TextDiagnostic::printDiagnosticLevel(stream_, DiagnosticsEngine::Error, false);
    stream_ << pending_ << "\n";
    error_shown_ = true;
  }
  pending_.clear();
}

void Messages::HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  llvm::SmallString<128> text;
  info.FormatDiagnostic(text);
  reword(info, text);
  const bool supplement = level <= DiagnosticsEngine::Remark;
  if (!printer_ || !info.hasSourceManager() || info.getLocation().isInvalid()) {
    if (supplement) return;
    print_pending();
    TextDiagnostic::printDiagnosticLevel(stream_, level, false);
    stream_ << text << "\n";
    return;
  }
  const SourceManager& sources = info.getSourceManager();
  SourceLocation place = info.getLocation();
  if (!headers_are_the_source(sources)) {
    // A header of ours that refuses itself: the line that includes it.
    if (info.getID() == diag::err_pp_hash_error) {
      while (in_our_headers(sources, place))
        place = sources.getIncludeLoc(sources.getFileID(place));
    }
    place = user_location(sources, place);
  }
  const bool moved = place != info.getLocation();
  if (supplement && (moved || from_command_line(sources, place))) return;
  if (!supplement) print_pending();
  if (place.isInvalid()) {
    if (level >= DiagnosticsEngine::Error) pending_ = std::string(text);
    return;
  }
  llvm::ArrayRef<CharSourceRange> ranges;
  llvm::ArrayRef<FixItHint> hints;
  if (!moved) {
    ranges = info.getRanges();
    hints = info.getFixItHints();
  }
  if (supplement && !pending_.empty()) {
    level = DiagnosticsEngine::Error;
    text = pending_;
    pending_.clear();
  }
  error_shown_ |= level >= DiagnosticsEngine::Error;
  printer_->emitDiagnostic(FullSourceLoc(place, sources), level, text, ranges, hints, &info);
}

}  // namespace td::compile
