#include "softdev/jit/elf_object.h"

#include <elf.h>

#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "base/text.h"
#include "softdev/jit/code_space.h"
#include "softdev/jit/externs.h"

namespace td::softdev {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMaxImage = std::size_t{256} << 20;
constexpr std::size_t kStubBytes = 16;  // jmp *slot(%rip), padded

enum Group : std::size_t { kCode, kConstants, kData, kGroups };

bool fits_signed32(std::int64_t value) { return value == static_cast<std::int32_t>(value); }
bool fits_unsigned32(std::int64_t value) { return static_cast<std::uint64_t>(value) <= UINT32_MAX; }

}  // namespace

// One load. Every step returns false after setting error_.
class ElfLoader {
 public:
  ElfLoader(std::string_view file, std::string* error) : file_(file), error_(error) {}

  std::unique_ptr<ElfObject> load() {
    bool ok = read_sections() && read_symbols() && place_sections() && collect_slots() &&
              fill_memory() && resolve_symbols() && relocate() && protect();
    return ok ? std::move(object_) : nullptr;
  }

 private:
  struct Section {
    Elf64_Shdr header;
    bool loaded = false;
    Group group = kCode;
    std::size_t offset = 0;  // in the group, then in memory
  };

  template <class... Parts>
  bool fail(const Parts&... parts) {
    *error_ = base::cat("object code: ", parts...);
    return false;
  }
  // Copies a record out of the file; false when it lies outside.
  template <class T>
  bool read(std::uint64_t at, T* out) const {
    if (at > file_.size() || sizeof(T) > file_.size() - at) return false;
    std::memcpy(out, file_.data() + at, sizeof(T));
    return true;
  }
  // A NUL-terminated string in a string table.
  bool read_name(const Elf64_Shdr& table, std::uint64_t at, std::string* out) const {
    if (at >= table.sh_size) return false;
    const char* begin = file_.data() + table.sh_offset + at;
    const void* end = std::memchr(begin, 0, table.sh_size - at);
    if (!end) return false;
    out->assign(begin, static_cast<const char*>(end));
    return true;
  }

  bool read_sections();
  bool read_symbols();
  bool place_sections();
  bool collect_slots();
  bool fill_memory();
  bool resolve_symbols();
  bool relocate();
  bool apply(const Section& target, const Elf64_Rela& entry);
  bool protect();
  template <class Visit>
  bool each_relocation(const Visit& visit);

  std::string_view file_;
  std::string* error_;
  std::vector<Section> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::vector<std::string> names_;
  std::vector<unsigned char*> addresses_;       // by symbol; null for what is not loaded
  std::map<std::uint32_t, std::size_t> slots_;  // symbol -> index of its address slot and stub
  std::array<std::size_t, kGroups> group_bytes_{};
  std::array<std::size_t, kGroups> group_begin_{};
  std::size_t stubs_at_ = 0, slots_at_ = 0;  // in memory
  std::unique_ptr<ElfObject> object_;
};

bool ElfLoader::read_sections() {
  Elf64_Ehdr header;
  if (!read(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return fail("not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_REL || header.e_machine != EM_X86_64 ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    return fail("not a relocatable x86-64 object");
  for (std::uint32_t i = 0; i < header.e_shnum; ++i) {
    Section section;
    if (!read(header.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr), &section.header))
      return fail("section table outside of the file");
    const Elf64_Shdr& h = section.header;
    if (h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL &&
        (h.sh_offset > file_.size() || h.sh_size > file_.size() - h.sh_offset))
      return fail("section ", i, " lies outside of the file");
    sections_.push_back(section);
  }
  return true;
}

bool ElfLoader::read_symbols() {
  const Section* table = nullptr;
  for (const Section& section : sections_) {
    if (section.header.sh_type == SHT_SYMTAB_SHNDX) return fail("too many sections");
    if (section.header.sh_type != SHT_SYMTAB) continue;
    if (table) return fail("two symbol tables");
    table = &section;
  }
  if (!table || table->header.sh_entsize != sizeof(Elf64_Sym) ||
      table->header.sh_link >= sections_.size())
    return fail("no usable symbol table");
  const Elf64_Shdr& strings = sections_[table->header.sh_link].header;
  if (strings.sh_type != SHT_STRTAB) return fail("the symbol table has no names");
  std::size_t count = table->header.sh_size / sizeof(Elf64_Sym);
  symbols_.resize(count);
  names_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!read(table->header.sh_offset + i * sizeof(Elf64_Sym), &symbols_[i]) ||
        !read_name(strings, symbols_[i].st_name, &names_[i]))
      return fail("symbol ", i, " is damaged");
  }
  return true;
}

