/* The page gets all lines of a short file, of a longer one those around its
 * functions and their calls. Where a function ends no symbol says in lines: it
 * is taken to go on for some lines beyond its last call.
 *
 * A file that was changed after the recording is shown, and said to be changed:
 * its lines may have moved. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/memory.h"
#include "profile/formats/common/section.h"
#include "profile/formats/page/html_blocks.h"

#define LEVEL 9 /* of compression */
#define PAGE_BYTES ((size_t)1 << 20)
#define WHOLE_BYTES ((size_t)32 << 10) /* of a file that is shown whole */
#define MOST_BYTES ((off_t)64 << 20)   /* of one that is read */
#define MOST_LINE 400                  /* bytes of a line */
#define MOST_FUNCTION 5000             /* lines */
#define BEFORE 10
#define BEYOND 40

/* The state of a file's text: docs/html.md has the same numbers. */
enum state { WHOLE, PARTS, NOT_FOUND, NO_TEXT, NO_ROOM, NOT_WANTED };

struct lines {
	size_t first, last; /* from 1 */
};

struct file {
	const char *path;
	int64_t self_ns;      /* of its functions */
	uint64_t profiled_ns; /* since 1970, when the earliest profile ended */
	struct lines *wanted;
	size_t count;
	size_t capacity;
	bool changed;
	char *text;
	size_t bytes;
	size_t line_count;
	enum state state;
};

/* A call: of interest are its line and the way to it. */
struct call {
	uint32_t caller;
	uint32_t place;
};

struct swz_html_sources {
	int64_t *self_ns; /* by function */
	bool *present;
	size_t function_capacity;
	struct swz_map seen; /* (caller, place) */
	struct call *calls;
	size_t call_count;
	size_t call_capacity;
	struct swz_map index; /* of a path, which is interned */
	struct file *files;
	size_t file_count;
	size_t file_capacity;
	const struct swz_debug_files *where;
};

struct swz_html_sources *swz_html_sources_begin(void)
{
	return swz_allocate(1, sizeof(struct swz_html_sources));
}

static void make_room(struct swz_html_sources *s, size_t functions)
{
	size_t old = s->function_capacity;

	if (functions <= old)
		return;
	s->self_ns = swz_reallocate(s->self_ns, functions, sizeof(*s->self_ns));
	s->present = swz_reallocate(s->present, functions, sizeof(*s->present));
	memset(s->self_ns + old, 0, (functions - old) * sizeof(*s->self_ns));
	memset(s->present + old, 0, (functions - old) * sizeof(*s->present));
	s->function_capacity = functions;
}

void swz_html_sources_add(struct swz_html_sources *s,
			  const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	size_t i;

	make_room(s, report->function_capacity);
	for (i = 0; i < report->function_capacity; i++)
		if (report->functions[i].present) {
			s->present[i] = true;
			s->self_ns[i] = swz_add(s->self_ns[i],
						report->functions[i].self_ns);
		}
	for (i = 0; i < report->edge_count; i++) {
		const struct swz_report_edge *edge = &report->edges[i];
		uint32_t *found = swz_map_at(&s->seen, edge->caller,
					     edge->place);

		if (*found != SWZ_MAP_NONE)
			continue;
		*found = 0;
		swz_grow(&s->calls, &s->call_capacity, s->call_count,
			 sizeof(*s->calls));
		s->calls[s->call_count++] = (struct call){edge->caller,
							  edge->place};
	}
}

/* ---- which lines ---- */

static struct file *file_at(struct swz_html_sources *s, const char *path)
{
	uint32_t *found = swz_map_at(&s->index, (uintptr_t)path, 0);

	if (*found == SWZ_MAP_NONE) {
		*found = (uint32_t)s->file_count;
		swz_grow(&s->files, &s->file_capacity, s->file_count,
			 sizeof(*s->files));
		s->files[s->file_count++] = (struct file){.path = path};
	}
	return &s->files[*found];
}

static void want(struct file *file, int from, int to)
{
	swz_grow(&file->wanted, &file->capacity, file->count,
		 sizeof(*file->wanted));
	file->wanted[file->count++] = (struct lines){
		.first = from > BEFORE ? (size_t)(from - BEFORE) : 1,
		.last = (size_t)to + BEYOND,
	};
}

static void want_function(struct swz_html_sources *s,
			  const struct swz_catalog *catalog, size_t index)
{
	const struct swz_catalog_function *f = &catalog->functions[index];
	struct file *file;
	uint64_t ended;

	if (!f->file || f->line <= 0)
		return;
	file = file_at(s, f->file);
	file->self_ns = swz_add(file->self_ns, s->self_ns[index]);
	want(file, f->line, f->line);
	if (f->module >= catalog->module_count)
		return;
	ended = catalog->modules[f->module].profiled_ns;
	if (ended && (!file->profiled_ns || ended < file->profiled_ns))
		file->profiled_ns = ended;
}

/* The page shows of a call in its caller's file the line itself or, of an
 * inlined function, where that was inlined. Elsewhere it is only a place. */
static void want_call(struct swz_html_sources *s,
		      const struct swz_catalog *catalog,
		      const struct call *call)
{
	const struct swz_catalog_function *f =
		&catalog->functions[call->caller];
	const struct swz_catalog_place *p;
	int line;

	if (call->place >= catalog->place_count || !f->file || f->line <= 0)
		return;
	p = &catalog->places[call->place];
	line = p->inlined ? p->outer_line : p->line;
	if (line <= 0 || (!p->inlined && p->file != f->file))
		return;
	want(file_at(s, f->file),
	     line > f->line && line - f->line < MOST_FUNCTION ? f->line : line,
	     line);
}

