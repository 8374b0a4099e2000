// The prelude and td_ptx.h, precompiled together for what inline PTX is translated into.
#pragma once
#pragma clang system_header

#include "td_ptx.h"
