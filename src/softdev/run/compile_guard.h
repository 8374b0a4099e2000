// Crashes of the compiler. A fault in a library of a hundred megabytes must not end the user's
// process.
#pragma once

namespace td::softdev {

// Calls work(argument); false when it has crashed (SIGSEGV, SIGBUS, SIGFPE, SIGILL). What the
// compiler held then is lost, not given back.
bool survives(void (*work)(void*), void* argument);
// For the signal handler: leaves the crashed work, or returns when the thread is not in one.
void leave_crashed_work();

}  // namespace td::softdev
