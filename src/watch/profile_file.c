/* The file is put together in memory: its size is known by then, and a reader
 * that comes meanwhile sees an empty profile. The header, which says how much
 * is valid, goes out last.
 *
 * Times are ns of CLOCK_MONOTONIC: a tick is a nanosecond here. */

/* ---------------------------------------------------------------- name */

#include "watch/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/syscall.h"
#include "swizzle/format.h"
#include "util/memory.h"
#include "watch/image.h"

/* --- times of threads ---------------------------------------------------- */

/* From a thread's samples to times: what each sample stands for, so that all
 * together are the thread's processor time. */

/* Samples say how a thread's time is divided, the kernel how much it is.
 *
 * Where samples are taken in the kernel, too, all of them stand for the same
 * time. Where they are not, each stands for a period, and what is left of the
 * processor time is the kernel's, but for the last period, which had not ended
 * with the thread and is half over on average. The rest of its life a thread
 * has waited: for a processor where it ran, otherwise where it was seen to
 * wait. A thread that was hit by none, as it did not run for long enough, has
 * its time in `[not sampled]`. */

/* Without a hit: below this nobody knows, above it was the kernel. */
#define FEW_PERIODS 5u

/* The share of TOTAL that PART has of ALL. */
static uint64_t share(uint64_t total, uint64_t part, uint64_t all)
{
	return all ? (uint64_t)((unsigned __int128)total * part / all) : 0;
}

struct division {
	uint64_t running_ns; /* that samples of a running thread stand for */
	uint64_t kernel_ns, unsampled_ns;
	uint64_t waiting_ns, queued_ns, unsampled_waiting_ns;
};

static void divide_processor(struct division *d,
			     const struct swz_sample_run *run,
			     const struct swz_image_thread *t,
			     uint64_t processor_ns)
{
	uint64_t sampled_ns = t->weight + t->lost * run->period_ns;

	if (run->flags & SWZ_SAMPLES_OF_KERNEL || !run->period_ns) {
		if (t->samples)
			d->running_ns = processor_ns;
		else
			d->unsampled_ns = processor_ns;
	} else if (!t->samples) {
		if (processor_ns < FEW_PERIODS * run->period_ns)
			d->unsampled_ns = processor_ns;
		else
			d->kernel_ns = processor_ns;
	} else if (processor_ns >= sampled_ns + run->period_ns) {
		d->kernel_ns = processor_ns - sampled_ns - run->period_ns / 2;
		d->running_ns = processor_ns - d->kernel_ns;
	} else {
		d->running_ns = processor_ns;
	}
	if (!t->weight) {
		d->unsampled_ns += d->running_ns;
		d->running_ns = 0;
	}
}

static void divide(struct division *d, const struct swz_sample_run *run,
		   const struct swz_image_thread *t, uint64_t processor_ns,
		   uint64_t wall_ns)
{
	*d = (struct division){0};
	divide_processor(d, run, t, processor_ns);
	if (run->flags & SWZ_SAMPLES_OF_WAITING && wall_ns > processor_ns) {
		uint64_t waiting_ns = wall_ns - processor_ns;

		if (t->weight > t->own_weight + t->paused_weight)
			d->queued_ns = t->queued_ns < waiting_ns ? t->queued_ns
								 : waiting_ns;
		if (t->waits)
			d->waiting_ns = waiting_ns - d->queued_ns;
		else
			d->unsampled_waiting_ns = waiting_ns - d->queued_ns;
	}
}

/* Running sums are rounded down, so that all add up. */
static void spread(struct swz_thread_time *time,
		   const struct swz_image_thread *t, const struct division *d)
{
	uint64_t weight = 0, waits = 0;
	uint64_t all = t->weight - t->own_weight - t->paused_weight;
	uint64_t all_waits = t->waits - t->paused_waits;

	for (size_t i = 0; i < t->node_count; i++) {
		const struct swz_stack_node *node = &t->nodes[i];
		uint64_t before = share(d->running_ns, weight, all);
		uint64_t waited = share(d->waiting_ns, waits, all_waits) +
				  share(d->queued_ns, weight, all);

		weight += node->weight;
		waits += node->waits;
		time->waiting_ns[i] = share(d->waiting_ns, waits, all_waits) +
				      share(d->queued_ns, weight, all) - waited;
		time->total_ns[i] = share(d->running_ns, weight, all) - before +
				    time->waiting_ns[i];
	}
}

