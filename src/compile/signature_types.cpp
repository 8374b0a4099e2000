#include "compile/signature_types.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace td::compile {

namespace {

using Kind = ParamInfo::Kind;

struct NamedType {
  std::string_view name;
  Kind kind;
  DType dtype;  // meaningful when has_dtype
  bool has_dtype;
  std::size_t size, align;
};

constexpr NamedType scalar(std::string_view name, DType dtype) {
  return {name, Kind::scalar, dtype, true, itemsize(dtype), itemsize(dtype)};
}
constexpr NamedType complex(std::string_view name, DType dtype) {
  return {name, Kind::aggregate, dtype, true, itemsize(dtype), itemsize(dtype)};
}

// Single names of the CUDA headers and the fixed-width types. LP64: long has 8 bytes on both
// devices.
constexpr NamedType kNamedTypes[] = {
    scalar("bool", DType::bool_),
    scalar("size_t", DType::uint64),
    scalar("ptrdiff_t", DType::int64),
    scalar("ssize_t", DType::int64),
    scalar("intptr_t", DType::int64),
    scalar("uintptr_t", DType::uint64),
    scalar("int8_t", DType::int8),
    scalar("int16_t", DType::int16),
    scalar("int32_t", DType::int32),
    scalar("int64_t", DType::int64),
    scalar("uint8_t", DType::uint8),
    scalar("uint16_t", DType::uint16),
    scalar("uint32_t", DType::uint32),
    scalar("uint64_t", DType::uint64),
    scalar("uchar", DType::uint8),
    scalar("ushort", DType::uint16),
    scalar("uint", DType::uint32),
    scalar("ulong", DType::uint64),
    scalar("half", DType::float16),
    scalar("__half", DType::float16),
    scalar("td_half", DType::float16),
    scalar("nv_bfloat16", DType::bfloat16),
    scalar("__nv_bfloat16", DType::bfloat16),
    scalar("td_bfloat", DType::bfloat16),
    complex("cuComplex", DType::complex64),
    complex("cuFloatComplex", DType::complex64),
    complex("cuDoubleComplex", DType::complex128),
    complex("complex<float>", DType::complex64),
    complex("complex<double>", DType::complex128),
    complex("td_complex<float>", DType::complex64),
    complex("td_complex<double>", DType::complex128),
};

// CUDA's vector types: base name, bytes of an element; 2 and 4 lanes are aligned to their size (at
// most 16), 1 and 3 to an element ("CUDA C++ Programming Guide", built-in vector types).
struct VectorBase {
  std::string_view name;
  std::size_t bytes;
};
constexpr VectorBase kVectorBases[] = {
    {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2},   {"int", 4},       {"uint", 4},
    {"long", 8}, {"ulong", 8}, {"float", 4}, {"longlong", 8}, {"ulonglong", 8}, {"double", 8},
};

std::optional<TypeFacts> vector_type(std::string_view name) {
  if (name.empty() || name.back() < '1' || name.back() > '4') return {};
  std::size_t lanes = static_cast<std::size_t>(name.back() - '0');
  for (const VectorBase& base : kVectorBases) {
    if (name.substr(0, name.size() - 1) != base.name) continue;
    std::size_t size = lanes * base.bytes;
    return TypeFacts{
        Kind::aggregate, {},   size, lanes % 2 ? base.bytes : std::min<std::size_t>(size, 16),
        false,           false};
  }
  if (name == "dim3") return TypeFacts{Kind::aggregate, {}, 12, 4, false, false};
  return {};
}

constexpr std::string_view kBuiltinWords[] = {"void",  "char",   "short",  "int",      "long",
                                              "float", "double", "signed", "unsigned", "__int128"};
constexpr std::string_view kIgnoredWords[] = {
    "__restrict__", "__restrict", "restrict", "volatile", "__volatile__",      "register", "struct",
    "class",        "union",      "enum",     "typename", "__grid_constant__", "constexpr"};
constexpr std::string_view kQualifiers[] = {"const", "__const", "__const__"};

template <class List>
bool in(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// builtin := any order of: void | char | short | int | long | long long | float | double, with
// signed or unsigned
TypeFacts builtin_type(const std::vector<std::string_view>& words) {
  auto count = [&](std::string_view word) { return std::count(words.begin(), words.end(), word); };
  auto facts = [](DType d) {
    return TypeFacts{Kind::scalar, d, itemsize(d), itemsize(d), false, false};
  };
  bool is_unsigned = count("unsigned") > 0;
  if (count("void") || count("__int128")) return {};
  if (count("float")) return facts(DType::float32);
  if (count("double")) return count("long") ? TypeFacts{} : facts(DType::float64);
  if (count("char")) return facts(is_unsigned ? DType::uint8 : DType::int8);
  if (count("short")) return facts(is_unsigned ? DType::uint16 : DType::int16);
  if (count("long")) return facts(is_unsigned ? DType::uint64 : DType::int64);
  return facts(is_unsigned ? DType::uint32 : DType::int32);
}

// "std::", "cuda::std::", "thrust::" say where a name comes from, not what it is; other qualifiers
// are kept out too, since the names of the source are stored without their namespaces.
std::string_view unqualified(std::string_view name) {
  std::size_t angle = name.find('<');
  std::size_t colon = name.substr(0, angle).rfind("::");
  return colon == std::string_view::npos ? name : name.substr(colon + 2);
}

TypeFacts named_type(std::string_view full, const TypeNames& names) {
  std::string_view name = unqualified(full);
  if (auto own = names.find(name); own != names.end()) return own->second;
  for (const NamedType& row : kNamedTypes)
    if (row.name == name)
      return {row.kind, row.has_dtype ? std::optional(row.dtype) : std::nullopt,
              row.size, row.align,
              false,    false};
  return vector_type(name).value_or(TypeFacts{});
}

// Parts of one declaration.
struct Declaration {
  std::vector<std::string_view> builtin;  // builtin words of the type
  std::string named;                      // or its name, template arguments included
  bool base_const = false;
  int stars = 0;
  bool last_star_const = false;  // the qualifier in front of the last star
  bool hidden = false;           // a word of the type is a macro or template parameter
  bool odd = false;              // something that this grammar does not know
  std::string name;
};

// declaration := word* ('*' qualifier*)* name? ('[' … ']')*
class DeclarationReader {
 public:
  DeclarationReader(std::span<const Token> tokens, const TypeNames& names)
      : tokens_(tokens), names_(names) {}

  Declaration run() {
    bool pending_const = false;
    for (at_ = 0; at_ < tokens_.size() && !out_.odd; ++at_) {
      const Token& token = tokens_[at_];
      if (in(kQualifiers, token.text)) {
        pending_const = true;
        if (out_.stars == 0) out_.base_const = true;
      } else if (token.is("*")) {
        out_.last_star_const = out_.stars == 0 ? out_.base_const : pending_const;
        pending_const = false;
        ++out_.stars;
      } else if (token.is("[")) {
        bracket();
      } else if (token.identifier()) {
        word(token.text);
      } else if (token.is("::") && out_.stars == 0 && at_ + 1 < tokens_.size()) {
        out_.named += "::";
      } else {
        out_.odd = true;
      }
    }
    return std::move(out_);
  }

 private:
  bool has_type() const { return !out_.builtin.empty() || !out_.named.empty(); }

  void word(std::string_view text) {
    bool attribute = text == "alignas" || text == "__align__" || text == "__attribute__";
    auto own = names_.find(text);
    bool named = own != names_.end();
    if (named && own->second.no_word) return;
    // A name that means something may not be the parameter's: "unsigned LONG" with a macro LONG.
    if (named && has_type() && !continues_name()) out_.odd = true;
    if (named && own->second == TypeFacts{} && (!has_type() || continues_name()))
      out_.hidden = true;
    if (attribute) {
      skip_parentheses();
    } else if (in(kIgnoredWords, text)) {
      return;
    } else if (in(kBuiltinWords, text)) {
      out_.builtin.push_back(text);
      if (!out_.named.empty()) out_.odd = true;  // "UNSIGNED int" with a macro or typedef UNSIGNED
    } else if (!has_type() || continues_name()) {
      out_.named += text;
      template_arguments();
    } else if (out_.name.empty()) {
      out_.name = text;
    } else {
      out_.odd = true;
    }
  }

  bool continues_name() const { return out_.named.size() >= 2 && out_.named.ends_with("::"); }

  // '<' … '>' behind a type name, spelled without blanks
  void template_arguments() {
    if (at_ + 1 >= tokens_.size() || !tokens_[at_ + 1].is("<")) return;
    int depth = 0;
    while (++at_ < tokens_.size()) {
      const Token& token = tokens_[at_];
      depth += token.is("<") - token.is(">");
      bool both_words = token.identifier() && tokens_[at_ - 1].identifier();
      out_.named += (both_words ? " " : "") + std::string(token.text);
      if (depth == 0) return;
    }
    out_.odd = true;
  }

  void skip_parentheses() {
    int depth = 0;
    while (++at_ < tokens_.size()) {
      depth += tokens_[at_].is("(") - tokens_[at_].is(")");
      if (depth == 0) return;
    }
    out_.odd = true;
  }

  // '[[' attribute ']]', or an array, which a parameter turns into a pointer
  void bracket() {
    bool attribute = at_ + 1 < tokens_.size() && tokens_[at_ + 1].is("[");
    if (!attribute) {
      if (!has_type() || out_.stars > 0)
        out_.odd = true;  // arrays of pointers, of arrays: not read
      out_.last_star_const = out_.base_const;
      ++out_.stars;
    }
    int depth = 0;
    for (; at_ < tokens_.size(); ++at_) {
      depth += tokens_[at_].is("[") - tokens_[at_].is("]");
      if (depth == 0) return;
    }
    out_.odd = true;
  }

  std::span<const Token> tokens_;
  const TypeNames& names_;
  std::size_t at_ = 0;
  Declaration out_;
};

TypeFacts type_of(const Declaration& declaration, const TypeNames& names) {
  if (declaration.odd) return {};
  TypeFacts base;  // a hidden name may be anything, but with a star behind it is a pointer
  if (!declaration.hidden)
    base = declaration.named.empty() ? builtin_type(declaration.builtin)
                                     : named_type(declaration.named, names);
  base.is_const = base.is_const || (declaration.base_const && base.kind != Kind::pointer);
  int stars = declaration.stars + (base.kind == Kind::pointer ? 1 : 0);
  if (stars == 0) return base;
  TypeFacts pointer{Kind::pointer, base.dtype, 8, 8, base.is_const, false};
  if (stars > 1) {
    // What it points to is an address.
    pointer.dtype = DType::uint64;
    pointer.is_const = declaration.last_star_const;
  }
  return pointer;
}

// The tokens as source text: blanks where two words meet and behind commas.
std::string spelling(std::span<const Token> tokens, std::string_view without_name) {
  std::string out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].identifier() && tokens[i].text == without_name) continue;
    bool word = tokens[i].identifier() || tokens[i].kind == Token::Kind::number;
    bool after_word =
        !out.empty() && (std::isalnum(static_cast<unsigned char>(out.back())) || out.back() == '_');
    bool after_star = !out.empty() && (out.back() == '*' || out.back() == ',');
    if (word && (after_word || after_star)) out += ' ';
    out += tokens[i].text;
  }
  return out;
}

}  // namespace

