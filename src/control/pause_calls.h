#ifndef SWZ_CONTROL_PAUSE_CALLS_H
#define SWZ_CONTROL_PAUSE_CALLS_H

/* From now on calls that a pause of the sampler cuts short go on, by the few
 * instructions that attaching uses, in a gap of the process's code.
 * They are put there when they are first needed, and taken away when the
 * sampler ends, if no thread is in them. A sampler that is killed leaves them:
 * they need nobody. See docs/internals/blocking-calls.md. */
void swz_pause_calls_mend(void);

#endif
