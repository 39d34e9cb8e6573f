#ifndef SWZ_BASE_CALL_FILTER_H
#define SWZ_BASE_CALL_FILTER_H

/* What a program's own filters of system calls (seccomp) say of ours: they are
 * programs of the kernel's oldest kind (BPF), without state and without memory
 * but their own, so what one answers is known before the kernel asks it. */

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether the filter lets this call pass, and does nothing else about it.
 * False too if it asks for what is not known (where the call comes from), or is
 * none that the kernel would take. */
bool swz_call_filter_allows(const struct sock_filter *code, uint32_t length,
			    const struct seccomp_data *call);

#endif
