/* One event per processor with `inherit`: rings can only be had so. The kernel
 * swaps the events of two tasks that are copies of each other when it switches
 * between them, instead of stopping and starting them. What is left of the
 * period then goes over to the other task, and dies with that: a program that
 * makes threads, each shorter than a period, is never hit. A further event of
 * the task that is not inherited makes the two differ, so they are not swapped.
 *
 * `inherit_stat` makes the kernel say at the end of each task how much time it
 * has used.
 *
 * A period is never the round number that was asked for: a program that does
 * the same every millisecond would be hit at the same place each time, and a
 * half of what it does might be seen as all. Each processor has another one, by
 * chance. */

#include "watch/engine.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "launch/run_options.h"
#include "util/memory.h"

/* Bytes of each processor's ring, where they are permitted, and of all rings.
 * They last while the sampler itself waits for a processor: a copied stack
 * takes 64 KiB. */
#define MOST_RING (1u << 24)
#define RING_BYTES (1u << 22)
#define ALL_RINGS (1u << 26)
#define MOST_WAKE_BYTES (1u << 18)
#define LEAST_RING (1u << 16)
#define MOST_RECORD (1u << 16)
#define OTHER_FILES 32u
#define LEAST_STACK 16384u /* unless the user wants less */
#define BESIDE_STACK 512u  /* what else is in a record */
/* A ring has room for the samples of so long, or there are smaller ones. */
#define ROOM_MS 15u

/* All general registers, in the order of their numbers. */
#define REGISTERS \
	((1ull << PERF_REG_X86_AX) | (1ull << PERF_REG_X86_BX) | \
	 (1ull << PERF_REG_X86_CX) | (1ull << PERF_REG_X86_DX) | \
	 (1ull << PERF_REG_X86_SI) | (1ull << PERF_REG_X86_DI) | \
	 (1ull << PERF_REG_X86_BP) | (1ull << PERF_REG_X86_SP) | \
	 (1ull << PERF_REG_X86_IP) | (0xffull << PERF_REG_X86_R8))

/* The descriptor, or -1. Some are left for files. */
static int open_event(struct perf_event_attr *attr, int32_t pid, int cpu)
{
	struct rlimit limit;
	int fd;

	attr->size = sizeof(*attr);
	fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    (rlim_t)fd + OTHER_FILES < limit.rlim_cur)
		return fd;
	close(fd);
	errno = EMFILE;
	return -1;
}

/* 1 to 4 % from the mean: the phase goes round in 25 to 100 samples. */
static uint64_t choose_period(uint64_t mean_ns, bool longer)
{
	uint64_t part = mean_ns / 100;
	uint64_t off = part + (uint64_t)random() % (3 * part + 1);

	return longer ? mean_ns + off : mean_ns - off;
}

static bool choose_event(struct perf_event_attr *attr,
			 const struct swz_perf_options *options,
			 uint64_t period_ns)
{
	attr->type = PERF_TYPE_SOFTWARE;
	if (strcmp(options->event, "cpu-clock") == 0) {
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
	} else if (strcmp(options->event, "task-clock") == 0) {
		attr->config = PERF_COUNT_SW_TASK_CLOCK;
	} else {
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_CPU_CYCLES;
		attr->freq = 1;
		attr->sample_freq = options->rate;
		return false;
	}
	attr->sample_period = period_ns;
	return true;
}

static void describe(struct perf_event_attr *attr, const struct swz_perf *perf,
		     const struct swz_perf_options *options)
{
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			    PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = REGISTERS;
	attr->sample_stack_user = perf->stack_bytes;
	attr->sample_id_all = 1;
	attr->read_format = PERF_FORMAT_ID;
	attr->inherit = 1;
	attr->inherit_stat = 1;
	attr->inherit_thread = !options->follow;
	attr->disabled = 1;
	attr->enable_on_exec = options->on_exec;
	attr->mmap = attr->mmap2 = 1;
	attr->comm = attr->comm_exec = 1;
	attr->task = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(perf->ring_bytes / 4);
	if (attr->wakeup_watermark > MOST_WAKE_BYTES)
		attr->wakeup_watermark = MOST_WAKE_BYTES;
	attr->exclude_hv = 1;
}

static bool map_ring(struct swz_perf_cpu *cpu, size_t bytes)
{
	void *at = mmap(NULL, 4096 + bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			cpu->fd, 0);

	if (at == MAP_FAILED)
		return false;
	cpu->page = at;
	cpu->ring_bytes = bytes;
	return true;
}

