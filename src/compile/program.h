// One source file of a whole CUDA C++ program -> a host object file that carries the image of its
// device code. Made by Clang inside the compiler plug-in; the core reaches it by name
// ("td_cc_program") through base/plugin.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace td::compile {

struct ProgramRequest {
  std::string file;         // as the user names it
  std::string language;     // "cuda", "c++" or "c"; only "cuda" has device code
  std::string object;       // file to write
  std::string compiler;     // the host's C++ compiler: its headers are used
  bool preprocess = false;  // write the preprocessed host text to `object` ("" = standard output)
  bool relocatable =
      false;  // device code may call functions of other files; joined when the program starts
  bool contract = true;
  bool flush_denormals = false;
  std::vector<std::string> options;  // of the host's C++ compiler: -I, -D, -O2, -g, -fopenmp
};

struct ProgramReply {
  bool ok = false;
  std::string log;  // diagnostics of both sides
};

// Relocatable images (bitcode) -> the image of the whole program. The reply's log is for people:
// what is missing.
struct LinkRequest {
  std::vector<std::string_view> images;
};
struct LinkReply {
  bool ok = false;
  std::string image;
  std::string log;
};

}  // namespace td::compile

extern "C" void td_cc_link_images(const td::compile::LinkRequest& request,
                                  td::compile::LinkReply& reply);
extern "C" void td_cc_program(const td::compile::ProgramRequest& request,
                              td::compile::ProgramReply& reply);
