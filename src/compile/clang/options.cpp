#include "compile/clang/options.h"

#include <string_view>

namespace td::compile {
namespace {

enum class Value { none, optional, required };

// What an option does with its value; returns "" or why the value is refused.
using Apply = std::string (*)(Options& options, const std::string& value);

struct OptionRow {
  std::string_view name;        // with its dashes
  std::string_view short_name;  // "" = none
  Value value;
  Apply apply;  // null: accepted, without effect here
};

std::string parse_bool(const std::string& value, bool& out) {
  if (value != "true" && value != "false") return "its value must be true or false";
  out = value == "true";
  return "";
}

std::string add_define(Options& o, const std::string& value) {
  const std::size_t equals = value.find('=');
  const std::string name = value.substr(0, equals);
  std::string body = equals == std::string::npos ? "1" : value.substr(equals + 1);
  body = body.substr(0, body.find('\n'));
  if (name.empty()) return "a macro's name is missing";
  o.macros.push_back("#define " + name + " " + body);
  return "";
}

std::string set_standard(Options& o, const std::string& value) {
  for (std::string_view known : {"c++11", "c++14", "c++17", "c++20", "c++23"}) {
    if (value != known) continue;
    // The device headers themselves are written in C++17.
    o.standard = known < "c++17" ? "c++17" : std::string(known);
    return "";
  }
  return "known are c++11, c++14, c++17, c++20 and c++23";
}

// clang-format off
const OptionRow kOptions[] = {
    // name                                    short       value             effect
    {"--define-macro",                         "-D",       Value::required,  add_define},
    {"--undefine-macro",                       "-U",       Value::required,
     [](Options& o, const std::string& v) { o.macros.push_back("#undef " + v); return std::string(); }},
    {"--include-path",                         "-I",       Value::required,
     [](Options& o, const std::string& v) { o.include_paths.push_back(v); return std::string(); }},
    {"--pre-include",                          "-include", Value::required,
     [](Options& o, const std::string& v) { o.pre_includes.push_back(v); return std::string(); }},
    {"--std",                                  "-std",     Value::required,  set_standard},
    {"--fmad",                                 "-fmad",    Value::required,
     [](Options& o, const std::string& v) { return parse_bool(v, o.contract); }},
    {"--ftz",                                  "-ftz",     Value::required,
     [](Options& o, const std::string& v) { return parse_bool(v, o.flush_denormals); }},
    {"--use_fast_math",                        "-use_fast_math", Value::none,
     [](Options& o, const std::string&) { o.contract = o.flush_denormals = true; return std::string(); }},
    {"--disable-warnings",                     "-w",       Value::none,
     [](Options& o, const std::string&) { o.warnings = false; return std::string(); }},
    // without effect
    {"--device-as-default-execution-space",    "-default-device", Value::none, nullptr},  // always
    {"--gpu-architecture",                     "-arch",    Value::required,  nullptr},
    {"--device-debug",                         "-G",       Value::none,      nullptr},
    {"--generate-line-info",                   "-lineinfo", Value::none,     nullptr},
    {"--dopt",                                 "-dopt",    Value::required,  nullptr},
    {"--maxrregcount",                         "-maxrregcount", Value::required, nullptr},
    {"--ptxas-options",                        "-Xptxas",  Value::required,  nullptr},
    {"--prec-div",                             "-prec-div", Value::required, nullptr},
    {"--prec-sqrt",                            "-prec-sqrt", Value::required, nullptr},
    {"--extra-device-vectorization",           "-extra-device-vectorization", Value::none, nullptr},
    {"--modify-stack-limit",                   "-modify-stack-limit", Value::required, nullptr},
    {"--relocatable-device-code",              "-rdc",     Value::required,  nullptr},
    {"--extensible-whole-program",             "-ewp",     Value::none,      nullptr},
    {"--device-c",                             "-dc",      Value::none,      nullptr},
    {"--device-w",                             "-dw",      Value::none,      nullptr},
    {"--restrict",                             "-restrict", Value::none,     nullptr},
    {"--device-int128",                        "-device-int128", Value::none, nullptr},
    {"--builtin-move-forward",                 "-builtin-move-forward", Value::required, nullptr},
    {"--builtin-initializer-list",             "-builtin-initializer-list", Value::required, nullptr},
    {"--optimization-info",                    "-opt-info", Value::required, nullptr},
    {"--display-error-number",                 "-err-no",  Value::none,      nullptr},
    {"--no-display-error-number",              "-no-err-no", Value::none,    nullptr},
    {"--diag-error",                           "-diag-error", Value::required, nullptr},
    {"--diag-suppress",                        "-diag-suppress", Value::required, nullptr},
    {"--diag-warn",                            "-diag-warn", Value::required, nullptr},
    {"--brief-diagnostics",                    "-brief-diag", Value::required, nullptr},
    {"--split-compile",                        "-split-compile", Value::required, nullptr},
    {"--minimal",                              "-minimal", Value::none,      nullptr},
    {"--no-cache",                             "-no-cache", Value::none,     nullptr},
    {"--no-source-include",                    "-no-source-include", Value::none, nullptr},
};
// clang-format on

std::string known_options() {
  std::string list;
  for (const OptionRow& row : kOptions) {
    list += list.empty() ? "" : ", ";
    list += row.name;
    if (row.apply == nullptr) list += " (no effect)";
  }
  return list;
}

// -Ifolder, -DNAME: one letter with the value joined on.
bool joins_value(const OptionRow& row, std::string_view text) {
  return row.value == Value::required && row.short_name.size() == 2 && text.size() > 2 &&
         text.substr(0, 2) == row.short_name;
}

struct Match {
  const OptionRow* row = nullptr;
  bool has_value = false;
  std::string value;
};

Match match_option(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = std::string_view(text).substr(0, equals);
  for (const OptionRow& row : kOptions) {
    if (name == row.name || (!row.short_name.empty() && name == row.short_name)) {
      if (equals == std::string::npos) return {&row, false, ""};
      return {&row, true, text.substr(equals + 1)};
    }
  }
  for (const OptionRow& row : kOptions) {
    if (joins_value(row, text)) return {&row, true, text.substr(2)};
  }
  return {};
}

}  // namespace

Options parse_options(const std::vector<std::string>& options) {
  Options result;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& text = options[i];
    Match match = match_option(text);
    if (match.row == nullptr) {
      result.error =
          "error: option '" + text + "' is not known. Known options: " + known_options() + "\n";
      return result;
    }
    if (match.row->value == Value::required && !match.has_value) {
      if (i + 1 == options.size()) {
        result.error = "error: option '" + text + "' needs a value: " + text + "=VALUE\n";
        return result;
      }
      match.value = options[++i];
    }
    if (match.row->value == Value::none && match.has_value) {
      result.error = "error: option '" + text + "' takes no value: write " +
                     std::string(match.row->name) + "\n";
      return result;
    }
    if (match.row->apply == nullptr) continue;
    const std::string problem = match.row->apply(result, match.value);
    if (!problem.empty()) {
      result.error = "error: option '" + text + "': " + problem + "\n";
      return result;
    }
  }
  return result;
}

}  // namespace td::compile
