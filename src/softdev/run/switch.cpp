#include "softdev/run/switch.h"

#ifndef __x86_64__
#error "the software device supports x86-64 only"
#endif

// td_switch's frame, from low to high: r15 r14 r13 r12 rbx rbp, address to continue at.
// Executor::start_warp and FairBlock::start_fiber write the same frame for a context that has not
// run yet.
asm(R"(
  .text
  .p2align 4
  .globl td_switch
  .hidden td_switch
  .type td_switch, @function
td_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
  .size td_switch, .-td_switch

  .p2align 4
  .globl td_warp_entry
  .hidden td_warp_entry
  .type td_warp_entry, @function
td_warp_entry:
  movq %r12, %rdi
  movl %r13d, %esi
  callq *%rbx
  movq %r15, %rdi
  callq *%r14
  ud2
  .size td_warp_entry, .-td_warp_entry

  .p2align 4
  .globl td_call_on_stack
  .hidden td_call_on_stack
  .type td_call_on_stack, @function
td_call_on_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdx)
  movq %rsp, %rbx
  movq %rcx, %rsp
  movq %rdi, %rax
  movq %rsi, %rdi
  callq *%rax
  movq %rbx, %rsp
  xorl %eax, %eax
.Ltd_return:
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size td_call_on_stack, .-td_call_on_stack

  .p2align 4
  .globl td_recover
  .hidden td_recover
  .type td_recover, @function
td_recover:
  cld
  movl $1, %eax
  jmp .Ltd_return
  .size td_recover, .-td_recover

  .p2align 4
  .globl td_leave
  .hidden td_leave
  .type td_leave, @function
td_leave:
  movq %rdi, %rsp
  jmp td_recover
  .size td_leave, .-td_leave
)");
