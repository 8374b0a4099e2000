// The scalar interpreter: one thread's value at a time, threads grouped only where a statement
// speaks about several of them. Built without contraction of floating-point operations.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "program.h"

namespace td::differential {
namespace {

using std::uint32_t;
using std::uint64_t;

template <class T>
T from_bits(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

template <class T>
uint64_t to_bits(T x) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(x);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(x);
  else
    return static_cast<std::make_unsigned_t<T>>(x);
}

// Calls run(T()) with the C++ type of `type`.
template <class Run>
auto with_type(Type type, Run run) {
  switch (type) {
    case Type::i32:
      return run(std::int32_t());
    case Type::u32:
      return run(uint32_t());
    case Type::i64:
      return run(std::int64_t());
    case Type::u64:
      return run(uint64_t());
    case Type::f32:
      return run(float());
    default:
      return run(double());
  }
}

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr bool kWide = sizeof(To) == 8 || sizeof(From) == 8;
    if (std::isnan(x)) return kWide ? static_cast<To>(To{1} << (8 * sizeof(To) - 1)) : To{0};
    if (x <= static_cast<From>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    if (x >= std::ldexp(From{1}, std::numeric_limits<To>::digits))
      return std::numeric_limits<To>::max();
  }
  return static_cast<To>(x);
}

// By fmin's rule: a number beats NaN. Which zero is the lesser is not specified: the sum makes it
// +0.
template <class T>
T lesser(T x, T y) {
  if (std::isnan(x)) return y + 0;
  return (std::isnan(y) || x < y ? x : y) + 0;
}

template <class T>
T real_operation(Op op, T x, T y, T z) {
  switch (op) {
    case Op::negate:
      return -x;
    case Op::absolute:
      return std::fabs(x);
    case Op::square_root:
      return std::sqrt(x);
    case Op::floor:
      return std::floor(x);
    case Op::truncate:
      return std::trunc(x);
    case Op::round_even:
      return std::nearbyint(x);
    case Op::add:
      return x + y;
    case Op::subtract:
      return x - y;
    case Op::multiply:
      return x * y;
    case Op::divide:
      return x / y;
    case Op::minimum:
      return lesser(x, y);
    case Op::maximum:
      return -lesser(-x, -y) + 0;
    default:
      return std::fma(x, y, z);
  }
}

template <class U>
U reversed(U x) {
  U out = 0;
  for (unsigned i = 0; i < 8 * sizeof(U); ++i) out |= (x >> i & 1) << (8 * sizeof(U) - 1 - i);
  return out;
}

template <class T>
T whole_operation(Op op, T a, T b, T c) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned kBits = 8 * sizeof(T);
  const U x = static_cast<U>(a), y = static_cast<U>(b), z = static_cast<U>(c);
  const bool minus_one = std::is_signed_v<T> && y == static_cast<U>(-1);
  switch (op) {
    case Op::negate:
      return static_cast<T>(U{0} - x);
    case Op::invert:
      return static_cast<T>(~x);
    case Op::absolute:
      return static_cast<T>(a < 0 ? U{0} - x : x);
    case Op::popcount:
      return static_cast<T>(std::popcount(x));
    case Op::leading_zeros:
      return static_cast<T>(std::countl_zero(x));
    case Op::reverse_bits:
      return static_cast<T>(reversed(x));
    case Op::add:
      return static_cast<T>(x + y);
    case Op::subtract:
      return static_cast<T>(x - y);
    case Op::multiply:
      return static_cast<T>(x * y);
    case Op::divide:
      return y == 0 ? T{7} : minus_one ? static_cast<T>(U{0} - x) : static_cast<T>(a / b);
    case Op::remainder:
      return y == 0 || minus_one ? T{3} : static_cast<T>(a % b);
    case Op::bit_and:
      return static_cast<T>(x & y);
    case Op::bit_or:
      return static_cast<T>(x | y);
    case Op::bit_xor:
      return static_cast<T>(x ^ y);
    case Op::shift_left:
      return static_cast<T>(x << (y & (kBits - 1)));
    case Op::shift_right:
      return static_cast<T>(a >> (y & (kBits - 1)));
    case Op::minimum:
      return std::min(a, b);
    case Op::maximum:
      return std::max(a, b);
    case Op::high_product: {
      using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> kBits);
    }
    default:
      return static_cast<T>(x * y + z);
  }
}