static int open_time(const struct swz_perf *perf,
		     const struct swz_perf_options *options, int32_t pid,
		     int cpu, int sampling)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK};
	int fd;

	describe(&attr, perf, options);
	attr.sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER |
					PERF_SAMPLE_STACK_USER);
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 0;
	attr.exclude_kernel = 1;
	fd = open_event(&attr, pid, cpu);
	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, sampling) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool open_cpu(struct swz_perf *perf, int32_t pid, int number,
		     const struct swz_perf_options *options,
		     const struct swz_perf_cpu *share)
{
	struct swz_perf_cpu cpu = {.cpu = number,
				   .ring = share ? share->ring : perf->count};
	struct perf_event_attr attr = {0};
	uint64_t time_id;
	bool by_time;

	if (share)
		cpu.period_ns = share->period_ns;
	else if (perf->period_ns)
		cpu.period_ns = choose_period(perf->period_ns, number % 2);
	by_time = choose_event(&attr, options, cpu.period_ns);
	describe(&attr, perf, options);
	attr.exclude_kernel = !perf->of_kernel;
	cpu.fd = open_event(&attr, pid, number);
	if (cpu.fd < 0 && attr.exclude_kernel == 0 &&
	    (errno == EACCES || errno == EPERM)) {
		perf->of_kernel = false;
		attr.exclude_kernel = 1;
		cpu.fd = open_event(&attr, pid, number);
	}
	if (cpu.fd < 0)
		return false;
	cpu.time_fd = by_time ? cpu.fd
			      : open_time(perf, options, pid, number, cpu.fd);
	if (cpu.time_fd < 0 ||
	    ioctl(cpu.time_fd, PERF_EVENT_IOC_ID, &time_id) != 0 ||
	    (share ? ioctl(cpu.fd, PERF_EVENT_IOC_SET_OUTPUT, share->fd) != 0
		   : !map_ring(&cpu, perf->ring_bytes))) {
		int error = errno;

		perf->mapping_failed = !share && cpu.time_fd >= 0;
		if (cpu.time_fd >= 0 && cpu.time_fd != cpu.fd)
			close(cpu.time_fd);
		close(cpu.fd);
		errno = error;
		return false;
	}
	if (!options->on_exec)
		(void)ioctl(cpu.fd, PERF_EVENT_IOC_ENABLE, 0);
	swz_grow(&perf->cpus, &perf->capacity, perf->count,
		 sizeof(*perf->cpus));
	perf->cpus[perf->count++] = cpu;
	*swz_map_at(&perf->time_ids, time_id, 0) = 0;
	return true;
}

int swz_perf_set_apart(int32_t tid, bool on_exec)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .disabled = on_exec,
				       .enable_on_exec = on_exec,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};

	return open_event(&attr, tid, -1);
}

static const char *why_not(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "perf_event_open is not permitted "
		       "(kernel.perf_event_paranoid, or a container's filter)";
	case ENOSYS:
		return "the kernel has no perf_event_open";
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return "this machine does not have the event";
	case EMFILE:
		return "too many open files (ulimit -n)";
	case ESRCH:
		return "there is no such process";
	default:
		return strerror(error);
	}
}

static bool open_all(struct swz_perf *perf, int32_t pid,
		     const struct swz_perf_options *options)
{
	int processors = get_nprocs_conf();

	for (int i = 0; i < processors; i++)
		if (!open_cpu(perf, pid, i, options, NULL) &&
		    /* (it is off) */
		    (errno != ENODEV || !perf->period_ns))
			return false;
	errno = ENODEV;
	return perf->count != 0;
}

/* Memory that may be locked is divided among the processors: the rings become
 * as large as they may be. */
static bool open_rings(struct swz_perf *perf, int32_t pid,
		       const struct swz_perf_options *options,
		       const char **problem)
{
	for (; !open_all(perf, pid, options); perf->ring_bytes /= 2) {
		int error = errno;

		*problem = why_not(error);
		swz_perf_close(perf);
		errno = error;
		if (!perf->mapping_failed || perf->ring_bytes <= LEAST_RING)
			return false;
		perf->mapping_failed = false;
	}
	return true;
}

/* So much of the stack that the ring's room lasts. */
static uint32_t affordable_stack(const struct swz_perf *perf,
				 const struct swz_perf_options *options)
{
	uint64_t samples = options->rate * ROOM_MS / 1000 + 1;
	uint64_t bytes = perf->ring_bytes / samples;

	bytes = bytes > LEAST_STACK + BESIDE_STACK ? bytes - BESIDE_STACK
						   : LEAST_STACK;
	return bytes < SWZ_MOST_STACK_BYTES ? (uint32_t)bytes & ~7u
					    : SWZ_MOST_STACK_BYTES;
}

static size_t wanted_ring(void)
{
	size_t bytes = MOST_RING;

	while (bytes > RING_BYTES &&
	       bytes * (size_t)get_nprocs_conf() > ALL_RINGS)
		bytes /= 2;
	return bytes;
}

