// One range of addresses for all generated code, so that "is this program counter ours?" is two
// comparisons, which a signal handler may do. Memory is never writable and executable at the same
// time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace td::softdev {

// Async-signal-safe.
bool code_space_holds(std::uintptr_t program_counter);

// A writable, zeroed piece of whole pages; null when the range is full or the system has no memory.
unsigned char* code_space_allocate(std::size_t bytes);
enum class Protection { read, read_write, read_execute };
// Whole pages of an allocated piece. False when the system refuses.
bool code_space_protect(unsigned char* at, std::size_t bytes, Protection protection);
void code_space_free(unsigned char* piece);

}  // namespace td::softdev
