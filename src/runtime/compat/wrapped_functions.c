#include "runtime/compat/wrapped_functions.h"

#include <string.h>

#include "runtime/compat/address_space.h"
#include "runtime/compat/confinement.h"
#include "runtime/compat/ending.h"
#include "runtime/compat/execution.h"
#include "runtime/compat/locked_memory.h"
#include "runtime/discovery/function.h"
#include "thunks/trampoline.h"

enum { PRCTL, SYSCALL };

#define LEAVES(name) \
	{ \
		name, \
		{ \
			swz_wrap_confine, &swz_leaves_files \
		} \
	}

static const struct {
	const char *name;
	struct swz_wrapper wrapper;
} known[] = {
	[PRCTL] = {"prctl", {swz_wrap_confine, &swz_by_prctl}},
	[SYSCALL] = {"syscall", {swz_wrap_confine, &swz_by_syscall}},
	{"setrlimit", {swz_wrap_limit_set, NULL}},
	{"getrlimit", {swz_wrap_limit_get, NULL}},
	{"prlimit", {swz_wrap_limit_change, NULL}},
	{"execve", {swz_wrap_execute, NULL}},
	{"fexecve", {swz_wrap_execute_descriptor, NULL}},
	{"execveat", {swz_wrap_execute_at, NULL}},
	{"mlockall", {swz_wrap_lock_all, NULL}},
	{"_exit", {swz_wrap_end, NULL}},
	LEAVES("setuid"),
	LEAVES("seteuid"),
	LEAVES("setreuid"),
	LEAVES("setresuid"),
	LEAVES("setfsuid"),
	LEAVES("setgid"),
	LEAVES("setegid"),
	LEAVES("setregid"),
	LEAVES("setresgid"),
	LEAVES("setfsgid"),
	LEAVES("setgroups"),
	LEAVES("initgroups"),
	LEAVES("capset"),
	LEAVES("chroot"),
	LEAVES("unshare"),
	LEAVES("setns"),
};
#define KNOWN (sizeof(known) / sizeof(*known))

static bool asked_for;

/* Who only reads its limits, or ends by _exit, has no use for them
 * (swizzle-run's watcher sees an end, too). setrlimit64 is setrlimit, and all
 * from execv to posix_spawnp come to execve. What comes by dlopen may ask for
 * any. */
static const char *const askers[] = {
	"prctl",     "syscall",     "setrlimit", "setrlimit64", "execve",
	"execv",     "execvp",      "execvpe",   "execl",       "execle",
	"execlp",    "posix_spawn", "popen",     "system",      "posix_spawnp",
	"dlopen",    "dlmopen",     "fexecve",   "execveat",    "mlockall",
	"prlimit",   "prlimit64",   "setuid",    "seteuid",     "setreuid",
	"setresuid", "setfsuid",    "setgid",    "setegid",     "setregid",
	"setresgid", "setfsgid",    "setgroups", "initgroups",  "capset",
	"chroot",    "unshare",     "setns",
};

static bool is_asked_for(const char *name)
{
	for (unsigned i = 0; i < sizeof(askers) / sizeof(*askers); i++)
		if (!strcmp(name, askers[i]))
			return true;
	return false;
}

bool swz_wrapped_asks(const struct swz_module *m)
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

void swz_wrapped_look(const struct swz_module *m)
{
	asked_for = asked_for || swz_wrapped_asks(m);
}

void swz_wrapped_expect(void)
{
	asked_for = true;
}

bool swz_wrapped_is_expected(void)
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

bool swz_wrapped_is_offered(const struct swz_module *m)
{
	uint64_t address;

	return find(m, PRCTL, &address) && find(m, SYSCALL, &address);
}

bool swz_wrapped_is_in(const struct swz_module *m)
{
	return asked_for && swz_wrapped_is_offered(m);
}

void swz_wrapped_mark(struct swz_module *m)
{
	if (!swz_wrapped_is_in(m))
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

bool swz_wrapped_has(const struct swz_wrapper *wrapper)
{
	return index_of(wrapper) < KNOWN;
}

/* --------------------------------------------------------- the plan cache */

bool swz_wrapped_save(const struct swz_wrapper *wrapper,
		      struct swz_saved_wrapper *saved)
{
	saved->kind = SWZ_SAVED_WATCH;
	saved->which = (uint16_t)index_of(wrapper);
	return saved->which < KNOWN;
}

const struct swz_wrapper *swz_wrapped_restore(
	const struct swz_saved_wrapper *saved)
{
	return saved->which < KNOWN ? &known[saved->which].wrapper : NULL;
}
