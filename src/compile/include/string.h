#pragma once
#pragma clang system_header
// memcpy, memmove and memset are in the prelude.
