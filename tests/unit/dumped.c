#include "tests/unit/dumped.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time_bucket.h"
#include "tests/unit/profile_builder.h"

/* Functions of a module, and the depth of a context, at most; SO is the number
 * of the library's first. */
enum { MOST = 64, DEEPEST = 32, SO = MOST };

#define BIAS 0x400000
#define SO_BIAS 0x7f0000000000

struct dumped dumped;
static char directory[] = "/tmp/swizzle-test-XXXXXX";
static char program[4096]; /* swizzle-dump */

/* (No macro of check's: fuzzers are linked with this, too.) */
static void need(bool well, const char *what)
{
	if (!well) {
		perror(what);
		abort();
	}
}

void dump_begin(void)
{
	ssize_t size = readlink("/proc/self/exe", program,
				sizeof(program) - 32);
	char *end;

	need(size > 0, "/proc/self/exe");
	program[size] = '\0';
	for (int i = 0; i < 3; i++) {
		end = strrchr(program, '/');
		need(end, program);
		*end = '\0';
	}
	strcat(program, "/bin/swizzle-dump");
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	need(mkdtemp(directory) && chdir(directory) == 0, directory);
	setenv("DUMP", program, 1);
	setenv("SWIZZLE_ADVICE", "0", 1);
	setenv("XDG_CONFIG_HOME", directory, 1);
	setenv("LC_ALL", "C", 1);
}

void dump_end(void)
{
	free(dumped.out);
	free(dumped.err);
	dumped = (struct dumped){0};
	need(chdir("/") == 0 && strncmp(directory, "/tmp/", 5) == 0, "/");
	setenv("MADE", directory, 1);
	need(system("rm -r \"$MADE\"") == 0, directory);
}

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t got;

	need(file, path);
	got = getdelim(&text, &size, '\0', file);
	fclose(file);
	if (got < 0) {
		free(text);
		text = strdup("");
	}
	return text;
}

