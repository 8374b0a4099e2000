// Random small kernels as data: one program is printed as CUDA C++ for a device and run by a scalar
// interpreter on the host, and the results must agree in every bit (all NaNs count as one).
//
// A program has no undefined or unordered behaviour, so CUDA gives it exactly one result: integers
// wrap, divisors and shift counts are made valid, indices are masked, collectives name exactly the
// lanes that take part, threads exchange data only across barriers, and atomic operations on one
// location are all of one commutative kind with their result unused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace td::differential {

enum class Type : std::uint8_t { i32, u32, i64, u64, f32, f64 };
inline constexpr int kTypes = 6;
inline bool is_float(Type type) { return type >= Type::f32; }
inline bool is_signed(Type type) { return type == Type::i32 || type == Type::i64; }
inline bool is_wide(Type type) {
  return type == Type::i64 || type == Type::u64 || type == Type::f64;
}

// Operands of arithmetic have the type of the result; comparisons give i32 and compare operands of
// one type; `select` takes an i32 first.
enum class Op : std::uint8_t {
  constant,  // value: the bits
  variable,  // value: its number
  input,     // args: index (i32); an element of the input, converted as input_value() says
  local,     // args: index (i32); an element of the thread's array, i32
  global,    // args: index (i32); an element of the thread's slots in global memory, i32
  bytes,     // args: index (i32); i32 of a byte of the input, or of 16 bits with sign (value: 1)
  quad,      // args: index (i32); i32: component `value` of an int4 of the input
  member,    // value: 3 * record + member; the first has the record's type, the others are i32
  position,  // i32: threadIdx.x, y or z by value
  thread,
  lane,
  block,
  threads,
  parameter,
  narrow,  // i32 to 8 or 16 bits and back, by value: signed char, unsigned char, short, unsigned
           // short
  cast,    // float to integer saturates; NaN: 0, the sign bit alone where a side has 64 bits
  negate,
  invert,
  absolute,
  popcount,
  leading_zeros,
  reverse_bits,
  square_root,
  floor,
  truncate,
  round_even,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  minimum,
  maximum,
  high_product,
  less,
  less_equal,
  equal,
  not_equal,
  select,
  fused_multiply_add,
  call,  // value: the function, as called() in the interpreter says; args: two of the type, one i32
};

struct Expr {
  Op op = Op::constant;
  Type type = Type::i32;
  std::uint64_t value = 0;
  std::vector<Expr> args;
};

enum class Kind : std::uint8_t {
  assign,        // variable = a
  store_local,   // local[a & 7] = b
  store_global,  // the thread's slot a & 7 in global memory = b
  branch,        // if (a) body else other
  loop,          // for (variable = 0; variable < (a & 7); ++variable) body
  leave,         // if (a) break
  next,          // if (a) continue
  choose,        // switch (a & 3): body, other, third, none; falls: without break after the first
  shuffle,       // variable = a of the lane that `mode`, `amount`, `width` and b name
  vote,          // variable (u32) = ballot … of a, by `mode`
  exchange,      // shared[thread] = a; barrier; variable = shared[other thread]; barrier
  count,         // variable (i32) = __syncthreads_count/and/or(a), by `mode`
  atomic,        // accumulator[mode][a & 7] op= b (u32)
  exit,          // if (a) write the results and return
  record,        // a copy of a whole structure, by `mode`, of record `variable`
};

// What a statement does with record r, s being record `amount` of the same type.
enum class Copy : std::uint8_t {
  make,       // r = {a, b, the low 16 bits of b turned}
  whole,      // r = s
  better,     // r = the better of r and s, in a function that takes and returns structures
  put,        // the thread's array[a & 3] = r
  get,        // r = the thread's array[a & 3]
  store,      // the thread's place in global memory = r
  load,       // r = the thread's place in global memory
  exchange,   // r = another thread's s, through shared memory
  exchanged,  // r = the better of r and that of lane ^ width, member by member
};
inline constexpr int kCopies = 7;  // those that any thread may do alone

struct Stmt {
  Kind kind = Kind::assign;
  int variable = 0;
  int mode = 0, amount = 0, width = 32;
  bool masked = false;  // branch and loop: the body may hold collectives
  bool falls = false;
  Expr a, b;
  std::vector<Stmt> body, other, third;
};

inline constexpr int kShuffleModes = 4;  // idx, up, down, xor
inline constexpr int kVoteModes =
    9;  // ballot any all match reduce_add reduce_min reduce_max reduce_and reduce_xor
inline constexpr int kCountModes = 3;
inline constexpr int kAtomicModes = 6;  // add, min, max, and, or, xor
inline constexpr int kFunctions = 3;
inline constexpr int kSlots = 8;  // of the local array, of each accumulator, of a thread in memory
inline constexpr int kInputs = 1024;
// Structures {value, int index, short small}: two of each type of value, all with a gap.
inline constexpr Type kRecordTypes[] = {Type::f64, Type::i32, Type::u64};
inline constexpr int kRecords = 6;
inline Type record_type(int record) { return kRecordTypes[record / 2]; }
inline Type member_type(int member) { return member % 3 ? Type::i32 : record_type(member / 3); }

struct Program {
  std::uint64_t seed = 0;
  int threads = 32, blocks = 2, parameter = 0;
  int shape[3] = {32, 1, 1};  // of the block: `threads` in all
  bool by_slot = false;       // global memory holds slot after slot instead of thread after thread
  bool records = false;
  std::vector<Type> variables;
  std::vector<Stmt> body;
  int members() const { return records ? 3 * kRecords : 0; }
  // Variables, members of records, then one word that folds the accumulators (0 for threads that
  // left early).
  int results() const { return static_cast<int>(variables.size()) + members() + 1; }
  Type result_type(std::size_t i) const {
    if (i < variables.size()) return variables[i];
    auto member = static_cast<int>(i - variables.size());
    return member < members() ? member_type(member) : Type::u64;
  }
};

// What programs are made of. Seeds keep their programs: what is new is a new reach.
enum class Reach : std::uint8_t {
  plain,
  calls,    // and calls, narrow integers, global memory, and blocks of more dimensions
  records,  // and structures with gaps, and vectors
};
Program generate(std::uint64_t seed, Reach reach = Reach::records);
// The kernel `name` and, once for a text, the helpers that all of them use.
std::string print(const Program& program, const std::string& name);
std::string preamble();
// Where a slot of a thread lies in global memory, and what is there at the start.
inline std::size_t place(const Program& program, int block, int thread, int slot) {
  auto all = static_cast<std::size_t>(program.blocks * program.threads);
  auto one = static_cast<std::size_t>(block * program.threads + thread);
  return program.by_slot ? static_cast<std::size_t>(slot) * all + one
                         : one * kSlots + static_cast<std::size_t>(slot);
}
inline std::uint32_t first_content(std::size_t place) {
  return static_cast<std::uint32_t>(place) * 2654435761u;
}
// The results of every thread, results() words each. `input` has kInputs words.
std::vector<std::uint64_t> interpret(const Program& program,
                                     const std::vector<std::uint64_t>& input);

}  // namespace td::differential
