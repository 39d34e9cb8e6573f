/* build: -lregisters -Wl,-z,now */
/* Registers and flags are the caller's at the entry of a hooked function and
 * the callee's after its return: all of them, bit by bit. */
#include <cpuid.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARCH_REQ_XCOMP_PERM 0x1023
#define XFEATURE_TILES 18

struct state {
	uint64_t general[16]; /* rax rbx rcx rdx rsi rdi rbp rsp r8-r15 */
	uint64_t flags;
	uint8_t unused[56];
	struct {
		uint16_t control, status;
		uint8_t tags, reserved;
		uint16_t opcode;
		uint64_t instruction, data;
		uint32_t mxcsr, mxcsr_mask;
		uint8_t st[8][16];
		uint8_t xmm[16][16];
		uint8_t rest[96];
	} fx;
	uint64_t masks[8];
	uint8_t vectors[32][64];
	struct {
		uint8_t palette, start, zeros[14];
		uint16_t row_bytes[8];
		uint8_t more_zeros[16];
		uint8_t rows[8], last_zeros[8];
	} tile_config;
	uint8_t tiles[8][16][64];
	uint32_t pkru;
	uint8_t end[60];
};

_Static_assert(offsetof(struct state, fx) == 192, "libregisters.S");
_Static_assert(offsetof(struct state, masks) == 704, "libregisters.S");
_Static_assert(offsetof(struct state, vectors) == 768, "libregisters.S");
_Static_assert(offsetof(struct state, tile_config) == 2816, "libregisters.S");
_Static_assert(offsetof(struct state, tiles) == 2880, "libregisters.S");
_Static_assert(offsetof(struct state, pkru) == 11072, "libregisters.S");
_Static_assert(sizeof(struct state) == 11136, "libregisters.S");

struct states {
	struct state enter, seen, leave_with, after;
	void (*probed)(void);
	int vectors; /* 1: ymm, 2: zmm and masks */
	int tiles;   /* AMX */
	int pkru;
	unsigned lasting;
	int forked;
};

struct states *states(void);
void probe(void);
void probe_misaligned(void);
void snapshot(void);
void hop(void);
void hop10(void);
void clobber(void);

#define CF_TO_OF 0xcd5u /* CF PF AF ZF SF DF OF */
#define RSP 7

static const char *const names[16] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi",
				      "rbp", "rsp", "r8",  "r9",  "r10", "r11",
				      "r12", "r13", "r14", "r15"};
static uint64_t seed = 88172645463325252ull;
static int wrong, use_vectors, in_threads;
static struct states *shared;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void fill(struct state *s, unsigned round)
{
	uint8_t *bytes = (uint8_t *)s;
	static const uint16_t controls[] = {0x37f, 0x27f, 0x77f, 0xc7f};

	for (size_t i = 0; i < sizeof(*s); i += 8) {
		uint64_t word = random_word();

		memcpy(bytes + i, &word, 8);
	}
	s->flags = 0x202 | (random_word() & CF_TO_OF);
	if (round < 32) /* each of CF OF ZF SF DF with each */
		s->flags = 0x202 | (round & 1) | (round & 2) << 10 |
			   (round & 4) << 4 | (round & 8) << 4 |
			   (round & 16) << 6;
	memset(&s->fx, 0, offsetof(__typeof__(s->fx), st));
	s->fx.control = controls[round % 4];
	s->fx.status = (uint16_t)(round % 8 << 11 | (random_word() & 0x4700));
	s->fx.tags = (uint8_t)random_word();
	s->fx.mxcsr = 0x1f80 | (round % 4) << 13 | (random_word() & 0x8040);
	for (int i = 0; i < 8; i++)
		memset(s->fx.st[i] + 10, 0, 6);
	for (int i = 0; i < 16; i++)
		memcpy(s->fx.xmm[i], s->vectors[i], 16);
	s->pkru &= ~3u; /* of ordinary memory */
	memset(&s->tile_config, 0, sizeof(s->tile_config));
	s->tile_config.palette = 1;
	for (int i = 0; i < 8; i++) {
		s->tile_config.row_bytes[i] = (uint16_t)(4 + random_word() %
								     16 * 4);
		s->tile_config.rows[i] = (uint8_t)(1 + random_word() % 16);
	}
}

static void differ(const char *when, unsigned round, const char *what, int n)
{
	if (wrong++ < 20)
		printf("round %u, %s: %s%d differs\n", round, when, what, n);
}

static void compare_tiles(const char *when, unsigned round,
			  const struct state *want, const struct state *got)
{
	if (memcmp(&want->tile_config, &got->tile_config,
		   sizeof(want->tile_config)) != 0) {
		differ(when, round, "tile configuration", 0);
		return;
	}
	for (int i = 0; i < 8; i++)
		for (int row = 0; row < want->tile_config.rows[i]; row++)
			if (memcmp(want->tiles[i][row], got->tiles[i][row],
				   want->tile_config.row_bytes[i]) != 0)
				differ(when, round, "tmm", i);
}

