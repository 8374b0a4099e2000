#include "compile/signature_reader.h"

#include <algorithm>

#include "compile/cuda_lexer.h"
#include "compile/signature_types.h"

namespace td::compile {

namespace {

using Span = std::span<const Token>;

// A struct, class or union: passed as bytes; its size comes from the driver.
const TypeFacts kRecord{ParamInfo::Kind::aggregate, {}, 0, 0, false, false};

bool opens(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool closes(const Token& token) { return token.is(")") || token.is("]") || token.is("}"); }

// "__launch_bounds__", "__attribute__", "__cluster_dims__", …: with parentheses behind, an
// attribute and no name.
bool attribute_name(std::string_view word) {
  return word.size() > 4 && word.starts_with("__") && word.ends_with("__");
}

class Reader {
 public:
  Reader(Tokens tokens, const std::vector<std::string>& options) : tokens_(std::move(tokens.list)) {
    for (std::size_t i = 0; i < options.size(); ++i) {
      std::string_view option = options[i];
      if (option == "-D" && i + 1 < options.size())
        option = options[++i];
      else if (option.starts_with("-D"))
        option.remove_prefix(2);
      else if (option.starts_with("--define-macro="))
        option.remove_prefix(15);
      else
        continue;
      std::size_t equal = std::min(option.find('='), option.size());
      std::string_view body = equal < option.size() ? option.substr(equal + 1) : "1";
      bool plain = option.substr(0, equal).find('(') == std::string_view::npos;
      macro({option.substr(0, option.find_first_of("=(")), body, plain, false}, false);
    }
    for (const MacroLine& line : tokens.macros) macro(line, !tokens.includes.empty());
  }

  // source := (namespace | linkage | template | alias | record | kernel | '}' | any other token)*
  std::vector<ReadKernel> run() {
    while (now().kind != Token::Kind::end) {
      const Token& token = now();
      if (token.is("namespace")) {
        open_namespace();
      } else if (token.is("extern")) {
        linkage();
      } else if (token.is("template")) {
        template_head();
      } else if (token.is("typedef") || token.is("using")) {
        alias(token.is("typedef"));
      } else if (token.is("struct") || token.is("class") || token.is("union") || token.is("enum")) {
        record();
      } else if (token.is("__global__")) {
        kernel();
      } else if (token.is("}")) {
        close_scope();
      } else if (token.is("{")) {
        skip_group();  // a function's body or an initialiser
        end_declaration();
      } else {
        if (token.is(";")) end_declaration();
        ++at_;
      }
    }
    return merge();
  }

 private:
  struct Scope {
    std::string name;  // of a namespace, "" otherwise
    bool extern_c;     // the linkage around the scope, restored behind it
  };

  const Token& now(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool at_end() const { return now().kind == Token::Kind::end; }

  void end_declaration() {
    template_ = false;
    extern_c_once_ = false;
    template_names_.clear();
  }

  // At an opening bracket: jumps behind the closing one and gives what stands between.
  Span skip_group() {
    std::size_t start = at_ + 1;
    int depth = 0;
    for (; !at_end(); ++at_) {
      depth += opens(now()) - closes(now());
      if (depth == 0) break;
    }
    Span inner(tokens_.data() + std::min(start, at_), tokens_.data() + at_);
    if (!at_end()) ++at_;
    return inner;
  }

  // At '<': jumps behind the matching '>'.
  Span skip_angles() {
    std::size_t start = at_ + 1;
    int depth = 0;
    while (!at_end()) {
      if (opens(now())) {
        skip_group();
        continue;
      }
      depth += now().is("<") - now().is(">");
      if (depth == 0) break;
      ++at_;
    }
    Span inner(tokens_.data() + std::min(start, at_), tokens_.data() + at_);
    if (!at_end()) ++at_;
    return inner;
  }

  // namespace := 'inline'? 'namespace' (name ('::' name)*)? '{'
  void open_namespace() {
    ++at_;
    std::string name;
    while (now().identifier() || now().is("::")) name += tokens_[at_++].text;
    if (now().is("{")) {
      scopes_.push_back({name, extern_c_});
      extern_c_ = false;
      ++at_;
    }
  }

  // linkage := 'extern' ('"C"' | '"C++"')? '{'?
  void linkage() {
    ++at_;
    if (now().kind != Token::Kind::literal) return;
    bool c = now().text == "\"C\"";
    ++at_;
    if (now().is("{")) {
      scopes_.push_back({"", extern_c_});
      extern_c_ = c;
      ++at_;
    } else {
      extern_c_once_ = c;
    }
  }

  void close_scope() {
    ++at_;
    end_declaration();
    if (scopes_.empty()) return;
    extern_c_ = scopes_.back().extern_c;
    scopes_.pop_back();
  }

  // template := 'template' ('<' (word+ name ('=' default)?)*, '>')?; its names hide types of the
  // same name
  void template_head() {
    ++at_;
    template_ = true;
    if (!now().is("<")) return;
    Span inside = skip_angles();
    bool in_default = false;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      bool last = i + 1 == inside.size() || inside[i + 1].is(",") || inside[i + 1].is("=");
      if (inside[i].is(",")) in_default = false;
      if (inside[i].is("=")) in_default = true;
      if (inside[i].identifier() && last && !in_default)
        template_names_.push_back(std::string(inside[i].text));
    }
  }

  // alias := 'typedef' declaration ';' | 'using' name '=' declaration ';'
  void alias(bool is_typedef) {
    std::size_t start = ++at_;
    bool record = false;
    while (!at_end() && !now().is(";")) {
      record |= now().is("{");
      if (opens(now()))
        skip_group();
      else
        ++at_;
    }
    Span body(tokens_.data() + start, tokens_.data() + at_);
    if (is_typedef && body.size() > 1 && body.back().identifier()) {
      Span type = body.first(body.size() - 1);
      bool plain_record = record && type.back().is("}") && !body[0].is("enum");
      define(body.back().text, plain_record ? kRecord : unnamed(type));
    } else if (!is_typedef && body.size() > 2 && body[0].identifier() && body[1].is("=")) {
      define(body[0].text, template_ ? TypeFacts{} : unnamed(body.subspan(2)));
    }
    end_declaration();
  }

  // The facts of a type without a declared name; unknown when it is not just that.
  TypeFacts unnamed(Span tokens) const {
    ParamInfo type = read_parameter(tokens, names_);
    return type.name.empty() ? facts_of(type) : TypeFacts{};
  }

  // record := ('struct' | 'class' | 'union' | 'enum' 'class'?) attribute* name … ('{' … '}')?
  void record() {
    bool is_enum = now().is("enum");
    ++at_;
    if (is_enum && (now().is("class") || now().is("struct"))) ++at_;
    while (attribute_name(now().text) || now().is("alignas") || now().is("[")) {
      if (!now().is("[")) ++at_;
      if (opens(now())) skip_group();
    }
    if (!now().identifier()) return;
    std::string_view name = now().text;
    ++at_;
    // Only a definition or forward declaration gives the name; "struct P p" in a declaration uses
    // it.
    if (now().is("{") || now().is(":") || now().is(";") || now().is("final"))
      define(name, is_enum || template_ ? TypeFacts{} : kRecord);
  }

  // A name that the text uses as a type must have been defined by the one #define that it has, even
  // under an #if, unless an included file may have defined it.
  void macro(const MacroLine& line, bool has_includes) {
    if (line.name.empty()) return;
    bool certain = line.plain && !(line.conditional && has_includes);
    define(line.name, certain ? macro_facts(line.name, line.body, names_) : TypeFacts{});
  }

  // A second, different definition (in another branch of an #if, another namespace) makes the name
  // unknown.
  void define(std::string_view name, const TypeFacts& facts) {
    auto [row, fresh] = names_.try_emplace(std::string(name), facts);
    if (!fresh && row->second != facts) row->second = {};
  }

  // kernel := '__global__' (word | attribute '(' … ')' | '[[' … ']]')* name ('<' … '>')? '('
  // parameters ')' (';' | body)
  void kernel() {
    ++at_;
    while (!at_end()) {
      if (now().is("[")) {
        skip_group();
      } else if (now().identifier() && attribute_name(now().text)) {
        ++at_;
        if (now().is("(")) skip_group();
      } else if (now().identifier() && !now(1).is("(") && !now(1).is("<")) {
        ++at_;
      } else {
        break;
      }
    }
    if (!now().identifier()) return;
    std::string_view name = now().text;
    bool hidden = names_.contains(name);
    ++at_;
    bool specialised = now().is("<");
    if (specialised) skip_angles();
    if (!now().is("(")) return;
    Span inside = skip_group();
    // A macro's call, or the instance of a template: the compiler's symbols say more than the text.
    if (hidden || specialised || !(now().is("{") || now().is(";"))) return;
    add(name, inside);
  }

  void add(std::string_view name, Span inside) {
    ReadKernel kernel;
    std::string scope;
    for (const Scope& outer : scopes_)
      if (!outer.name.empty()) scope += outer.name + "::";
    bool c = extern_c_ || extern_c_once_;
    kernel.is_template = template_;
    kernel.signature.name = (c ? "" : scope) + std::string(name);
    if (c) kernel.signature.symbol = name;
    TypeNames names = names_;
    for (const std::string& hidden : template_names_) names[hidden] = {};
    kernel.signature.params_known = parameters(inside, names, kernel.signature.params);
    kernels_.push_back(std::move(kernel));
  }

  // parameters := nothing | 'void' | declaration ('=' default)? (',' declaration ('=' default)?)*
  // False where a comma cannot be told from a template argument's: the default has a '<'.
  static bool parameters(Span inside, const TypeNames& names, std::vector<ParamInfo>& out) {
    if (inside.empty() || (inside.size() == 1 && inside[0].is("void"))) return true;
    std::size_t start = 0, default_at = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= inside.size(); ++i) {
      bool end = i == inside.size();
      if (!end && depth == 0 && default_at == 0 && inside[i].is("=")) default_at = i;
      if (end || (depth == 0 && inside[i].is(","))) {
        std::size_t stop = default_at ? default_at : i;
        out.push_back(read_parameter(inside.subspan(start, stop - start), names));
        start = i + 1, default_at = 0;
        continue;
      }
      if (default_at && inside[i].is("<")) return false;
      if (inside[i].is("...")) return false;
      depth += opens(inside[i]) || inside[i].is("<");
      depth -= closes(inside[i]) || inside[i].is(">");
    }
    return depth == 0;
  }

  // One entry a name: a declaration and its definition agree; overloads and #if alternatives do
  // not.
  std::vector<ReadKernel> merge() {
    std::vector<ReadKernel> out;
    for (ReadKernel& kernel : kernels_) {
      auto same = std::find_if(out.begin(), out.end(), [&](const ReadKernel& other) {
        return other.signature.name == kernel.signature.name;
      });
      if (same == out.end()) {
        out.push_back(std::move(kernel));
        continue;
      }
      if (!agree(same->signature.params, kernel.signature.params)) {
        same->signature.params.clear();
        same->signature.params_known = false;
      } else if (kernel.signature.params_known && same->signature.params_known) {
        same->signature.params =
            std::move(kernel.signature.params);  // the definition names its parameters
      }
      same->is_template |= kernel.is_template;
      if (same->signature.symbol.empty()) same->signature.symbol = kernel.signature.symbol;
    }
    return out;
  }

  static bool agree(const std::vector<ParamInfo>& a, const std::vector<ParamInfo>& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const ParamInfo& x, const ParamInfo& y) { return facts_of(x) == facts_of(y); });
  }

