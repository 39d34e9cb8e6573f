#include "base/basics.h"
#include "tools/dump/reports.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/qualified_name.h"
#include "base/signature_exchange.h"
#include "options/config_file.h"
#include "profile/names/debug_info.h"
#include "profile/names/dwarf_types.h"
#include "profile/names/function_rules.h"
#include "swizzle/values.h"
#include "tools/dump/dump_options.h"
#include "util/memory.h"
#include "util/output.h"

/* --- signatures of a module ---------------------------------------------- */

/* A choice of functions, and what is recorded of them. */
struct swz_signature_choice {
	char **patterns; /* --args; those with a ! take away */
	int pattern_count;
	const struct swz_config_file *config;
	const char *marks[SWZ_MOST_MARKS]; /* functions that its conditions
					    * look for among callers */
	unsigned mark_count;
};

#define MOST_DEPTH 32 /* of namespaces and classes */

struct finding {
	struct swz_signature_builder builder;
	const struct swz_signature_choice *choice;
	const char *path;       /* of the module */
	struct swz_map changed; /* addresses of functions that are clones */
	size_t functions;       /* with code */
	bool lacks_split;       /* a .dwo file was not found */
	struct swz_value_mark *marks;
	size_t mark_count, mark_capacity;
};

/* Compilers change what clones are given. */
static void find_clones(struct finding *f, Dwfl_Module *module)
{
	int count = dwfl_module_getsymtab(module), i;
	GElf_Addr bias = 0;

	(void)dwfl_module_getelf(module, &bias);
	for (i = 1; i < count; i++) {
		GElf_Sym symbol;
		const char *name = dwfl_module_getsym(module, i, &symbol, NULL);

		if (name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
		    (strstr(name, ".constprop") || strstr(name, ".isra") ||
		     strstr(name, ".part") || strstr(name, ".cold")))
			*swz_map_at(&f->changed, symbol.st_value - bias, 0) = 1;
	}
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
			       dwarf_attr_integrate(
				       die, DW_AT_MIPS_linkage_name, &attribute)
		       ? dwarf_formstring(&attribute)
		       : NULL;
}

/* The names of a function in a pattern. */
struct names {
	const char *of[3]; /* or NULL */
	char qualified[512];
};

static void find_names(struct names *names, const char *name,
		       const char *linkage)
{
	names->of[0] = name;
	names->of[1] = linkage;
	names->of[2] = NULL;
	if (linkage && swz_qualified_name(linkage, names->qualified,
					  sizeof(names->qualified)))
		names->of[2] = names->qualified;
}

static bool is_named(const struct names *names, const char *pattern)
{
	unsigned n;

	for (n = 0; n < 3; n++)
		if (names->of[n] && fnmatch(pattern, names->of[n], 0) == 0)
			return true;
	return false;
}

/* --args */
static bool matches(const struct swz_signature_choice *choice,
		    const struct names *names)
{
	bool wanted = false, any = false;
	int i;

	for (i = 0; i < choice->pattern_count; i++) {
		const char *pattern = choice->patterns[i];

		if (*pattern == '!') {
			if (is_named(names, pattern + 1))
				return false;
			continue;
		}
		any = true;
		wanted |= is_named(names, pattern);
	}
	return choice->pattern_count && (wanted || !any);
}

/* --config: of the rules that match; false: no value is needed. */
static bool read_settings(const struct finding *f, const struct names *names,
			  const char *source, struct swz_settings *settings)
{
	const struct swz_config_file *config = f->choice->config;
	bool needs = false;
	size_t i;

	for (i = 0; i < config->count; i++) {
		const struct swz_rule *rule = &config->rules[i];
		char *pattern = swz_rule_functions(rule);
		bool fits = pattern ? is_named(names, pattern)
			    : rule->kind == SWZ_RULE_FILE
				    ? swz_rule_matches_path(rule, source)
				    : rule->kind == SWZ_RULE_MODULE &&
					      swz_rule_matches_path(rule,
								    f->path);

		free(pattern);
		if (!fits)
			continue;
		swz_settings_add(settings, rule);
		needs |= swz_rule_needs_values(rule);
	}
	return needs;
}

