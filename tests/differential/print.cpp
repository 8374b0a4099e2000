// A program as CUDA C++. Helpers give every operation one defined result; masks of the lanes that
// take part in collectives are variables m0, m1, … of the scopes.
#include <sstream>

#include "program.h"

namespace td::differential {
namespace {

const char* name_of(Type type) {
  constexpr const char* kNames[] = {"int",   "unsigned", "long long", "unsigned long long",
                                    "float", "double"};
  return kNames[static_cast<int>(type)];
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string run(const std::string& name) {
    out_ << "extern \"C\" __global__ void " << name
         << "(const unsigned long long* in, unsigned long long* out, unsigned* memory, int "
            "parameter) {\n"
            "  __shared__ unsigned accumulators[6][8];\n"
            "  __shared__ unsigned long long shared[256];\n"
            "  const int threads = blockDim.x * blockDim.y * blockDim.z, block = blockIdx.x;\n"
            "  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + "
            "threadIdx.x;\n"
            "  const int lane = thread % 32;\n"
            "  unsigned m0 = threads - thread + lane >= 32 ? ~0u : (1u << (threads % 32)) - 1;\n"
            "  int local[8];\n"
            "  for (int i = 0; i < 8; ++i) local[i] = thread * 8 + i;\n"
            "  for (int i = thread; i < 48; i += threads) accumulators[i / 8][i % 8] = 0;\n"
            "  shared[thread] = 0;\n";
    for (std::size_t i = 0; i < program_.variables.size(); ++i)
      out_ << "  " << name_of(program_.variables[i]) << " v" << i << " = 0;\n";
    if (program_.records) declare_records();
    out_ << "  __syncthreads();\n";
    statements(program_.body, 1, 0);
    out_ << "  __syncthreads();\n"
            "  unsigned long long folded = 0;\n"
            "  for (int i = 0; i < 48; ++i) folded = folded * 31 + accumulators[i / 8][i % 8];\n";
    results("folded", 1);
    out_ << "}\n";
    return out_.str();
  }

 private:
  std::string indent(int depth) { return std::string(static_cast<std::size_t>(2 * depth), ' '); }

  void declare_records() {
    out_ << "  const int one = block * threads + thread;\n";
    for (int i = 0; i < kRecords; ++i)
      out_ << "  Record<" << name_of(record_type(i)) << "> r" << i << " = {0, 0, 0};\n";
    for (int i = 0; i < kRecords / 2; ++i) {
      std::string type = std::string("Record<") + name_of(kRecordTypes[i]) + ">";
      out_ << "  " << type << " array" << i << "[4];\n"
           << "  __shared__ " << type << " others" << i << "[256];\n"
           << "  " << type << "* kept" << i << " = (" << type << "*)kept_records + 512 * " << i
           << " + one;\n"
           << "  for (int i = 0; i < 4; ++i) array" << i << "[i] = r" << 2 * i << ";\n"
           << "  *kept" << i << " = r" << 2 * i << ";\n"
           << "  others" << i << "[thread] = r" << 2 * i << ";\n";
    }
  }

  static std::string member(int number) {
    constexpr const char* kMembers[] = {".value", ".index", ".small"};
    return "r" + std::to_string(number / 3) + kMembers[number % 3];
  }

  void copy(const Stmt& s, const std::string& in, const std::string& mask) {
    const std::string kind = std::to_string(s.variable / 2), r = "r" + std::to_string(s.variable),
                      other = "r" + std::to_string(s.amount);
    const std::string element = "array" + kind + "[(" + text(s.a) + ") & 3]";
    switch (Copy(s.mode)) {
      case Copy::make:
        out_ << in << "fill(" << r << ", " << text(s.a) << ", " << text(s.b) << ");\n";
        break;
      case Copy::whole:
        out_ << in << r << " = " << other << ";\n";
        break;
      case Copy::better:
        out_ << in << r << " = better(" << r << ", " << other << ");\n";
        break;
      case Copy::put:
        out_ << in << element << " = " << r << ";\n";
        break;
      case Copy::get:
        out_ << in << r << " = " << element << ";\n";
        break;
      case Copy::store:
        out_ << in << "*kept" << kind << " = " << r << ";\n";
        break;
      case Copy::load:
        out_ << in << r << " = *kept" << kind << ";\n";
        break;
      case Copy::exchange:
        out_ << in << "others" << kind << "[thread] = " << other << ";\n"
             << in << "__syncthreads();\n"
             << in << r << " = others" << kind << "[(thread * " << s.width << " + 5) % threads];\n"
             << in << "__syncthreads();\n";
        break;
      case Copy::exchanged:
        out_ << in << r << " = better(" << r << ", of_lane(" << mask << ", lane, " << other << ", "
             << s.width << "));\n";
        break;
    }
  }

  void results(const char* folded, int depth) {
    int count = program_.results();
    out_ << indent(depth) << "unsigned long long* mine = out + (block * threads + thread) * "
         << count << ";\n";
    for (int i = 0; i + 1 < count; ++i)
      out_ << indent(depth) << "mine[" << i << "] = to_bits(" << name_of_result(i) << ");\n";
    out_ << indent(depth) << "mine[" << count - 1 << "] = " << folded << ";\n";
  }

  std::string name_of_result(int i) const {
    const int variables = static_cast<int>(program_.variables.size());
    return i < variables ? "v" + std::to_string(i) : member(i - variables);
  }

  void statements(const std::vector<Stmt>& list, int depth, int mask) {
    for (const Stmt& s : list) statement(s, depth, mask);
  }

  std::string condition(const Expr& e) { return "(" + text(e) + ") != 0"; }

  void statement(const Stmt& s, int depth, int mask) {
    std::string in = indent(depth), to = "v" + std::to_string(s.variable);
    std::string m = "m" + std::to_string(mask);
    constexpr const char* kVotes[] = {"ballot", "any",      "all",    "match", "sum",
                                      "least",  "greatest", "common", "parity"};
    constexpr const char* kCounts[] = {"count", "and", "or"};
    constexpr const char* kAtomics[] = {"Add", "Min", "Max", "And", "Or", "Xor"};
    switch (s.kind) {
      case Kind::assign:
        out_ << in << to << " = " << text(s.a) << ";\n";
        break;
      case Kind::store_local:
        out_ << in << "local[(" << text(s.a) << ") & 7] = " << text(s.b) << ";\n";
        break;
      case Kind::store_global:
        out_ << in << slot(s.a) << " = " << text(s.b) << ";\n";
        break;
      case Kind::branch:
        branch(s, depth, mask);
        break;
      case Kind::loop:
        loop(s, depth, mask);
        break;
      case Kind::leave:
        out_ << in << "if (" << condition(s.a) << ") break;\n";
        break;
      case Kind::next:
        out_ << in << "if (" << condition(s.a) << ") continue;\n";
        break;
      case Kind::choose:
        choose(s, depth, mask);
        break;
      case Kind::shuffle:
        out_ << in << to << " = shuffle<" << s.mode << ", " << s.amount << ", " << s.width << ">("
             << m << ", lane, " << text(s.a) << ", " << text(s.b) << ");\n";
        break;
      case Kind::vote:
        out_ << in << to << " = vote_" << kVotes[s.mode] << "(" << m << ", " << text(s.a) << ");\n";
        break;
      case Kind::exchange:
        out_ << in << "shared[thread] = to_bits(" << text(s.a) << ");\n"
             << in << "__syncthreads();\n"
             << in << "from_bits(" << to << ", shared[(thread * " << s.mode << " + " << s.amount
             << ") % threads]);\n"
             << in << "__syncthreads();\n";
        break;
      case Kind::count:
        out_ << in << to << " = __syncthreads_" << kCounts[s.mode] << "(" << condition(s.a) << ")"
             << (s.mode ? " != 0" : "") << ";\n";
        break;
      case Kind::atomic:
        out_ << in << "atomic" << kAtomics[s.mode] << "(&accumulators[" << s.mode << "][("
             << text(s.a) << ") & 7], " << text(s.b) << ");\n";
        break;
      case Kind::record:
        copy(s, in, m);
        break;
      case Kind::exit:
        out_ << in << "{\n"
             << in << "  bool c = " << condition(s.a) << ";\n"
             << in << "  m0 = __ballot_sync(m0, !c);\n"
             << in << "  if (c) {\n";
        results("0", depth + 2);
        out_ << in << "    return;\n" << in << "  }\n" << in << "}\n";
        break;
    }
  }

  void branch(const Stmt& s, int depth, int mask) {
    std::string in = indent(depth);
    int then_mask = mask, else_mask = mask;
    if (s.masked) {
      then_mask = ++masks_;
      else_mask = ++masks_;
      out_ << in << "{\n"
           << in << "bool c = " << condition(s.a) << ";\n"
           << in << "unsigned m" << then_mask << " = __ballot_sync(m" << mask << ", c), m"
           << else_mask << " = m" << mask << " & ~m" << then_mask << ";\n"
           << in << "if (c) {\n";
    } else {
      out_ << in << "if (" << condition(s.a) << ") {\n";
    }
    statements(s.body, depth + 1, then_mask);
    if (!s.other.empty()) {
      out_ << in << "} else {\n";
      statements(s.other, depth + 1, else_mask);
    }
    out_ << in << "}\n";
    if (s.masked) out_ << in << "}\n";
  }

  void loop(const Stmt& s, int depth, int mask) {
    std::string in = indent(depth), i = "v" + std::to_string(s.variable);
    std::string trip = "trip" + std::to_string(s.variable);
    out_ << in << "{\n" << in << "const int " << trip << " = (" << text(s.a) << ") & 7;\n";
    if (s.masked) {
      int inner = ++masks_;
      out_ << in << "unsigned m" << inner << " = m" << mask << ";\n"
           << in << "for (" << i << " = 0;; ++" << i << ") {\n"
           << in << "  m" << inner << " = __ballot_sync(m" << inner << ", " << i << " < " << trip
           << ");\n"
           << in << "  if (" << i << " >= " << trip << ") break;\n";
      statements(s.body, depth + 1, inner);
    } else {
      out_ << in << "for (" << i << " = 0; " << i << " < " << trip << "; ++" << i << ") {\n";
      statements(s.body, depth + 1, mask);
    }
    out_ << in << "}\n" << in << "}\n";
  }

  void choose(const Stmt& s, int depth, int mask) {
    std::string in = indent(depth);
    out_ << in << "switch ((" << text(s.a) << ") & 3) {\n" << in << "case 0:\n";
    statements(s.body, depth + 1, mask);
    if (!s.falls) out_ << in << "  break;\n";
    out_ << in << "case 1:\n";
    statements(s.other, depth + 1, mask);
    out_ << in << "  break;\n" << in << "case 2:\n";
    statements(s.third, depth + 1, mask);
    out_ << in << "}\n";
  }

  std::string constant(const Expr& e) {
    std::ostringstream out;
    out << std::hex << "0x" << e.value;
    std::string bits = out.str();
    switch (e.type) {
      case Type::f32:
        return "__int_as_float((int)" + bits + "u)";
      case Type::f64:
        return "__longlong_as_double((long long)" + bits + "ull)";
      default:
        return std::string("((") + name_of(e.type) + ")" + bits + "ull)";
    }
  }

  std::string call(const char* function, const Expr& e) {
    std::string out = std::string(function) + "(";
    for (std::size_t i = 0; i < e.args.size(); ++i) out += (i ? ", " : "") + text(e.args[i]);
    return out + ")";
  }

  // The thread's slot in global memory, laid out as place() says.
  std::string slot(const Expr& index) {
    std::string number = "((" + text(index) + ") & 7)";
    std::string one = "block * threads + thread";
    return program_.by_slot ? "memory[" + number + " * (int)(gridDim.x * threads) + " + one + "]"
                            : "memory[(" + one + ") * 8 + " + number + "]";
  }

  std::string text(const Expr& e) {
    constexpr const char* kHelpers[] = {
        "negate",       "invert",      "absolute",    "popcount",      "leading_zeros",
        "reverse_bits", "square_root", "round_down",  "round_to_zero", "round_even",
        "add",          "subtract",    "multiply",    "divide",        "remainder_of",
        "bit_and",      "bit_or",      "bit_xor",     "shift_left",    "shift_right",
        "least_of",     "greatest_of", "high_product"};
    constexpr const char* kCompare[] = {"<", "<=", "==", "!="};
    constexpr const char* kNarrow[] = {"signed char", "unsigned char", "short", "unsigned short"};
    constexpr const char* kCalled[] = {"far", "chosen", "again"};
    switch (e.op) {
      case Op::constant:
        return constant(e);
      case Op::variable:
        return "v" + std::to_string(e.value);
      case Op::input:
        return std::string("input<") + name_of(e.type) + ">(in[(" + text(e.args[0]) + ") & 1023])";
      case Op::local:
        return "local[(" + text(e.args[0]) + ") & 7]";
      case Op::global:
        return "(int)" + slot(e.args[0]);
      case Op::bytes:
        return e.value == 0 ? "(int)((const unsigned char*)in)[(" + text(e.args[0]) + ") & 8191]"
                            : "(int)((const short*)in)[(" + text(e.args[0]) + ") & 4095]";
      case Op::quad:
        return std::string("((const int4*)in)[(") + text(e.args[0]) + ") & 511]." + "xyzw"[e.value];
      case Op::member:
        return (e.type == Type::i32 ? "(int)" : "") + member(static_cast<int>(e.value));
      case Op::position:
        return std::string("(int)threadIdx.") + "xyz"[e.value];
      case Op::narrow:
        return std::string("(int)(") + kNarrow[e.value] + ")(" + text(e.args[0]) + ")";
      case Op::call:
        return call(kCalled[e.value], e);
      case Op::thread:
        return "thread";
      case Op::lane:
        return "lane";
      case Op::block:
        return "block";
      case Op::threads:
        return "threads";
      case Op::parameter:
        return "parameter";
      case Op::cast:
        return std::string("(") + name_of(e.type) + ")(" + text(e.args[0]) + ")";
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::not_equal:
        return "(int)((" + text(e.args[0]) + ") " +
               kCompare[static_cast<int>(e.op) - static_cast<int>(Op::less)] + " (" +
               text(e.args[1]) + "))";
      case Op::select:
        return "((" + condition(e.args[0]) + ") ? (" + text(e.args[1]) + ") : (" + text(e.args[2]) +
               "))";
      case Op::fused_multiply_add:
        return call("multiply_add", e);
      default:
        return call(kHelpers[static_cast<int>(e.op) - static_cast<int>(Op::negate)], e);
    }
  }

  const Program& program_;
  std::ostringstream out_;
  int masks_ = 0;
};

// One defined result for each operation.
const char* const kOperations = R"(
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
#define D static __device__ inline
template <class T> struct whole { typedef T type; };
template <> struct whole<int> { typedef u32 type; };
template <> struct whole<i64> { typedef u64 type; };
#define REAL(T, F) \
  D T negate(T x) { return -x; } \
  D T add(T x, T y) { return x + y; } \
  D T subtract(T x, T y) { return x - y; } \
  D T multiply(T x, T y) { return x * y; } \
  D T divide(T x, T y) { return x / y; } \
  D T absolute(T x) { return fabs##F(x); } \
  D T square_root(T x) { return sqrt##F(x); } \
  D T round_down(T x) { return floor##F(x); } \
  D T round_to_zero(T x) { return trunc##F(x); } \
  D T round_even(T x) { return rint##F(x); } \
  D T least_of(T x, T y) { return fmin##F(x, y) + 0; } \
  D T greatest_of(T x, T y) { return fmax##F(x, y) + 0; } \
  D T multiply_add(T x, T y, T z) { return fma##F(x, y, z); }
REAL(float, f)
REAL(double, )
#define WHOLE(T, U, SIGNED, HIGH, BITS, LL) \
  D T negate(T x) { return (T)((U)0 - (U)x); } \
  D T invert(T x) { return (T)~(U)x; } \
  D T absolute(T x) { return SIGNED && x < (T)1 ? (T)((U)0 - (U)x) : x; } \
  D T popcount(T x) { return (T)__popc##LL((U)x); } \
  D T leading_zeros(T x) { return (T)__clz##LL((U)x); } \
  D T reverse_bits(T x) { return (T)__brev##LL((U)x); } \
  D T add(T x, T y) { return (T)((U)x + (U)y); } \
  D T subtract(T x, T y) { return (T)((U)x - (U)y); } \
  D T multiply(T x, T y) { return (T)((U)x * (U)y); } \
  D T divide(T x, T y) { return y == 0 ? (T)7 : SIGNED && y == (T)-1 ? negate(x) : (T)(x / y); } \
  D T remainder_of(T x, T y) { return y == 0 || (SIGNED && y == (T)-1) ? (T)3 : (T)(x % y); } \
  D T bit_and(T x, T y) { return x & y; } \
  D T bit_or(T x, T y) { return x | y; } \
  D T bit_xor(T x, T y) { return x ^ y; } \
  D T shift_left(T x, T y) { return (T)((U)x << (y & (BITS - 1))); } \
  D T shift_right(T x, T y) { return x >> (y & (BITS - 1)); } \
  D T least_of(T x, T y) { return min(x, y); } \
  D T greatest_of(T x, T y) { return max(x, y); } \
  D T high_product(T x, T y) { return HIGH(x, y); } \
  D T multiply_add(T x, T y, T z) { return (T)((U)x * (U)y + (U)z); }
WHOLE(int, u32, true, __mulhi, 32, )
WHOLE(u32, u32, false, __umulhi, 32, )
WHOLE(i64, u64, true, __mul64hi, 64, ll)
WHOLE(u64, u64, false, __umul64hi, 64, ll)
)";

// What programs call.
const char* const kCalls = R"(
#define CALLED(T) \
  static __device__ __noinline__ T far(T x, T y, int) { \
    return x < y ? subtract(y, x) : multiply(x, y); \
  } \
  static __device__ __noinline__ T sum(T x, T y) { return add(x, y); } \
  static __device__ __noinline__ T product(T x, T y) { return multiply(x, y); } \
  D T chosen(T x, T y, int choice) { \
    T (*const function)(T, T) = choice & 1 ? (T(*)(T, T))sum : (T(*)(T, T))product; \
    return function(x, y); \
  } \
  static __device__ __noinline__ T descend(T x, T y, int depth) { \
    return depth == 0 ? y : add(multiply(descend(x, y, depth - 1), x), x); \
  } \
  D T again(T x, T y, int choice) { return descend(x, y, choice & 3); }
CALLED(int)
CALLED(u32)
CALLED(i64)
CALLED(u64)
CALLED(float)
CALLED(double)
)";

// Input and output, as words of 64 bits. The bits of a NaN are nobody's promise: all are one.
const char* const kWords = R"(
template <class T> D T input(u64 word) { return (T)word; }
template <> __device__ inline float input<float>(u64 word) {
  return word & 3 ? (float)(int)(word >> 40) * 0.03125f : __int_as_float((int)(word >> 32));
}
template <> __device__ inline double input<double>(u64 word) {
  return word & 3 ? (double)(int)(word >> 40) * 0.03125 : __longlong_as_double((i64)word);
}
D u64 to_bits(int x) { return (u32)x; }
D u64 to_bits(u32 x) { return x; }
D u64 to_bits(i64 x) { return (u64)x; }
D u64 to_bits(u64 x) { return x; }
D u64 to_bits(float x) { return x != x ? 0x7fffffff : (u32)__float_as_int(x); }
D u64 to_bits(double x) { return x != x ? 0x7fffffffffffffff : (u64)__double_as_longlong(x); }
D void from_bits(int& x, u64 bits) { x = (int)bits; }
D void from_bits(u32& x, u64 bits) { x = (u32)bits; }
D void from_bits(i64& x, u64 bits) { x = (i64)bits; }
D void from_bits(u64& x, u64 bits) { x = bits; }
D void from_bits(float& x, u64 bits) { x = __int_as_float((int)bits); }
D void from_bits(double& x, u64 bits) { x = __longlong_as_double((i64)bits); }
)";

// Structures with a gap at their end. A place in global memory is 16 bytes, whatever its record.
const char* const kRecordText = R"(
template <class T> struct Record { T value; int index; short small; };
static __device__ uint4 kept_records[3 * 512];
template <class T> D void fill(Record<T>& r, T value, int index) {
  r.value = value;
  r.index = index;
  r.small = (short)(index ^ 0x5a5a);
}
template <class T> static __device__ __noinline__ Record<T> better(Record<T> r, Record<T> s) {
  return r.value > s.value || (r.value == s.value && r.index < s.index) ? r : s;
}
template <class T> D Record<T> of_lane(u32 mask, int lane, Record<T> r, int across) {
  Record<T> got;
  got.value = __shfl_xor_sync(mask, r.value, across);
  got.index = __shfl_xor_sync(mask, r.index, across);
  got.small = (short)__shfl_xor_sync(mask, (int)r.small, across);
  return mask >> (lane ^ across) & 1 ? got : r;
}
)";

// Shuffles and votes of the lanes of a mask.
const char* const kCollectives = R"(
template <int MODE, int AMOUNT, int WIDTH, class T> D T shuffle(u32 mask, int lane, T x, int wanted) {
  const int first = lane & ~(WIDTH - 1);
  int from = lane;
  T got;
  if (MODE == 0) {
    from = first + (wanted & (WIDTH - 1));
    got = __shfl_sync(mask, x, wanted, WIDTH);
  } else if (MODE == 1) {
    if (lane - AMOUNT >= first) from = lane - AMOUNT;
    got = __shfl_up_sync(mask, x, AMOUNT, WIDTH);
  } else if (MODE == 2) {
    if (lane + AMOUNT < first + WIDTH) from = lane + AMOUNT;
    got = __shfl_down_sync(mask, x, AMOUNT, WIDTH);
  } else {
    if ((lane ^ AMOUNT) < first + WIDTH) from = lane ^ AMOUNT;
    got = __shfl_xor_sync(mask, x, AMOUNT, WIDTH);
  }
  return mask >> from & 1 ? got : x;
}
D u32 vote_ballot(u32 mask, int x) { return __ballot_sync(mask, x); }
D u32 vote_any(u32 mask, int x) { return __any_sync(mask, x) != 0; }
D u32 vote_all(u32 mask, int x) { return __all_sync(mask, x) != 0; }
D u32 vote_match(u32 mask, u32 x) { return __match_any_sync(mask, x & 3); }
D u32 vote_sum(u32 mask, u32 x) { return __reduce_add_sync(mask, x); }
D u32 vote_least(u32 mask, int x) { return (u32)__reduce_min_sync(mask, x); }
D u32 vote_greatest(u32 mask, int x) { return (u32)__reduce_max_sync(mask, x); }
D u32 vote_common(u32 mask, u32 x) { return __reduce_and_sync(mask, x); }
D u32 vote_parity(u32 mask, u32 x) { return __reduce_xor_sync(mask, x); }
)";

}  // namespace

std::string print(const Program& program, const std::string& name) {
  return Printer(program).run(name);
}

std::string preamble() {
  return std::string(kOperations) + kCalls + kWords + kRecordText + kCollectives;
}

}  // namespace td::differential
