/* Of libc, a thread may be in a function that waits in the kernel, called by
 * the program: those hold no lock then. Of all else in libc it is not known
 * what it is about. */

#include "control/safe_place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "profile/support/memory.h"
#include "watch/unwind/unwinder.h"

#define MOST_FRAMES 512u
#define STACK_BYTES 65536u

struct range {
	uint64_t start, end;
};

struct swz_safe_places {
	const struct swz_target *target;
	struct swz_unwinder *unwinder;
	struct range linker, libc;
	struct range unsafe[512]; /* functions */
	size_t unsafe_count;
};

/* Functions of libc, and of what takes their place, through which no stack may
 * lead: they hold locks that dlopen takes, or are about to change what it
 * changes. */
static const char *const unsafe_names[] = {
	"malloc",
	"free",
	"calloc",
	"realloc",
	"reallocarray",
	"memalign",
	"aligned_alloc",
	"posix_memalign",
	"valloc",
	"pvalloc",
	"malloc_trim",
	"mallinfo",
	"mallinfo2",
	"malloc_info",
	"fork",
	"_Fork",
	"vfork",
	"dlopen",
	"dlclose",
	"dlsym",
	"dlvsym",
	"dlmopen",
	"dladdr",
	"dladdr1",
	"dlinfo",
	"dlerror",
	"dl_iterate_phdr",
	"pthread_create",
	"pthread_exit",
	"pthread_atfork",
	"__register_atfork",
	"exit",
	"_exit",
	"quick_exit",
	"execve",
	"posix_spawn",
	"posix_spawnp",
	"pthread_setattr_default_np",
};

static const long waiting_calls[] = {
	SYS_read,
	SYS_write,
	SYS_poll,
	SYS_ppoll,
	SYS_select,
	SYS_pselect6,
	SYS_epoll_wait,
	SYS_epoll_pwait,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_accept,
	SYS_accept4,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_recvmmsg,
	SYS_sendto,
	SYS_sendmsg,
	SYS_connect,
	SYS_futex,
	SYS_wait4,
	SYS_waitid,
	SYS_pause,
	SYS_rt_sigsuspend,
	SYS_rt_sigtimedwait,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_pwrite64,
	SYS_flock,
	SYS_fsync,
	SYS_fdatasync,
	SYS_io_getevents,
	SYS_semtimedop,
	SYS_msgrcv,
	SYS_sched_yield,
	SYS_getppid,
	SYS_getpid,
	SYS_kill,
	SYS_restart_syscall,
	SYS_io_uring_enter,
	441 /* epoll_pwait2 */,
};

static bool is_in(const struct range *r, uint64_t address)
{
	return address >= r->start && address < r->end;
}

static void widen(struct range *r, const struct swz_target_mapping *m)
{
	if (!r->end || m->start < r->start)
		r->start = m->start;
	if (m->end > r->end)
		r->end = m->end;
}

static bool has_name(const char *path, const char *begin)
{
	const char *base = strrchr(path, '/');

	return base && strncmp(base + 1, begin, strlen(begin)) == 0;
}

static void mark(void *context, const char *name, uint64_t address,
		 uint64_t size)
{
	struct swz_safe_places *p = context;

	for (size_t i = 0; i < sizeof(unsafe_names) / sizeof(*unsafe_names);
	     i++)
		if (strcmp(name, unsafe_names[i]) == 0 && size &&
		    p->unsafe_count < sizeof(p->unsafe) / sizeof(*p->unsafe))
			p->unsafe[p->unsafe_count++] = (struct range){
				address, address + size};
}

struct swz_safe_places *swz_safe_places_of(const struct swz_target *t)
{
	struct swz_safe_places *p = swz_allocate(1, sizeof(*p));

	p->target = t;
	p->unwinder = swz_unwinder_create();
	for (size_t i = 0; i < t->mapping_count; i++) {
		const struct swz_target_mapping *m = &t->mappings[i];
		struct swz_unwinder_mapping code = {.pid = t->pid,
						    .start = m->start,
						    .end = m->end,
						    .offset = m->offset,
						    .path = m->path,
						    .inode = m->inode};

		if (!m->executable)
			continue;
		swz_unwinder_map(p->unwinder, &code);
		if (has_name(m->path, "ld-linux") || has_name(m->path, "ld-2"))
			widen(&p->linker, m);
		if (has_name(m->path, "libc.so") || has_name(m->path, "libc-2"))
			widen(&p->libc, m);
		if (m->path[0] == '/')
			swz_target_symbols(t, m, mark, p);
	}
	return p;
}