static int by_first(const void *a, const void *b)
{
	const struct lines *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* In order, none touching the next, none beyond the end. */
static void merge_lines(struct file *file)
{
	size_t i, count = 0;

	qsort(file->wanted, file->count, sizeof(*file->wanted), by_first);
	for (i = 0; i < file->count; i++) {
		struct lines *each = &file->wanted[i];

		if (each->first > file->line_count)
			break;
		if (each->last > file->line_count)
			each->last = file->line_count;
		if (count && each->first <= file->wanted[count - 1].last + 1) {
			if (file->wanted[count - 1].last < each->last)
				file->wanted[count - 1].last = each->last;
			continue;
		}
		file->wanted[count++] = *each;
	}
	file->count = count;
}

/* ---- the text ---- */

static int open_source(const struct swz_debug_files *where, const char *path)
{
	char *below;
	int fd = -1;

	if (where && where->root) {
		below = swz_debug_files_module(where, path);
		fd = swz_debug_files_open(below);
		free(below);
	}
	return fd >= 0 ? fd : swz_debug_files_open(path);
}

static bool read_all(int fd, char *text, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = read(fd, text + done, bytes - done);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* Whose path is relative was compiled in a directory that is not known here. */
static enum state read_file(struct swz_html_sources *s, struct file *file)
{
	struct stat info;
	int fd = *file->path == '/' ? open_source(s->where, file->path) : -1;
	size_t i;
	bool whole;

	if (fd < 0)
		return NOT_FOUND;
	if (fstat(fd, &info) != 0 || info.st_size <= 0 ||
	    info.st_size > MOST_BYTES) {
		close(fd);
		return NO_TEXT;
	}
	file->bytes = (size_t)info.st_size;
	file->text = swz_allocate(file->bytes + 1, 1);
	whole = read_all(fd, file->text, file->bytes);
	close(fd);
	if (!whole || memchr(file->text, '\0', file->bytes))
		return NO_TEXT;
	file->changed = file->profiled_ns &&
			(uint64_t)info.st_mtim.tv_sec * 1000000000u +
					(uint64_t)info.st_mtim.tv_nsec >
				file->profiled_ns;
	if (file->text[file->bytes - 1] != '\n')
		file->text[file->bytes++] = '\n';
	for (i = 0; i < file->bytes; i++)
		file->line_count += file->text[i] == '\n';
	return file->bytes <= WHOLE_BYTES ? WHOLE : PARTS;
}

/* Calls PUT for each line of the parts, if it is given; returns the bytes. */
static size_t each_line(const struct file *file, size_t part,
			struct swz_page_block *block)
{
	const struct lines *lines = &file->wanted[part];
	const char *at = file->text, *const end = at + file->bytes;
	size_t line = 1, bytes = 0;

	for (; at < end && line <= lines->last; line++) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)(next - at);

		if (line >= lines->first) {
			size = size < MOST_LINE ? size : MOST_LINE;
			bytes += size + 1;
			if (block)
				swz_page_block_line(block, at, size);
		}
		at = next + 1;
	}
	return bytes;
}

static void choose_lines(struct file *file, size_t *room)
{
	size_t i, bytes = 0;

	if (file->state == WHOLE) {
		file->count = 0;
		want(file, 1, 1);
		file->wanted[0].last = file->line_count;
	}
	merge_lines(file);
	for (i = 0; i < file->count; i++)
		bytes += each_line(file, i, NULL);
	if (bytes > *room) {
		file->state = NO_ROOM;
		file->count = 0;
		return;
	}
	*room -= bytes;
}

static void put_file(struct swz_html_sources *s, struct file *file,
		     struct swz_page_block *block, size_t *room, bool wanted)
{
	size_t i;

	file->state = !wanted        ? NOT_WANTED
		      : *room < 1024 ? NO_ROOM
				     : read_file(s, file);
	if (file->state == WHOLE || file->state == PARTS)
		choose_lines(file, room);
	else
		file->count = 0;
	swz_page_block_text(block, file->path);
	swz_page_block_number(block, file->state);
	swz_page_block_number(block, file->changed);
	swz_page_block_number(block, file->line_count);
	swz_page_block_number(block, file->count);
	for (i = 0; i < file->count; i++) {
		swz_page_block_number(block, file->wanted[i].first);
		swz_page_block_number(block, file->wanted[i].last + 1 -
						     file->wanted[i].first);
		each_line(file, i, block);
	}
	free(file->text);
	file->text = NULL;
}

/* ---- all files ---- */

static int by_self(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->self_ns != y->self_ns)
		return x->self_ns > y->self_ns ? -1 : 1;
	return strcmp(x->path, y->path);
}

void swz_html_sources_end(struct swz_html_sources *s, FILE *stream,
			  const struct swz_catalog *catalog, bool wanted)
{
	struct swz_page_block *block;
	size_t i, room = PAGE_BYTES;

	s->where = catalog->options.files;
	for (i = 0; i < s->function_capacity && i < catalog->function_count;
	     i++)
		if (s->present[i])
			want_function(s, catalog, i);
	for (i = 0; i < s->call_count; i++)
		if (s->calls[i].caller < catalog->function_count)
			want_call(s, catalog, &s->calls[i]);
	if (s->file_count)
		qsort(s->files, s->file_count, sizeof(*s->files), by_self);
	block = swz_page_block_begin(stream, "sources", LEVEL);
	swz_page_block_number(block, s->file_count);
	for (i = 0; i < s->file_count; i++)
		put_file(s, &s->files[i], block, &room, wanted);
	swz_page_block_end(block);
	for (i = 0; i < s->file_count; i++)
		free(s->files[i].wanted);
	free(s->files);
	free(s->calls);
	free(s->self_ns);
	free(s->present);
	swz_map_free(&s->seen);
	swz_map_free(&s->index);
	free(s);
}