bool swz_perf_open(struct swz_perf *perf, int32_t pid,
		   const struct swz_perf_options *options, const char **problem)
{
	uint32_t affordable;

	srandom((unsigned int)getpid());
	*perf = (struct swz_perf){
		.of_kernel = true,
		.ring_bytes = wanted_ring(),
		.stack_bytes = options->stack_bytes ? options->stack_bytes
						    : SWZ_MOST_STACK_BYTES};
	perf->period_ns = strcmp(options->event, "cycles") == 0
				  ? 0
				  : 1000000000u / options->rate;
	if (!open_rings(perf, pid, options, problem))
		return false;
	affordable = affordable_stack(perf, options);
	if (!options->stack_bytes && affordable < perf->stack_bytes) {
		swz_perf_close(perf);
		perf->stack_bytes = affordable;
		if (!open_rings(perf, pid, options, problem))
			return false;
	}
	perf->rings = perf->count;
	perf->unwrapped = swz_allocate(MOST_RECORD, 1);
	return true;
}

bool swz_perf_add_task(struct swz_perf *perf, int32_t tid,
		       const struct swz_perf_options *options)
{
	for (size_t i = 0; i < perf->rings; i++) {
		const struct swz_perf_cpu share = perf->cpus[i];

		if (!open_cpu(perf, tid, share.cpu, options, &share))
			return false;
	}
	return true;
}

void swz_perf_close(struct swz_perf *perf)
{
	for (size_t i = 0; i < perf->count; i++) {
		struct swz_perf_cpu *cpu = &perf->cpus[i];

		if (cpu->page)
			munmap(cpu->page, 4096 + cpu->ring_bytes);
		if (cpu->time_fd != cpu->fd)
			close(cpu->time_fd);
		close(cpu->fd);
	}
	free(perf->cpus);
	free(perf->unwrapped);
	swz_map_free(&perf->time_ids);
	perf->cpus = NULL;
	perf->unwrapped = NULL;
	perf->count = perf->capacity = perf->rings = 0;
}

/* ------------------------------------------------------------- records */

struct reader {
	const uint8_t *at, *end;
};

static uint64_t take_word(struct reader *r)
{
	uint64_t value = 0;

	if (r->end - r->at >= 8) {
		memcpy(&value, r->at, 8);
		r->at += 8;
	} else {
		r->at = r->end;
	}
	return value;
}

static void take_pair(struct reader *r, int32_t *first, int32_t *second)
{
	uint64_t word = take_word(r);

	*first = (int32_t)(uint32_t)word;
	*second = (int32_t)(uint32_t)(word >> 32);
}

static void read_sample(struct reader *r, struct swz_perf_record *record)
{
	uint64_t v[PERF_REG_X86_R15 + 1] = {0}, bytes, used;
	struct swz_registers *to = &record->registers;

	record->ip = take_word(r);
	take_pair(r, &record->pid, &record->tid);
	record->time_ns = take_word(r);
	if (take_word(r) != PERF_SAMPLE_REGS_ABI_NONE) {
		record->has_registers = true;
		for (int i = 0; i <= PERF_REG_X86_R15; i++)
			if (REGISTERS >> i & 1)
				v[i] = take_word(r);
	}
	to->ip = v[PERF_REG_X86_IP];
	to->ax = v[PERF_REG_X86_AX];
	to->bx = v[PERF_REG_X86_BX];
	to->cx = v[PERF_REG_X86_CX];
	to->dx = v[PERF_REG_X86_DX];
	to->si = v[PERF_REG_X86_SI];
	to->di = v[PERF_REG_X86_DI];
	to->bp = v[PERF_REG_X86_BP];
	to->sp = v[PERF_REG_X86_SP];
	memcpy(&to->r8, &v[PERF_REG_X86_R8], 8 * sizeof(uint64_t));
	bytes = take_word(r);
	if (bytes > (uint64_t)(r->end - r->at))
		return;
	record->stack = r->at;
	r->at += bytes;
	used = bytes ? take_word(r) : 0;
	record->stack_bytes = used < bytes ? used : bytes;
}

static void read_mapping(struct reader *r, struct swz_perf_record *record)
{
	take_pair(r, &record->pid, &record->tid);
	record->start = take_word(r);
	record->length = take_word(r);
	record->offset = take_word(r);
	(void)take_word(r); /* device */
	record->inode = take_word(r);
	(void)take_word(r); /* generation */
	(void)take_word(r); /* protection, flags */
	record->text = (const char *)r->at;
}

