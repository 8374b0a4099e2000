// Runs the programs of consecutive seeds on the device that TREADLE_DEVICE names and in the
// interpreter. TREADLE_DIFFERENTIAL_SEED (first seed, default 1) and TREADLE_DIFFERENTIAL_PROGRAMS
// (how many) make longer runs, TREADLE_DIFFERENTIAL_REACH=calls leaves structures out,
// TREADLE_DIFFERENTIAL_OPTIONS adds an option of the compiler; a difference is reported with the
// smallest program that still shows it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <sstream>

#include "../launch/support.h"
#include "program.h"

namespace td::differential {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

Reach reach_of_this_run() {
  const char* text = std::getenv("TREADLE_DIFFERENTIAL_REACH");
  return text && std::string_view(text) == "calls" ? Reach::calls : Reach::records;
}

std::vector<std::string> options() {
  std::vector<std::string> list{"--fmad=false"};
  if (const char* more = std::getenv("TREADLE_DIFFERENTIAL_OPTIONS")) list.emplace_back(more);
  return list;
}

const std::vector<std::uint64_t>& input() {
  static const std::vector<std::uint64_t> words = [] {
    std::mt19937_64 random(20);
    std::vector<std::uint64_t> out(kInputs);
    for (std::uint64_t& word : out) word = random();
    return out;
  }();
  return words;
}

bool is_nan(Type type, std::uint64_t bits) {
  if (type == Type::f32) return (bits & 0x7fffffff) > 0x7f800000;
  return type == Type::f64 && (bits & ~(1ull << 63)) > 0x7ff0000000000000;
}

// Programs recurse with all their arrays on the stack: a GPU gives a thread 1 KiB of it, and does
// not say when it is short.
void give_stack() {
  constexpr int kStackBytes = 0;  // CUlimit
  Device::current().set_limit(kStackBytes, 16384);
}

std::vector<std::uint64_t> on_device(const Program& program, const Kernel& kernel) {
  auto words = static_cast<std::size_t>(program.blocks * program.threads * program.results());
  Array in = test::on_device(input());
  Array out = test::on_device(std::vector<std::uint64_t>(words, 0xdeadbeefdeadbeef));
  std::vector<std::uint32_t> content(
      static_cast<std::size_t>(program.blocks * program.threads * kSlots));
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = first_content(i);
  Array memory = test::on_device(content);
  Dim3 block{unsigned(program.shape[0]), unsigned(program.shape[1]), unsigned(program.shape[2])};
  kernel.launch({.grid = {unsigned(program.blocks)}, .block = block}, in, out, memory,
                program.parameter);
  return test::on_host<std::uint64_t>(out);
}

// The first difference, in words.
std::optional<std::string> difference(const Program& program, const Kernel& kernel) {
  std::vector<std::uint64_t> got, want = interpret(program, input());
  try {
    got = on_device(program, kernel);
  } catch (const Error& error) {
    Device::current().reset();
    give_stack();
    return error.what();
  }
  auto count = static_cast<std::size_t>(program.results());
  for (std::size_t i = 0; i < want.size(); ++i) {
    std::size_t variable = i % count, thread = i / count;
    Type type = program.result_type(variable);
    if (got[i] == want[i] || (is_nan(type, got[i]) && is_nan(type, want[i]))) continue;
    std::ostringstream out;
    out << "seed " << program.seed << ": "
        << (variable + 1 < count ? "result " + std::to_string(variable)
                                 : std::string("the accumulators"))
        << " of thread " << thread % program.threads << ", block " << thread / program.threads
        << ": got 0x" << std::hex << got[i] << ", expected 0x" << want[i];
    return out.str();
  }
  return std::nullopt;
}

std::optional<std::string> difference(const Program& program) {
  return difference(program, Kernel(preamble() + print(program, "k"), "k", {.options = options()}));
}

// ---- making a failing program smaller ----

// Every list of statements in the program, outermost first.
void lists_of(std::vector<Stmt>& list, std::vector<std::vector<Stmt>*>& out) {
  out.push_back(&list);
  for (Stmt& s : list)
    for (auto* inner : {&s.body, &s.other, &s.third}) lists_of(*inner, out);
}

// Takes out the first statement (counted over all lists) from `at` on without which the program
// still differs; false when there is none.
bool take_one_out(Program& program, std::size_t& at) {
  for (;; ++at) {
    Program smaller = program;
    std::vector<std::vector<Stmt>*> lists;
    lists_of(smaller.body, lists);
    std::size_t number = at;
    std::size_t which = 0;
    while (which < lists.size() && number >= lists[which]->size()) number -= lists[which++]->size();
    if (which == lists.size()) return false;
    lists[which]->erase(lists[which]->begin() + static_cast<std::ptrdiff_t>(number));
    if (difference(smaller)) {
      program = smaller;
      return true;
    }
  }
}

void report(Program program) {
  std::string first =
      difference(program).value_or("(it does not differ when it is compiled alone)");
  for (bool smaller = true; smaller;) {
    std::size_t at = 0;
    smaller = false;
    while (take_one_out(program, at)) smaller = true;
  }
  ADD_FAILURE() << first << "\nmade smaller, " << program.threads
                << " threads: " << difference(program).value_or("") << "\n"
                << print(program, "k");
}

// ---- the test ----

constexpr std::uint64_t kBatch = 8;  // programs of one compilation

TEST(Differential, RandomProgramsGiveTheInterpretersBits) {
  if (!test::device_here()) GTEST_SKIP();
  give_stack();
  const std::uint64_t first = setting("TREADLE_DIFFERENTIAL_SEED", 1);
  const std::uint64_t count = setting("TREADLE_DIFFERENTIAL_PROGRAMS", 24);
  int differing = 0;
  for (std::uint64_t seed = first; seed < first + count && differing < 3; seed += kBatch) {
    std::vector<Program> programs;
    std::string text = preamble();
    for (std::uint64_t s = seed; s < std::min(seed + kBatch, first + count); ++s) {
      programs.push_back(generate(s, reach_of_this_run()));
      text += print(programs.back(), "k" + std::to_string(s));
    }
    Module module(text, {.options = options()});
    for (const Program& program : programs) {
      std::optional<std::string> found =
          difference(program, module.get("k" + std::to_string(program.seed)));
      if (!found) continue;
      ++differing;
      report(program);
    }
  }
  std::printf("%llu programs from seed %llu\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(first));
}

// Programs that once gave wrong results.
TEST(Differential, ProgramsThatFailedBefore) {
  if (!test::device_here()) GTEST_SKIP();
  give_stack();
  for (auto [seed, reach] : {std::pair{508, Reach::plain},
                             {2029, Reach::plain},
                             {300496, Reach::calls},
                             {820641, Reach::records}}) {
    Program program = generate(static_cast<std::uint64_t>(seed), reach);
    if (difference(program)) report(program);
  }
}

}  // namespace
}  // namespace td::differential
