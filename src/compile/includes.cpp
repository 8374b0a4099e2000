#include "compile/includes.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "compile/cuda_lexer.h"

namespace td::compile {

namespace {

constexpr std::size_t kMostFiles = 4000;

// The value of an option spelled "-X value", "-Xvalue" or "--long=value"; advances over a separate
// value.
bool option_value(const std::vector<std::string>& options, std::size_t& i, std::string_view brief,
                  std::string_view full, std::string& value) {
  const std::string& option = options[i];
  if (option == brief || option == full.substr(0, full.size() - 1)) {
    if (i + 1 >= options.size()) return false;
    value = options[++i];
  } else if (option.starts_with(full)) {
    value = option.substr(full.size());
  } else if (brief.size() == 2 && option.starts_with(brief)) {
    value = option.substr(brief.size());
  } else {
    return false;
  }
  return true;
}

bool read_file(const std::string& path, std::string& text) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  text.assign(std::istreambuf_iterator<char>(in), {});
  return in.good() || in.eof();
}

class Walk {
 public:
  Walk(std::vector<std::string> folders, base::Hasher& hasher)
      : folders_(std::move(folders)), hasher_(hasher) {}

  // `folder`: of the file that holds the text, where quoted names are looked for first.
  bool text(std::string_view text, const std::string& folder) {
    for (const IncludeLine& line : lex_cuda(text).includes) {
      if (line.name.empty() || !visit(std::string(line.name), line.angled ? "" : folder))
        return false;
    }
    return true;
  }

  // A name that lies in none of the folders is the compiler's own header, which the compiler's
  // identity covers.
  bool visit(const std::string& name, const std::string& folder) {
    std::vector<std::string> places;
    if (!folder.empty()) places.push_back(folder);
    places.insert(places.end(), folders_.begin(), folders_.end());
    for (const std::string& place : places) {
      std::string path = name.starts_with("/") ? name : place + "/" + name;
      if (seen_.contains(path)) return true;
      std::string content;
      if (!read_file(path, content)) continue;
      if (seen_.size() >= kMostFiles) return false;
      seen_.insert(path);
      hasher_.add(std::string_view(path)).add(std::string_view(content));
      return text(content, path.substr(0, path.rfind('/')));
    }
    return true;
  }

 private:
  std::vector<std::string> folders_;
  base::Hasher& hasher_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<std::string> include_folders(const std::vector<std::string>& options) {
  std::vector<std::string> out;
  std::string value;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (option_value(options, i, "-I", "--include-path=", value)) out.push_back(value);
  return out;
}

bool hash_includes(const Source& source, base::Hasher& hasher) {
  Walk walk(include_folders(source.options.options), hasher);
  const std::string& file = source.options.file_name;
  std::string own_folder =
      file.find('/') == std::string::npos ? "." : file.substr(0, file.rfind('/'));
  std::string value;
  const std::vector<std::string>& options = source.options.options;
  for (std::size_t i = 0; i < options.size(); ++i) {
    bool early = option_value(options, i, "-include", "--pre-include=", value);
    if (early && !walk.visit(value, ".")) return false;
  }
  return walk.text(source.text, own_folder);
}

}  // namespace td::compile
