// Signatures of the kernels in an image of NVRTC: which exist, from the image's symbols; types from
// the mangled name where there is one (exact), else from the declaration in the text; parameter
// names from the text.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.h"

namespace td::compile {

std::vector<KernelSignature> nvrtc_signatures(const std::string& image, const Source& source);

// Offsets by natural alignment, as far as every size before is known; 0 from there on.
void assign_offsets(std::vector<ParamInfo>& params);

}  // namespace td::compile
