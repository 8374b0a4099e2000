// The file: a header, rows in ascending order of their keys, then the values. Rows are as they lie
// in memory; the package's machine is the machine that reads it.
#include "base/ready_pack.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/plugin.h"

namespace td::base {

namespace {

constexpr std::uint64_t kMagic = 0x314b434150594452;  // "RDYPACK1"

struct Header {
  std::uint64_t magic, count;
  Hash128 check;  // of the rows
};

struct Row {
  std::uint64_t key_high, key_low, offset, size;
  Hash128 check;  // of the value
};

std::pair<std::uint64_t, std::uint64_t> key_of(const Row& row) {
  return {row.key_high, row.key_low};
}

Hash128 check_of(std::string_view bytes) { return Hasher().add(bytes).finish(); }

std::string_view rows_at(const unsigned char* bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes) + sizeof(Header), count * sizeof(Row)};
}

std::string path_of(const char* name) {
  if (const char* folder = std::getenv("TREADLE_READY_DIR"))
    return *folder ? std::string(folder) + "/" + name : "";
  return library_folder() + "ready/" + name;
}

// The number of rows of a whole pack; 0 for anything else.
std::size_t checked_count(const unsigned char* bytes, std::size_t length) {
  Header header;
  if (length < sizeof header) return 0;
  std::memcpy(&header, bytes, sizeof header);
  if (header.magic != kMagic || header.count > (length - sizeof header) / sizeof(Row)) return 0;
  return check_of(rows_at(bytes, header.count)) == header.check ? header.count : 0;
}

}  // namespace

ReadyPack::ReadyPack(const std::string& path) {
  int fd = path.empty() ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info{};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    auto length = static_cast<std::size_t>(info.st_size);
    void* memory = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory != MAP_FAILED) {
      bytes_ = static_cast<const unsigned char*>(memory);
      length_ = length;
      count_ = checked_count(bytes_, length_);
    }
  }
  close(fd);
}

ReadyPack::~ReadyPack() {
  if (bytes_) munmap(const_cast<unsigned char*>(bytes_), length_);
}

const ReadyPack& ReadyPack::image() {
  static const ReadyPack& pack = *new ReadyPack(path_of("image"));
  return pack;
}

const ReadyPack& ReadyPack::object() {
  static const ReadyPack& pack = *new ReadyPack(path_of("object"));
  return pack;
}

std::optional<std::string_view> ReadyPack::load(const Hash128& key) const {
  auto row_at = [&](std::size_t i) {
    Row row;
    std::memcpy(&row, bytes_ + sizeof(Header) + i * sizeof row, sizeof row);
    return row;
  };
  const std::pair wanted{key.high, key.low};
  std::size_t low = 0, high = count_;
  while (low < high) {
    std::size_t middle = low + (high - low) / 2;
    if (key_of(row_at(middle)) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == count_) return {};
  Row row = row_at(low);
  if (key_of(row) != wanted || row.offset > length_ || row.size > length_ - row.offset) return {};
  std::string_view value(reinterpret_cast<const char*>(bytes_) + row.offset, row.size);
  if (!(check_of(value) == row.check)) return {};
  return value;
}

void ReadyPackWriter::add(const Hash128& key, std::string_view value) {
  std::lock_guard lock(mutex_);
  values_[{key.high, key.low}] = std::string(value);
}

bool ReadyPackWriter::write(const std::string& path) const {
  std::vector<Row> rows;
  std::uint64_t offset = sizeof(Header) + values_.size() * sizeof(Row);
  for (const auto& [key, value] : values_) {
    rows.push_back({key.first, key.second, offset, value.size(), check_of(value)});
    offset += value.size();
  }
  std::string_view table(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row));
  Header header{kMagic, rows.size(), check_of(table)};
  std::string temporary = path + ".new";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (!file) return false;
  bool ok = std::fwrite(&header, sizeof header, 1, file) == 1 &&
            std::fwrite(table.data(), 1, table.size(), file) == table.size();
  for (const auto& [key, value] : values_)
    ok = ok && std::fwrite(value.data(), 1, value.size(), file) == value.size();
  ok = std::fclose(file) == 0 && ok;
  if (ok && std::rename(temporary.c_str(), path.c_str()) == 0) return true;
  std::remove(temporary.c_str());
  return false;
}

}  // namespace td::base