bool ElfLoader::place_sections() {
  for (Section& section : sections_) {
    const Elf64_Shdr& h = section.header;
    if (!(h.sh_flags & SHF_ALLOC) || h.sh_size == 0) continue;
    if (h.sh_type != SHT_PROGBITS && h.sh_type != SHT_NOBITS && h.sh_type != SHT_X86_64_UNWIND &&
        h.sh_type != SHT_INIT_ARRAY && h.sh_type != SHT_NOTE)
      return fail("a section of unknown type ", h.sh_type);
    if (h.sh_flags & SHF_TLS) return fail("thread-local data");
    if (h.sh_type == SHT_INIT_ARRAY) return fail("initialisation functions");
    std::uint64_t align = h.sh_addralign ? h.sh_addralign : 1;
    if ((align & (align - 1)) != 0 || align > kPage)
      return fail("a section with alignment ", align);
    if (h.sh_size > kMaxImage) return fail("a section of ", h.sh_size, " bytes");
    section.loaded = true;
    section.group = h.sh_flags & SHF_EXECINSTR ? kCode
                    : h.sh_flags & SHF_WRITE   ? kData
                                               : kConstants;
    std::size_t& bytes = group_bytes_[section.group];
    section.offset = (bytes + align - 1) / align * align;
    bytes = section.offset + h.sh_size;
    if (bytes > kMaxImage) return fail("more than ", kMaxImage, " bytes of code and data");
  }
  return true;
}

template <class Visit>
bool ElfLoader::each_relocation(const Visit& visit) {
  for (const Section& section : sections_) {
    const Elf64_Shdr& h = section.header;
    if (h.sh_type == SHT_REL) return fail("relocations of the wrong kind");
    if (h.sh_type != SHT_RELA) continue;
    if (h.sh_info >= sections_.size() || h.sh_entsize != sizeof(Elf64_Rela))
      return fail("damaged relocations");
    const Section& target = sections_[h.sh_info];
    if (!target.loaded) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= h.sh_size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela entry;
      if (!read(h.sh_offset + at, &entry)) return fail("damaged relocations");
      if (ELF64_R_SYM(entry.r_info) >= symbols_.size())
        return fail("a relocation against an unknown symbol");
      if (!visit(target, entry)) return false;
    }
  }
  return true;
}

// A slot holds a symbol's address; a stub jumps through it. Made for each undefined symbol, and for
// each symbol that code wants through the global offset table.
bool ElfLoader::collect_slots() {
  bool ok = each_relocation([&](const Section&, const Elf64_Rela& entry) {
    std::uint32_t symbol = ELF64_R_SYM(entry.r_info), type = ELF64_R_TYPE(entry.r_info);
    bool through_table =
        type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
    if (through_table || (symbol != 0 && symbols_[symbol].st_shndx == SHN_UNDEF))
      slots_.try_emplace(symbol, slots_.size());
    return true;
  });
  if (!ok) return false;
  auto append = [&](Group group, std::size_t bytes) {
    std::size_t at = (group_bytes_[group] + 15) / 16 * 16;
    group_bytes_[group] = at + bytes;
    return at;
  };
  stubs_at_ = append(kCode, slots_.size() * kStubBytes);
  slots_at_ = append(kConstants, slots_.size() * sizeof(void*));
  return true;
}

bool ElfLoader::fill_memory() {
  std::size_t total = 0;
  for (std::size_t group = 0; group < kGroups; ++group) {
    group_begin_[group] = total;
    total += (group_bytes_[group] + kPage - 1) / kPage * kPage;
  }
  if (total == 0) return fail("no code");
  object_.reset(new ElfObject);
  object_->memory_ = code_space_allocate(total);
  if (!object_->memory_) return fail("no memory for ", total, " bytes of code");
  object_->code_bytes_ = group_bytes_[kCode];
  for (Section& section : sections_) {
    if (!section.loaded) continue;
    section.offset += group_begin_[section.group];
    if (section.header.sh_type != SHT_NOBITS)
      std::memcpy(object_->memory_ + section.offset, file_.data() + section.header.sh_offset,
                  section.header.sh_size);
  }
  stubs_at_ += group_begin_[kCode];
  slots_at_ += group_begin_[kConstants];
  return true;
}

