/* The file is put together in memory: its size is known by then, and a reader
 * that comes meanwhile sees an empty profile. The header, which says how much
 * is valid, goes out last.
 *
 * Times are ns of CLOCK_MONOTONIC: a tick is a nanosecond here. */

#include "watch/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profile/support/memory.h"
#include "watch/thread_time.h"

/* A module's functions may lie anywhere in so much, a byte each. */
#define JIT_BYTES (1ull << 32)

/* ---------------------------------------------------------------- name */

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

static int create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);

	if (fd >= 0)
		(void)flock(fd, LOCK_EX | LOCK_NB);
	return fd;
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
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    (st.st_size == 0 ||
	     (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	      (memcmp(magic, SWZ_FILE_MAGIC, sizeof(magic)) == 0 ||
	       memcmp(magic, SWZ_ARCHIVE_MAGIC, sizeof(magic)) == 0))))
		(void)unlink(path);
	close(fd);
}

static void fill_header(struct swz_file_header *h,
			const struct swz_sample_run *run,
			const struct swz_image *image)
{
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
	base = name_for(run, image->pid, &of_process);
	path = swz_duplicate(base);
	errno = EEXIST;
	if (!of_process && !run->first_made)
		remove_older(base);
	if (of_process || !run->first_made)
		fd = create(path);
	run->first_made = true;
	for (int i = 0; fd < 0 && errno == EEXIST && i < 100000; i++) {
		free(path);
		if (of_process)
			path = swz_print("%s.%d", base, i + 1);
		else if (i == 0)
			path = swz_print("%s.%d", base, (int)image->pid);
		else
			path = swz_print("%s.%d.%d", base, (int)image->pid, i);
		fd = create(path);
	}
	fill_header(&header, run, image);
	memcpy(page, &header, sizeof(header));
	if (fd < 0 || !write_all(fd, page, sizeof(page), 0)) {
		failed(run, path, errno);
		if (fd >= 0) {
			unlink(path);
			close(fd);
		}
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

static void add_labels(struct content *c, const struct swz_labels *labels)
{
	if (labels->strings)
		memcpy(add_chunk(c, SWZ_CHUNK_LABELS, labels->strings, 0,
				 labels->bytes),
		       labels->text, labels->bytes);
}

/* Functions are written by module, so that their numbers follow each other. */
struct numbering {
	uint32_t *ids;   /* by the image's functions; 0: has no node */
	uint32_t *order; /* of those that have */
	size_t count;
};

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

/* Names that no file gives. NULL: there is none. */
static const char *name_of(const struct swz_image *image,
			   const struct swz_image_function *f)
{
	if (f->name)
		return f->name;
	return swz_code_file_name(image->modules[f->module].file, f->address);
}

static void add_names(struct content *c, const struct swz_image *image,
		      const struct numbering *n, uint32_t module, size_t first,
		      size_t count)
{
	size_t size = 1, named = 0, at, records;
	struct swz_symbol_record *symbols;
	char *body;

	for (size_t i = 0; i < count; i++) {
		const char *name = name_of(
			image, &image->functions[n->order[first + i]]);

		named += name != NULL;
		size += name ? strlen(name) + 1 : 0;
	}
	if (!named)
		return;
	at = records = named * sizeof(*symbols);
	body = add_chunk(c, SWZ_CHUNK_SYMBOLS, named, module, records + size);
	symbols = (struct swz_symbol_record *)(void *)body;
	for (size_t i = 0; i < count; i++) {
		const struct swz_image_function *f =
			&image->functions[n->order[first + i]];
		const char *name = name_of(image, f);

		if (!name)
			continue;
		*symbols++ = (struct swz_symbol_record){
			.address = f->address,
			.size = f->name ? 1 : f->size,
			.name = (uint32_t)at,
		};
		memcpy(body + at, name, strlen(name) + 1);
		at += strlen(name) + 1;
	}
}

static void add_lines(struct content *c, const struct swz_image *image,
		      const struct numbering *n, uint32_t module, size_t first,
		      size_t count)
{
	const struct swz_image_function *f = &image->functions[n->order[first]];
	const char *path = image->scripts[f->script];
	size_t records = count * sizeof(struct swz_line_record);
	char *body = add_chunk(c, SWZ_CHUNK_LINES, count, module,
			       records + strlen(path) + 1);
	struct swz_line_record *lines = (struct swz_line_record *)(void *)body;

	for (size_t i = 0; i < count; i++) {
		f = &image->functions[n->order[first + i]];
		lines[i] = (struct swz_line_record){
			.address = f->address,
			.file = (uint32_t)records,
			.line = f->line ? f->line : 1,
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
		start += JIT_BYTES;
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
		add_module(c, i, m->file->path, &record);
		if (count)
			add_functions(c, image, n, i, first, count);
		if (count && m->file->in_memory)
			add_names(c, image, n, i, first, count);
		first += count;
	}
	add_scripts(c, image, n, first);
}

static void add_nodes(struct content *c, const struct swz_image_thread *thread,
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

		slots[i] = (struct swz_node){
			.function = node->function < SWZ_FUNCTION_CALLERS
					    ? n->ids[node->function]
					    : node->function,
			.parent = unit + node->parent,
			.call_site = node->call_site,
			.calls = node->samples + node->waits,
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
	(void)thread;
}

static void add_thread(struct content *c, const struct swz_sample_run *run,
		       const struct swz_image *image, uint32_t index,
		       const struct numbering *n, uint64_t end_ns)
{
	const struct swz_image_thread *thread = image->threads[index];
	struct swz_thread_time time;
	struct swz_thread_record record = {
		.tid = thread->tid,
		.start_ticks = thread->start_ns,
		.last_ticks = thread->end_ns ? thread->end_ns : end_ns,
		.end_ticks = thread->end_ns,
	};

	if (record.last_ticks < record.start_ticks)
		record.last_ticks = record.start_ticks;
	memcpy(record.name, thread->name, sizeof(record.name));
	swz_thread_time(&time, run, thread, record.last_ticks);
	record.processor_ns = time.processor_ns;
	record.processor_ticks = record.last_ticks;
	add_nodes(c, thread, index, n, &time, &record);
	memcpy(add_chunk(c, SWZ_CHUNK_THREAD, 1, index, sizeof(record)),
	       &record, sizeof(record));
	swz_thread_time_free(&time);
}

bool swz_profile_file_write(struct swz_sample_run *run, struct swz_image *image)
{
	struct swz_file_header header = {.magic = {0}};
	struct content c = {0};
	struct timespec now;
	struct numbering n;
	uint64_t end_ns = image->end_ns;
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
	add_labels(&c, &image->labels);
	add_code(&c, image, &n);
	for (size_t i = 0; i < image->thread_count; i++)
		add_thread(&c, run, image, (uint32_t)i, &n, end_ns);
	fill_header(&header, run, image);
	if (image->ended) {
		header.flags |= SWZ_FILE_ENDED;
		header.end_ticks = end_ns;
	}
	header.clock[2] = (struct swz_clock_sample){end_ns, end_ns};
	header.samples = image->samples;
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
	if (image->ended) {
		close(image->fd);
		image->fd = -1;
	}
	return good;
}