template <class T>
bool compare(Op op, T x, T y) {
  switch (op) {
    case Op::less:
      return x < y;
    case Op::less_equal:
      return x <= y;
    case Op::equal:
      return x == y;
    default:
      return x != y;
  }
}

// A slot may still hold a wider number of an earlier exchange.
uint64_t narrowed(Type type, uint64_t bits) { return is_wide(type) ? bits : bits & 0xffffffff; }

// What to_bits() of the text makes of a number: one NaN.
uint64_t settled(Type type, uint64_t bits) {
  if (type == Type::f32 && std::isnan(from_bits<float>(bits))) return 0x7fffffff;
  if (type == Type::f64 && std::isnan(from_bits<double>(bits))) return 0x7fffffffffffffff;
  return bits;
}

uint64_t input_value(Type type, uint64_t word) {
  auto small = static_cast<std::int32_t>(word >> 40);
  if (type == Type::f32)
    return word & 3 ? to_bits(static_cast<float>(small) * 0.03125f) : word >> 32;
  if (type == Type::f64) return word & 3 ? to_bits(static_cast<double>(small) * 0.03125) : word;
  return narrowed(type, word);
}

// The functions that programs call.
template <class T>
T called(uint64_t function, T x, T y, int choice) {
  auto real = [](Op op, T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return real_operation(op, a, b, T{});
    else
      return whole_operation(op, a, b, T{});
  };
  if (function == 0) return x < y ? real(Op::subtract, y, x) : real(Op::multiply, x, y);
  if (function == 1) return real(choice & 1 ? Op::add : Op::multiply, x, y);
  for (int depth = choice & 3; depth > 0; --depth) y = real(Op::add, real(Op::multiply, y, x), x);
  return y;
}

struct Record {
  uint64_t value = 0;
  std::int32_t index = 0;
  std::int16_t small = 0;
};

bool better(Type type, const Record& r, const Record& s) {
  return with_type(type, [&]<class T>(T) {
    T x = from_bits<T>(r.value), y = from_bits<T>(s.value);
    return x > y || (x == y && r.index < s.index);
  });
}

// What a thread keeps of structures.
struct Records {
  Record own[kRecords], array[kRecords / 2][4], memory[kRecords / 2];
};

enum class Flow : std::uint8_t { running, left, next, exited };

// The threads of one block.
class Block {
 public:
  Block(const Program& program, const std::vector<uint64_t>& input, int index)
      : program_(program), input_(input), index_(index), threads_(program.threads) {
    std::size_t n = static_cast<std::size_t>(threads_);
    variables_.assign(n, std::vector<uint64_t>(program.variables.size()));
    local_.assign(n, std::vector<uint32_t>(kSlots));
    for (int t = 0; t < threads_; ++t)
      for (int i = 0; i < kSlots; ++i) local_[t][i] = static_cast<uint32_t>(t * 8 + i);
    memory_.resize(n * kSlots);
    for (int t = 0; t < threads_; ++t)
      for (int i = 0; i < kSlots; ++i) slot(t, i) = first_content(place(program_, index_, t, i));
    shared_.assign(n, 0);
    records_.resize(n);
    for (auto& others : others_) others.resize(n);
    flow_.assign(n, Flow::running);
  }

  void run(std::vector<uint64_t>& results) {
    Group all;
    for (int t = 0; t < threads_; ++t) all.push_back(t);
    run_list(program_.body, all);
    uint64_t folded = 0;
    for (auto& slots : accumulators_)
      for (uint32_t word : slots) folded = folded * 31 + word;
    for (int t = 0; t < threads_; ++t) {
      results.insert(results.end(), variables_[t].begin(), variables_[t].end());
      for (int i = 0; i < program_.members(); ++i) results.push_back(member(t, i));
      results.push_back(flow_[t] == Flow::exited ? 0 : folded);
    }
  }

 private:
  using Group = std::vector<int>;  // threads, ascending

  // ---- expressions ----

  template <class T>
  T value(const Expr& e, int t) {
    return from_bits<T>(eval(e, t));
  }
  int whole(const Expr& e, int t) { return value<std::int32_t>(e, t); }

