// The host's half of a program, between Clang and the code generator.
#pragma once

#include "llvm/IR/Module.h"

namespace td::compile {

// __managed__ variables: what the host sees is the device's variable itself. Clang leaves a host
// variable of the same name; every use of it becomes a use of the address that the runtime has
// found when the program started.
// Relocatable images: the function by which Clang hands such an image to a device linker hands it
// to the runtime.
void finish_host(llvm::Module& module);

}  // namespace td::compile
