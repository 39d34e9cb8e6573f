#ifndef SWZ_RUNTIME_COMPAT_CONFINEMENT_H
#define SWZ_RUNTIME_COMPAT_CONFINEMENT_H

/* Programs that give up system calls (seccomp), which we need, too: libc's
 * prctl and syscall go through a wrapper that sees it coming. From then on we
 * make those only that the program's filters let pass (swz_system_calls_end):
 * what has memory is recorded, the rest is counted as lost. */

/* What a wrapper's data says: of which function it is. */
enum swz_confining { SWZ_BY_PRCTL, SWZ_BY_SYSCALL };
extern const enum swz_confining swz_by_prctl, swz_by_syscall;

/* asm/x86_64/wrappers.S: calls swz_confine with the first four arguments and
 * the data, then goes to the real function. */
void swz_wrap_confine(void);

#endif
