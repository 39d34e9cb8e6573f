#include "base/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

/* --- memory of this process ---------------------------------------------- */

#define PLACES 16384u

uint64_t swz_own_least = UINT64_C(64) << 10;

static struct {
	_Atomic uint64_t start; /* 0: free */
	_Atomic uint64_t end;   /* 0: not yet known */
} ranges[PLACES] __attribute__((section(".bss.large")));

static _Atomic uint32_t used; /* places beyond are free */

static void note_used(uint32_t places)
{
	uint32_t now = atomic_load(&used);

	while (now < places &&
	       !atomic_compare_exchange_weak(&used, &now, places))
		;
}

void swz_own_add(uint64_t start, uint64_t bytes)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		uint64_t none = 0;

		if (!atomic_compare_exchange_strong(&ranges[i].start, &none,
						    start) &&
		    none != start)
			continue;
		atomic_store(&ranges[i].end, start + bytes);
		note_used(i + 1);
		return;
	}
}

void swz_own_remove(uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes;
	uint32_t places = atomic_load(&used);

	for (uint32_t i = 0; i < places; i++) {
		uint64_t low = atomic_load(&ranges[i].start);
		uint64_t high = atomic_load(&ranges[i].end);

		if (start >= high || end <= low)
			continue;
		if (start > low) {
			atomic_store(&ranges[i].end, start);
		} else if (end < high) {
			atomic_store(&ranges[i].start, end);
		} else {
			atomic_store(&ranges[i].end, 0);
			atomic_store(&ranges[i].start, 0);
		}
	}
}

bool swz_own_next(uint64_t low, uint64_t high, uint64_t *start, uint64_t *end)
{
	uint32_t places = atomic_load(&used);
	bool found = false;

	for (uint32_t i = 0; i < places; i++) {
		uint64_t first = atomic_load(&ranges[i].start);
		uint64_t last = atomic_load(&ranges[i].end);

		first = first > low ? first : low;
		last = last < high ? last : high;
		if (first >= last || (found && first >= *start))
			continue;
		found = true;
		*start = first;
		*end = last;
	}
	return found;
}

/* --- system calls -------------------------------------------------------- */

bool swz_system_calls_end;
bool swz_memory_is_locked;

#define MOST_FILTERS 16u

static struct {
	_Atomic(const struct sock_filter *) code; /* NULL: not yet known */
	uint32_t length;
} filters[MOST_FILTERS];

static _Atomic uint32_t filter_count;
static _Atomic bool none_pass;

void swz_sys_end_all(void)
{
	atomic_store(&none_pass, true);
}

void swz_sys_add_filter(const struct sock_filter *code, uint32_t length)
{
	uint32_t at = atomic_fetch_add(&filter_count, 1);

	if (at >= MOST_FILTERS) {
		swz_sys_end_all();
		return;
	}
	filters[at].length = length;
	atomic_store(&filters[at].code, code);
}

/* True for calls that a thread needs to get memory and to go on. Files, a
 * forked child's profile and a library that is loaded take many calls, and none
 * of these should be made where another would fail. */
static bool is_for_memory(long number)
{
	switch (number) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_madvise:
	case SYS_clock_gettime: /* makes pages present, too */
	case SYS_rt_sigprocmask:
	case SYS_getpid:
	case SYS_gettid:
	case SYS_tgkill:
	case SYS_prctl:
	case SYS_sched_yield:
	case SYS_process_vm_readv:
		return true;
	default:
		return false;
	}
}

bool swz_sys_passes(long number, long a, long b, long c, long d, long e, long f)
{
	const struct seccomp_data call = {
		.nr = (int)number,
		.arch = AUDIT_ARCH_X86_64,
		.args = {(uint64_t)a, (uint64_t)b, (uint64_t)c, (uint64_t)d,
			 (uint64_t)e, (uint64_t)f},
	};
	uint32_t count = atomic_load(&filter_count);

	if (!count || atomic_load(&none_pass) || !is_for_memory(number))
		return false;
	for (uint32_t i = 0; i < count && i < MOST_FILTERS; i++) {
		const struct sock_filter *code = atomic_load(&filters[i].code);

		if (!code ||
		    !swz_call_filter_allows(code, filters[i].length, &call))
			return false;
	}
	return true;
}

/* --- when a process began ------------------------------------------------ */

/* /proc/PID/stat: "PID (NAME) STATE ...", where the name may hold any
 * character, and the start is the 22nd field. */

#define FIELDS_FROM_STATE_TO_START 19

static void make_path(char *path, uint32_t pid)
{
	static const char head[] = "/proc/", self[] = "self", tail[] = "/stat";
	char digits[12];
	unsigned n = 0;

	for (const char *s = head; *s;)
		*path++ = *s++;
	for (const char *s = pid ? "" : self; *s;)
		*path++ = *s++;
	for (; pid; pid /= 10)
		digits[n++] = (char)('0' + pid % 10);
	while (n)
		*path++ = digits[--n];
	for (const char *s = tail; *s;)
		*path++ = *s++;
	*path = '\0';
}

