// The compiler plug-in, libtreadle_cc.so: Clang, the SIMT passes and LLVM's code generator. It is
// opened on first need, so that a process that finds everything cached never loads a compiler.
#pragma once

#include <string>

namespace td::base {

// Address of an extern "C" function of the plug-in, or null where the plug-in is absent or does not
// have it; then `why` says which file was tried and the loader's own words. Looked for beside the
// library that holds this code; TREADLE_CC names another file.
void* cc_plugin_symbol(const char* name, std::string* why);

// The file that cc_plugin_symbol opens; it need not exist. Opens nothing.
std::string cc_plugin_file();

// Names the plug-in by its build ID, without loading it; part of the keys of what it makes, so that
// a rebuilt compiler never meets its predecessor's cache entries, and so that copies of one build
// share theirs. A file without a build ID is named by path, size and time of change.
std::string cc_plugin_stamp();

// The folder of the library that holds this code, with '/' at its end; "" when it is unknown.
std::string library_folder();

// True once the plug-in has been opened in this process.
bool cc_plugin_loaded();

// Calls `function` when the main thread begins to end the process, before any handler of atexit:
// what it registers with on_exit then runs first of all, before static objects of the plug-in are
// destroyed (those that a compile makes on first use too). One function only. An exit() in another
// thread does not call it.
void before_exit_handlers(void (*function)());

}  // namespace td::base