static void compare(const char *when, unsigned round, const struct state *want,
		    const struct state *got)
{
	static const size_t widths[] = {0, 32, 64};
	int vectors = use_vectors > 1 ? 32 : 16;

	for (int i = 0; i < 16; i++)
		if (i != RSP && want->general[i] != got->general[i])
			differ(when, round, names[i], 0);
	if ((want->flags ^ got->flags) & CF_TO_OF) {
		differ(when, round, "flags", 0);
		printf("%llx, not %llx\n", (unsigned long long)got->flags,
		       (unsigned long long)want->flags);
	}
	if (want->fx.control != got->fx.control ||
	    want->fx.status != got->fx.status || want->fx.tags != got->fx.tags)
		differ(when, round, "x87 state", 0);
	if (want->fx.mxcsr != got->fx.mxcsr)
		differ(when, round, "mxcsr", 0);
	for (int i = 0; i < 8; i++)
		if (memcmp(want->fx.st[i], got->fx.st[i], 10) != 0)
			differ(when, round, "st", i);
	for (int i = 0; i < 16; i++)
		if (memcmp(want->fx.xmm[i], got->fx.xmm[i], 16) != 0)
			differ(when, round, "xmm", i);
	for (int i = 0; use_vectors && i < vectors; i++)
		if (memcmp(want->vectors[i], got->vectors[i],
			   widths[use_vectors]) != 0)
			differ(when, round, use_vectors > 1 ? "zmm" : "ymm", i);
	for (int i = 0; use_vectors > 1 && i < 8; i++)
		if (want->masks[i] != got->masks[i])
			differ(when, round, "k", i);
	if (shared->tiles)
		compare_tiles(when, round, want, got);
	if (shared->pkru && want->pkru != got->pkru)
		differ(when, round, "pkru", 0);
}

/* In a forked child the hook is one that makes a profile. */
static void end_child(unsigned round)
{
	int status = 0;

	if (shared->forked == 0)
		_exit(fflush(stdout) || wrong);
	if (waitpid(shared->forked, &status, 0) != shared->forked || status)
		differ("child", round, "status ", status);
}

static void *run_probe(void *run)
{
	(*(void (**)(void))run)();
	return NULL;
}

/* A thread's first hooked call may be that of the probed function. */
static void run_in_thread(void (*run)(void))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_probe, &run) != 0 ||
	    pthread_join(thread, NULL) != 0)
		wrong++;
}

static void test(const char *name, void (*run)(void), void (*function)(void))
{
	unsigned round;

	wrong = 0;
	shared->probed = function;
	for (round = 0; round < 2000 && wrong < 20; round++) {
		fill(&shared->enter, round);
		fill(&shared->leave_with, round * 7 + 3);
		memset(&shared->seen, 0, sizeof(shared->seen));
		memset(&shared->after, 0, sizeof(shared->after));
		/* sampled timing takes calls that last for long ones */
		shared->lasting = round % 4 ? 0 : 20000;
		shared->forked = round < 4;
		if (shared->forked)
			fflush(stdout);
		if (in_threads && round % 8 == 7)
			run_in_thread(run);
		else
			run();
		compare("at entry", round, &shared->enter, &shared->seen);
		compare("after return", round, &shared->leave_with,
			&shared->after);
		if (shared->seen.general[RSP] + 8 != shared->after.general[RSP])
			differ("stack", round, "rsp", 0);
		if (round < 4)
			end_child(round);
	}
	printf("%s: %u rounds, %d differences\n", name, round, wrong);
}

/* What is loaded is kept by the kernel while a handler uses it all. */
static void handle(int signal)
{
	static volatile sig_atomic_t handled;

	handled = handled + signal;
	clobber();
}

static void begin_signals(void)
{
	struct itimerval often = {{0, 300}, {0, 300}};
	struct sigaction action = {.sa_handler = handle,
				   .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static int may_use_tiles(void)
{
	unsigned a, b, c, d = 0;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d >> 24 & 1 &&
	       syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_TILES) ==
		       0;
}

static int has_protection_keys(void)
{
	unsigned a, b, c = 0, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && c >> 4 & 1;
}

int main(int argc, char **argv)
{
	shared = states();
	if (__builtin_cpu_supports("avx512bw"))
		use_vectors = 2;
	else if (__builtin_cpu_supports("avx"))
		use_vectors = 1;
	shared->vectors = use_vectors;
	shared->tiles = use_vectors > 1 && may_use_tiles();
	shared->pkru = has_protection_keys();
	for (; argc > 1; argc--) {
		if (strcmp(argv[argc - 1], "threads") == 0)
			in_threads = 1;
		if (strcmp(argv[argc - 1], "signals") == 0)
			begin_signals();
	}
	test("call", probe, snapshot);
	test("jump", probe, hop);
	test("eleven jumps", probe, hop10);
	test("call, misaligned", probe_misaligned, snapshot);
	test("eleven jumps, misaligned", probe_misaligned, hop10);
	return 0;
}