static void add_checks(struct finding *f, const struct swz_settings *s)
{
	unsigned i, mark;

	for (i = 0; i < s->condition_count; i++) {
		const struct swz_condition *c = s->conditions[i];

		if (c->kind != SWZ_IF_BACKTRACE) {
			swz_signature_add_check(&f->builder, c);
			continue;
		}
		for (mark = 0; mark < f->choice->mark_count; mark++)
			if (strcmp(f->choice->marks[mark], c->name) == 0)
				swz_signature_add_backtrace(&f->builder,
							    c->levels, mark);
	}
}

#define MOST_ARGUMENTS 128u /* of list_args and conditions */

/* Those of list_args, and what conditions need to be decided. Returns how many;
 * 0: all. */
static size_t list_arguments(const struct swz_settings *s,
			     const char *arguments[MOST_ARGUMENTS])
{
	size_t count = 0, i;

	if (!s->listed)
		return 0;
	for (i = 0; i < s->listed->argument_count && count < MOST_ARGUMENTS;
	     i++)
		arguments[count++] = s->listed->arguments[i];
	for (i = 0; i < s->condition_count && count < MOST_ARGUMENTS; i++)
		if (s->conditions[i]->kind == SWZ_IF_ARGUMENT)
			arguments[count++] = s->conditions[i]->name;
	return count;
}

static void add_function(struct finding *f, Dwarf_Die *die)
{
	const char *arguments[MOST_ARGUMENTS];
	struct swz_settings settings = {0};
	struct swz_signature_wish wish;
	Dwarf_Addr address, base, end;
	struct names names;
	bool wanted;

	/* of one in several pieces the first is where it begins */
	if (dwarf_entrypc(die, &address) != 0 &&
	    dwarf_ranges(die, 0, &base, &address, &end) <= 0)
		return;
	f->functions++;
	if (swz_map_get(&f->changed, address, 0) != SWZ_MAP_NONE)
		return;
	find_names(&names, dwarf_diename(die), linkage_name(die));
	wanted = read_settings(f, &names, swz_die_file(die), &settings);
	if (settings.list_args != SWZ_NO)
		wanted |= matches(f->choice, &names);
	wish.object = settings.dump_this == SWZ_YES;
	wish.fields = settings.fields ? settings.fields->fields : NULL;
	wish.field_count = settings.fields ? settings.fields->field_count : 0;
	wish.argument_count = list_arguments(&settings, arguments);
	wish.arguments = arguments;
	wish.more = settings.watched ? settings.watched->watches : NULL;
	wish.more_count = settings.watched ? settings.watched->watch_count : 0;
	if ((wanted || settings.condition_count) &&
	    swz_signature_add(&f->builder, die, address, &wish))
		add_checks(f, &settings);
}

/* Finds the callers that conditions name: by symbols, as that needs no debug
 * information. */
static void find_marks(struct finding *f, Dwfl_Module *module)
{
	int count = f->choice->mark_count ? dwfl_module_getsymtab(module) : 0;
	GElf_Addr bias = 0;
	int i;

	(void)dwfl_module_getelf(module, &bias);
	for (i = 1; i < count; i++) {
		struct swz_value_mark mark = {0};
		struct names names;
		unsigned bit;
		GElf_Sym symbol;
		const char *name = dwfl_module_getsym(module, i, &symbol, NULL);

		if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    !symbol.st_value)
			continue;
		find_names(&names, name, name);
		for (bit = 0; bit < f->choice->mark_count; bit++)
			if (is_named(&names, f->choice->marks[bit]))
				mark.bits |= 1u << bit;
		mark.function = (uint32_t)(symbol.st_value - bias);
		if (!mark.bits)
			continue;
		swz_grow(&f->marks, &f->mark_capacity, f->mark_count,
			 sizeof(*f->marks));
		f->marks[f->mark_count++] = mark;
	}
}

static void walk(struct finding *f, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die child;

	if (depth > MOST_DEPTH || dwarf_child(parent, &child) != 0)
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			add_function(f, &child);
			break;
		case DW_TAG_namespace:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_module:
			walk(f, &child, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* With -gsplit-dwarf a unit has most of its information in a .dwo file. */
static void walk_units(struct finding *f, Dwfl_Module *module)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	Dwarf_Die unit, split;
	Dwarf_CU *cu = NULL;
	uint8_t type;

	while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit,
					&split) == 0) {
		if (type == DW_UT_compile || type == DW_UT_partial)
			walk(f, &unit, 0);
		else if (type == DW_UT_skeleton && split.addr)
			walk(f, &split, 0);
		else if (type == DW_UT_skeleton)
			f->lacks_split = true;
	}
}

