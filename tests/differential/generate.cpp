// Makes the program of a seed. Where a statement may stand is decided by its scope: barriers only
// in control flow that is uniform in the block, collectives only where the set of lanes is known.
#include <algorithm>
#include <random>

#include "program.h"

namespace td::differential {
namespace {

struct Scope {
  bool uniform = true;  // every thread that has not left comes here together
  bool masked = true;   // the lanes that come here are known to the text
  bool loop = false;    // break and continue belong to a loop without collectives
  bool top = true;
  int depth = 0;
};

class Generator {
 public:
  Generator(std::uint64_t seed, Reach reach)
      : random_(seed), plain_(reach == Reach::plain), records_(reach >= Reach::records) {
    program_.seed = seed;
    program_.records = records_;
  }

  Program run() {
    constexpr int kThreads[] = {32, 64, 96, 128, 33, 50, 7, 256, 1, 95};
    program_.threads = program_.shape[0] = kThreads[below(10)];
    if (!plain_) {
      program_.by_slot = chance(50);
      if (chance(60)) choose_shape();
    }
    program_.parameter = below(100);
    for (int i = 0; i < 2 * kTypes; ++i) program_.variables.push_back(Type(i % kTypes));
    for (int i = 0; i < 2 * kTypes; ++i) {
      Stmt first;
      first.variable = i;
      first.a = leaf(program_.variables[i], false);
      program_.body.push_back(first);
    }
    budget_ = 12 + below(24);
    Scope scope;
    while (budget_ > 0) program_.body.push_back(statement(scope));
    return std::move(program_);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  Type any_type() { return Type(below(kTypes)); }

  void choose_shape() {
    constexpr int kShapes[][3] = {{16, 16, 1}, {16, 4, 1}, {16, 5, 1}, {32, 4, 1}, {64, 2, 1},
                                  {8, 8, 2},   {4, 8, 3},  {20, 5, 1}, {7, 11, 2}, {1, 64, 1},
                                  {33, 3, 1},  {2, 2, 40}, {48, 3, 1}};
    const auto& shape = kShapes[below(13)];
    std::copy(shape, shape + 3, program_.shape);
    program_.threads = shape[0] * shape[1] * shape[2];
  }

  // ---- expressions ----

  Expr constant(Type type) {
    Expr e{Op::constant, type, 0, {}};
    constexpr std::uint64_t kInts[] = {
        0,   1,          2,          3,          7,     31,         32,
        255, 0x7fffffff, 0x80000000, 0xffffffff, ~0ull, 1ull << 63, (1ull << 63) - 1};
    constexpr double kReals[] = {0.0,  -0.0,  1.0,   -1.5,  0.5,         3.0,
                                 1e10, -7.25, 1e-40, 65504, 2147483648.0};
    if (type == Type::f32) {
      float x = static_cast<float>(kReals[below(11)]);
      e.value = __builtin_bit_cast(std::uint32_t, x);
    } else if (type == Type::f64) {
      e.value = __builtin_bit_cast(std::uint64_t, kReals[below(11)]);
    } else {
      e.value = chance(70) ? kInts[below(14)] : random_();
      if (!is_wide(type)) e.value &= 0xffffffff;
    }
    return e;
  }

  Expr leaf(Type type, bool uniform) {
    if (uniform) {
      constexpr Op kUniform[] = {Op::block, Op::threads, Op::parameter};
      if (type == Type::i32 && chance(60)) return {kUniform[below(3)], type, 0, {}};
      return constant(type);
    }
    if (!plain_ && type == Type::i32 && chance(20)) return extended_leaf();
    if (records_ && chance(12)) {
      const int member = below(3 * kRecords);
      if (member_type(member) == type) return {Op::member, type, std::uint64_t(member), {}};
      if (type == Type::i32)
        return {Op::quad, type, std::uint64_t(below(4)), {expression(Type::i32, 0, false)}};
    }
    int pick = below(10);
    if (pick == 0) return constant(type);
    if (pick == 1) return {Op::input, type, 0, {expression(Type::i32, 0, false)}};
    if (type == Type::i32) {
      constexpr Op kFacts[] = {Op::thread, Op::lane, Op::block, Op::threads};
      if (pick == 2) return {kFacts[below(4)], type, 0, {}};
      if (pick == 3) return {Op::local, type, 0, {expression(Type::i32, 0, false)}};
      if (!counters_.empty() && pick == 4)
        return {Op::variable, type, std::uint64_t(counters_[below(int(counters_.size()))]), {}};
    }
    int number = static_cast<int>(type) + (chance(50) ? kTypes : 0);
    return {Op::variable, type, std::uint64_t(number), {}};
  }

  Expr extended_leaf() {
    auto index = [&] { return expression(Type::i32, 0, false); };
    switch (below(3)) {
      case 0:
        return {Op::global, Type::i32, 0, {index()}};
      case 1:
        return {Op::bytes, Type::i32, std::uint64_t(below(2)), {index()}};
      default:
        return {Op::position, Type::i32, std::uint64_t(below(3)), {}};
    }
  }

  Op binary_operation(Type type) {
    constexpr Op kReal[] = {Op::add,    Op::subtract, Op::multiply,
                            Op::divide, Op::minimum,  Op::maximum};
    constexpr Op kWhole[] = {Op::add,         Op::subtract, Op::multiply,    Op::divide,
                             Op::bit_and,     Op::bit_or,   Op::bit_xor,     Op::shift_left,
                             Op::minimum,     Op::maximum,  Op::shift_right, Op::remainder,
                             Op::high_product};
    return is_float(type) ? kReal[below(6)] : kWhole[below(13)];
  }

  Op unary_operation(Type type) {
    constexpr Op kReal[] = {Op::negate, Op::absolute, Op::square_root,
                            Op::floor,  Op::truncate, Op::round_even};
    constexpr Op kWhole[] = {Op::negate,   Op::absolute,      Op::invert,
                             Op::popcount, Op::leading_zeros, Op::reverse_bits};
    return is_float(type) ? kReal[below(6)] : kWhole[below(6)];
  }

  Expr expression(Type type, int depth, bool uniform) {
    if (depth <= 0 || chance(15)) return leaf(type, uniform);
    auto part = [&](Type t) { return expression(t, depth - 1, uniform); };
    if (!plain_ && !uniform && chance(10)) {
      if (type == Type::i32 && chance(50))
        return {Op::narrow, type, std::uint64_t(below(4)), {part(type)}};
      return {Op::call,
              type,
              std::uint64_t(below(kFunctions)),
              {part(type), part(type), part(Type::i32)}};
    }
    int pick = below(100);
    if (pick < 50) return {binary_operation(type), type, 0, {part(type), part(type)}};
    if (pick < 65) return {unary_operation(type), type, 0, {part(type)}};
    if (pick < 80) return {Op::cast, type, 0, {part(any_type())}};
    if (pick < 88)
      return {Op::select, type, 0, {condition(depth - 1, uniform), part(type), part(type)}};
    if (pick < 93) return {Op::fused_multiply_add, type, 0, {part(type), part(type), part(type)}};
    return type == Type::i32 ? condition(depth, uniform) : leaf(type, uniform);
  }

  Expr condition(int depth, bool uniform) {
    constexpr Op kCompare[] = {Op::less, Op::less_equal, Op::equal, Op::not_equal};
    Type type = any_type();
    if (!uniform && chance(40)) {  // often about half of the lanes
      Expr lane{Op::lane, Type::i32, 0, {}},
          limit{Op::constant, Type::i32, std::uint64_t(below(32)), {}};
      return {Op::less, Type::i32, 0, {lane, limit}};
    }
    return {kCompare[below(4)],
            Type::i32,
            0,
            {expression(type, depth, uniform), expression(type, depth, uniform)}};
  }

  // ---- statements ----

  std::vector<Stmt> block(Scope scope) {
    std::vector<Stmt> out;
    scope.top = false;
    ++scope.depth;
    for (int n = 1 + below(4); n > 0; --n) out.push_back(statement(scope));
    return out;
  }

  Stmt statement(const Scope& scope) {
    --budget_;
    if (records_ && chance(15)) return copy(scope);
    int pick = below(100);
    if (scope.depth < 3 && budget_ > 0) {
      if (pick < 16) return branch(scope);
      if (pick < 26) return loop(scope);
      if (pick < 31) return choose(scope);
    }
    if (scope.loop && pick < 42) return jump();
    if (scope.masked && pick < 55) return chance(50) ? shuffle() : vote();
    if (scope.uniform && pick < 64) return chance(70) ? exchange() : count();
    if (scope.top && pick < 67) return leave_kernel();
    if (pick < 75) return accumulate();
    if (pick < 82) return store();
    return assignment();
  }

  int variable_of(Type type) { return static_cast<int>(type) + (chance(50) ? kTypes : 0); }

  Stmt assignment() {
    Stmt s;
    s.variable = below(2 * kTypes);
    s.a = expression(program_.variables[s.variable], 3, false);
    return s;
  }

  Stmt store() {
    Stmt s;
    s.kind = !plain_ && chance(40) ? Kind::store_global : Kind::store_local;
    s.a = expression(Type::i32, 1, false);
    s.b = expression(Type::i32, 2, false);
    return s;
  }

  Stmt branch(const Scope& scope) {
    Stmt s;
    s.kind = Kind::branch;
    Scope inner = scope;
    if (scope.uniform && chance(30)) {
      s.a = condition(1, true);
      s.masked = true;
    } else {
      s.a = condition(2, false);
      inner.uniform = false;
      s.masked = inner.masked = scope.masked && chance(60);
      if (s.masked) inner.loop = false;
    }
    s.body = block(inner);
    if (chance(60)) s.other = block(inner);
    return s;
  }

  Stmt loop(const Scope& scope) {
    Stmt s;
    s.kind = Kind::loop;
    s.variable = static_cast<int>(program_.variables.size());
    program_.variables.push_back(Type::i32);
    Scope inner = scope;
    inner.loop = false;
    if (scope.uniform && chance(30)) {
      s.a = expression(Type::i32, 1, true);
      s.masked = true;
    } else {
      s.a = expression(Type::i32, 2, false);
      inner.uniform = false;
      s.masked = inner.masked = scope.masked && chance(40);
      inner.loop = !s.masked;
    }
    counters_.push_back(s.variable);
    s.body = block(inner);
    counters_.pop_back();
    return s;
  }

  Stmt choose(const Scope& scope) {
    Stmt s;
    s.kind = Kind::choose;
    s.a = expression(Type::i32, 2, false);
    s.falls = chance(40);
    Scope inner = scope;
    inner.uniform = inner.masked = inner.loop = false;
    s.body = block(inner);
    s.other = block(inner);
    s.third = block(inner);
    return s;
  }

  Stmt jump() {
    Stmt s;
    s.kind = chance(50) ? Kind::leave : Kind::next;
    s.a = condition(2, false);
    return s;
  }

  Stmt shuffle() {
    Stmt s;
    s.kind = Kind::shuffle;
    Type type = any_type();
    s.variable = variable_of(type);
    s.mode = below(kShuffleModes);
    s.amount = 1 + below(31);
    s.width = 32 >> below(3);
    s.a = expression(type, 2, false);
    s.b = expression(Type::i32, 1, false);
    return s;
  }

  Stmt vote() {
    Stmt s;
    s.kind = Kind::vote;
    s.variable = variable_of(Type::u32);
    s.mode = below(kVoteModes);
    s.a = s.mode < 3 ? condition(2, false)
                     : expression(s.mode == 5 || s.mode == 6 ? Type::i32 : Type::u32, 2, false);
    return s;
  }

  Stmt exchange() {
    Stmt s;
    s.kind = Kind::exchange;
    Type type = any_type();
    s.variable = variable_of(type);
    s.mode = 1 + 2 * below(4);
    s.amount = below(64);
    s.a = expression(type, 2, false);
    return s;
  }

  Stmt count() {
    Stmt s;
    s.kind = Kind::count;
    s.variable = variable_of(Type::i32);
    s.mode = below(kCountModes);
    s.a = condition(2, false);
    return s;
  }

  Stmt accumulate() {
    Stmt s;
    s.kind = Kind::atomic;
    s.mode = below(kAtomicModes);
    s.a = expression(Type::i32, 1, chance(40));
    s.b = expression(Type::u32, 2, false);
    return s;
  }

  Stmt copy(const Scope& scope) {
    Stmt s;
    s.kind = Kind::record;
    s.variable = below(kRecords);
    s.amount = s.variable ^ below(2);
    s.mode = below(kCopies);
    if (scope.uniform && chance(30)) s.mode = static_cast<int>(Copy::exchange);
    if (scope.masked && chance(20)) s.mode = static_cast<int>(Copy::exchanged);
    s.width = s.mode == static_cast<int>(Copy::exchange) ? 1 + 2 * below(4) : 1 << below(5);
    const bool makes = s.mode == static_cast<int>(Copy::make);
    s.a = expression(makes ? record_type(s.variable) : Type::i32, makes ? 2 : 1, false);
    s.b = expression(Type::i32, 1, false);
    return s;
  }

  Stmt leave_kernel() {
    Stmt s;
    s.kind = Kind::exit;
    s.a = condition(1, false);
    return s;
  }

  std::mt19937_64 random_;
  bool plain_, records_;
  Program program_;
  int budget_ = 0;
  std::vector<int> counters_;
};

}  // namespace

Program generate(std::uint64_t seed, Reach reach) { return Generator(seed, reach).run(); }

}  // namespace td::differential