  uint64_t eval(const Expr& e, int t) {
    switch (e.op) {
      case Op::constant:
        return e.value;
      case Op::variable:
        return variables_[t][e.value];
      case Op::input:
        return input_value(e.type, input_[whole(e.args[0], t) & (kInputs - 1)]);
      case Op::local:
        return local_[t][whole(e.args[0], t) & (kSlots - 1)];
      case Op::global:
        return slot(t, whole(e.args[0], t) & (kSlots - 1));
      case Op::bytes: {
        int at = whole(e.args[0], t);
        if (e.value == 0) {
          at &= 8 * kInputs - 1;
          return input_[at / 8] >> (8 * (at % 8)) & 0xff;
        }
        at &= 4 * kInputs - 1;
        return to_bits(std::int32_t{static_cast<std::int16_t>(input_[at / 4] >> (16 * (at % 4)))});
      }
      case Op::quad: {
        std::size_t at = whole(e.args[0], t) & (kInputs / 2 - 1);
        return input_[2 * at + e.value / 2] >> (32 * (e.value % 2)) & 0xffffffff;
      }
      case Op::member:
        return member(t, static_cast<int>(e.value));
      case Op::position: {
        const int x = program_.shape[0], y = program_.shape[1];
        return to_bits(e.value == 0 ? t % x : e.value == 1 ? t / x % y : t / (x * y));
      }
      case Op::narrow: {
        const int x = whole(e.args[0], t);
        const int by_kind[] = {static_cast<std::int8_t>(x), static_cast<std::uint8_t>(x),
                               static_cast<std::int16_t>(x), static_cast<std::uint16_t>(x)};
        return to_bits(by_kind[e.value]);
      }
      case Op::call:
        return with_type(e.type, [&]<class T>(T) {
          return to_bits(called<T>(e.value, value<T>(e.args[0], t), value<T>(e.args[1], t),
                                   whole(e.args[2], t)));
        });
      case Op::thread:
        return to_bits(t);
      case Op::lane:
        return to_bits(t % 32);
      case Op::block:
        return to_bits(index_);
      case Op::threads:
        return to_bits(threads_);
      case Op::parameter:
        return to_bits(program_.parameter);
      case Op::cast:
        return with_type(e.type, [&]<class To>(To) {
          return with_type(e.args[0].type, [&]<class From>(From) {
            return to_bits(convert<To>(value<From>(e.args[0], t)));
          });
        });
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::not_equal:
        return with_type(e.args[0].type, [&]<class T>(T) {
          return uint64_t{compare(e.op, value<T>(e.args[0], t), value<T>(e.args[1], t))};
        });
      case Op::select:
        return eval(e.args[whole(e.args[0], t) ? 1 : 2], t);
      default:
        return with_type(e.type, [&]<class T>(T) { return arithmetic<T>(e, t); });
    }
  }

  template <class T>
  uint64_t arithmetic(const Expr& e, int t) {
    T part[3] = {};
    for (std::size_t i = 0; i < e.args.size(); ++i) part[i] = value<T>(e.args[i], t);
    if constexpr (std::is_floating_point_v<T>)
      return to_bits(real_operation(e.op, part[0], part[1], part[2]));
    else
      return to_bits(whole_operation(e.op, part[0], part[1], part[2]));
  }

  uint64_t member(int t, int i) {
    const Record& r = records_[t].own[i / 3];
    return i % 3 == 0 ? r.value : to_bits(i % 3 == 1 ? r.index : std::int32_t{r.small});
  }

  uint32_t& slot(int t, int i) { return memory_[static_cast<std::size_t>(t * kSlots + i)]; }

  // ---- statements ----

  Group running(const Group& group) {
    Group out;
    for (int t : group)
      if (flow_[t] == Flow::running) out.push_back(t);
    return out;
  }

  template <class Keep>
  Group those(const Group& group, Keep keep) {
    Group out;
    for (int t : group)
      if (keep(t)) out.push_back(t);
    return out;
  }

  void run_list(const std::vector<Stmt>& list, const Group& group) {
    for (const Stmt& s : list) {
      Group live = running(group);
      if (live.empty()) return;
      run_statement(s, live);
    }
  }

