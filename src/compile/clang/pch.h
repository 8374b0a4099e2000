// The device prelude, precompiled once for each set of language options.
//
// The build makes those of the usual options and puts them beside the plug-in, so that a user's
// first kernel does not wait for them. Others are kept in memory for the life of the process and,
// when a folder is given, in a file there, whose name says Clang's version, the options and the
// headers it was made from. Files are written beside their final name and renamed, so that any
// number of processes may share the folder; a file whose checksum is wrong is made anew.
#pragma once

#include <memory>
#include <string>

#include "compile/clang/options.h"
#include "llvm/Support/MemoryBuffer.h"

namespace td::compile {

// The precompiled prelude, or null when Clang could not make it (a defect of ours: `log` has
// Clang's words). A folder that cannot be written costs the next process its time, nothing else.
// Safe from any number of threads.
std::unique_ptr<llvm::MemoryBuffer> precompiled_prelude(const Options& options,
                                                        const std::string& folder,
                                                        std::string& log);

}  // namespace td::compile
