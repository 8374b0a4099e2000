// A request is answered, in this order, by a compilation of the same request that another thread
// has under way, by what was made with the package, by the disk cache, and by the compiler. The key
// holds everything that the image depends on.
#include "compile/compile.h"

#include <sys/stat.h>

#include <future>
#include <memory>
#include <mutex>
#include <optional>

#include "base/bytes.h"
#include "base/compile_counts.h"
#include "base/disk_cache.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/ready_pack.h"
#include "base/text.h"
#include "base/version.h"
#include "compile/compilers.h"
#include "compile/image_record.h"
#include "compile/includes.h"

namespace td::compile {

namespace {

const Compiler& compiler_for(ImageFormat format) {
  return format == ImageFormat::cubin ? kNvrtc : kClang;
}

Image run_compiler(const Source& source, const Target& target) {
  const Compiler& compiler = compiler_for(target.format);
  base::log(base::LogLevel::info,
            base::cat("compiling ", source.options.file_name, " with ", compiler.name));
  base::compile_counts().sources.fetch_add(1, std::memory_order_relaxed);
  Image image = compiler.compile(source, target);
  if (!image.log.empty()) base::log(base::LogLevel::info, image.log);
  return image;
}

// What an image depends on besides the compiler and the target. False when the result depends on
// something that cannot be hashed.
bool digest_of(const Source& source, base::Hash128& digest) {
  base::Hasher hasher;
  hasher.add(std::string_view(source.text)).add(std::string_view(source.options.file_name));
  hasher.add(static_cast<std::uint64_t>(source.options.first_line));
  for (const auto* list : {&source.options.options, &source.options.name_expressions}) {
    hasher.add(static_cast<std::uint64_t>(list->size()));
    for (const std::string& item : *list) hasher.add(std::string_view(item));
  }
  bool known = hash_includes(source, hasher);
  digest = hasher.finish();
  return known;
}

base::Hash128 key_of(const base::Hash128& digest, const Target& target,
                     const std::string& identity) {
  base::Hasher hasher;
  hasher.add(std::string_view(base::kVersion)).add(static_cast<std::uint64_t>(base::kCacheFormat));
  hasher.add(std::string_view(identity)).add(digest.high).add(digest.low);
  hasher.add(static_cast<std::uint64_t>(target.format));
  hasher.add(static_cast<std::uint64_t>(target.compute_capability));
  return hasher.finish();
}

// Bitcode belongs to the plug-in of the same build. A cubin is the package's own: whichever NVRTC
// is here, and if there is none, the one made with the package is meant.
std::string ready_identity(const Target& target) {
  return target.format == ImageFormat::cubin ? "ready" : compiler_for(target.format).identity();
}

// A cubin also runs on devices of the same major and a higher minor capability.
std::optional<Image> find_ready(const base::Hash128& digest, Target target) {
  const base::ReadyPack& pack = base::ReadyPack::image();
  if (pack.size() == 0) return {};
  const std::string identity = ready_identity(target);
  const int oldest = target.format == ImageFormat::cubin ? target.compute_capability / 10 * 10
                                                         : target.compute_capability;
  for (; target.compute_capability >= oldest; --target.compute_capability) {
    auto record = pack.load(key_of(digest, target, identity));
    Image image;
    if (!record || !decode_image(*record, image)) continue;
    image.from_cache = true;
    base::compile_counts().ready_sources.fetch_add(1, std::memory_order_relaxed);
    return image;
  }
  return {};
}

// What was made before: with the package, or by a process that shares the disk cache.
std::optional<Image> find_made(const Target& target, const base::Hash128& digest,
                               const base::Hash128& key) {
  if (auto image = find_ready(digest, target)) return image;
  auto record = base::DiskCache("image").load(key);
  Image image;
  if (!record || !decode_image(*record, image)) return {};
  image.from_cache = true;
  base::compile_counts().cached_sources.fetch_add(1, std::memory_order_relaxed);
  return image;
}

Image through_caches(const Source& source, const Target& target, const base::Hash128& digest,
                     const base::Hash128& key) {
  if (auto image = find_made(target, digest, key)) return *std::move(image);
  Image image = run_compiler(source, target);
  base::DiskCache("image").store(key, encode_image(image));
  return image;
}

// Requests under way in this process. The first thread compiles, the others wait for its result or
// its error.
class InFlight {
 public:
  template <class Make>
  Image once(const base::Hash128& key, Make make) {
    std::promise<Image> promise;
    std::shared_future<Image> result;
    bool mine = false;
    {
      std::lock_guard lock(mutex_);
      auto [row, fresh] = running_.try_emplace({key.high, key.low});
      if (fresh) row->second = promise.get_future().share();
      result = row->second;
      mine = fresh;
    }
    if (mine) {
      try {
        promise.set_value(make());
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
      std::lock_guard lock(mutex_);
      running_.erase({key.high, key.low});
    }
    return result.get();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_future<Image>> running_;
};

constexpr std::size_t kMessageLines = 24;

}  // namespace

Image compile(const Source& source, const Target& target) {
  static InFlight& in_flight = *new InFlight;
  base::Hash128 digest;
  if (!digest_of(source, digest)) return run_compiler(source, target);
  base::Hash128 key = key_of(digest, target, compiler_for(target.format).identity());
  return in_flight.once(key, [&] { return through_caches(source, target, digest, key); });
}

std::optional<Image> find(const Source& source, const Target& target) {
  base::Hash128 digest;
  if (!digest_of(source, digest)) return {};
  return find_made(target, digest, key_of(digest, target, compiler_for(target.format).identity()));
}

Image make_ready(const Source& source, const Target& target, const base::ReadyPack& before,
                 base::ReadyPackWriter& pack) {
  base::Hash128 digest;
  if (!digest_of(source, digest))
    throw InternalError("a ready-made kernel includes files that cannot be known");
  const base::Hash128 key = key_of(digest, target, ready_identity(target));
  auto record = before.load(key);
  Image image;
  if (!record || !decode_image(*record, image)) image = run_compiler(source, target);
  image.log.clear();  // warnings about functions that a kernel does not use
  pack.add(key, encode_image(image));
  return image;
}

CompilerInfo compiler_info(ImageFormat format) { return compiler_for(format).info(); }

std::string file_identity(const std::string& path) {
  struct stat info{};
  if (path.empty() || stat(path.c_str(), &info) != 0) return "";
  return base::cat(path, " ", info.st_size, " ", info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec);
}

void throw_compile_error(const std::string& compiler, const Source& source,
                         const std::string& log) {
  std::string message = base::cat(source.options.file_name, " does not compile (", compiler, "):");
  std::vector<std::string> lines = base::split(log, '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (std::size_t i = 0; i < lines.size() && i < kMessageLines; ++i) message += "\n" + lines[i];
  if (lines.size() > kMessageLines)
    message += base::cat("\n… ", lines.size() - kMessageLines, " more lines in the error's log");
  throw CompileError(message, log);
}

std::string marked_text(const Source& source) {
  if (source.options.first_line == 1) return source.text;
  std::string quoted;
  for (char c : source.options.file_name) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return base::cat("#line ", source.options.first_line, " \"", quoted, "\"\n", source.text);
}

}  // namespace td::compile