static void add_row(struct swz_thread_time *time, uint32_t function,
		    uint64_t ns, uint64_t waiting_ns)
{
	if (!ns && !waiting_ns)
		return;
	for (size_t i = 1; i < time->count; i++)
		if (time->nodes[i].function == function &&
		    !time->nodes[i].parent) {
			time->total_ns[i] += ns + waiting_ns;
			time->waiting_ns[i] += waiting_ns;
			return;
		}
	time->nodes[time->count] = (struct swz_stack_node){
		.function = function};
	time->total_ns[time->count] = ns + waiting_ns;
	time->waiting_ns[time->count] = waiting_ns;
	time->count++;
}

/* Takes the time out in which counting was stopped; OWN_NS is out already.
 * Returns the processor time of it. */
static uint64_t leave_out_pauses(struct division *d,
				 const struct swz_image_thread *t,
				 uint64_t own_ns)
{
	uint64_t ns = share(d->running_ns + own_ns, t->paused_weight,
			    t->weight);

	d->running_ns -= ns;
	d->queued_ns -= share(d->queued_ns, t->paused_weight,
			      t->weight - t->own_weight);
	d->waiting_ns -= share(d->waiting_ns, t->paused_waits, t->waits);
	return ns;
}

void swz_thread_time(struct swz_thread_time *time,
		     const struct swz_sample_run *run,
		     const struct swz_image_thread *t, uint64_t end_ns)
{
	uint64_t processor_ns = t->processor_known ? t->processor_ns
				: run->period_ns   ? t->weight
						   : 0;
	struct division d;

	time->nodes = swz_allocate(t->node_count + 2, sizeof(*time->nodes));
	memcpy(time->nodes, t->nodes, t->node_count * sizeof(*time->nodes));
	time->count = t->node_count;
	time->total_ns = swz_allocate(t->node_count + 2, sizeof(uint64_t));
	time->waiting_ns = swz_allocate(t->node_count + 2, sizeof(uint64_t));
	divide(&d, run, t, processor_ns,
	       end_ns > t->start_ns ? end_ns - t->start_ns : 0);
	/* what hit the profiler's code is not the program's */
	time->own_ns = share(d.running_ns, t->own_weight, t->weight);
	d.running_ns -= time->own_ns;
	time->processor_ns = processor_ns - time->own_ns -
			     leave_out_pauses(&d, t, time->own_ns);
	spread(time, t, &d);
	add_row(time, SWZ_FUNCTION_KERNEL, d.kernel_ns, 0);
	add_row(time, SWZ_FUNCTION_UNSAMPLED, d.unsampled_ns,
		d.unsampled_waiting_ns);
	/* parents come before their children */
	for (size_t i = time->count; i-- > 1;) {
		uint32_t parent = time->nodes[i].parent;

		time->total_ns[parent] += time->total_ns[i];
		time->waiting_ns[parent] += time->waiting_ns[i];
	}
}

void swz_thread_time_free(struct swz_thread_time *time)
{
	free(time->nodes);
	free(time->total_ns);
	free(time->waiting_ns);
}

/* --- the file ------------------------------------------------------------ */

static char *name_for(const struct swz_sample_run *run, int32_t pid,
		      bool *of_process)
{
	const char *slash = strrchr(run->output, '/');
	const char *mark = strstr(slash ? slash : run->output, "%p");

	*of_process = mark != NULL;
	if (!mark)
		return swz_duplicate(run->output);
	return swz_print("%.*s%d%s", (int)(mark - run->output), run->output,
			 (int)pid, mark + 2);
}

#define LOCK_PAUSE_NS 2000000
#define MOST_LOCK_PAUSES 500

/* The sampler of the run before is waited for, 1 s at most: it is about to end.
 * False: a process that runs has the profile. */