void swz_safe_places_free(struct swz_safe_places *p)
{
	if (!p)
		return;
	swz_unwinder_destroy(p->unwinder);
	free(p);
}

static bool read_memory(void *context, uint64_t address, void *into,
			size_t size)
{
	return swz_target_read(context, address, into, size);
}

static struct swz_registers registers_of(const struct user_regs_struct *r)
{
	return (struct swz_registers){.ip = r->rip,
				      .ax = r->rax,
				      .bx = r->rbx,
				      .cx = r->rcx,
				      .dx = r->rdx,
				      .si = r->rsi,
				      .di = r->rdi,
				      .bp = r->rbp,
				      .sp = r->rsp,
				      .r8 = r->r8,
				      .r9 = r->r9,
				      .r10 = r->r10,
				      .r11 = r->r11,
				      .r12 = r->r12,
				      .r13 = r->r13,
				      .r14 = r->r14,
				      .r15 = r->r15};
}

/* mov $15, %rax; syscall: the return from a signal handler. */
static bool is_signal_return(const struct swz_target *t, uint64_t pc)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
				       0,    0,    0x0f, 0x05};
	uint8_t there[sizeof(code)];

	return swz_target_read(t, pc, there, sizeof(there)) &&
	       memcmp(there, code, sizeof(code)) == 0;
}

static bool is_unsafe(const struct swz_safe_places *p, uint64_t pc)
{
	if (is_in(&p->linker, pc))
		return true;
	for (size_t i = 0; i < p->unsafe_count; i++)
		if (is_in(&p->unsafe[i], pc))
			return true;
	return false;
}

/* A signal has interrupted it there: in libc that may only be a system call, as
 * of the program's own thread. (postgres 15 starts its processes in a handler,
 * which they never leave.) */
static bool is_unsafe_interrupted(const struct swz_safe_places *p, uint64_t ip)
{
	static const uint8_t call[] = {0x0f, 0x05};
	uint8_t before[sizeof(call)];

	return is_in(&p->libc, ip) &&
	       (!swz_target_read(p->target, ip - sizeof(call), before,
				 sizeof(before)) ||
		memcmp(before, call, sizeof(call)) != 0);
}

static bool waits_in_kernel(const struct user_regs_struct *r)
{
	if ((int64_t)r->orig_rax < 0)
		return false;
	for (size_t i = 0; i < sizeof(waiting_calls) / sizeof(long); i++)
		if ((long)r->orig_rax == waiting_calls[i])
			return true;
	return false;
}

bool swz_place_is_safe(struct swz_safe_places *p,
		       const struct user_regs_struct *r)
{
	static uint8_t copy[STACK_BYTES];
	static uint64_t pcs[MOST_FRAMES];
	struct swz_registers registers = registers_of(r);
	struct swz_stack stack = {.start = r->rsp,
				  .bytes = copy,
				  .read = read_memory,
				  .context = (void *)(uintptr_t)p->target};
	enum swz_walk_end end = SWZ_WALK_LOST;
	size_t count;

	if (is_in(&p->libc, r->rip) && !waits_in_kernel(r))
		return false;
	count = swz_unwinder_walk(p->unwinder, &registers, &stack, pcs,
				  MOST_FRAMES, &end);
	if (end != SWZ_WALK_ROOT && end != SWZ_WALK_FULL)
		return false;
	if (is_unsafe(p, r->rip))
		return false;
	for (size_t i = 1; i < count; i++) {
		/* what is interrupted is given increased by 1 */
		if (is_unsafe(p, pcs[i] - 1) ||
		    (is_signal_return(p->target, pcs[i - 1]) &&
		     is_unsafe_interrupted(p, pcs[i] - 1)))
			return false;
	}
	return true;
}