ParamInfo read_parameter(std::span<const Token> tokens, const TypeNames& names) {
  Declaration declaration = DeclarationReader(tokens, names).run();
  TypeFacts facts = type_of(declaration, names);
  ParamInfo info;
  info.name = declaration.odd ? "" : declaration.name;
  info.type = spelling(tokens, info.name);
  info.kind = facts.kind;
  info.dtype = facts.dtype;
  info.pointee_const = facts.kind == Kind::pointer && facts.is_const;
  info.size = facts.size;
  info.align = facts.align;
  return info;
}

TypeFacts facts_of(const ParamInfo& parameter) {
  return {parameter.kind,  parameter.dtype,         parameter.size,
          parameter.align, parameter.pointee_const, false};
}

TypeFacts macro_facts(std::string_view name, std::string_view body, const TypeNames& names) {
  // Redefined keywords: nothing is certain any more.
  if (in(kBuiltinWords, name) || in(kIgnoredWords, name) || in(kQualifiers, name)) return {};
  Tokens tokens = lex_cuda(body);
  tokens.list.pop_back();
  bool nothing = std::all_of(tokens.list.begin(), tokens.list.end(), [](const Token& token) {
    return in(kIgnoredWords, token.text) && token.text != "struct" && token.text != "enum" &&
           token.text != "union" && token.text != "class";
  });
  TypeFacts facts;
  facts.no_word = nothing;
  if (nothing) return facts;
  ParamInfo type = read_parameter(tokens.list, names);
  return type.name.empty() ? facts_of(type) : TypeFacts{};
}

}  // namespace td::compile
