#include "compile/cubin_symbols.h"

#include <cstdint>
#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace td::compile {

namespace {

constexpr unsigned char kEntryMark =
    0x10;  // st_other of a kernel, "STO_CUDA_ENTRY" as cuobjdump -elf prints it

template <class T>
std::optional<T> at(std::string_view image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return {};
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

std::string text_at(std::string_view image, std::uint64_t offset) {
  if (offset >= image.size()) return "";
  std::string_view rest = image.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

void add_once(std::vector<std::string>& list, std::string name) {
  if (!name.empty() && std::find(list.begin(), list.end(), name) == list.end())
    list.push_back(std::move(name));
}

std::vector<std::string> elf_entries(std::string_view image) {
  std::vector<std::string> out;
  auto header = at<Elf64_Ehdr>(image, 0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64) return out;
  auto section = [&](std::uint64_t index) {
    return at<Elf64_Shdr>(image, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    auto table = section(i);
    if (!table || table->sh_type != SHT_SYMTAB) continue;
    auto strings = section(table->sh_link);
    if (!strings) continue;
    for (std::uint64_t offset = 0; offset < table->sh_size; offset += sizeof(Elf64_Sym)) {
      auto symbol = at<Elf64_Sym>(image, table->sh_offset + offset);
      if (!symbol) break;
      bool function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
      if (function && (symbol->st_other & kEntryMark))
        add_once(out, text_at(image, strings->sh_offset + symbol->st_name));
    }
  }
  return out;
}

// entry := '.entry' blank name '('
std::vector<std::string> ptx_entries(std::string_view text) {
  std::vector<std::string> out;
  constexpr std::string_view kEntry = ".entry";
  for (std::size_t at = text.find(kEntry); at != std::string_view::npos;
       at = text.find(kEntry, at + 1)) {
    std::size_t start = text.find_first_not_of(" \t\n", at + kEntry.size());
    if (start == std::string_view::npos) break;
    std::size_t stop = std::min(text.find_first_of(" \t\n({", start), text.size());
    add_once(out, std::string(text.substr(start, stop - start)));
  }
  return out;
}

}  // namespace

std::vector<std::string> entry_symbols(std::string_view image) {
  return image.starts_with(ELFMAG) ? elf_entries(image) : ptx_entries(image);
}

std::string demangle(const std::string& symbol) {
  // A C name is its own: "f" alone would demangle to the type float.
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text ? text : symbol;
  std::free(text);
  return out;
}

}  // namespace td::compile