uint64_t swz_process_start(int32_t pid)
{
	char path[40], text[512];
	long fd, n, at;
	uint64_t start = 0;

	if (pid < 0)
		return 0;
	make_path(path, (uint32_t)pid);
	fd = SWZ_SYSCALL(SYS_open, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = SWZ_SYSCALL(SYS_read, fd, text, sizeof(text));
	SWZ_SYSCALL(SYS_close, fd);
	at = n - 1;
	while (at >= 0 && text[at] != ')')
		at--;
	at += 2;
	if (at < 2 || at >= n || text[at] == 'Z' || text[at] == 'X')
		return 0;
	for (int i = 0; i < FIELDS_FROM_STATE_TO_START; i++) {
		while (at < n && text[at] != ' ')
			at++;
		at++;
	}
	for (; at < n && text[at] >= '0' && text[at] <= '9'; at++)
		start = start * 10 + (uint64_t)(text[at] - '0');
	return start;
}

/* --- filters of system calls ---------------------------------------------- */

struct machine {
	uint32_t a, x;
	uint32_t memory[BPF_MEMWORDS];
};

/* The kernel takes loads of whole words only. */
static bool load(const struct seccomp_data *call, uint32_t offset,
		 uint32_t *value)
{
	const uint32_t from = offsetof(struct seccomp_data,
				       instruction_pointer);

	if (offset % 4 || offset > sizeof(*call) - 4 ||
	    (offset >= from && offset < from + 8))
		return false;
	*value = ((const uint32_t *)(const void *)call)[offset / 4];
	return true;
}

static bool calculate(struct machine *m, uint16_t operation, uint32_t operand)
{
	switch (operation) {
	case BPF_ADD:
		m->a += operand;
		return true;
	case BPF_SUB:
		m->a -= operand;
		return true;
	case BPF_MUL:
		m->a *= operand;
		return true;
	case BPF_DIV:
		if (operand)
			m->a /= operand;
		return operand != 0;
	case BPF_AND:
		m->a &= operand;
		return true;
	case BPF_OR:
		m->a |= operand;
		return true;
	case BPF_XOR:
		m->a ^= operand;
		return true;
	case BPF_LSH:
		if (operand < 32)
			m->a <<= operand;
		return operand < 32;
	case BPF_RSH:
		if (operand < 32)
			m->a >>= operand;
		return operand < 32;
	case BPF_NEG:
		m->a = -m->a;
		return true;
	default:
		return false;
	}
}

static bool compare(uint32_t a, uint16_t operation, uint32_t operand,
		    bool *holds)
{
	switch (operation) {
	case BPF_JEQ:
		*holds = a == operand;
		return true;
	case BPF_JGT:
		*holds = a > operand;
		return true;
	case BPF_JGE:
		*holds = a >= operand;
		return true;
	case BPF_JSET:
		*holds = (a & operand) != 0;
		return true;
	default:
		return false;
	}
}

/* All but jumps and returns. False: there is no such instruction. */
static bool step(struct machine *m, const struct sock_filter *at,
		 const struct seccomp_data *call)
{
	bool to_x = BPF_CLASS(at->code) == BPF_LDX;
	uint32_t *to = to_x ? &m->x : &m->a;

	switch (at->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		return load(call, at->k, to);
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_W | BPF_LEN:
		*to = sizeof(*call);
		return true;
	case BPF_LD | BPF_IMM:
	case BPF_LDX | BPF_IMM:
		*to = at->k;
		return true;
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
		if (at->k < BPF_MEMWORDS)
			*to = m->memory[at->k];
		return at->k < BPF_MEMWORDS;
	case BPF_ST:
	case BPF_STX:
		if (at->k < BPF_MEMWORDS)
			m->memory[at->k] = at->code == BPF_ST ? m->a : m->x;
		return at->k < BPF_MEMWORDS;
	case BPF_MISC | BPF_TAX:
		m->x = m->a;
		return true;
	case BPF_MISC | BPF_TXA:
		m->a = m->x;
		return true;
	default:
		return BPF_CLASS(at->code) == BPF_ALU &&
		       calculate(m, BPF_OP(at->code),
				 BPF_SRC(at->code) == BPF_X ? m->x : at->k);
	}
}

bool swz_call_filter_allows(const struct sock_filter *code, uint32_t length,
			    const struct seccomp_data *call)
{
	struct machine m = {0, 0, {0}};
	bool holds;

	/* jumps lead forward only */
	for (uint32_t at = 0; at < length; at++) {
		const struct sock_filter *i = &code[at];
		uint32_t operand = BPF_SRC(i->code) == BPF_X ? m.x : i->k;

		if (i->code == (BPF_RET | BPF_K))
			return i->k == SECCOMP_RET_ALLOW;
		if (i->code == (BPF_RET | BPF_A))
			return m.a == SECCOMP_RET_ALLOW;
		if (i->code == (BPF_JMP | BPF_JA)) {
			if (i->k >= length - at)
				return false;
			at += i->k;
		} else if (BPF_CLASS(i->code) == BPF_JMP) {
			if (!compare(m.a, BPF_OP(i->code), operand, &holds))
				return false;
			at += holds ? i->jt : i->jf;
		} else if (!step(&m, i, call)) {
			return false;
		}
	}
	return false;
}
