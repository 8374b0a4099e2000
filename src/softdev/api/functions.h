// Handles of kernels: a CUfunction of a module, or the CUkernel of a library, which stands for the
// function of it that the current context has.
#pragma once

#include "softdev/api/guard.h"
#include "softdev/run/library.h"
#include "softdev/run/module.h"

namespace td::softdev {

// The function that a handle means in the context; null when it means none. A kernel of a library
// is loaded into the context by its first use.
CUresult resolve_function(Context& context, CUfunction handle, CUfunction* out);

// Runs body(context, function).
template <class Body>
CUresult in_function(CUfunction handle, const Body& body) {
  return in_context([&](Context& context) -> CUresult {
    CUfunction function = nullptr;
    if (CUresult error = resolve_function(context, handle, &function)) return error;
    return body(context, *function);
  });
}

CUresult function_attribute(const CUfunc_st& function, int attribute, int* value);
CUresult set_function_attribute(CUfunc_st& function, int attribute, int value);
CUresult function_param(const CUfunc_st& function, std::size_t index, std::size_t* offset,
                        std::size_t* size);

}  // namespace td::softdev
