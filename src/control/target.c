/* The process that is changed, seen from outside: its memory (/proc/PID/mem),
 * its mappings and symbols, what signals have interrupted on a thread's stack,
 * and whether a thread stands where it can be borrowed. The process runs
 * meanwhile and may be damaged, so each address, size and name that is read
 * here is checked before it is used. */

#include "control/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/basics.h"
#include "util/memory.h"
#include "watch/proc_task.h"
#include "watch/unwind/elf_copy.h"
#include "watch/unwind/unwinder.h"

/* ----------------------------------------------- memory, mappings, symbols */

/* Calls VISIT for each function and variable that the ELF file defines which is
 * mapped there, by its dynamic symbols. */
typedef void swz_symbol_visitor(void *context, const char *name,
				uint64_t address, uint64_t size);

bool swz_target_open(struct swz_target *t, int32_t pid)
{
	char path[64];

	*t = (struct swz_target){.pid = pid};
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	t->memory = open(path, O_RDWR | O_CLOEXEC);
	return t->memory >= 0;
}

static void forget_mappings(struct swz_target *t)
{
	for (size_t i = 0; i < t->mapping_count; i++)
		free(t->mappings[i].path);
	t->mapping_count = 0;
}

void swz_target_close(struct swz_target *t)
{
	forget_mappings(t);
	free(t->mappings);
	if (t->memory >= 0)
		close(t->memory);
	*t = (struct swz_target){.memory = -1};
}

bool swz_target_read_mappings(struct swz_target *t)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	forget_mappings(t);
	while (getline(&line, &room, file) > 0) {
		struct swz_target_mapping m = {0};
		char rights[8];
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %" SCNu64 " %n",
			   &m.start, &m.end, rights, &m.offset, &m.inode,
			   &at) < 5)
			continue;
		m.readable = rights[0] == 'r';
		m.writable = rights[1] == 'w';
		m.executable = rights[2] == 'x';
		m.path = swz_duplicate(at ? line + at : "");
		swz_grow(&t->mappings, &t->mapping_capacity, t->mapping_count,
			 sizeof(m));
		t->mappings[t->mapping_count++] = m;
	}
	free(line);
	fclose(file);
	return t->mapping_count > 0;
}

const struct swz_target_mapping *swz_target_mapping_at(
	const struct swz_target *t, uint64_t address)
{
	size_t low;

	SWZ_PARTITION(low, t->mapping_count, t->mappings[low].end <= address);
	return low < t->mapping_count && t->mappings[low].start <= address
		       ? &t->mappings[low]
		       : NULL;
}

