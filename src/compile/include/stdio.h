#pragma once
#pragma clang system_header
// printf is in the prelude.
