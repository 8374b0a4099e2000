#include "compile/clang/messages.h"

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
  return file && file->getName().starts_with(kHeaderFolder);
}

bool from_command_line(const SourceManager& sources, SourceLocation location) {
  const PresumedLoc place = sources.getPresumedLoc(location);
  return place.isValid() && place.getFilename() == llvm::StringRef("<built-in>");
}

// The nearest place that the user wrote, or an invalid location.
SourceLocation user_location(const SourceManager& sources, SourceLocation location) {
  while (location.isMacroID() && in_our_headers(sources, location)) {
    location = sources.getImmediateExpansionRange(location).getBegin();
  }
  if (location.isValid() && in_our_headers(sources, location)) return {};
  return location;
}

}  // namespace

void Messages::BeginSourceFile(const LangOptions& language, const Preprocessor* pp) {
  printer_ = std::make_unique<TextDiagnostic>(stream_, language, options_.get(), pp);
}

void Messages::EndSourceFile() { printer_.reset(); }

void Messages::HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  llvm::SmallString<128> text;
  info.FormatDiagnostic(text);
  if (!printer_ || !info.hasSourceManager() || info.getLocation().isInvalid()) {
    if (level == DiagnosticsEngine::Note) return;
    TextDiagnostic::printDiagnosticLevel(stream_, level, false);
    stream_ << text << "\n";
    return;
  }
  const SourceManager& sources = info.getSourceManager();
  const SourceLocation place = user_location(sources, info.getLocation());
  const bool moved = place != info.getLocation();
  const bool supplement = level <= DiagnosticsEngine::Remark;
  if (supplement && (moved || from_command_line(sources, place))) return;
  if (place.isInvalid()) {
    if (level == DiagnosticsEngine::Warning) return;
    TextDiagnostic::printDiagnosticLevel(stream_, level, false);
    stream_ << text << "\n";
    return;
  }
  llvm::ArrayRef<CharSourceRange> ranges;
  llvm::ArrayRef<FixItHint> hints;
  if (!moved) {
    ranges = info.getRanges();
    hints = info.getFixItHints();
  }
  printer_->emitDiagnostic(FullSourceLoc(place, sources), level, text, ranges, hints, &info);
}

}  // namespace td::compile