  void run_statement(const Stmt& s, const Group& live) {
    switch (s.kind) {
      case Kind::assign:
        for (int t : live) variables_[t][s.variable] = eval(s.a, t);
        break;
      case Kind::store_local:
        for (int t : live) {
          // The right side of an assignment comes first; here both are free of side effects.
          auto word = static_cast<uint32_t>(eval(s.b, t));
          local_[t][whole(s.a, t) & (kSlots - 1)] = word;
        }
        break;
      case Kind::store_global:
        for (int t : live) {
          auto word = static_cast<uint32_t>(eval(s.b, t));
          slot(t, whole(s.a, t) & (kSlots - 1)) = word;
        }
        break;
      case Kind::branch: {
        std::vector<char> taken(static_cast<std::size_t>(threads_));
        for (int t : live) taken[t] = whole(s.a, t) != 0;
        run_list(s.body, those(live, [&](int t) { return taken[t]; }));
        run_list(s.other, those(live, [&](int t) { return !taken[t]; }));
        break;
      }
      case Kind::loop:
        loop(s, live);
        break;
      case Kind::leave:
      case Kind::next:
      case Kind::exit: {
        Flow to = s.kind == Kind::leave  ? Flow::left
                  : s.kind == Kind::next ? Flow::next
                                         : Flow::exited;
        for (int t : live)
          if (whole(s.a, t)) flow_[t] = to;
        break;
      }
      case Kind::choose:
        choose(s, live);
        break;
      case Kind::shuffle:
      case Kind::vote:
        for (std::size_t i = 0; i < live.size();) {
          Group warp;
          for (int w = live[i] / 32; i < live.size() && live[i] / 32 == w; ++i)
            warp.push_back(live[i]);
          s.kind == Kind::shuffle ? shuffle(s, warp) : vote(s, warp);
        }
        break;
      case Kind::exchange:
        for (int t : live) shared_[t] = settled(s.a.type, eval(s.a, t));
        for (int t : live)
          variables_[t][s.variable] =
              narrowed(program_.variables[s.variable], shared_[(t * s.mode + s.amount) % threads_]);
        break;
      case Kind::count:
        count(s, live);
        break;
      case Kind::record:
        copy(s, live);
        break;
      case Kind::atomic:
        for (int t : live)
          update(s.mode, accumulators_[s.mode][whole(s.a, t) & (kSlots - 1)],
                 static_cast<uint32_t>(eval(s.b, t)));
        break;
    }
  }

  void loop(const Stmt& s, const Group& live) {
    std::vector<int> trips(static_cast<std::size_t>(threads_));
    for (int t : live) trips[t] = whole(s.a, t) & 7;
    Group inside = live;
    for (int i = 0; !inside.empty(); ++i) {
      for (int t : inside) variables_[t][s.variable] = to_bits(i);
      inside = those(inside, [&](int t) { return i < trips[t]; });
      run_list(s.body, inside);
      for (int t : inside)
        if (flow_[t] == Flow::next) flow_[t] = Flow::running;
      inside = running(inside);
    }
    for (int t : live)
      if (flow_[t] == Flow::left) flow_[t] = Flow::running;
  }

  void choose(const Stmt& s, const Group& live) {
    std::vector<int> arm(static_cast<std::size_t>(threads_));
    for (int t : live) arm[t] = whole(s.a, t) & 3;
    run_list(s.body, those(live, [&](int t) { return arm[t] == 0; }));
    run_list(s.other, those(live, [&](int t) { return arm[t] == 1 || (s.falls && arm[t] == 0); }));
    run_list(s.third, those(live, [&](int t) { return arm[t] == 2; }));
  }

  void shuffle(const Stmt& s, const Group& warp) {
    uint64_t values[32] = {};
    bool here[32] = {};
    int wanted[32] = {};
    for (int t : warp) {
      here[t % 32] = true;
      values[t % 32] = eval(s.a, t);
      wanted[t % 32] = whole(s.b, t);
    }
    for (int t : warp) {
      int lane = t % 32, first = lane & ~(s.width - 1), from = lane;
      int up = lane - s.amount, down = lane + s.amount, across = lane ^ s.amount;
      if (s.mode == 0) from = first + (wanted[lane] & (s.width - 1));
      if (s.mode == 1 && up >= first) from = up;
      if (s.mode == 2 && down < first + s.width) from = down;
      if (s.mode == 3 && across < first + s.width) from = across;
      variables_[t][s.variable] = values[here[from] ? from : lane];
    }
  }

