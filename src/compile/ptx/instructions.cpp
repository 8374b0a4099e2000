#include "compile/ptx/instructions.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace td::compile::ptx {
namespace {

constexpr Type::Kind BITS = Type::Kind::bits, INTEGER = Type::Kind::integer,
                     FLOAT = Type::Kind::floating, PREDICATE = Type::Kind::predicate;
constexpr Type kTypes[] = {
#define PTX_TYPE(name, bits, kind, cpp) {#name, bits, kind, #cpp},
#include "ptx_types.def"
};

// One of these words, or, when optional, none.
struct Group {
  std::vector<std::string> words;
  bool optional = false, fixed = false;  // fixed: a word of the row itself, not counted as $n
};

// A row taken apart.
struct Form {
  const Row* row;
  std::string name;
  std::vector<Group> groups;
  std::vector<std::vector<std::string>> types;
  std::vector<Slot> slots;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::string& word : base::split(text, ' '))
    if (!word.empty()) words.push_back(std::move(word));
  return words;
}

// "mad.(lo|hi)[.sat]": what stands in parentheses is required, in brackets optional.
void read_pattern(std::string_view pattern, Form& form) {
  std::size_t at = std::min(pattern.find_first_of(".["), pattern.size());
  form.name = pattern.substr(0, at);
  while (at < pattern.size()) {
    Group group;
    group.optional = pattern[at] == '[';
    group.fixed = !group.optional && pattern[at + 1] != '(';
    const std::size_t end = group.fixed ? pattern.find_first_of(".[", at + 1)
                                        : pattern.find(group.optional ? ']' : ')', at);
    std::string text(pattern.substr(at, end - at));
    std::erase_if(text, [](char c) { return c == '.' || c == '[' || c == '('; });
    group.words = base::split(text, '|');
    form.groups.push_back(std::move(group));
    at = end == std::string_view::npos ? pattern.size() : end + !form.groups.back().fixed;
  }
}

// "=d|p", "[a:V@shared]", "#c:u32", "~a:S"
Slot read_slot(std::string_view text) {
  Slot slot;
  auto take = [&](char mark) {
    if (text.empty() || text.front() != mark) return false;
    text.remove_prefix(1);
    return true;
  };
  slot.output = take('=');
  slot.immediate = take('#');
  slot.any_width = take('~');
  slot.address = take('[');
  if (slot.address) text.remove_suffix(1);
  auto cut = [&](char mark) {
    const std::size_t at = text.find(mark);
    std::string part(at == std::string_view::npos ? "" : text.substr(at + 1));
    text = text.substr(0, at);
    return part;
  };
  slot.space = cut('@');
  slot.type = cut(':');
  slot.second = cut('|');
  slot.name = text;
  if (slot.type.empty()) slot.type = "T";
  return slot;
}

Form read_row(const Row& row) {
  Form form{&row, "", {}, {}, {}};
  read_pattern(row.pattern, form);
  if (*row.types)
    for (const std::string& list : base::split(row.types, '/'))
      form.types.push_back(words_of(list));
  for (const std::string& slot : words_of(row.operands)) form.slots.push_back(read_slot(slot));
  return form;
}

const std::multimap<std::string, Form>& forms() {
  static const auto& table = *[] {
    auto* made = new std::multimap<std::string, Form>;
    for (const Row& row : rows()) {
      Form form = read_row(row);
      std::string name = form.name;
      made->emplace(std::move(name), std::move(form));
    }
    return made;
  }();
  return table;
}

