// docs/inline-ptx.md lists what the tables hold.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/text.h"
#include "compile/ptx/instructions.h"

namespace td::compile::ptx {
namespace {

struct Section {
  const char* title;
  std::size_t first;  // row
};

std::vector<Section> sections() {
  std::vector<Section> list;
  std::size_t count = 0;
#define PTX(...) ++count;
#define PTX_UNSUPPORTED(...) ++count;
#define PTX_SECTION(title) list.push_back({title, count});
#include "ptx_instructions.def"
  list.push_back({nullptr, count});
  return list;
}

std::string name_of(const Row& row) {
  const std::string pattern = row.pattern;
  return pattern.substr(0, pattern.find_first_of(".["));
}

// In a table of Markdown.
std::string escaped(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, 1, '\\');
  return text;
}

// A line for each instruction: its name and its forms.
std::string tables() {
  std::string text;
  const std::vector<Section> all = sections();
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    text += base::cat("\n### ", all[i].title, "\n\n| instruction | forms |\n|---|---|\n");
    std::vector<std::string> names;
    std::map<std::string, std::vector<std::string>> forms;
    for (std::size_t r = all[i].first; r < all[i + 1].first; ++r) {
      const Row& row = rows()[r];
      std::vector<std::string>& list = forms[name_of(row)];
      if (list.empty()) names.push_back(name_of(row));
      list.push_back(row.supported ? base::cat("`", escaped(spelling(row)), "`") : row.body);
    }
    for (const std::string& name : names)
      text += base::cat("| `", name, "` | ", base::join(forms[name], "<br>"), " |\n");
  }
  text += "\n### Special registers\n\n";
  std::vector<std::string> registers;
#define PTX_REGISTER(name, type, ...) registers.push_back("`%" name "`");
#include "ptx_registers.def"
  return text + base::join(registers, ", ") + "\n";
}

TEST(Docs, ThePageListsTheTables) {
  const std::string file = TREADLE_DOCS "/inline-ptx.md", marker = "<!-- from the tables -->\n";
  std::stringstream page;
  page << std::ifstream(file).rdbuf();
  const std::string text = page.str(),
                    right = text.substr(0, text.find(marker)) + marker + tables();
  const std::string copy = testing::TempDir() + "inline-ptx.md";
  std::ofstream(copy) << right;
  EXPECT_EQ(text, right) << "the right page was written to " << copy;
}

}  // namespace
}  // namespace td::compile::ptx