  friend std::optional<std::vector<ParamInfo>> td::compile::read_demangled(std::string_view,
                                                                           std::string&);

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  TypeNames names_;
  std::vector<Scope> scopes_;
  bool extern_c_ = false, extern_c_once_ = false, template_ = false;
  std::vector<std::string> template_names_;
  std::vector<ReadKernel> kernels_;
};

}  // namespace

std::vector<ReadKernel> read_kernels(std::string_view source,
                                     const std::vector<std::string>& options) {
  return Reader(lex_cuda(source), options).run();
}

std::optional<std::vector<ParamInfo>> read_demangled(std::string_view demangled,
                                                     std::string& name) {
  // The parameter list is the last parenthesised group: "void ns::k<(Mode)1>(float*, int)".
  std::size_t close = demangled.rfind(')');
  std::size_t open = std::string_view::npos;
  int depth = 0;
  for (std::size_t i = close; close != std::string_view::npos; --i) {
    depth += (demangled[i] == ')') - (demangled[i] == '(');
    if (depth == 0) open = i;
    if (depth == 0 || i == 0) break;
  }
  std::string_view head = demangled.substr(0, open);
  if (head.starts_with("void ")) head.remove_prefix(5);  // templates carry their return type
  name = head;
  std::vector<ParamInfo> params;
  if (open == std::string_view::npos) return {};
  Tokens tokens = lex_cuda(demangled.substr(open + 1, close - open - 1));
  tokens.list.pop_back();
  if (!Reader::parameters(tokens.list, {}, params)) return {};
  return params;
}

}  // namespace td::compile
