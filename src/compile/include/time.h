#pragma once
#pragma clang system_header
// clock is in the prelude.
