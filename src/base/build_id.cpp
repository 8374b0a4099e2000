// The ID is a note (type NT_GNU_BUILD_ID, owner "GNU") in one of the segments of type PT_NOTE.
// Sizes come from the file and are bounded before anything is read.
#include "base/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace td::base {

namespace {

constexpr std::size_t kMostSegments = 256;
constexpr std::size_t kMostNoteBytes = 64 << 10;

class InputFile {
 public:
  explicit InputFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~InputFile() {
    if (fd_ >= 0) close(fd_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  bool read_at(std::uint64_t offset, void* out, std::size_t bytes) const {
    return fd_ >= 0 &&
           pread(fd_, out, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }

 private:
  int fd_;
};

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

// Notes lie one after the other: header, owner and content, the two padded to 4 bytes.
std::string find_in_notes(const std::vector<unsigned char>& notes) {
  auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof note);
    std::size_t owner = at + sizeof note, content = owner + padded(note.n_namesz);
    std::size_t next = content + padded(note.n_descsz);
    if (next > notes.size()) return "";
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes.data() + owner, "GNU", 4) == 0)
      return hexadecimal(notes.data() + content, note.n_descsz);
    at = next;
  }
  return "";
}

}  // namespace

std::string build_id(const std::string& path) {
  InputFile file(path);
  Elf64_Ehdr head;
  if (!file.read_at(0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr) ||
      head.e_phnum > kMostSegments)
    return "";
  for (std::size_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read_at(head.e_phoff + i * sizeof segment, &segment, sizeof segment)) return "";
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMostNoteBytes) continue;
    std::vector<unsigned char> notes(segment.p_filesz);
    if (!file.read_at(segment.p_offset, notes.data(), notes.size())) return "";
    if (std::string id = find_in_notes(notes); !id.empty()) return id;
  }
  return "";
}

}  // namespace td::base
