// Functions that run on a warp's stack, or that a fault may abandon half-way, are left alone by the
// sanitizers: their view of "the thread's stack" does not hold there.
#pragma once

#define TD_ON_WARP_STACK __attribute__((no_sanitize("address", "thread", "undefined")))