bool ElfLoader::resolve_symbols() {
  addresses_.resize(symbols_.size());
  for (std::size_t i = 1; i < symbols_.size(); ++i) {
    const Elf64_Sym& symbol = symbols_[i];
    if (symbol.st_shndx == SHN_UNDEF) {
      if (slots_.count(static_cast<std::uint32_t>(i)) == 0) continue;
      std::string problem;
      void* address = find_extern(names_[i], &problem);
      if (!address && ELF64_ST_BIND(symbol.st_info) != STB_WEAK) return fail(problem);
      addresses_[i] = static_cast<unsigned char*>(address);
    } else if (symbol.st_shndx == SHN_ABS) {
      addresses_[i] = reinterpret_cast<unsigned char*>(symbol.st_value);
    } else if (symbol.st_shndx >= sections_.size()) {
      return fail("symbol ", names_[i], " is in an unknown section");
    } else {
      const Section& section = sections_[symbol.st_shndx];
      if (!section.loaded) continue;
      if (symbol.st_value > section.header.sh_size)
        return fail("symbol ", names_[i], " lies outside of its section");
      addresses_[i] = object_->memory_ + section.offset + symbol.st_value;
      if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL) object_->symbols_[names_[i]] = addresses_[i];
    }
  }
  for (auto& [symbol, index] : slots_) {
    unsigned char* slot = object_->memory_ + slots_at_ + index * sizeof(void*);
    std::memcpy(slot, &addresses_[symbol], sizeof(void*));
    unsigned char* stub = object_->memory_ + stubs_at_ + index * kStubBytes;
    auto distance = static_cast<std::int32_t>(slot - (stub + 6));
    stub[0] = 0xff;
    stub[1] = 0x25;
    std::memcpy(stub + 2, &distance, sizeof distance);
  }
  return true;
}

bool ElfLoader::relocate() {
  return each_relocation(
      [&](const Section& target, const Elf64_Rela& entry) { return apply(target, entry); });
}

bool ElfLoader::apply(const Section& target, const Elf64_Rela& entry) {
  std::uint32_t symbol = ELF64_R_SYM(entry.r_info), type = ELF64_R_TYPE(entry.r_info);
  if (type == R_X86_64_NONE) return true;
  std::size_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
  if (entry.r_offset > target.header.sh_size || width > target.header.sh_size - entry.r_offset)
    return fail("a relocation outside of its section");
  unsigned char* place = object_->memory_ + target.offset + entry.r_offset;
  auto at = reinterpret_cast<std::int64_t>(place);
  // Unsigned arithmetic: a damaged addend may overflow.
  auto address = [&](const unsigned char* of) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(of) +
                                     static_cast<std::uint64_t>(entry.r_addend));
  };
  auto relative = [&](std::int64_t value) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                     static_cast<std::uint64_t>(at));
  };
  auto slot = slots_.find(symbol);
  std::int64_t value = 0;
  bool fits = true;
  switch (type) {
    case R_X86_64_64:
      value = address(addresses_[symbol]);
      break;
    case R_X86_64_PC64:
      value = relative(address(addresses_[symbol]));
      break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      // Functions outside of the object may be anywhere: always through the stub.
      value = relative(address(symbols_[symbol].st_shndx == SHN_UNDEF && slot != slots_.end()
                                   ? object_->memory_ + stubs_at_ + slot->second * kStubBytes
                                   : addresses_[symbol]));
      fits = fits_signed32(value);
      break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      value = relative(address(object_->memory_ + slots_at_ + slot->second * sizeof(void*)));
      fits = fits_signed32(value);
      break;
    case R_X86_64_32:
      value = address(addresses_[symbol]);
      fits = fits_unsigned32(value);
      break;
    case R_X86_64_32S:
      value = address(addresses_[symbol]);
      fits = fits_signed32(value);
      break;
    default:
      return fail("a relocation of unknown type ", type);
  }
  if (!fits) return fail("a relocation of type ", type, " to ", names_[symbol], " is out of range");
  std::memcpy(place, &value, width);
  return true;
}

bool ElfLoader::protect() {
  constexpr Protection kRights[kGroups] = {Protection::read_execute, Protection::read,
                                           Protection::read_write};
  for (std::size_t group = 0; group < kGroups; ++group)
    if (!code_space_protect(object_->memory_ + group_begin_[group], group_bytes_[group],
                            kRights[group]))
      return fail("the system refuses executable memory");
  return true;
}

std::unique_ptr<ElfObject> ElfObject::load(std::string_view file, std::string* error) {
  return ElfLoader(file, error).load();
}

ElfObject::~ElfObject() {
  if (memory_) code_space_free(memory_);
}

void* ElfObject::find(const std::string& symbol, bool code_only) const {
  auto found = symbols_.find(symbol);
  if (found == symbols_.end()) return nullptr;
  bool in_code = found->second >= memory_ && found->second < memory_ + code_bytes_;
  return !code_only || in_code ? found->second : nullptr;
}

}  // namespace td::softdev
