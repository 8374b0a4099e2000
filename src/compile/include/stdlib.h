#pragma once
#pragma clang system_header
// abs and its kin are in the prelude.
