// Changing stacks by hand (System V, x86-64). All vector registers are caller-saved there, so a
// switch through a call keeps six integer registers and nothing else. No switch ends in `ret`: with
// several barrier sites the return-stack predictor would miss each time (measured: twice the time
// of a whole tree reduction).
#pragma once

extern "C" {
// Saves the running context to *save and continues the one that was saved as `load`.
void td_switch(void** save, void* load);
// Calls body(argument) on the stack whose top (16-aligned) is given. *recovery is set to what a
// fault handler, or td_leave, puts into the stack pointer to return early. Returns 0 after body
// returned, 1 after an early leave.
int td_call_on_stack(void (*body)(void*), void* argument, void** recovery, void* stack_top);
// Where a fault handler sends the program counter, with the stack pointer set to the recovery
// value.
void td_recover();
[[noreturn]] void td_leave(void* recovery);
// First code of a new context: calls rbx(r12, r13d), then r14(r15), which must not return. Never
// called directly.
void td_warp_entry();
}