static int by_function(const void *left, const void *right)
{
	const struct swz_value_mark *a = left, *b = right;

	return a->function < b->function ? -1 : a->function > b->function;
}

/* By address; of two with the same one, as they came. */
static int by_address(const void *left, const void *right, void *of)
{
	const struct swz_signature *all = of;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (all[a].function != all[b].function)
		return all[a].function < all[b].function ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_signature(const void *left, const void *right)
{
	const struct swz_value_check *a = left, *b = right;

	return a->signature < b->signature ? -1 : a->signature > b->signature;
}

/* Signatures by address; their checks go with them. */
static void sort(struct swz_signature_builder *b)
{
	uint32_t *order = swz_allocate(b->count + 1, sizeof(*order));
	uint32_t *place = swz_allocate(b->count + 1, sizeof(*place));
	struct swz_signature *sorted = swz_allocate(b->count + 1,
						    sizeof(*sorted));
	size_t i;

	for (i = 0; i < b->count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, b->count, sizeof(*order), by_address, b->signatures);
	for (i = 0; i < b->count; i++) {
		sorted[i] = b->signatures[order[i]];
		place[order[i]] = (uint32_t)i;
	}
	for (i = 0; i < b->check_count; i++)
		b->checks[i].signature = place[b->checks[i].signature];
	if (b->check_count)
		qsort(b->checks, b->check_count, sizeof(*b->checks),
		      by_signature);
	free(b->signatures);
	b->signatures = sorted;
	free(order);
	free(place);
}

static void put(FILE *stream, const void *items, size_t count, size_t size)
{
	if (count)
		fwrite(items, size, count, stream);
}

static void write_file(FILE *stream, struct finding *f)
{
	struct swz_signature_builder *b = &f->builder;
	struct swz_signature_file head = {
		.count = (uint32_t)b->count,
		.parts = (uint32_t)b->part_count,
		.types = (uint32_t)b->type_count,
		.members = (uint32_t)b->member_count,
		.text = (uint32_t)b->text_bytes + 1,
		.checks = (uint32_t)b->check_count,
		.marks = (uint32_t)f->mark_count,
	};

	memcpy(head.magic, SWZ_SIGNATURES_MAGIC, sizeof(head.magic));
	sort(b);
	if (f->mark_count)
		qsort(f->marks, f->mark_count, sizeof(*f->marks), by_function);
	put(stream, &head, 1, sizeof(head));
	put(stream, b->checks, b->check_count, sizeof(*b->checks));
	put(stream, f->marks, f->mark_count, sizeof(*f->marks));
	put(stream, b->signatures, b->count, sizeof(*b->signatures));
	put(stream, b->parts, b->part_count, sizeof(*b->parts));
	put(stream, b->types, b->type_count, sizeof(*b->types));
	put(stream, b->members, b->member_count, sizeof(*b->members));
	put(stream, b->text ? b->text : "", b->text_bytes, 1);
	putc(0, stream);
}

static bool is_build(Dwfl_Module *module, const uint8_t *build_id, size_t bytes)
{
	const unsigned char *id;
	GElf_Addr at;
	int size = dwfl_module_build_id(module, &id, &at);

	return !bytes || (size > 0 && (size_t)size == bytes &&
			  memcmp(id, build_id, bytes) == 0);
}

/* Writes to STREAM, as struct swz_signature_file, what is to be recorded of the
 * functions of an ELF file, by its debug information, which may be in another
 * file. The file must have the build-id, if there are BYTES of one. What it
 * returns but for SWZ_ANSWER_SIGNATURES has written nothing. */
static enum swz_answer dump_find_signatures(
	FILE *stream, const char *path, const uint8_t *build_id, size_t bytes,
	const struct swz_signature_choice *choice)
{
	static char *debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	struct finding f = {.choice = choice,
			    .path = path,
			    .builder = {.config = choice->config}};
	enum swz_answer answer = SWZ_ANSWER_NO_FILE;
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;

	module = dwfl ? dwfl_report_offline(dwfl, "", path, -1) : NULL;
	if (module && is_build(module, build_id, bytes)) {
		dwfl_report_end(dwfl, NULL, NULL);
		find_clones(&f, module);
		walk_units(&f, module);
		find_marks(&f, module);
		answer = f.builder.count || f.mark_count ? SWZ_ANSWER_SIGNATURES
			 : f.functions                   ? SWZ_ANSWER_NO_MATCH
			 : f.lacks_split                 ? SWZ_ANSWER_NO_SPLIT
			 : swz_debug_info_is_packed(module)
				 ? SWZ_ANSWER_PACKED
				 : SWZ_ANSWER_NO_DEBUG;
	}
	if (answer == SWZ_ANSWER_SIGNATURES)
		write_file(stream, &f);
	swz_signature_builder_free(&f.builder);
	swz_map_free(&f.changed);
	free(f.marks);
	dwfl_end(dwfl);
	return answer;
}

/* --- answers to swizzle-run ---------------------------------------------- */

/* One question after the other: each is asked while a process waits. What has
 * been answered stays in the file, for all processes of the run. The questions
 * are in memory that the profiled program may write to: they are copied before
 * they are looked at. */

#ifndef SYS_pidfd_open /* Linux 5.3 */
#define SYS_pidfd_open 434
#endif

#define MOST_BYTES (UINT64_C(1) << 30) /* of all answers */
#define LOOK_EVERY_MS 1000             /* without pidfd_open */

struct client {
	pid_t pid;
	int end; /* a pidfd; -1: there are none here */
};

struct server {
	struct swz_exchange *table;
	int file, bell;
	uint64_t used; /* bytes of the file */
	struct swz_signature_choice choice;
	struct client *clients;
	size_t count, capacity;
	struct pollfd *polled;
	size_t polled_capacity;
};

/* ----------------------------------------------------------------- answers */

static enum swz_answer find(const struct server *s, FILE *stream,
			    const struct swz_question *q)
{
	enum swz_answer answer = dump_find_signatures(
		stream, q->path, q->build_id, q->build_id_bytes, &s->choice);
	char *path;

	if (answer != SWZ_ANSWER_NO_FILE)
		return answer;
	/* the process may be in a container */
	path = swz_print("/proc/%d/root%s", (int)q->pid, q->path);
	answer = dump_find_signatures(stream, path, q->build_id,
				      q->build_id_bytes, &s->choice);
	free(path);
	return answer;
}

static bool append(struct server *s, const char *bytes, size_t size)
{
	size_t done = 0;

	if (size > MOST_BYTES || s->used + size > MOST_BYTES)
		return false;
	while (done < size) {
		ssize_t n = pwrite(s->file, bytes + done, size - done,
				   (off_t)(s->used + done));

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static void answer(struct server *s, struct swz_question *shared)
{
	struct swz_question q = *shared;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	q.path[sizeof(q.path) - 1] = '\0';
	q.answer = SWZ_ANSWER_NO_FILE;
	if (q.build_id_bytes > sizeof(q.build_id))
		q.build_id_bytes = 0;
	/* of a library it must be on this machine: a program has many */
	if (!q.is_program)
		unsetenv("DEBUGINFOD_URLS");
	if (stream)
		q.answer = find(s, stream, &q);
	if (stream && fclose(stream) != 0)
		q.answer = SWZ_ANSWER_NO_FILE;
	if (q.answer == SWZ_ANSWER_SIGNATURES && !append(s, text, size))
		q.answer = SWZ_ANSWER_NO_FILE;
	shared->offset = s->used;
	shared->bytes = size;
	shared->answer = q.answer;
	if (q.answer == SWZ_ANSWER_SIGNATURES)
		s->used += swz_page_up(size);
	free(text);
	__atomic_store_n(&shared->state, SWZ_QUESTION_ANSWERED,
			 __ATOMIC_RELEASE);
	syscall(SYS_futex, &shared->state, FUTEX_WAKE, INT32_MAX, NULL, NULL,
		0);
}

static void answer_all(struct server *s)
{
	size_t i;

	for (i = 0; i < SWZ_EXCHANGE_QUESTIONS; i++) {
		struct swz_question *q = &s->table->questions[i];

		if (__atomic_load_n(&q->state, __ATOMIC_ACQUIRE) ==
		    SWZ_QUESTION_ASKED)
			answer(s, q);
	}
}

/* ----------------------------------------------------------------- clients */

static void add_client(struct server *s, pid_t pid)
{
	struct client client = {pid, -1};
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->clients[i].pid == pid)
			return;
	client.end = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pid <= 0 || kill(pid, 0) != 0) {
		if (client.end >= 0)
			close(client.end);
		return;
	}
	swz_grow(&s->clients, &s->capacity, s->count, sizeof(*s->clients));
	s->clients[s->count++] = client;
}

static void hear(struct server *s)
{
	int32_t pid;

	while (read(s->bell, &pid, sizeof(pid)) == sizeof(pid))
		add_client(s, pid);
}

/* Waits for the bell, or for the end of a client. */
static void wait_for_any(struct server *s)
{
	int timeout = -1;
	size_t i, left = 0;

	if (s->count + 1 > s->polled_capacity) {
		s->polled_capacity = 2 * s->count + 8;
		s->polled = swz_reallocate(s->polled, s->polled_capacity,
					   sizeof(*s->polled));
	}
	s->polled[0] = (struct pollfd){.fd = s->bell, .events = POLLIN};
	for (i = 0; i < s->count; i++) {
		s->polled[i + 1] = (struct pollfd){.fd = s->clients[i].end,
						   .events = POLLIN};
		if (s->clients[i].end < 0)
			timeout = LOOK_EVERY_MS;
	}
	(void)poll(s->polled, s->count + 1, timeout);
	for (i = 0; i < s->count; i++) {
		struct client *client = &s->clients[i];

		if (client->end >= 0 ? s->polled[i + 1].revents != 0
				     : kill(client->pid, 0) != 0) {
			if (client->end >= 0)
				close(client->end);
			continue;
		}
		s->clients[left++] = *client;
	}
	s->count = left;
}

/* --------------------------------------------------------------- the whole */

static bool number(const char *text, int *value)
{
	char *end;
	long n = strtol(text, &end, 10);

	*value = (int)n;
	return *text && !*end && n > 0 && n <= INT32_MAX;
}

/* Nobody waits for our end, and no signal of the terminal is for us. */
static void detach(void)
{
	int fd = open("/dev/null", O_RDWR);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; fd >= 0 && i <= STDERR_FILENO; i++)
		dup2(fd, i);
	if (fd > STDERR_FILENO)
		close(fd);
	prctl(PR_SET_NAME, "swizzle-args");
	(void)!chdir("/");
}