void dump(const char *words, ...)
{
	char *command, *all;
	va_list list;
	int status;

	va_start(list, words);
	need(vasprintf(&command, words, list) >= 0, words);
	va_end(list);
	need(asprintf(&all, "exec \"$DUMP\" %s >.out 2>.err </dev/null",
		      command) >= 0,
	     words);
	status = system(all);
	free(command);
	free(all);
	free(dumped.out);
	free(dumped.err);
	dumped.out = read_all(".out");
	dumped.err = read_all(".err");
	dumped.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool dump_told(const char *text)
{
	if (!*text)
		return !*dumped.err;
	return strncmp(dumped.err, "swizzle: ", 9) == 0 &&
	       strstr(dumped.err, text);
}

/* Copies figures from AT, and blanks behind them as one; returns what follows.
 */
static const char *copy_figures(FILE *to, const char *at)
{
	for (;;) {
		const char *figure = at + strspn(at, " ");
		size_t size = strspn(figure, "0123456789.+-<>%");

		if (!size || (figure[size] != ' ' && figure[size] != '\n'))
			return at;
		fwrite(figure, 1, size, to);
		at = figure + size;
		if (*at == ' ')
			fputc(' ', to);
	}
}

void dump_rows(void)
{
	const char *at = dumped.out, *end;
	char *rows;
	size_t size;
	FILE *to = open_memstream(&rows, &size);

	for (; *at; at = end + (*end == '\n')) {
		end = at + strcspn(at, "\n");
		if (*at == '#' || end == at ||
		    strncmp(at + strspn(at, " "), "calls", 5) == 0)
			continue;
		at = copy_figures(to, at);
		if (strncmp(at, "  ", 2) == 0)
			at += 2;
		fwrite(at, 1, (size_t)(end - at), to);
		fputc('\n', to);
	}
	fclose(to);
	free(dumped.out);
	dumped.out = rows;
}

/* What NAME is in a line of JSON, without quotes; "" if it is not there. */
static void get_member(const char *line, const char *name, char value[64])
{
	const char *at = strstr(line, name);
	size_t size;

	*value = '\0';
	if (!at || at > line + strcspn(line, "\n"))
		return;
	at += strlen(name);
	at += *at == '"';
	size = strcspn(at, "\",}\n");
	need(size < 64, line);
	memcpy(value, at, size);
	value[size] = '\0';
}

/* Microseconds with three decimals, as ns. */
static long time_of(const char *line)
{
	char text[64], *point;

	get_member(line, "\"ts\":", text);
	point = strchr(text, '.');
	need(point, line);
	return strtol(text, NULL, 10) * 1000 + strtol(point + 1, NULL, 10);
}

void dump_calls(void)
{
	struct {
		char name[64], how[64];
		int depth;
		long begin, end;
	} calls[64], *open[DEEPEST];
	int count = 0, depth = 0;
	const char *line;
	char phase[64], *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	for (line = dumped.out; *line; line += strcspn(line, "\n") + 1) {
		get_member(line, "\"ph\":", phase);
		if (*phase == 'B') {
			need(count < 64 && depth < DEEPEST, line);
			open[depth] = &calls[count++];
			get_member(line, "\"name\":", open[depth]->name);
			open[depth]->begin = time_of(line);
			open[depth]->depth = depth;
			depth++;
		} else if (*phase == 'E') {
			need(depth > 0, line);
			depth--;
			open[depth]->end = time_of(line);
			get_member(line, "\"ended by\":", open[depth]->how);
		}
	}
	need(depth == 0, "calls that are open");
	for (int i = 0; i < count; i++)
		fprintf(to, "%*s%s %ld-%ld%s\n", 2 * calls[i].depth, "",
			calls[i].name, calls[i].begin, calls[i].end,
			strcmp(calls[i].how, "exception") == 0 ? "!"
			: strcmp(calls[i].how, "longjmp") == 0 ? "~"
							       : calls[i].how);
	fclose(to);
	free(dumped.out);
	dumped.out = text;
}

static int put_row(void *to, int count, char **values, char **names)
{
	(void)names;
	for (int i = 0; i < count; i++)
		fprintf(to, "%s%s", i ? "|" : "", values[i] ? values[i] : "");
	fputc('\n', to);
	return 0;
}

void dump_sql(const char *query)
{
	sqlite3 *base;
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	bool well = sqlite3_open(".base", &base) == SQLITE_OK &&
		    sqlite3_exec(base, query, put_row, to, NULL) == SQLITE_OK;

	need(well, sqlite3_errmsg(base));
	sqlite3_close(base);
	fclose(to);
	free(dumped.out);
	dumped.out = text;
}

/* --- profiles as text ------------------------------------------------------
 */

/* A context (or a call of a trace), or what begins with a word of its own. */
enum kind { CONTEXT, CALL, THREAD, PATH, LABEL, LOST, MARK, TIMES };

struct line {
	enum kind kind;
	int depth; /* of functions: from 1 */
	char name[128];
	unsigned long calls;
	long ns, until;
	char how; /* a call ended: '!' by an exception, '~' by longjmp */
};

/* Functions from 0 are the program's, from SO on the library's. */
static struct names {
	char of[2 * MOST][128];
	uint32_t count[2];
} all_names;

static uint32_t number_of(struct names *names, const char *name)
{
	uint32_t module = strncmp(name, "so:", 3) == 0, i;
	char(*of)[128] = names->of + (size_t)module * SO;

	if (module)
		name += 3;
	for (i = 0; i < names->count[module]; i++)
		if (strcmp(of[i], name) == 0)
			return module * SO + i;
	need(i < MOST, "too many functions");
	strcpy(of[names->count[module]++], name);
	return module * SO + i;
}

/* The word that begins a line which is no function's. */
static enum kind kind_of(const char *words)
{
	static const char *const kinds[] = {
		[THREAD] = "thread ", [PATH] = "path ", [LABEL] = "label ",
		[LOST] = "lost ",     [MARK] = "mark ", [TIMES] = "times "};

	for (enum kind kind = THREAD; kind <= TIMES; kind++)
		if (strncmp(words, kinds[kind], strlen(kinds[kind])) == 0)
			return kind;
	return CONTEXT;
}

/* Cuts the last word off and returns it. */
static char *last_word(char *words)
{
	char *blank = strrchr(words, ' ');

	need(blank && blank > words, words);
	*blank = '\0';
	return blank + 1;
}

/* Returns what follows, or NULL where no line is left. */
static const char *next_line(const char *text, struct line *line)
{
	char words[256], *name = words, *end;
	size_t size = strcspn(text, "\n");

	if (!*text)
		return NULL;
	need(size < sizeof(words), text);
	memcpy(words, text, size);
	words[size] = '\0';
	name += strspn(words, " ");
	*line = (struct line){.kind = kind_of(name), .calls = 1};
	line->depth = (int)(name - words) / 2 + 1;
	if (line->kind != CONTEXT)
		name = strchr(name, ' ') + 1;
	if (line->kind != PATH && line->kind != LABEL) {
		line->ns = strtol(line->kind == LOST ? name : last_word(name),
				  &end, 10);
		if (line->kind == CONTEXT && *end == '-') {
			line->kind = CALL;
			line->until = strtol(end + 1, &end, 10);
			line->how = *end;
		}
	}
	if (line->kind == CONTEXT || line->kind == TIMES)
		line->calls = strtoul(last_word(name), NULL, 10);
	strcpy(line->name, name);
	return text + size + (text[size] == '\n');
}

/* Where a function calls another (the return address) within its module; a
 * thread's root calls from elsewhere. */
static uint64_t site_of(int caller, uint32_t callee)
{
	if (caller < 0)
		return 0x500 + callee;
	return 0x1000 + 0x100 * ((uint64_t)caller % SO) + 0x10 + callee;
}

/* Puts symbols and lines, as --embed does, so that no file is looked for. */
static void put_symbols(struct profile_builder *builder,
			const struct names *names, uint32_t module)
{
	uint32_t count = names->count[module], sites = count * 2 * MOST;
	struct swz_symbol_record symbols[MOST] = {0};
	struct swz_line_record *lines = calloc(count + sites, sizeof(*lines));
	size_t size, at, table = (count + sites) * sizeof(*lines);
	const char *source = module ? "/src/so.c" : "/src/prog.c";
	char *text = NULL;
	FILE *stream = open_memstream(&text, &size);

	need(lines, "lines");
	fputc('\0', stream);
	for (uint32_t i = 0; i < count; i++) {
		symbols[i].address = 0x1000 + 0x100 * i;
		symbols[i].size = 0x100;
		symbols[i].name = (uint32_t)(count * sizeof(*symbols) +
					     (size_t)ftell(stream));
		fprintf(stream, "%s%c", names->of[module * SO + i], '\0');
		lines[i].address = symbols[i].address;
		lines[i].line = 10 * (i + 1);
		for (uint32_t callee = 0; callee < 2 * MOST; callee++) {
			struct swz_line_record *line =
				&lines[count + i * 2 * MOST + callee];

			line->address = site_of((int)i, callee) - 1;
			line->line = lines[i].line + 1;
		}
	}
	fclose(stream);
	at = builder_chunk(builder, SWZ_CHUNK_SYMBOLS, count, module,
			   count * sizeof(*symbols) + size) +
	     sizeof(struct swz_chunk);
	memcpy(builder->data + at, symbols, count * sizeof(*symbols));
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\x1f')
			text[i] = '\n';
	memcpy(builder->data + at + count * sizeof(*symbols), text, size);
	free(text);
	for (uint32_t i = 0; i < count + sites; i++)
		lines[i].file = (uint32_t)table + 1;
	at = builder_chunk(builder, SWZ_CHUNK_LINES, count + sites, module,
			   table + 2 + strlen(source)) +
	     sizeof(struct swz_chunk);
	memcpy(builder->data + at, lines, table);
	strcpy((char *)builder->data + at + table + 1, source);
	free(lines);
}

static void put_modules(struct profile_builder *builder,
			const struct names *names, const char *path)
{
	for (uint32_t module = 0; module < 2; module++) {
		builder_module(builder, module, module ? "/lib/libso.so" : path,
			       module ? SO_BIAS : BIAS, 1 + module * MOST,
			       MOST);
		if (names->count[module])
			put_symbols(builder, names, module);
	}
}

static struct swz_chunk *put_chunk(struct profile_builder *builder,
				   uint32_t type, uint32_t owner,
				   const void *body, size_t size)
{
	size_t at = builder_chunk(builder, type, 1, owner, size);
	struct swz_chunk *chunk = (void *)(builder->data + at);

	memcpy(chunk + 1, body, size);
	return chunk;
}

/* A thread while its lines are read. */
struct writing {
	struct profile_builder *builder;
	uint32_t index, root, nodes;
	struct { /* the functions that the line is in */
		int function;
		uint32_t node;
		struct line call;
	} on[DEEPEST];
	int depth;
	uint64_t events[400];
	size_t count;
};

static void put_event(struct writing *w, uint64_t kind, uint32_t node, long ns)
{
	need(w->count < 400, "too many events");
	w->events[w->count++] = (uint64_t)(w->root + node)
					<< SWZ_EVENT_NODE_SHIFT |
				(uint64_t)ns << SWZ_EVENT_TICKS_SHIFT | kind;
}

/* Ends the calls that a line of this depth is not in. */
static void end_calls(struct writing *w, int depth)
{
	for (; w->depth >= depth; w->depth--) {
		const struct line *call = &w->on[w->depth].call;
		uint32_t node = w->on[w->depth].node;
		struct swz_unwound_record unwound = {.node = w->root + node,
						     .count = 1};

		if (call->kind != CALL)
			continue;
		put_event(w,
			  call->how == '!'   ? SWZ_EVENT_UNWIND
			  : call->how == '~' ? SWZ_EVENT_SKIP
					     : SWZ_EVENT_RETURN,
			  node, call->until);
		if (call->how == '!')
			put_chunk(w->builder, SWZ_CHUNK_UNWOUND, w->index,
				  &unwound, sizeof(unwound));
	}
}

/* The call's context below NODE, which may have been there. */
static uint32_t find_node(struct writing *w, uint32_t parent, uint32_t id,
			  uint64_t site)
{
	for (uint32_t n = 1; n < w->nodes; n++) {
		struct swz_node *node = builder_node(w->builder, w->root + n);

		if (node->parent == w->root + parent && node->function == id)
			return n;
	}
	builder_call(w->builder, w->root + w->nodes, w->root + parent,
		     w->root + w->nodes, id, site, 0, 0, 0);
	builder_node(w->builder, w->root + w->nodes)->min_ticks = UINT64_MAX;
	return w->nodes++;
}

static void put_call(struct writing *w, const struct line *line)
{
	uint32_t function = number_of(&all_names, line->name), n;
	int64_t ns = line->kind == CALL ? line->until - line->ns : line->ns;
	uint64_t each = line->calls ? (uint64_t)ns / line->calls : 0;
	struct swz_node *node;
	bool outermost = true;
	int caller;

	need(line->depth < DEEPEST && line->depth <= w->depth + 1, line->name);
	end_calls(w, line->depth);
	for (int i = 1; i < line->depth; i++)
		outermost &= w->on[i].function != (int)function;
	caller = w->on[w->depth].function;
	n = find_node(w, w->on[w->depth].node, function + 1,
		      (caller >= SO ? SO_BIAS : BIAS) +
			      site_of(caller, function));
	node = builder_node(w->builder, w->root + n);
	node->calls += line->calls;
	node->ticks += ns;
	node->outer_ticks += outermost ? ns : 0;
	if (each < node->min_ticks)
		node->min_ticks = each;
	if (each > node->max_ticks)
		node->max_ticks = each;
	w->depth++;
	w->on[w->depth].function = (int)function;
	w->on[w->depth].node = n;
	w->on[w->depth].call = *line;
	if (line->kind == CALL)
		put_event(w, SWZ_EVENT_ENTER, n, line->ns);
}

/* What is no function's. */
static void put_other(struct writing *w, const struct line *line)
{
	struct {
		struct swz_mark_record mark;
		char text[sizeof(line->name)];
	} mark = {.mark = {.ticks = 1000 + (uint64_t)line->ns,
			   .node = w->root,
			   .kind = SWZ_MARK_TEXT,
			   .text_bytes = (uint16_t)strlen(line->name)}};
	uint64_t counters[SWZ_HISTOGRAM_COUNTERS] = {0};
	uint32_t bucket = swz_time_bucket((uint64_t)line->ns);
	struct swz_chunk *chunk;

	strcpy(mark.text, line->name);
	if (line->kind == MARK) {
		chunk = put_chunk(w->builder, SWZ_CHUNK_MARKS, w->index, &mark,
				  sizeof(mark));
		chunk->reserved[SWZ_MARKS_USED] =
			(sizeof(mark.mark) + strlen(line->name) + 7) / 8 * 8;
	} else if (line->kind == TIMES) {
		counters[bucket % SWZ_BLOCK_BUCKETS] = line->calls;
		chunk = put_chunk(w->builder, SWZ_CHUNK_HISTOGRAM, w->index,
				  counters, sizeof(counters));
		chunk->count = SWZ_HISTOGRAM_COUNTERS;
		chunk->reserved[SWZ_HISTOGRAM_FUNCTION] =
			number_of(&all_names, line->name) + 1;
		chunk->reserved[SWZ_HISTOGRAM_BLOCK] = bucket >>
						       SWZ_BUCKET_BITS;
	}
}

/* Puts the contexts of a thread, up to the next one; returns that. */
static const char *put_thread(struct profile_builder *builder,
			      const char *calls, uint32_t index,
			      const struct line *thread)
{
	struct writing w = {.builder = builder, .index = index, .nodes = 1};
	const char *at = calls, *next;
	struct line line;
	uint32_t most = 1;

	while ((next = next_line(at, &line)) && line.kind != THREAD) {
		most++;
		at = next;
	}
	w.root = builder_thread(builder, index, 100 + (int32_t)index,
				thread->name, 1000 + (uint64_t)thread->ns,
				most);
	builder_thread_record(builder, index)->end_ticks = 1000 +
							   (uint64_t)thread->ns;
	w.on[0].function = -1;
	for (; calls < at; calls = next) {
		next = next_line(calls, &line);
		if (line.kind <= CALL)
			put_call(&w, &line);
		else
			put_other(&w, &line);
	}
	end_calls(&w, 1);
	if (w.count) {
		builder_header(builder)->flags |= SWZ_FILE_TRACED;
		builder_events(builder, index, 1000, w.events, w.count);
	}
	return at;
}

/* In /tmp, with the argument "a b", by its path unless that is the usual one.
 */
static void put_command(struct profile_builder *builder, const char *path)
{
	const char *name = strcmp(path, "/bin/prog") == 0 ? "prog" : path;
	char strings[512];
	int size = snprintf(strings, sizeof(strings), "%s%c/tmp%c%s%ca b", path,
			    0, 0, name, 0);

	put_chunk(builder, SWZ_CHUNK_COMMAND, 0, strings, (size_t)size + 1)
		->count = 4;
}

/* Puts what is of the process; returns the first line that is not. */
static const char *put_process(struct profile_builder *builder,
			       const char *calls)
{
	char path[128] = "/bin/prog", labels[256];
	uint8_t build_id[32] = {0};
	struct line line;
	const char *next;
	uint32_t label_words = 0;
	size_t size = 0;

	for (; (next = next_line(calls, &line)); calls = next) {
		char *value = strchr(line.name, ' ');

		if (line.kind < PATH || line.kind > LOST)
			break;
		if (line.kind == LOST) {
			builder_header(builder)->lost_calls = (uint64_t)line.ns;
			continue;
		}
		if (line.kind == LABEL) {
			need(value && size < sizeof(labels) / 2, line.name);
			strcpy(labels + size, line.name);
			labels[size + (size_t)(value - line.name)] = '\0';
			size += strlen(line.name) + 1;
			label_words += 2;
			continue;
		}
		build_id[0] = value ? (uint8_t)value[1] : 0;
		if (value)
			*value = '\0';
		strcpy(path, line.name);
	}
	if (size)
		put_chunk(builder, SWZ_CHUNK_LABELS, 0, labels, size)->count =
			label_words;
	put_command(builder, path);
	put_modules(builder, &all_names, path);
	if (build_id[0]) {
		struct swz_module_record *module = builder_module_record(
			builder, 0);

		memcpy(module->build_id, build_id, sizeof(build_id));
		module->build_id_bytes = 20;
	}
	return calls;
}

void dump_made(const char *file, int pid, const char *calls)
{
	struct profile_builder builder;
	struct swz_file_header *header;
	struct line line;
	uint32_t index = 0;
	const char *at;
	FILE *stream;

	for (at = calls; (at = next_line(at, &line));)
		if (line.kind <= CALL)
			number_of(&all_names, line.name);
	builder_begin(&builder);
	at = put_process(&builder, calls);
	line = (struct line){.kind = THREAD, .name = "main", .ns = 1000};
	if (strncmp(at, "thread ", 7) == 0)
		at = next_line(at, &line);
	do {
		at = put_thread(&builder, at, index++, &line);
		at = next_line(at, &line);
	} while (at);
	header = builder_header(&builder);
	header->pid = pid;
	header->start_realtime_ns = (uint64_t)pid;
	header->flags |= SWZ_FILE_ENDED;
	header->end_ticks = 1000000;
	header->clock[1].ticks = 1000 + 1000000000;
	header->clock[1].monotonic_ns = 500 + 1000000000;
	stream = fopen(file, "w");
	need(stream &&
		     fwrite(builder.data, 1, builder.size, stream) ==
			     builder.size &&
		     fclose(stream) == 0,
	     file);
	builder_free(&builder);
}