  void vote(const Stmt& s, const Group& warp) {
    uint32_t set = 0, sum = 0, common = ~0u, parity = 0;
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    std::int32_t greatest = std::numeric_limits<std::int32_t>::min();
    for (int t : warp) {
      auto word = static_cast<uint32_t>(eval(s.a, t));
      auto number = static_cast<std::int32_t>(word);
      if (word) set |= 1u << (t % 32);
      sum += word;
      common &= word;
      parity ^= word;
      least = std::min(least, number);
      greatest = std::max(greatest, number);
    }
    std::vector<uint32_t> results;
    for (int t : warp) {
      uint32_t same = 0;
      for (int other : warp)
        if (((eval(s.a, other) ^ eval(s.a, t)) & 3) == 0) same |= 1u << (other % 32);
      const uint32_t by_mode[kVoteModes] = {
          set,
          set != 0,
          static_cast<std::size_t>(std::popcount(set)) == warp.size(),
          same,
          sum,
          static_cast<uint32_t>(least),
          static_cast<uint32_t>(greatest),
          common,
          parity};
      results.push_back(by_mode[s.mode]);
    }
    for (std::size_t i = 0; i < warp.size(); ++i) variables_[warp[i]][s.variable] = results[i];
  }

  void count(const Stmt& s, const Group& live) {
    int held = 0;
    for (int t : live) held += whole(s.a, t) != 0;
    const int by_mode[kCountModes] = {held, held == static_cast<int>(live.size()), held > 0};
    for (int t : live) variables_[t][s.variable] = to_bits(by_mode[s.mode]);
  }

  void copy(const Stmt& s, const Group& live) {
    if (Copy(s.mode) == Copy::exchange) {
      auto& others = others_[s.variable / 2];
      for (int t : live) others[t] = records_[t].own[s.amount];
      for (int t : live) records_[t].own[s.variable] = others[(t * s.width + 5) % threads_];
    } else if (Copy(s.mode) == Copy::exchanged) {
      std::vector<Record> held(static_cast<std::size_t>(threads_ + 32));
      std::vector<char> here(held.size());
      for (int t : live) {
        held[t] = records_[t].own[s.amount];
        here[t] = 1;
      }
      for (int t : live) keep_better(s.variable, t, held[here[t ^ s.width] ? t ^ s.width : t]);
    } else {
      for (int t : live) copy_alone(s, t);
    }
  }

  void keep_better(int record, int t, const Record& other) {
    Record& mine = records_[t].own[record];
    if (!better(record_type(record), mine, other)) mine = other;
  }

  void copy_alone(const Stmt& s, int t) {
    Records& all = records_[t];
    Record& mine = all.own[s.variable];
    const int kind = s.variable / 2;
    switch (Copy(s.mode)) {
      case Copy::make: {
        const int index = whole(s.b, t);
        mine = {eval(s.a, t), index, static_cast<std::int16_t>(index ^ 0x5a5a)};
        break;
      }
      case Copy::whole:
        mine = all.own[s.amount];
        break;
      case Copy::better:
        keep_better(s.variable, t, all.own[s.amount]);
        break;
      case Copy::put:
        all.array[kind][whole(s.a, t) & 3] = mine;
        break;
      case Copy::get:
        mine = all.array[kind][whole(s.a, t) & 3];
        break;
      case Copy::store:
        all.memory[kind] = mine;
        break;
      default:
        mine = all.memory[kind];
        break;
    }
  }

  static void update(int mode, uint32_t& slot, uint32_t word) {
    const uint32_t by_mode[kAtomicModes] = {slot + word, std::min(slot, word), std::max(slot, word),
                                            slot & word, slot | word,          slot ^ word};
    slot = by_mode[mode];
  }

  const Program& program_;
  const std::vector<uint64_t>& input_;
  int index_, threads_;
  std::vector<std::vector<uint64_t>> variables_;
  std::vector<std::vector<uint32_t>> local_;
  std::vector<uint32_t> memory_;  // kSlots of each thread
  std::vector<uint64_t> shared_;
  std::vector<Records> records_;
  std::vector<Record> others_[kRecords / 2];  // shared memory's
  std::vector<Flow> flow_;
  uint32_t accumulators_[kAtomicModes][kSlots] = {};
};

}  // namespace

std::vector<uint64_t> interpret(const Program& program, const std::vector<uint64_t>& input) {
  std::vector<uint64_t> results;
  for (int b = 0; b < program.blocks; ++b) Block(program, input, b).run(results);
  return results;
}

}  // namespace td::differential
