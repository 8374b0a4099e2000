// size_t, ptrdiff_t and NULL are in the prelude.
#pragma once
#pragma clang system_header
#define offsetof(type, member) __builtin_offsetof(type, member)
