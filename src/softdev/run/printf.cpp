// printf of a kernel. In two steps: first everything that the kernel's pointers name is copied to a
// buffer of ours, where a bad pointer may fault; then it is formatted and queued, where nothing
// can.
//
// CUDA's rules: the argument buffer holds each argument at its natural alignment (float already
// widened to double); 'h' and 'hh' arguments are ints; 'l' is 8 bytes. Output of one call stays
// together.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include "softdev/run/context.h"
#include "softdev/run/fault.h"
#include "softdev/run/no_sanitize.h"
#include "softdev/run/print.h"

namespace td::softdev {

namespace {

constexpr std::size_t kMaxFormat = 2048;
constexpr std::size_t kMaxArguments = 32;
constexpr std::size_t kMaxStrings = 4096;

enum class ArgumentKind : unsigned char { none, i32, i64, real, string, pointer };

// One conversion of a format: its text without length modifiers, and what it takes.
struct Conversion {
  ArgumentKind kind = ArgumentKind::none;
  std::size_t begin = 0, end = 0;  // in the format, '%' to past the conversion letter
  unsigned char stars = 0;
};

struct Argument {
  std::uint64_t bits = 0;
  std::uint32_t string_at = 0;
  int stars[2] = {0, 0};
};

struct Captured {
  char format[kMaxFormat];
  Conversion conversions[kMaxArguments];
  Argument arguments[kMaxArguments];
  std::size_t count = 0;
  char strings[kMaxStrings];
};

TD_RT_TEXT TD_ON_WARP_STACK bool is_one_of(char c, const char* set) {
  for (; *set; ++set)
    if (c == *set) return true;
  return false;
}

TD_RT_TEXT TD_ON_WARP_STACK ArgumentKind kind_of(char letter, bool wide) {
  if (is_one_of(letter, "dioxXuc"))
    return wide && letter != 'c' ? ArgumentKind::i64 : ArgumentKind::i32;
  if (is_one_of(letter, "eEfFgGaA")) return ArgumentKind::real;
  if (letter == 's') return ArgumentKind::string;
  if (letter == 'p') return ArgumentKind::pointer;
  return ArgumentKind::none;
}

// Finds the conversions of the format; the rest of an over-long list is printed as it stands.
TD_RT_TEXT TD_ON_WARP_STACK void parse(Captured& out) {
  const char* f = out.format;
  for (std::size_t i = 0; f[i] && out.count < kMaxArguments; ++i) {
    if (f[i] != '%') continue;
    Conversion c;
    c.begin = i++;
    while (is_one_of(f[i], "-+ #0") && f[i]) ++i;
    bool wide = false;
    for (; f[i] && (is_one_of(f[i], "0123456789.*")); ++i)
      if (f[i] == '*' && c.stars < 2) ++c.stars;
    for (; f[i] && is_one_of(f[i], "hlLqjzt"); ++i)
      if (f[i] != 'h') wide = true;
    if (!f[i]) return;
    c.kind = kind_of(f[i], wide);
    c.end = i + 1;
    out.conversions[out.count++] = c;
  }
}

TD_RT_TEXT TD_ON_WARP_STACK std::uint64_t take(const unsigned char*& at, std::size_t bytes) {
  auto address = reinterpret_cast<std::uintptr_t>(at);
  address = (address + bytes - 1) / bytes * bytes;
  const auto* from = reinterpret_cast<const volatile unsigned char*>(address);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  at = reinterpret_cast<const unsigned char*>(address + bytes);
  return value;
}

TD_RT_TEXT TD_ON_WARP_STACK void capture(Captured& out, const char* format, const void* arguments) {
  out.count = 0;
  std::size_t length = 0;
  for (const volatile char* f = format; length + 1 < kMaxFormat && f[length]; ++length)
    out.format[length] = f[length];
  out.format[length] = 0;
  parse(out);
  auto* at = static_cast<const unsigned char*>(arguments);
  std::size_t used = 0;
  for (std::size_t i = 0; i < out.count; ++i) {
    Argument& argument = out.arguments[i];
    argument.stars[0] = argument.stars[1] = 0;
    for (unsigned star = 0; star < out.conversions[i].stars; ++star)
      argument.stars[star] = static_cast<int>(take(at, 4));
    ArgumentKind kind = out.conversions[i].kind;
    if (kind == ArgumentKind::none) continue;
    argument.bits = take(at, kind == ArgumentKind::i32 ? 4 : 8);
    if (kind != ArgumentKind::string) continue;
    argument.string_at = static_cast<std::uint32_t>(used);
    auto* text = reinterpret_cast<const volatile char*>(argument.bits);
    const char* none = "(null)";
    for (std::size_t k = 0; used + 1 < kMaxStrings; ++k) {
      char c = text ? text[k] : none[k];
      if (!c) break;
      out.strings[used++] = c;
    }
    out.strings[used] = 0;
    if (used + 1 < kMaxStrings) ++used;
  }
}

template <class... Values>
void print_one(std::string& out, const std::string& spec, const Values&... values) {
  char buffer[512];
  int length = std::snprintf(buffer, sizeof buffer, spec.c_str(), values...);
  if (length < 0) return;
  if (static_cast<std::size_t>(length) < sizeof buffer) {
    out.append(buffer, static_cast<std::size_t>(length));
    return;
  }
  std::string big(static_cast<std::size_t>(length) + 1, 0);
  std::snprintf(big.data(), big.size(), spec.c_str(), values...);
  out.append(big.data(), static_cast<std::size_t>(length));
}

template <class T>
void print_with_stars(std::string& out, const std::string& spec, unsigned stars,
                      const Argument& argument, T value) {
  if (stars == 0) print_one(out, spec, value);
  if (stars == 1) print_one(out, spec, argument.stars[0], value);
  if (stars == 2) print_one(out, spec, argument.stars[0], argument.stars[1], value);
}

void print_conversion(std::string& out, const Captured& in, const Conversion& c,
                      const Argument& argument) {
  std::string_view text(in.format + c.begin, c.end - c.begin);
  char letter = text.back();
  if (letter == '%') {
    out += '%';
    return;
  }
  std::string spec;
  for (char part : text.substr(0, text.size() - 1))
    if (!std::strchr("hlLqjzt", part)) spec += part;
  switch (c.kind) {
    case ArgumentKind::none:
      out += text;
      return;
    case ArgumentKind::i32:
    case ArgumentKind::i64: {
      bool is_signed = letter == 'd' || letter == 'i';
      auto value = c.kind == ArgumentKind::i64 ? static_cast<long long>(argument.bits)
                   : is_signed                 ? static_cast<std::int32_t>(argument.bits)
                               : static_cast<long long>(static_cast<std::uint32_t>(argument.bits));
      if (letter == 'c')
        return print_with_stars(out, spec + 'c', c.stars, argument,
                                static_cast<int>(argument.bits));
      return print_with_stars(out, spec + "ll" + letter, c.stars, argument, value);
    }
    case ArgumentKind::real: {
      double value;
      std::memcpy(&value, &argument.bits, sizeof value);
      return print_with_stars(out, spec + letter, c.stars, argument, value);
    }
    case ArgumentKind::string:
      return print_with_stars(out, spec + 's', c.stars, argument, in.strings + argument.string_at);
    case ArgumentKind::pointer:
      return print_with_stars(out, spec + 'p', c.stars, argument,
                              reinterpret_cast<void*>(argument.bits));
  }
}

std::string format_text(const Captured& in) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < in.count; ++i) {
    const Conversion& c = in.conversions[i];
    out.append(in.format + at, c.begin - at);
    print_conversion(out, in, c, in.arguments[i]);
    at = c.end;
  }
  return out + (in.format + at);
}

// One per executor; too large for a warp's stack.
Captured& buffer_of(const Executor& executor) {
  static Captured* const buffers = new Captured[Scheduler::get().workers()];
  return buffers[executor.index()];
}

}  // namespace

}  // namespace td::softdev

// The return value is CUDA's: the number of arguments.
extern "C" TD_ON_WARP_STACK std::int32_t td_rt_printf(td::softdev::BlockFrame* block,
                                                      const char* format, const void* arguments) {
  auto& executor = *static_cast<td::softdev::Executor*>(block->scheduler);
  td::softdev::Captured& captured = td::softdev::buffer_of(executor);
  td::softdev::capture(captured, format, arguments);
  executor.running.load()->prints().append(td::softdev::format_text(captured));
  return static_cast<std::int32_t>(captured.count);
}