static void add_mark(struct swz_signature_choice *choice,
		     const struct swz_condition *c)
{
	unsigned i;

	for (i = 0; i < choice->mark_count; i++)
		if (strcmp(choice->marks[i], c->name) == 0)
			return;
	if (choice->mark_count < SWZ_MOST_MARKS)
		choice->marks[choice->mark_count++] = c->name;
}

/* "-": there is none. */
static bool read_config(struct server *s, struct swz_config_file *config,
			const char *path)
{
	char problem[SWZ_CONFIG_PROBLEM_BYTES];
	size_t i, j;

	s->choice.config = config;
	if (strcmp(path, "-") == 0)
		return true;
	if (!swz_config_file_read(config, *path ? path : NULL, problem)) {
		swz_dump_complain("%s", problem);
		return false;
	}
	for (i = 0; i < config->count; i++)
		for (j = 0; j < config->rules[i].condition_count; j++)
			if (config->rules[i].conditions[j].kind ==
			    SWZ_IF_BACKTRACE)
				add_mark(&s->choice,
					 &config->rules[i].conditions[j]);
	return true;
}

int swz_dump_serve_signatures(int count, char **arguments)
{
	struct server s = {.used = sizeof(struct swz_exchange)};
	struct swz_config_file config = {0};
	int pid;

	if (count < 4 || !number(arguments[0], &s.file) ||
	    !number(arguments[1], &s.bell) || !number(arguments[2], &pid)) {
		swz_dump_complain("--signatures is for swizzle-run --args");
		return EXIT_USAGE;
	}
	s.choice.patterns = arguments + 4;
	s.choice.pattern_count = count - 4;
	if (!read_config(&s, &config, arguments[3]))
		return EXIT_INPUT;
	s.table = mmap(NULL, sizeof(*s.table), PROT_READ | PROT_WRITE,
		       MAP_SHARED, s.file, 0);
	if (s.table == MAP_FAILED || fcntl(s.bell, F_SETFL, O_NONBLOCK) != 0)
		return EXIT_INPUT;
	detach();
	add_client(&s, pid);
	while (s.count) {
		hear(&s);
		answer_all(&s);
		wait_for_any(&s);
	}
	free(s.clients);
	free(s.polled);
	swz_config_file_free(&config);
	return EXIT_OK;
}