bool swz_target_read(const struct swz_target *t, uint64_t address, void *to,
		     size_t bytes)
{
	char *at = to;

	while (bytes) {
		ssize_t n = pread(t->memory, at, bytes, (off_t)address);

		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		if (n < 0)
			continue;
		at += n;
		address += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return true;
}

bool swz_target_write(const struct swz_target *t, uint64_t address,
		      const void *from, size_t bytes)
{
	const char *at = from;

	while (bytes) {
		ssize_t n = pwrite(t->memory, at, bytes, (off_t)address);

		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		if (n < 0)
			continue;
		at += n;
		address += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return true;
}

/* ---------------------------------------------------------------- symbols */

char *swz_target_path(const struct swz_target *t, const char *path)
{
	return swz_print("/proc/%d/root%s", (int)t->pid, path);
}

static bool read_section(struct swz_elf_copy *copy, int fd,
			 const Elf64_Shdr *section)
{
	return swz_elf_copy_read(copy, fd, section->sh_offset,
				 section->sh_size);
}

/* The file's dynamic symbols and their names. */
static bool read_symbols(struct swz_elf_copy *copy, int fd)
{
	for (size_t i = 0; i < copy->elf.section_count; i++) {
		const Elf64_Shdr *s = &copy->elf.sections[i];

		if (s->sh_type == SHT_DYNSYM &&
		    s->sh_link < copy->elf.section_count)
			return read_section(copy, fd, s) &&
			       read_section(copy, fd,
					    &copy->elf.sections[s->sh_link]);
	}
	if (copy->elf.section_count)
		return false;
	swz_elf_copy_segments(copy, fd);
	return true;
}

bool swz_target_is_library(const char *path)
{
	const char *base = strrchr(path, '/');

	/* the second one is in a file in memory */
	return base && (strncmp(base, "/libswizzle.so", 14) == 0 ||
			strncmp(base, "/memfd:libswizzle.so", 20) == 0);
}

/* The first page has the build-id. */
static int open_stand_in(const struct swz_target *t,
			 const struct swz_target_mapping *m)
{
	uint8_t wanted[4096], there[4096];
	struct stat st;
	char *opened;
	int fd = swz_mapped_file_open(
		&(struct swz_mapped_file){.path = t->stand_in}, &st, &opened);

	if (fd >= 0 && (m->offset ||
			!swz_target_read(t, m->start, wanted, sizeof(wanted)) ||
			pread(fd, there, sizeof(there), 0) != sizeof(there) ||
			memcmp(there, wanted, sizeof(there)) != 0)) {
		close(fd);
		fd = -1;
	}
	free(opened);
	return fd;
}

static int open_file(const struct swz_target *t,
		     const struct swz_target_mapping *m)
{
	struct stat st;
	char *opened;
	int fd;

	if (m->path[0] != '/')
		return -1;
	fd = swz_mapped_file_open(&(struct swz_mapped_file){.pid = t->pid,
							    .inode = m->inode,
							    .path = m->path,
							    .start = m->start,
							    .end = m->end},
				  &st, &opened);
	free(opened);
	if (fd < 0 && t->stand_in && swz_target_is_library(m->path))
		fd = open_stand_in(t, m);
	return fd;
}

static void target_symbols(const struct swz_target *t,
			   const struct swz_target_mapping *m,
			   swz_symbol_visitor *visit, void *context)
{
	struct swz_elf_copy copy;
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;
	int fd = open_file(t, m);
	uint64_t address;

	if (fd < 0)
		return;
	if (swz_elf_copy_open(&copy, fd)) {
		if (read_symbols(&copy, fd) &&
		    swz_elf_mapped_at(&copy.elf, m->offset, m->executable,
				      &address) &&
		    swz_elf_copy_symbols(&copy.elf, SHT_DYNSYM, &it))
			while (swz_elf_symbols_next(&it, &symbol))
				if (symbol.section != SHN_UNDEF &&
				    symbol.value &&
				    symbol.type != STT_GNU_IFUNC &&
				    symbol.type != STT_TLS)
					visit(context, symbol.name,
					      m->start - address + symbol.value,
					      symbol.size);
		swz_elf_copy_close(&copy);
	}
	close(fd);
}

struct search {
	const char *name;
	uint64_t found;
};

static void look(void *context, const char *name, uint64_t address,
		 uint64_t size)
{
	struct search *search = context;

	(void)size;
	if (!search->found && strcmp(name, search->name) == 0)
		search->found = address;
}

uint64_t swz_target_symbol_in(const struct swz_target *t,
			      const struct swz_target_mapping *m,
			      const char *name)
{
	struct search search = {name, 0};

	target_symbols(t, m, look, &search);
	return search.found;
}

uint64_t swz_target_symbol(const struct swz_target *t, const char *name)
{
	for (size_t i = 0; i < t->mapping_count; i++) {
		const struct swz_target_mapping *m = &t->mappings[i];
		const char *base = strrchr(m->path, '/');
		uint64_t found;

		/* what else defines such a name may mean something else */
		if (!m->executable || !base ||
		    (strncmp(base, "/libc.so", 8) != 0 &&
		     strncmp(base, "/libc-", 6) != 0 &&
		     strncmp(base, "/libdl.so", 9) != 0 &&
		     strncmp(base, "/libdl-", 7) != 0))
			continue;
		found = swz_target_symbol_in(t, m, name);
		if (found)
			return found;
	}
	return 0;
}

/* ------------------------------------ places that signals have interrupted */

/* The kernel's frame begins with the address that the handler returns to,
 * libc's `mov $15, %rax; syscall`. Then comes the ucontext_t (rt_sigframe in
 * arch/x86/include/asm/sigframe.h). Other words of the stack prove nothing:
 * what hooks have left there lies in frames that came later, too. */

#define MOST_BYTES (UINT64_C(1) << 20)
#define MOST_RETURNS 8u
#define MOST_CODE (UINT64_C(64) << 20) /* libc has 2 MiB */
#define CALL_AT 7u                     /* in the code */

static const uint8_t libc_code[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
				    0,    0,    0x0f, 0x05};

/* Where libc has that code. */
static struct {
	int32_t pid;
	uint64_t libc; /* where that is mapped */
	uint64_t at[MOST_RETURNS];
	size_t count;
} returns;

static void find_in(const struct swz_target *t,
		    const struct swz_target_mapping *m)
{
	size_t bytes = m->end - m->start;
	uint8_t *text, *at;

	if (bytes > MOST_CODE)
		return;
	at = text = swz_allocate(1, bytes);
	if (swz_target_read(t, m->start, text, bytes))
		while (returns.count < MOST_RETURNS &&
		       (at = memmem(at, (size_t)(text + bytes - at), libc_code,
				    sizeof(libc_code))) != NULL) {
			returns.at[returns.count++] = m->start +
						      (uint64_t)(at - text);
			at++;
		}
	free(text);
}

static bool is_of_libc(const struct swz_target_mapping *m)
{
	const char *base = strrchr(m->path, '/');

	return m->executable && base &&
	       (!strncmp(base, "/libc.so", 8) || !strncmp(base, "/libc-", 6) ||
		!strncmp(base, "/libpthread", 11));
}

/* (Its code may be mapped in several pieces.) */
static void find_returns(const struct swz_target *t)
{
	bool found = false;

	for (size_t i = 0; i < t->mapping_count; i++) {
		const struct swz_target_mapping *m = &t->mappings[i];

		if (!is_of_libc(m))
			continue;
		if (!found && returns.pid == t->pid && returns.libc == m->start)
			return;
		if (!found) {
			returns.count = 0;
			returns.pid = t->pid;
			returns.libc = m->start;
		}
		found = true;
		find_in(t, m);
	}
}

void swz_interrupted_prepare(const struct swz_target *t)
{
	find_returns(t);
}

static bool is_return(uint64_t word)
{
	for (size_t i = 0; i < returns.count; i++)
		if (returns.at[i] == word)
			return true;
	return false;
}

/* True if a handler has returned, and the system call that ends it is still to
 * be made: its frame lies just below the stack pointer then. */
static bool is_returning(uint64_t ip)
{
	return is_return(ip) || is_return(ip - CALL_AT);
}

/* The stack's end, as far as it is known: what was mapped behind it may be gone
 * by now. */
static uint64_t end_of(const struct swz_target *t, uint64_t stack)
{
	const struct swz_target_mapping *m = swz_target_mapping_at(t, stack);

	return m && m->end < stack + MOST_BYTES ? m->end : stack + MOST_BYTES;
}

/* Reads the rest of the frame behind its first word. The same word is in the
 * argument of sigaction(2), and may have been left on the stack. A frame has a
 * code segment, too: the thread's own. */
static bool read_frame(const struct swz_target *t,
		       const struct user_regs_struct *r, uint64_t frame,
		       uint64_t *address)
{
	gregset_t registers;

	if (!swz_target_read(t, frame + offsetof(ucontext_t, uc_mcontext.gregs),
			     registers, sizeof(registers)) ||
	    (uint16_t)registers[REG_CSGSFS] != (uint16_t)r->cs)
		return false;
	*address = (uint64_t)registers[REG_RIP];
	return true;
}

void swz_interrupted_each(const struct swz_target *t,
			  const struct user_regs_struct *r,
			  bool (*visit)(void *context, uint64_t address),
			  void *context)
{
	static uint64_t words[8192];
	uint64_t at = r->rsp & -8ull, end = end_of(t, r->rsp);
	size_t bytes, wanted;

	find_returns(t);
	if (!returns.count)
		return;
	if (is_returning(r->rip))
		at -= 8;
	do {
		wanted = end - at < sizeof(words) ? end - at : sizeof(words);
		bytes = swz_proc_memory(t->pid, at, words, wanted);
		for (size_t i = 0; i < bytes / 8; i++) {
			uint64_t address;

			if (!is_return(words[i]) ||
			    !read_frame(t, r, at + 8 * i + 8, &address))
				continue;
			if (!visit(context, address))
				return;
		}
		at += bytes;
	} while (bytes == wanted && at < end);
}

/* -------------------------------------------- threads that may be borrowed */

/* In libc a thread may be borrowed in a function that waits in the kernel and
 * was called by the program: those hold no lock. Anything else in libc may
 * hold one. */

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
			target_symbols(t, m, mark, p);
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
	for (size_t i = 0; i < sizeof(waiting_calls) / sizeof(long); i++)
		if ((long)r->orig_rax == waiting_calls[i])
			return true;
	return false;
}

/* True if the thread is in libc where that holds no lock. It makes a system
 * call: one that waits, or in a function that other code than libc's has
 * called. (A thread that makes one short call after another, lseek or
 * swapcontext, is hardly ever stopped elsewhere.) CALLER: the first return
 * address, or 0. */
static bool is_safe_in_libc(const struct swz_safe_places *p,
			    const struct user_regs_struct *r, uint64_t caller)
{
	return waits_in_kernel(r) || (caller && !is_in(&p->libc, caller - 1));
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

	if (is_in(&p->libc, r->rip) && (int64_t)r->orig_rax < 0)
		return false;
	count = swz_unwinder_walk(p->unwinder, &registers, &stack, pcs,
				  MOST_FRAMES, &end);
	if (end != SWZ_WALK_ROOT && end != SWZ_WALK_FULL)
		return false;
	if (is_unsafe(p, r->rip) ||
	    (is_in(&p->libc, r->rip) &&
	     !is_safe_in_libc(p, r, count > 1 ? pcs[1] : 0)))
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
