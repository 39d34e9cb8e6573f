#ifndef SWZ_RUNTIME_RECORD_TELL_END_H
#define SWZ_RUNTIME_RECORD_TELL_END_H

/* The process ends now: if it is the one that swizzle-run became, it prints the
 * line that ends the run (base/run_summary.h), once. Makes system calls only,
 * those that the program has not given up. Async-signal-safe; for a child of
 * vfork, too. */
void swz_tell_end(void);

#endif
