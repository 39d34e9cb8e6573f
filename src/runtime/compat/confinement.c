#include "runtime/compat/confinement.h"

#include <string.h>
#include <sys/prctl.h>
#include <linux/seccomp.h>

#include "base/syscall.h"
#include "runtime/compat/address_space.h"
#include "runtime/discovery/function.h"
#include "runtime/hooks/hooks.h"
#include "thunks/trampoline.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH /* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#endif

/* asm/x86_64/wrappers.S: calls swz_confine with the first four arguments and
 * the data, then goes to the real function. */
void swz_wrap_confine(void);

enum which { PRCTL, SYSCALL, SETRLIMIT, GETRLIMIT };

static const enum which prctl_itself = PRCTL, any_system_call = SYSCALL;

static const struct {
	const char *name;
	struct swz_wrapper wrapper;
} known[] = {
	{"prctl", {swz_wrap_confine, &prctl_itself}},
	{"syscall", {swz_wrap_confine, &any_system_call}},
	{"setrlimit", {swz_wrap_limit_set, NULL}},
	{"getrlimit", {swz_wrap_limit_get, NULL}},
};
#define KNOWN (sizeof(known) / sizeof(*known))

enum change { NOTHING, NO_SYSTEM_CALLS, NO_CLOCK };

/* What the kernel takes for 32 bits is so here, too: a register's upper half
 * may be anything then (SysV ABI 3.2.3).
 *
 * Strict mode forbids the time stamp counter, too. A filter of NULL only asks
 * whether filters are to be had. Where a thread has its system calls
 * dispatched, each from outside of a range of the program's choice is a SIGSYS
 * for it, when it likes: to its handler ours would be the program's, and with
 * signals blocked they end it. */
static enum change by_prctl(int option, long mode, long filter)
{
	if (option == PR_SET_TSC && (int)mode == PR_TSC_SIGSEGV)
		return NO_CLOCK;
	if (option == PR_SET_SYSCALL_USER_DISPATCH)
		return mode == PR_SYS_DISPATCH_OFF ? NOTHING : NO_SYSTEM_CALLS;
	if (option != PR_SET_SECCOMP)
		return NOTHING;
	if (mode == SECCOMP_MODE_STRICT)
		return NO_CLOCK;
	return filter ? NO_SYSTEM_CALLS : NOTHING;
}

/* Libraries find out what a kernel can do (libseccomp does at its first use) by
 * requests that are refused for what they ask: strict mode with flags, a filter
 * of NULL. */
static enum change by_seccomp(int operation, int flags, long filter)
{
	if (operation == SECCOMP_SET_MODE_STRICT)
		return flags || filter ? NOTHING : NO_CLOCK;
	if (operation == SECCOMP_SET_MODE_FILTER)
		return filter ? NO_SYSTEM_CALLS : NOTHING;
	return NOTHING;
}

static enum change by_system_call(int number, long first, long second,
				  long third)
{
	if (number == SYS_prctl)
		return by_prctl((int)first, second, third);
	if (number == SYS_seccomp)
		return by_seccomp((int)first, (int)second, third);
	return NOTHING;
}

void swz_confine(long first, long second, long third, long fourth,
		 const enum which *which);
void swz_confine(long first, long second, long third, long fourth,
		 const enum which *which)
{
	enum change change = *which == PRCTL
				     ? by_prctl((int)first, second, third)
				     : by_system_call((int)first, second, third,
						      fourth);

	if (change == NOTHING || !swz_recording)
		return;
	if (!swz_system_calls_end)
		swz_hooks_go_quiet();
	if (change == NO_CLOCK)
		swz_hooks_stop();
}

static bool asked_for;

/* Who only reads its limits has no use for them. */
static bool is_asked_for(const char *name)
{
	return !strcmp(name, known[PRCTL].name) ||
	       !strcmp(name, known[SYSCALL].name) ||
	       !strcmp(name, known[SETRLIMIT].name) ||
	       !strcmp(name, "setrlimit64"); /* the same function */
}

bool swz_confinement_asks(const struct swz_module *m)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;

	if (!m->file.file.size ||
	    swz_elf_symbols_open(&it, &m->file, SHT_DYNSYM) != SWZ_OK)
		return false;
	while (swz_elf_symbols_next(&it, &symbol))
		if (symbol.section == SHN_UNDEF && is_asked_for(symbol.name))
			return true;
	return false;
}

void swz_confinement_look(const struct swz_module *m)
{
	asked_for = asked_for || swz_confinement_asks(m);
}

void swz_confinement_expect(void)
{
	asked_for = true;
}

bool swz_confinement_is_expected(void)
{
	return asked_for;
}

static bool find(const struct swz_module *m, unsigned which, uint64_t *address)
{
	struct swz_elf_symbol symbol;

	if (!swz_module_symbol(m, known[which].name, &symbol))
		return false;
	*address = symbol.value;
	return symbol.value != 0;
}

bool swz_confinement_is_offered(const struct swz_module *m)
{
	uint64_t address;

	return find(m, PRCTL, &address) && find(m, SYSCALL, &address);
}

bool swz_confinement_is_in(const struct swz_module *m)
{
	return asked_for && swz_confinement_is_offered(m);
}

void swz_confinement_mark(struct swz_module *m)
{
	if (!swz_confinement_is_in(m))
		return;
	for (unsigned i = 0; i < KNOWN; i++) {
		struct swz_function *f;
		uint64_t address;

		if (!find(m, i, &address))
			continue;
		f = swz_function_at(m, address);
		if (f && f->start == address && !f->is_piece && !f->wrapper)
			f->wrapper = &known[i].wrapper;
	}
}

/* KNOWN: it is another's. */
static unsigned index_of(const struct swz_wrapper *wrapper)
{
	unsigned i = 0;

	while (i < KNOWN && wrapper != &known[i].wrapper)
		i++;
	return i;
}

bool swz_confinement_has(const struct swz_wrapper *wrapper)
{
	return index_of(wrapper) < KNOWN;
}

/* --------------------------------------------------------- the plan cache */

bool swz_confinement_save(const struct swz_wrapper *wrapper,
			  struct swz_saved_wrapper *saved)
{
	saved->kind = SWZ_SAVED_CONFINEMENT;
	saved->which = (uint16_t)index_of(wrapper);
	return saved->which < KNOWN;
}

const struct swz_wrapper *swz_confinement_restore(
	const struct swz_saved_wrapper *saved)
{
	return saved->which < KNOWN ? &known[saved->which].wrapper : NULL;
}