static bool lock_older(int fd)
{
	const struct timespec pause = {0, LOCK_PAUSE_NS};
	struct swz_file_header header;
	uint64_t start;

	for (int i = 0; i < MOST_LOCK_PAUSES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK ||
		    pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
		    !(header.flags & SWZ_FILE_SAMPLES))
			return false;
		start = swz_process_start(header.pid);
		if (start && start == header.process_start)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* An older profile of the very name that the user gave makes room; what is
 * anything else may have been meant to be read. */
static void remove_older(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char magic[8] = "";
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && lock_older(fd) &&
	    (st.st_size == 0 ||
	     (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	      (memcmp(magic, SWZ_FILE_MAGIC, sizeof(magic)) == 0 ||
	       memcmp(magic, SWZ_ARCHIVE_MAGIC, sizeof(magic)) == 0))))
		(void)unlink(path);
	close(fd);
}

struct swz_sample_run swz_run_of_image(const struct swz_sample_run *run,
				       const struct swz_image *image)
{
	struct swz_sample_run own = *run;

	if (image->pause_period_ns) {
		own.engine = SWZ_ENGINE_PAUSE;
		own.period_ns = image->pause_period_ns;
		own.flags |= SWZ_SAMPLES_OF_KERNEL;
	}
	return own;
}

static void fill_header(struct swz_file_header *h,
			const struct swz_sample_run *all,
			const struct swz_image *image)
{
	const struct swz_sample_run own = swz_run_of_image(all, image);
	const struct swz_sample_run *run = &own;

	memcpy(h->magic, SWZ_FILE_MAGIC, sizeof(h->magic));
	h->version = SWZ_FILE_VERSION;
	h->header_bytes = SWZ_HEADER_BYTES;
	h->byte_order = SWZ_FILE_BYTE_ORDER;
	h->flags = SWZ_FILE_SAMPLES;
	if (image->by_fork)
		h->flags |= SWZ_FILE_FORKED;
	h->used_bytes = SWZ_HEADER_BYTES;
	h->limit_bytes = SWZ_HEADER_BYTES;
	h->pid = image->pid;
	h->parent_pid = image->parent_pid;
	h->process_start = image->process_start;
	h->root_pid = run->root_pid;
	h->root_start = run->root_start;
	h->counts_pid = run->counts_pid;
	h->counts_start = run->counts_start;
	h->plain_call = run->plain_call;
	h->counted_call = run->counted_call;
	h->start_ticks = h->epoch_ticks = image->start_ns;
	h->start_realtime_ns = image->start_realtime_ns;
	h->clock[0] = (struct swz_clock_sample){image->start_ns,
						image->start_ns};
	h->sample_period_ns = run->period_ns;
	h->sample_engine = run->engine;
	h->sample_flags = run->flags;
	h->stack_bytes = run->stack_bytes;
}

