// Stands in where there are no OpenCL headers.
#include "case.h"

namespace bench {

std::unique_ptr<Runner> on_opencl(const Case&, const std::string&) { return nullptr; }
std::string opencl_device() { return ""; }

}  // namespace bench
