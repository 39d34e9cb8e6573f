#ifndef SWZ_RUNTIME_COMPAT_CONFINEMENT_H
#define SWZ_RUNTIME_COMPAT_CONFINEMENT_H

/* Programs that give up system calls (seccomp), which we need, too: libc's
 * prctl and syscall go through a wrapper that sees it coming. From then on we
 * make those only that the program's filters let pass (swz_system_calls_end):
 * what has memory is recorded, the rest is counted as lost. */

/* What a wrapper's data says: of which function it is. SWZ_LEAVES_FILES: of one
 * after which the process may not get at the profile by name any more (setuid,
 * chroot), for which it is made as long as it may get before. So it is for the
 * others, too, where they do the like. */
enum swz_confining { SWZ_BY_PRCTL, SWZ_BY_SYSCALL, SWZ_LEAVES_FILES };
extern const enum swz_confining swz_by_prctl, swz_by_syscall, swz_leaves_files;

/* asm/x86_64/wrappers.S: calls swz_confine with the first four arguments and
 * the data, then goes to the real function. */
void swz_wrap_confine(void);

#endif