/* Texts end within the record: the kernel pads them. */
static void parse(const struct swz_perf *perf,
		  const struct perf_event_header *header,
		  struct swz_perf_record *record)
{
	struct reader r = {(const uint8_t *)(header + 1),
			   (const uint8_t *)header + header->size};
	struct reader id = {r.end - 16, r.end}; /* TID, TIME */
	int32_t pid, tid;

	*record = (struct swz_perf_record){.type = header->type,
					   .misc = header->misc};
	if (header->type == PERF_RECORD_SAMPLE) {
		read_sample(&r, record);
		return;
	}
	if (id.at < r.at)
		return;
	take_pair(&id, &pid, &tid);
	record->time_ns = take_word(&id);
	record->pid = pid;
	record->tid = tid;
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		if (header->size < 96)
			record->type = 0;
		else
			read_mapping(&r, record);
		break;
	case PERF_RECORD_COMM:
		take_pair(&r, &record->pid, &record->tid);
		record->text = (const char *)r.at;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		take_pair(&r, &record->pid, &record->parent_pid);
		take_pair(&r, &record->tid, &record->parent_tid);
		break;
	case PERF_RECORD_LOST:
		(void)take_word(&r);
		record->lost = take_word(&r);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		record->lost = take_word(&r);
		break;
	case PERF_RECORD_READ: {
		uint64_t event;

		take_pair(&r, &record->pid, &record->tid);
		record->value = take_word(&r);
		event = take_word(&r);
		record->is_time = swz_map_get(&perf->time_ids, event, 0) !=
				  SWZ_MAP_NONE;
		break;
	}
	}
}

/* The record at TAIL in one piece; NULL: it is damaged. */
static const struct perf_event_header *record_at(struct swz_perf *perf,
						 const struct swz_perf_cpu *cpu,
						 uint64_t tail)
{
	const uint8_t *ring = (const uint8_t *)cpu->page + 4096;
	size_t at = (size_t)(tail & (cpu->ring_bytes - 1)), first;
	const struct perf_event_header *header = (const void *)(ring + at);

	if (header->size < sizeof(*header))
		return NULL;
	if (at + header->size <= cpu->ring_bytes)
		return header;
	first = cpu->ring_bytes - at;
	memcpy(perf->unwrapped, ring + at, first);
	memcpy(perf->unwrapped + first, ring, header->size - first);
	return (const void *)perf->unwrapped;
}

static uint64_t word_in_ring(const struct swz_perf_cpu *cpu, uint64_t at)
{
	const uint8_t *ring = (const uint8_t *)cpu->page + 4096;
	uint64_t word;

	memcpy(&word, ring + (at & (cpu->ring_bytes - 1)), sizeof(word));
	return word; /* (records are whole words, aligned) */
}

/* When the record at TAIL was written. */
static uint64_t time_at(const struct swz_perf_cpu *cpu, uint64_t tail)
{
	struct perf_event_header header;
	uint64_t first = word_in_ring(cpu, tail);

	memcpy(&header, &first, sizeof(header));
	return word_in_ring(cpu, header.type == PERF_RECORD_SAMPLE
					 ? tail + sizeof(header) + 16
					 : tail + header.size - 8);
}

void swz_perf_drain(struct swz_perf *perf, uint64_t until_ns,
		    void (*take)(void *context,
				 const struct swz_perf_record *record),
		    void *context)
{
	uint64_t *heads = swz_allocate(perf->rings, sizeof(*heads));

	for (size_t i = 0; i < perf->rings; i++)
		heads[i] = perf->cpus[i].page
				   ? __atomic_load_n(
					     &perf->cpus[i].page->data_head,
					     __ATOMIC_ACQUIRE)
				   : 0;
	for (;;) {
		struct swz_perf_cpu *next = NULL;
		uint64_t earliest = UINT64_MAX;
		const struct perf_event_header *header;
		struct swz_perf_record record;
		uint64_t tail;

		for (size_t i = 0; i < perf->rings; i++) {
			struct swz_perf_cpu *cpu = &perf->cpus[i];
			uint64_t time;

			if (!cpu->page || cpu->page->data_tail == heads[i])
				continue;
			time = time_at(cpu, cpu->page->data_tail);
			if (time < earliest) {
				earliest = time;
				next = cpu;
			}
		}
		if (!next || earliest > until_ns)
			break;
		tail = next->page->data_tail;
		header = record_at(perf, next, tail);
		if (!header) {
			tail = heads[next - perf->cpus];
		} else {
			parse(perf, header, &record);
			record.period_ns = next->period_ns;
			record.processor = (uint32_t)next->cpu + 1;
			if (record.type)
				take(context, &record);
			tail += header->size;
		}
		__atomic_store_n(&next->page->data_tail, tail,
				 __ATOMIC_RELEASE);
	}
	free(heads);
}