bool fits(const Form& form, const std::vector<std::string>& words, Match& match) {
  match = {form.row, {}, {}, form.slots};
  // The types are the last words that are types.
  std::vector<bool> used(words.size());
  used[0] = true;
  std::size_t at = words.size();
  for (std::size_t i = form.types.size(); i-- > 0;) {
    do {
      if (at-- <= 1) return false;
    } while (find_type(words[at]) == nullptr);
    if (std::find(form.types[i].begin(), form.types[i].end(), words[at]) == form.types[i].end())
      return false;
    used[at] = true;
    match.types.insert(match.types.begin(), find_type(words[at]));
  }
  for (const Group& group : form.groups) {
    std::string found;
    for (std::size_t i = 1; i < words.size() && found.empty(); ++i) {
      if (used[i] ||
          std::find(group.words.begin(), group.words.end(), words[i]) == group.words.end())
        continue;
      used[i] = true;
      found = words[i];
    }
    if (found.empty() && !group.optional) return false;
    if (!group.fixed) match.words.push_back(found);
  }
  return std::find(used.begin(), used.end(), false) == used.end();
}

std::string listed(const std::vector<std::string>& words) {
  return words.size() == 1 ? "." + words[0] : ".{" + base::join(words, ",") + "}";
}

}  // namespace

const Type* find_type(std::string_view name) {
  for (const Type& type : kTypes)
    if (type.name == name) return &type;
  return nullptr;
}

const SpecialRegister* find_special_register(std::string_view name) {
  static const auto& table = *new std::vector<SpecialRegister>{
#define PTX_REGISTER(name, type, ...) {name, find_type(#type), #__VA_ARGS__},
#include "ptx_registers.def"
  };
  for (const SpecialRegister& row : table)
    if (row.name == name) return &row;
  return nullptr;
}

const std::vector<Row>& rows() {
  static const auto& table = *new std::vector<Row>{
#define PTX(pattern, types, operands, ...) {pattern, types, operands, #__VA_ARGS__, true},
#define PTX_UNSUPPORTED(name, what) {name, "", "", what, false},
#include "ptx_instructions.def"
  };
  return table;
}

std::vector<Match> find_instruction(const std::vector<std::string>& words) {
  std::vector<Match> matches;
  const auto [first, last] = forms().equal_range(words.empty() ? "" : words[0]);
  for (auto form = first; form != last; ++form) {
    Match match;
    if (!form->second.row->supported) {
      match.row = form->second.row;
      return {match};
    }
    if (fits(form->second, words, match)) matches.push_back(std::move(match));
  }
  return matches;
}

std::string spelling(const Row& row) {
  const Form form = read_row(row);
  std::string text = form.name;
  for (const Group& group : form.groups)
    text += group.optional ? "[" + listed(group.words) + "]" : listed(group.words);
  for (const auto& list : form.types) text += listed(list);
  std::vector<std::string> operands;
  for (const Slot& slot : form.slots) {
    std::string name = slot.second.empty() ? slot.name : slot.name + "|" + slot.second;
    operands.push_back(slot.address ? "[" + name + "]" : name);
  }
  return operands.empty() ? text : text + " " + base::join(operands, ", ");
}

std::vector<std::vector<std::string>> instances(const Row& row) {
  const Form form = read_row(row);
  // What each group may put there; the first is its plainest.
  std::vector<std::vector<std::string>> choices;
  for (const Group& group : form.groups) {
    choices.push_back(group.words);
    if (group.optional) choices.back().insert(choices.back().begin(), "");
  }
  std::vector<std::vector<std::string>> ends = {{}};
  for (const auto& list : form.types) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& start : ends)
      for (const std::string& type : list) {
        longer.push_back(start);
        longer.back().push_back(type);
      }
    ends = std::move(longer);
  }
  std::vector<std::vector<std::string>> made;
  auto add = [&](std::size_t changed, std::size_t choice, const std::vector<std::string>& end) {
    std::vector<std::string> words = {form.name};
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const std::string& word = choices[i][i == changed ? choice : 0];
      if (!word.empty()) words.push_back(word);
    }
    words.insert(words.end(), end.begin(), end.end());
    made.push_back(std::move(words));
  };
  for (const auto& end : ends) add(choices.size(), 0, end);
  for (std::size_t i = 0; i < choices.size(); ++i)
    for (std::size_t j = 1; j < choices[i].size(); ++j)
      for (const auto& end : ends) add(i, j, end);
  return made;
}

}  // namespace td::compile::ptx
