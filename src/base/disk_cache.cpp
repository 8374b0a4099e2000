// Entries are files `<root>/<section>/<32 hex digits>`:
//
//   magic 8 | key 16 | value size 8 | checksum of the value 16 | value
//
// Writers use a hidden temporary file in the same folder and rename it. The recency of an entry is
// its modification time, which every hit renews. A process looks at the sizes of all sections on
// its first store and again whenever its own stores may have passed the bound; what other processes
// wrote since then is seen at their own stores.
#include "base/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "base/text.h"

namespace td::base {

namespace {

constexpr std::uint64_t kMagic = 0x3145484341434454;  // "TDCACHE1"
constexpr const char* kTemporaryPrefix = ".tmp-";
constexpr std::time_t kAbandonedSeconds =
    600;  // a temporary file this old belongs to a writer that crashed
constexpr std::uint64_t kDefaultMaxBytes = 1ull << 30;

struct Header {
  std::uint64_t magic, key_high, key_low, size, check_high, check_low;
};

Header header_of(const Hash128& key, std::string_view value) {
  Hash128 check = Hasher().add(value).finish();
  return {kMagic, key.high, key.low, value.size(), check.high, check.low};
}

std::uint64_t max_bytes() {
  const char* text = std::getenv("TREADLE_CACHE_MAX_BYTES");
  if (!text || !*text) return kDefaultMaxBytes;
  char* end = nullptr;
  errno = 0;
  std::uint64_t value = std::strtoull(text, &end, 10);
  if (errno || *end || *text == '-') {
    log_once(LogLevel::warn,
             cat("TREADLE_CACHE_MAX_BYTES=", text, " is not a number of bytes; using 1 GiB"));
    return kDefaultMaxBytes;
  }
  return value;
}

// The folder that holds the sections, "" when the cache is turned off.
std::string root_folder() {
  if (const char* folder = std::getenv("TREADLE_CACHE_DIR")) return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder)
    return std::string(folder) + "/treadle";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/treadle";
  return "";
}

bool make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    if (mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST) return false;
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  return access(path.c_str(), R_OK | W_OK | X_OK) == 0;
}

void turned_off(const std::string& path) {
  log_once(LogLevel::info,
           cat("the cache folder ", path, " cannot be used (", std::strerror(errno),
               "): nothing is cached; set TREADLE_CACHE_DIR to a folder that can be written"));
}

class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

  bool read_all(void* out, std::size_t bytes) const {
    char* at = static_cast<char*>(out);
    while (bytes > 0) {
      ssize_t got = read(fd_, at, bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got, bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

  bool write_all(const void* in, std::size_t bytes) const {
    const char* at = static_cast<const char*>(in);
    while (bytes > 0) {
      ssize_t put = write(fd_, at, bytes);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      at += put, bytes -= static_cast<std::size_t>(put);
    }
    return true;
  }

 private:
  int fd_;
};

struct Entry {
  std::string path;
  std::uint64_t bytes;
  timespec used;
};

// Calls visit(name) for everything in a folder but "." and "..".
template <class Visit>
void for_each_name(const std::string& folder, Visit visit) {
  DIR* dir = opendir(folder.c_str());
  if (!dir) return;
  while (const dirent* item = readdir(dir)) {
    std::string_view name = item->d_name;
    if (name != "." && name != "..") visit(name);
  }
  closedir(dir);
}

// All entries of all sections; temporary files of writers that crashed are removed on the way.
std::vector<Entry> scan(const std::string& root) {
  std::vector<Entry> entries;
  std::time_t now = std::time(nullptr);
  for_each_name(root, [&](std::string_view section) {
    std::string folder = cat(root, "/", section);
    for_each_name(folder, [&](std::string_view name) {
      std::string path = cat(folder, "/", name);
      struct stat info{};
      if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
      bool temporary = name.substr(0, std::strlen(kTemporaryPrefix)) == kTemporaryPrefix;
      if (temporary && now - info.st_mtim.tv_sec > kAbandonedSeconds) {
        unlink(path.c_str());
      } else if (!temporary) {
        entries.push_back(
            {std::move(path), static_cast<std::uint64_t>(info.st_size), info.st_mtim});
      }
    });
  });
  return entries;
}

// Removes the least recently used entries until `limit` holds with a tenth to spare; returns the
// bytes that remain.
std::uint64_t shrink(const std::string& root, std::uint64_t limit) {
  std::vector<Entry> entries = scan(root);
  std::uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  if (total <= limit) return total;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (total <= limit - limit / 10) break;
    unlink(entry.path.c_str());
    total -= entry.bytes;
  }
  return total;
}

// What this process believes about the size of each root: scanned once, then its own stores are
// added.
void keep_bound(const std::string& root, std::uint64_t stored) {
  static std::mutex mutex;
  static std::map<std::string, std::uint64_t> totals;
  std::uint64_t limit = max_bytes();
  std::lock_guard lock(mutex);
  auto [row, first] = totals.try_emplace(root, 0);
  row->second += stored;
  if (first || row->second > limit) row->second = shrink(root, limit);
}

std::string temporary_name() {
  static std::atomic<unsigned> counter{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return cat(kTemporaryPrefix, getpid(), "-", now.tv_sec, now.tv_nsec, "-", counter++);
}

}  // namespace

DiskCache::DiskCache(std::string section) {
  std::string root = root_folder();
  if (root.empty()) return;
  std::string folder = root + "/" + section;
  if (make_folders(folder)) {
    folder_ = std::move(folder);
  } else {
    turned_off(folder);
  }
}

std::optional<std::string> DiskCache::load(const Hash128& key) const {
  if (folder_.empty()) return {};
  File file(folder_ + "/" + key.hex(), O_RDONLY);
  struct stat info{};
  if (!file.ok() || fstat(file.fd(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  Header header{};
  if (info.st_size < static_cast<off_t>(sizeof header) || !file.read_all(&header, sizeof header))
    return {};
  // The size is checked against the file's before anything is allocated.
  if (header.magic != kMagic ||
      header.size != static_cast<std::uint64_t>(info.st_size) - sizeof header)
    return {};
  std::string value(header.size, '\0');
  if (!file.read_all(value.data(), value.size())) return {};
  Header right = header_of(key, value);
  if (std::memcmp(&right, &header, sizeof header) != 0) return {};
  futimens(file.fd(), nullptr);
  return value;
}

void DiskCache::store(const Hash128& key, std::string_view value) const {
  Header header = header_of(key, value);
  std::uint64_t bytes = value.size() + sizeof header;
  if (folder_.empty() || bytes > max_bytes()) return;
  std::string temporary = folder_ + "/" + temporary_name();
  bool written = false;
  {
    File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (!file.ok()) return turned_off(folder_);
    written = file.write_all(&header, sizeof header) && file.write_all(value.data(), value.size());
  }
  if (!written || rename(temporary.c_str(), (folder_ + "/" + key.hex()).c_str()) != 0) {
    turned_off(folder_);
    unlink(temporary.c_str());
    return;
  }
  keep_bound(folder_.substr(0, folder_.rfind('/')), bytes);
}

}  // namespace td::base