static bool write_all(int fd, const void *bytes, size_t size, off_t at)
{
	const char *from = bytes;

	while (size) {
		ssize_t n = pwrite(fd, from, size, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : ENOSPC;
			return false;
		}
		from += n;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

/* Gives the file its name when it has its first page: nobody finds an empty one
 * (runtime/record/file_mapping.c). Returns -1 where that is not possible. */
static int create_with_header(const char *path, const char *page)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash ? swz_print("%.*s/", (int)(slash - path), path)
				: swz_duplicate(".");
	int fd = open(directory, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600), error;
	char link[64];

	free(directory);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write_all(fd, page, SWZ_HEADER_BYTES, 0) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

static int create(const char *path, const char *page)
{
	int fd = create_with_header(path, page), error;

	if (fd >= 0 || errno == EEXIST)
		return fd;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return fd;
	(void)flock(fd, LOCK_EX | LOCK_NB);
	if (write_all(fd, page, SWZ_HEADER_BYTES, 0))
		return fd;
	error = errno;
	unlink(path);
	close(fd);
	errno = error;
	return -1;
}

static void failed(struct swz_sample_run *run, const char *path, int error)
{
	if (!run->problem)
		run->problem = swz_print("%s: %s", path, strerror(error));
}

void swz_profile_file_make(struct swz_sample_run *run, struct swz_image *image)
{
	struct swz_file_header header = {.magic = {0}};
	char page[SWZ_HEADER_BYTES] = {0};
	bool of_process;
	char *base, *path;
	int fd = -1;

	if (image->fd >= 0)
		return;
	fill_header(&header, run, image);
	memcpy(page, &header, sizeof(header));
	base = name_for(run, image->pid, &of_process);
	path = swz_duplicate(base);
	errno = EEXIST;
	if (!of_process && !run->first_made)
		remove_older(base);
	if (of_process || !run->first_made)
		fd = create(path, page);
	run->first_made = true;
	for (int i = 0; fd < 0 && errno == EEXIST && i < 100000; i++) {
		free(path);
		if (of_process)
			path = swz_print("%s.%d", base, i + 1);
		else if (i == 0)
			path = swz_print("%s.%d", base, (int)image->pid);
		else
			path = swz_print("%s.%d.%d", base, (int)image->pid, i);
		fd = create(path, page);
	}
	if (fd < 0) {
		failed(run, path, errno);
		free(path);
	} else {
		image->fd = fd;
		image->path = path;
	}
	free(base);
}

void swz_profile_file_drop(struct swz_image *image)
{
	if (image->fd < 0)
		return;
	unlink(image->path);
	close(image->fd);
	image->fd = -1;
}

/* ------------------------------------------------------------- content */

struct content {
	uint8_t *bytes;
	size_t size, capacity;
};

static void *reserve(struct content *c, size_t size)
{
	void *at;

	if (c->capacity - c->size < size) {
		c->capacity += size + c->capacity / 2;
		c->bytes = swz_reallocate(c->bytes, c->capacity, 1);
	}
	at = c->bytes + c->size;
	if (size)
		memset(at, 0, size);
	c->size += size;
	return at;
}

/* Room for a chunk with a body of SIZE; valid until the next. */
static void *add_chunk(struct content *c, uint32_t type, size_t count,
		       uint32_t owner, size_t size)
{
	size_t bytes = (sizeof(struct swz_chunk) + size + SWZ_UNIT_BYTES - 1) /
		       SWZ_UNIT_BYTES * SWZ_UNIT_BYTES;
	struct swz_chunk *chunk = reserve(c, bytes);

	chunk->magic = SWZ_CHUNK_MAGIC;
	chunk->type = type;
	chunk->bytes = bytes;
	chunk->count = (uint32_t)count;
	chunk->owner = owner;
	return chunk + 1;
}

static void add_command(struct content *c, const struct swz_image *image)
{
	const char *executable = image->executable ? image->executable : "";
	const char *directory = image->directory ? image->directory : "";
	size_t first = strlen(executable) + 1, second = strlen(directory) + 1;
	char *body = add_chunk(c, SWZ_CHUNK_COMMAND, 2 + image->argument_count,
			       0, first + second + image->argument_bytes);

	memcpy(body, executable, first);
	memcpy(body + first, directory, second);
	if (image->argument_bytes)
		memcpy(body + first + second, image->arguments,
		       image->argument_bytes);
}

/* A process knows better than its environment. */
static void add_labels(struct content *c, const struct swz_image *image)
{
	struct swz_labels labels = image->labels;
	const struct swz_labels *published = &image->context;
	const char *name, *value;

	for (size_t at = 0; at < published->bytes;
	     at += strlen(name) + strlen(value) + 2) {
		name = published->text + at;
		value = name + strlen(name) + 1;
		swz_labels_set(&labels, name, value);
	}
	if (labels.strings)
		memcpy(add_chunk(c, SWZ_CHUNK_LABELS, labels.strings, 0,
				 labels.bytes),
		       labels.text, labels.bytes);
}

struct script_line {
	uint32_t script, line;
};

/* Functions are written by module, so that their numbers follow each other. */
struct numbering {
	uint32_t *ids;   /* by the image's functions; 0: has no node */
	uint32_t *order; /* of those that have */
	size_t count;
	/* Lines of scripts that were executed, sorted, and where each
	 * script's module begins. */
	struct script_line *lines;
	size_t line_count, line_capacity;
	uint64_t *starts;
};

/* The script whose line a node's call site is; 0: it is an address. */
static uint32_t script_of_site(const struct swz_image *image,
			       const struct swz_stack_node *nodes,
			       const struct swz_stack_node *node)
{
	uint32_t caller = nodes[node->parent].function;

	if (!node->call_site || node->call_site >= SWZ_MOST_SCRIPT_LINES ||
	    caller >= image->function_count)
		return 0;
	return image->functions[caller].script;
}

static int by_line(const void *left, const void *right)
{
	const struct script_line *a = left, *b = right;

	if (a->script != b->script)
		return a->script < b->script ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static void collect_lines(const struct swz_image *image,
			  const struct swz_image_thread *thread,
			  struct swz_map *known, struct numbering *n)
{
	for (size_t i = 1; i < thread->node_count; i++) {
		const struct swz_stack_node *node = &thread->nodes[i];
		uint32_t script = script_of_site(image, thread->nodes, node);
		uint32_t *found;

		if (!script)
			continue;
		found = swz_map_at(known, script, node->call_site);
		if (*found != SWZ_MAP_NONE)
			continue;
		*found = 0;
		swz_grow(&n->lines, &n->line_capacity, n->line_count,
			 sizeof(*n->lines));
		n->lines[n->line_count++] = (struct script_line){
			script, (uint32_t)node->call_site};
	}
}

static void number_lines(const struct swz_image *image, struct numbering *n)
{
	struct swz_map known = {0};

	for (size_t i = 0; i < image->thread_count; i++)
		collect_lines(image, image->threads[i], &known, n);
	swz_map_free(&known);
	if (n->line_count > 1)
		qsort(n->lines, n->line_count, sizeof(*n->lines), by_line);
	n->starts = swz_allocate(image->script_count + 1, sizeof(*n->starts));
}

static const struct swz_image *sorted_image;

static int by_module(const void *left, const void *right)
{
	const uint32_t *i = left, *j = right;
	const struct swz_image_function *a = &sorted_image->functions[*i];
	const struct swz_image_function *b = &sorted_image->functions[*j];

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->script != b->script)
		return a->script < b->script ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return *i < *j ? -1 : *i > *j;
}

static struct numbering number_functions(const struct swz_image *image)
{
	struct numbering n = {0};

	n.ids = swz_allocate(image->function_count, sizeof(*n.ids));
	n.order = swz_allocate(image->function_count, sizeof(*n.order));
	for (size_t i = 0; i < image->function_count; i++)
		if (!image->functions[i].unused)
			n.order[n.count++] = (uint32_t)i;
	sorted_image = image;
	qsort(n.order, n.count, sizeof(*n.order), by_module);
	for (size_t i = 0; i < n.count; i++)
		n.ids[n.order[i]] = (uint32_t)i + 1;
	number_lines(image, &n);
	return n;
}

static void add_module(struct content *c, uint32_t index, const char *path,
		       const struct swz_module_record *record)
{
	size_t length = strlen(path) + 1;
	char *body = add_chunk(c, SWZ_CHUNK_MODULE, 1, index,
			       sizeof(*record) + length);

	memcpy(body, record, sizeof(*record));
	memcpy(body + sizeof(*record), path, length);
}

static void add_functions(struct content *c, const struct swz_image *image,
			  const struct numbering *n, uint32_t module,
			  size_t first, size_t count)
{
	struct swz_function_record *body = add_chunk(
		c, SWZ_CHUNK_FUNCTIONS, count, module, count * sizeof(*body));

	for (size_t i = 0; i < count; i++) {
		const struct swz_image_function *f =
			&image->functions[n->order[first + i]];

		body[i] = (struct swz_function_record){
			.address = (uint32_t)f->address,
			.size = f->name                ? 1
				: f->size > UINT32_MAX ? 0
						       : (uint32_t)f->size,
			.flags = f->from_symbol ? SWZ_FUNCTION_FROM_SYMBOL : 0,
			.id = (uint32_t)(first + i) + 1,
		};
	}
}

/* Names that no file will give. */
static const char **find_names(const struct swz_image *image,
			       const struct numbering *n, size_t first,
			       size_t count)
{
	const char **names = swz_allocate(count, sizeof(*names));
	uint64_t *addresses = swz_allocate(count, sizeof(*addresses));
	uint32_t module = image->functions[n->order[first]].module;

	for (size_t i = 0; i < count; i++) {
		const struct swz_image_function *f =
			&image->functions[n->order[first + i]];

		names[i] = f->name;
		addresses[i] = f->address;
	}
	if (module != SWZ_NO_MODULE)
		swz_code_file_names(image->modules[module].file, addresses,
				    names, count);
	free(addresses);
	return names;
}

static void add_names(struct content *c, const struct swz_image *image,
		      const struct numbering *n, uint32_t module, size_t first,
		      size_t count)
{
	const char **names = find_names(image, n, first, count);
	size_t size = 1, named = 0, at, records;
	struct swz_symbol_record *symbols;
	char *body;

	for (size_t i = 0; i < count; i++) {
		named += names[i] != NULL;
		size += names[i] ? strlen(names[i]) + 1 : 0;
	}
	at = records = named * sizeof(*symbols);
	body = named ? add_chunk(c, SWZ_CHUNK_SYMBOLS, named, module,
				 records + size)
		     : NULL;
	symbols = (struct swz_symbol_record *)(void *)body;
	for (size_t i = 0; i < count; i++) {
		const struct swz_image_function *f =
			&image->functions[n->order[first + i]];

		if (!names[i])
			continue;
		*symbols++ = (struct swz_symbol_record){
			.address = f->address,
			.size = f->name ? 1 : f->size,
			.name = (uint32_t)at,
		};
		memcpy(body + at, names[i], strlen(names[i]) + 1);
		at += strlen(names[i]) + 1;
	}
	free(names);
}

static void add_lines(struct content *c, const struct swz_image *image,
		      const struct numbering *n, uint32_t module, size_t first,
		      size_t count)
{
	const struct swz_image_function *f = &image->functions[n->order[first]];
	const char *path = image->scripts[f->script];
	size_t first_line = 0, line_count = 0, records;
	struct swz_line_record *lines;
	char *body;

	while (first_line < n->line_count &&
	       n->lines[first_line].script != f->script)
		first_line++;
	while (first_line + line_count < n->line_count &&
	       n->lines[first_line + line_count].script == f->script)
		line_count++;
	records = (count + line_count) * sizeof(struct swz_line_record);
	body = add_chunk(c, SWZ_CHUNK_LINES, count + line_count, module,
			 records + strlen(path) + 1);
	lines = (struct swz_line_record *)(void *)body;

	for (size_t i = 0; i < count; i++) {
		f = &image->functions[n->order[first + i]];
		lines[i] = (struct swz_line_record){
			.address = f->address,
			.file = (uint32_t)records,
			.line = f->line ? f->line : 1,
		};
	}
	for (size_t i = 0; i < line_count; i++) {
		uint32_t line = n->lines[first_line + i].line;

		lines[count + i] = (struct swz_line_record){
			.address = SWZ_SCRIPT_LINES + line,
			.file = (uint32_t)records,
			.line = line,
		};
	}
	memcpy(body + records, path, strlen(path) + 1);
}

static size_t count_of_module(const struct swz_image *image,
			      const struct numbering *n, size_t first)
{
	const struct swz_image_function *head =
		&image->functions[n->order[first]];
	size_t count = 0;

	while (first + count < n->count &&
	       image->functions[n->order[first + count]].module ==
		       head->module &&
	       image->functions[n->order[first + count]].script == head->script)
		count++;
	return count;
}

/* Functions of no file that says so: each script is a module, and so is all
 * that has none. Behind each other, as places that do not exist, they lie
 * apart. */
static void add_scripts(struct content *c, const struct swz_image *image,
			const struct numbering *n, size_t first)
{
	uint32_t module = (uint32_t)image->module_count;
	uint64_t start = SWZ_NO_FILE_START;

	for (size_t count; first < n->count; first += count, module++) {
		uint32_t script = image->functions[n->order[first]].script;
		struct swz_module_record record = {
			.load_bias = start,
			.start = start,
			.in_scope = 1,
			.first_function = (uint32_t)first + 1,
			.loads = 1,
		};

		count = count_of_module(image, n, first);
		if (script)
			n->starts[script] = start;
		start += SWZ_NO_FILE_BYTES;
		record.end = start;
		record.function_count = record.counts[0] = (uint32_t)count;
		add_module(c, module,
			   script ? image->scripts[script]
				  : SWZ_CODE_MODULE_NAME,
			   &record);
		add_functions(c, image, n, module, first, count);
		add_names(c, image, n, module, first, count);
		if (script)
			add_lines(c, image, n, module, first, count);
	}
}

static void add_code(struct content *c, const struct swz_image *image,
		     const struct numbering *n)
{
	size_t first = 0;

	for (uint32_t i = 0; i < image->module_count; i++) {
		const struct swz_image_module *m = &image->modules[i];
		struct swz_module_record record = {
			.load_bias = m->load_bias,
			.start = m->start,
			.end = m->end,
			.in_scope = 1,
			.build_id_bytes = m->file->build_id_bytes,
			.loads = 1,
		};
		size_t count = 0;

		if (first < n->count &&
		    image->functions[n->order[first]].module == i)
			count = count_of_module(image, n, first);
		memcpy(record.build_id, m->file->build_id,
		       sizeof(record.build_id));
		record.first_function = (uint32_t)first + 1;
		record.function_count = record.counts[0] = (uint32_t)count;
		add_module(c, i,
			   m->file->asked_for ? m->file->asked_for
					      : m->file->path,
			   &record);
		if (count)
			add_functions(c, image, n, i, first, count);
		if (count && swz_code_file_is_gone(m->file))
			add_names(c, image, n, i, first, count);
		first += count;
	}
	add_scripts(c, image, n, first);
}

static void add_nodes(struct content *c, const struct swz_image *image,
		      uint32_t index, const struct numbering *n,
		      const struct swz_thread_time *time,
		      struct swz_thread_record *record)
{
	size_t count = time->count;
	uint32_t unit;
	struct swz_node *slots;

	unit = (uint32_t)((SWZ_HEADER_BYTES + c->size +
			   sizeof(struct swz_chunk)) /
			  SWZ_UNIT_BYTES);
	slots = add_chunk(c, SWZ_CHUNK_NODES, count, index,
			  count * sizeof(*slots));
	for (size_t i = 0; i < count; i++) {
		const struct swz_stack_node *node = &time->nodes[i];
		uint32_t script = script_of_site(image, time->nodes, node);
		uint64_t call_site = node->call_site;

		/* (a call's is behind it) */
		if (script)
			call_site += n->starts[script] + SWZ_SCRIPT_LINES +
				     !node->is_hit;
		slots[i] = (struct swz_node){
			.function = node->function < SWZ_FUNCTION_COUNTING
					    ? n->ids[node->function]
					    : node->function,
			.parent = unit + node->parent,
			.call_site = call_site,
			.calls = node->samples,
			.open = node->is_hit ? SWZ_NODE_HIDDEN | SWZ_NODE_HIT
					     : 0,
			.ticks = (int64_t)time->total_ns[i],
			.waiting_ticks = (int64_t)time->waiting_ns[i],
			.context = unit + (uint32_t)i,
		};
	}
	for (size_t i = 1; i < count; i++)
		if (time->nodes[i].is_hit)
			slots[time->nodes[i].parent].calls += slots[i].calls;
	record->root = unit;
}

/* When the thread's samples were taken: those of a kind. */
static void add_moments(struct content *c, const struct swz_sample_run *run,
			const struct swz_image_thread *thread, uint32_t index,
			bool waiting)
{
	struct swz_sample_times times;
	struct swz_chunk *chunk;
	uint8_t *body;

	swz_sample_times_pack(&times, thread, waiting, run->period_ns);
	if (times.count) {
		body = add_chunk(c, SWZ_CHUNK_SAMPLES, times.count, index,
				 times.bytes);
		memcpy(body, times.stream, times.bytes);
		chunk = (struct swz_chunk *)(void *)(body - sizeof(*chunk));
		chunk->reserved[SWZ_SAMPLES_BYTES] = times.bytes;
		chunk->reserved[SWZ_SAMPLES_START] = thread->start_ns;
		chunk->reserved[SWZ_SAMPLES_UNIT] = times.unit_ns;
		chunk->reserved[SWZ_SAMPLES_EXPECTED] = times.expected;
		chunk->reserved[SWZ_SAMPLES_WAITING] = waiting;
	}
	free(times.stream);
}

static void add_thread(struct content *c, const struct swz_sample_run *run,
		       const struct swz_image *image, uint32_t index,
		       const struct numbering *n, uint64_t end_ns,
		       uint64_t *own_ns)
{
	const struct swz_image_thread *thread = image->threads[index];
	const struct swz_sample_run own = swz_run_of_image(run, image);
	struct swz_thread_time time;
	struct swz_thread_record record = {
		.tid = thread->tid,
		.start_ticks = thread->start_ns,
		.last_ticks = thread->end_ns ? thread->end_ns : end_ns,
		.end_ticks = thread->end_ns,
	};

	if (swz_image_is_own_thread(image, thread)) {
		*own_ns += thread->processor_known ? thread->processor_ns
						   : thread->weight;
		return;
	}
	if (record.last_ticks < record.start_ticks)
		record.last_ticks = record.start_ticks;
	memcpy(record.name, thread->name, sizeof(record.name));
	swz_thread_time(&time, &own, thread, record.last_ticks);
	/* (no function has our part, but the thread did not wait in it) */
	record.processor_ns = time.processor_ns + time.own_ns;
	*own_ns += time.own_ns;
	record.processor_ticks = record.last_ticks;
	add_nodes(c, image, index, n, &time, &record);
	memcpy(add_chunk(c, SWZ_CHUNK_THREAD, 1, index, sizeof(record)),
	       &record, sizeof(record));
	add_moments(c, &own, thread, index, false);
	add_moments(c, &own, thread, index, true);
	swz_thread_time_free(&time);
}

bool swz_profile_file_write(struct swz_sample_run *run, struct swz_image *image)
{
	struct swz_file_header header = {.magic = {0}};
	struct content c = {0};
	struct timespec now;
	struct numbering n;
	uint64_t end_ns = image->end_ns, own_ns = 0;
	bool good;

	if (image->fd < 0)
		return false;
	if (!end_ns) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		end_ns = (uint64_t)now.tv_sec * 1000000000u +
			 (uint64_t)now.tv_nsec;
	}
	n = number_functions(image);
	add_command(&c, image);
	add_labels(&c, image);
	add_code(&c, image, &n);
	for (size_t i = 0; i < image->thread_count; i++)
		add_thread(&c, run, image, (uint32_t)i, &n, end_ns, &own_ns);
	fill_header(&header, run, image);
	if (image->ended) {
		header.flags |= SWZ_FILE_ENDED;
		header.end_ticks = end_ns;
	}
	header.clock[2] = (struct swz_clock_sample){end_ns, end_ns};
	header.samples = image->samples - image->own_samples -
			 image->paused_samples;
	header.own_samples = image->own_samples;
	header.profiling_ns = own_ns;
	header.untimed_samples = image->untimed;
	header.lost_samples = image->lost;
	header.missed_samples = image->missed;
	header.cut_stacks = image->cut_stacks;
	header.broken_stacks = image->broken_stacks;
	header.unread_scripts = image->unread_scripts;
	header.used_bytes = header.limit_bytes = SWZ_HEADER_BYTES + c.size;
	good = write_all(image->fd, c.bytes, c.size, SWZ_HEADER_BYTES) &&
	       write_all(image->fd, &header, sizeof(header), 0);
	if (!good)
		failed(run, image->path, errno);
	free(c.bytes);
	free(n.ids);
	free(n.order);
	free(n.lines);
	free(n.starts);
	if (image->ended) {
		close(image->fd);
		image->fd = -1;
	}
	return good;
}
