#include "runtime/record/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/basics.h"
#include "base/printable.h"
#include "base/signature_exchange.h"
#include "base/syscall.h"
#include "runtime/record/annotations.h"
#include "runtime/record/record_file.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "swizzle/format.h"
#include "swizzle/values.h"

/* ---------------------------------------------------- functions of --flows */

/* A part and what the profile says of it besides, as for -A. */
struct swz_flow_part {
	struct swz_value_part part; /* but name and type, which are 0 */
	uint8_t type;               /* enum swz_type_kind */
	bool at_return;             /* those come behind the others */
	const char *name;           /* NULL: of no part; behind the last */
};

#define SWZ_MOST_FLOW_PARTS 5u

struct swz_flow_function {
	const char *name;
	struct swz_flow_part parts[SWZ_MOST_FLOW_PARTS];
};

/* clang-format off */
#define PLACE(n) (SWZ_PLACE_INTEGER + (n) - 1)
#define FD(n) \
	{{.kind = SWZ_PART_FILE, .place = PLACE(n), .bytes = 24}, \
	 SWZ_TYPE_FILE, false, "fd"}
#define WORD(n, label) \
	{{.place = PLACE(n), .bytes = 8}, SWZ_TYPE_HEX, false, label}
#define NUMBER(n, label) \
	{{.place = PLACE(n), .bytes = 4}, SWZ_TYPE_SIGNED, false, label}
#define WORD_AT(n, label) \
	{{.kind = SWZ_PART_MEMORY, .place = PLACE(n), .bytes = 8}, \
	 SWZ_TYPE_POINTER, false, label}
/* The memory that argument N points at, once the call has returned. */
#define KEEP(n) \
	{{.kind = SWZ_PART_KEEP, .place = PLACE(n)}, SWZ_TYPE_POINTER, false, \
	 ""}
#define WORD_THERE(label) \
	{{.kind = SWZ_PART_MEMORY, .place = SWZ_PLACE_KEPT, .bytes = 8, \
	  .pointed = 1}, SWZ_TYPE_HEX, true, label}
#define NUMBER_THERE(label, at) \
	{{.kind = SWZ_PART_MEMORY, .place = SWZ_PLACE_KEPT, .bytes = 4, \
	  .offset = (at), .pointed = 1}, SWZ_TYPE_SIGNED, true, label}
#define FD_THERE(label, at) \
	{{.kind = SWZ_PART_FILE_AT, .place = SWZ_PLACE_KEPT, .bytes = 24, \
	  .offset = (at), .pointed = 1}, SWZ_TYPE_FILE, true, label}
#define NEW_FD \
	{{.kind = SWZ_PART_FILE, .place = SWZ_PLACE_RAX, .bytes = 24}, \
	 SWZ_TYPE_FILE, true, "result"}
#define RESULT \
	{{.place = SWZ_PLACE_RAX, .bytes = 4}, SWZ_TYPE_SIGNED, true, "result"}
#define BYTES \
	{{.place = SWZ_PLACE_RAX, .bytes = 8}, SWZ_TYPE_SIGNED, true, "result"}
#define ENDS FD_THERE("end0", 0), FD_THERE("end1", 4)
#define MUTEX WORD(1, "mutex")
#define COND WORD(1, "cond")
#define SEM WORD(1, "sem")
#define THREAD WORD(1, "thread")

static const struct swz_flow_function flow_functions[] = {
	/* threads */
	{"pthread_create", {WORD(3, "start"), KEEP(1), RESULT, WORD_THERE("thread")}},
	{"pthread_join", {THREAD, RESULT}},
	{"pthread_tryjoin_np", {THREAD, RESULT}},
	{"pthread_timedjoin_np", {THREAD, RESULT}},
	{"pthread_clockjoin_np", {THREAD, RESULT}},
	/* processes */
	{"fork", {KEEP(1), RESULT}},
	{"posix_spawn", {KEEP(1), RESULT, NUMBER_THERE("pid", 0)}},
	{"posix_spawnp", {KEEP(1), RESULT, NUMBER_THERE("pid", 0)}},
	{"wait4", {KEEP(1), RESULT}},
	{"waitid", {KEEP(3), RESULT, NUMBER_THERE("pid", 12)}},
	/* what data goes through */
	{"pipe", {KEEP(1), RESULT, ENDS}},
	{"pipe2", {KEEP(1), RESULT, ENDS}},
	{"socketpair", {NUMBER(2, "type"), KEEP(4), RESULT, ENDS}},
	{"accept", {FD(1), NEW_FD}},
	{"accept4", {FD(1), NEW_FD}},
	{"connect", {FD(1), RESULT}},
	/* data */
	{"read", {FD(1), BYTES}},
	{"readv", {FD(1), BYTES}},
	{"recv", {FD(1), NUMBER(4, "flags"), BYTES}},
	{"recvfrom", {FD(1), NUMBER(4, "flags"), BYTES}},
	{"recvmsg", {FD(1), NUMBER(3, "flags"), BYTES}},
	{"recvmmsg", {FD(1), BYTES}},
	{"write", {FD(1), BYTES}},
	{"writev", {FD(1), BYTES}},
	{"send", {FD(1), NUMBER(4, "flags"), BYTES}},
	{"sendto", {FD(1), NUMBER(4, "flags"), BYTES}},
	{"sendmsg", {FD(1), NUMBER(3, "flags"), BYTES}},
	{"sendmmsg", {FD(1), BYTES}},
	{"sendfile", {FD(1), BYTES}},
	{"sendfile64", {FD(1), BYTES}},
	{"splice", {FD(1), FD(3), BYTES}},
	{"tee", {FD(1), FD(2), BYTES}},
	{"vmsplice", {FD(1), BYTES}},
	/* locks */
	{"pthread_mutex_lock", {MUTEX, RESULT}},
	{"pthread_mutex_trylock", {MUTEX, RESULT}},
	{"pthread_mutex_timedlock", {MUTEX, RESULT}},
	{"pthread_mutex_clocklock", {MUTEX, RESULT}},
	{"pthread_mutex_unlock", {MUTEX, RESULT}},
	{"pthread_mutexattr_setpshared", {NUMBER(2, "shared")}},
	{"pthread_cond_wait", {COND, WORD(2, "mutex"), RESULT}},
	{"pthread_cond_timedwait", {COND, WORD(2, "mutex"), RESULT}},
	{"pthread_cond_clockwait", {COND, WORD(2, "mutex"), RESULT}},
	{"pthread_cond_signal", {COND, RESULT}},
	{"pthread_cond_broadcast", {COND, RESULT}},
	{"pthread_condattr_setpshared", {NUMBER(2, "shared")}},
	{"sem_init", {SEM, NUMBER(2, "shared"), NUMBER(3, "value"), RESULT}},
	{"sem_post", {SEM, RESULT}},
	{"sem_wait", {SEM, RESULT}},
	{"sem_timedwait", {SEM, RESULT}},
	{"sem_clockwait", {SEM, RESULT}},
	{"sem_trywait", {SEM, RESULT}},
	/* signals */
	{"sigaction", {NUMBER(1, "signal"), WORD_AT(2, "handler"), RESULT}},
	{"kill", {NUMBER(1, "pid"), NUMBER(2, "signal"), RESULT}},
	{"tgkill", {NUMBER(2, "tid"), NUMBER(3, "signal"), RESULT}},
	{"sigqueue", {NUMBER(1, "pid"), NUMBER(2, "signal"), RESULT}},
	{"pthread_kill", {THREAD, NUMBER(2, "signal"), RESULT}},
	{"pthread_sigqueue", {THREAD, NUMBER(2, "signal"), RESULT}},
};

/* clang-format on */

static const uint32_t flow_function_count = sizeof(flow_functions) /
					    sizeof(flow_functions[0]);

int swz_flow_function_find(const char *name)
{
	for (uint32_t i = 0; i < flow_function_count; i++)
		if (strcmp(flow_functions[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* --------------------------------------------------- functions of --prints */

/* The functions of libc that print (--prints), and what is recorded of each.
 * They are hooked as those of --flows are. What printf makes of its arguments
 * is seen where libc writes it. */

#define TEXT(n, label) \
	{ \
		{.kind = SWZ_PART_STRING, .place = PLACE(n), .bytes = 8}, \
			SWZ_TYPE_STRING, false, label \
	}
/* As many bytes as argument LENGTH says, TIMES what another one says; 0: none.
 */
#define PRINT_BYTES(n, length, times) \
	{ \
		{.kind = SWZ_PART_SPAN, \
		 .place = PLACE(n), \
		 .bytes = 8, \
		 .other = PLACE(length), \
		 .offset = (times)}, \
			SWZ_TYPE_STRING, false, "text" \
	}
#define PRINT_RESULT(size) \
	{ \
		{.place = SWZ_PLACE_RAX, .bytes = (size)}, SWZ_TYPE_SIGNED, \
			true, "result" \
	}

static const struct swz_flow_function print_functions[] = {
	/* with --flows, and without */
	{"write", {FD(1), PRINT_BYTES(2, 3, 0), PRINT_RESULT(8)}},
	{"write", {NUMBER(1, "fd"), PRINT_BYTES(2, 3, 0), PRINT_RESULT(8)}},
	{"puts", {TEXT(1, "text"), PRINT_RESULT(4)}},
	{"fputs", {TEXT(1, "text"), PRINT_RESULT(4)}},
	{"fputs_unlocked", {TEXT(1, "text"), PRINT_RESULT(4)}},
	{"fwrite", {PRINT_BYTES(1, 2, 3), PRINT_RESULT(8)}},
	{"fwrite_unlocked", {PRINT_BYTES(1, 2, 3), PRINT_RESULT(8)}},
	{"perror", {TEXT(1, "text")}},
	{"syslog", {NUMBER(1, "priority"), TEXT(2, "format")}},
	{"vsyslog", {NUMBER(1, "priority"), TEXT(2, "format")}},
	{"__syslog_chk", {NUMBER(1, "priority"), TEXT(3, "format")}},
};

/* clang-format on */

static const uint32_t print_function_count = sizeof(print_functions) /
					     sizeof(print_functions[0]);

/* The number of the function with that name, or -1. FLOWS: --flows is given,
 * too, so that it has to tell which file it writes to. */
static int print_function_find(const char *name, bool flows)
{
	for (uint32_t i = flows ? 0 : 1; i < print_function_count; i++)
		if (strcmp(print_functions[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* -------------------------------------------------------------- signatures */

/* Each item of -A has a list of parts, those of the entry first. What the file
 * gets are copies: a chunk for each module that has such functions. */

/* A part of -A, with what the file says of it besides. */
struct named_part {
	const char *name;
	uint32_t name_length;
	uint8_t type;
	const char *flow; /* the function, of the first part of a flow's */
};

const char *swz_signature_patterns;
bool swz_capturing;
static struct swz_captured *captured; /* by number */
static uint32_t captured_count;
static struct swz_value_part *parts; /* of all, in their order */
static struct named_part *named;     /* of each of them */
static uint32_t part_count;
static const struct swz_captured **by_id;
static uint8_t *marks_by_id; /* NULL: no function has any */

/* --args: of a module, what swizzle-dump makes of its debug information. */
struct swz_signature_module {
	const struct swz_signature_file *file;
	const struct swz_signature *signatures; /* ascending */
	const struct swz_value_mark *marks;     /* likewise */
	struct swz_captured captured[];         /* of each of them */
};

static struct swz_exchange_place exchange;
static bool saw_debug_information;
static enum swz_answer unread; /* why a module's could not be read; or 0 */
static uint32_t found_count;   /* functions, of all modules */
static uint32_t flows_first;   /* --flows: the same of its functions */
static uint32_t prints_first;  /* --prints: likewise */

static void *map(size_t bytes, int flags)
{
	return swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static const char *line_end(const char *text)
{
	while (*text && *text != '\n')
		text++;
	return text;
}

/* The parts of one moment; false: it cannot be read. */
static bool add_parts(const char *specs, const char *end, bool at_return)
{
	struct swz_value_spec spec;
	uint32_t value = part_count;

	while (specs < end) {
		if (!swz_value_spec_read(&specs, end, &spec))
			return false;
		if (spec.at_return != at_return)
			continue;
		spec.part.value = (uint16_t)value++;
		parts[part_count] = spec.part;
		named[part_count++] = (struct named_part){
			spec.name, spec.name_length, spec.type, NULL};
	}
	return true;
}

/* Notes which registers the parts need. */
static void note_places(struct swz_captured *c)
{
	for (uint32_t i = 0; i < (uint32_t)c->entry_parts + c->return_parts;
	     i++) {
		bool returned = i >= c->entry_parts;
		uint8_t place = c->parts[i].place;
		bool vector = place >= SWZ_PLACE_VECTOR &&
			      place < SWZ_PLACE_STACK;

		c->entry_vectors |= vector && !returned;
		c->return_vectors |= vector && returned;
		c->return_x87 |= place == SWZ_PLACE_X87;
	}
}

static bool add_item(const char *item, const char *end, char **pattern)
{
	struct swz_captured *c = &captured[captured_count];
	const char *specs = swz_value_specs(item, (unsigned)(end - item));
	uint32_t first = part_count;

	if (!specs)
		return false;
	memcpy(*pattern, item, (size_t)(specs - 1 - item));
	*pattern += specs - 1 - item;
	*(*pattern)++ = '\n';
	c->parts = &parts[first];
	c->number = captured_count++;
	if (!add_parts(specs, end, false))
		return false;
	c->entry_parts = (uint16_t)(part_count - first);
	if (!add_parts(specs, end, true))
		return false;
	c->return_parts = (uint16_t)(part_count - first - c->entry_parts);
	note_places(c);
	return true;
}

static const struct swz_signature_module *new_module(
	const struct swz_signature_file *file)
{
	const struct swz_value_check *check = (const void *)(file + 1);
	const struct swz_value_mark *marks = (const void *)(check +
							    file->checks);
	const struct swz_signature *signatures = (const void *)(marks +
								file->marks);
	const struct swz_value_part *all = (const void *)(signatures +
							  file->count);
	struct swz_signature_module *of = map(
		sizeof(*of) + file->count * sizeof(of->captured[0]), 0);

	if (!of)
		return NULL;
	of->file = file;
	of->signatures = signatures;
	of->marks = marks;
	for (uint32_t i = 0; i < file->count; i++) {
		const struct swz_signature *s = &signatures[i];
		struct swz_captured *c = &of->captured[i];

		c->parts = all + s->first;
		c->entry_parts = s->entry_parts;
		c->return_parts = s->return_parts;
		c->module = of;
		c->number = captured_count + i;
		c->text = (const char *)signatures +
			  file->count * sizeof(*signatures) +
			  swz_signature_file_body(file) - file->text;
		note_places(c);
	}
	for (uint32_t i = 0; i < file->checks; i++, check++) {
		struct swz_captured *c;

		if (check->signature >= file->count)
			continue;
		c = &of->captured[check->signature];
		if (!c->check_count++)
			c->checks = check;
	}
	return of;
}

const struct swz_signature_module *swz_signatures_ask(
	const struct swz_exchange_module *module)
{
	const struct swz_signature_module *of;
	const struct swz_signature_file *file;
	const struct swz_question *q;

	if (!exchange.table)
		return NULL;
	q = swz_exchange_ask(&exchange, module);
	if (!q)
		return NULL;
	if (q->answer == SWZ_ANSWER_NO_MATCH)
		saw_debug_information = true;
	if (q->answer == SWZ_ANSWER_NO_SPLIT || q->answer == SWZ_ANSWER_PACKED)
		unread = (enum swz_answer)q->answer;
	file = swz_exchange_map(&exchange, q);
	of = file ? new_module(file) : NULL;
	if (of) {
		saw_debug_information = true;
		found_count += file->count;
	}
	return of;
}

const char *swz_signatures_lack(void)
{
	if (!swz_config.signatures || found_count)
		return NULL;
	if (unread == SWZ_ANSWER_NO_SPLIT)
		return "the debug information is in .dwo files "
		       "(-gsplit-dwarf) that are not where it says. -A names "
		       "arguments by hand";
	if (unread == SWZ_ANSWER_PACKED)
		return "the debug information is compressed in a way that "
		       "libdw cannot read (zstd). Make it readable by objcopy "
		       "--decompress-debug-sections";
	return saw_debug_information
		       ? "no function of what is loaded at the start matches"
		       : "nothing of what is loaded at the start has debug "
			 "information (-g). -A names arguments by hand";
}

bool swz_signatures_are_wanted(void)
{
	return captured_count != 0 || exchange.table;
}

int64_t swz_signature_at(const struct swz_signature_module *of,
			 uint64_t address)
{
	uint32_t low;

	SWZ_PARTITION(low, of ? of->file->count : 0,
		      of->signatures[low].function < (uint32_t)address);
	if (!of || low == of->file->count ||
	    of->signatures[low].function != (uint32_t)address)
		return -1;
	return captured_count + low;
}

uint32_t swz_signature_marks_at(const struct swz_signature_module *of,
				uint64_t address)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; of && i < of->file->marks; i++)
		if (of->marks[i].function == (uint32_t)address)
			bits |= of->marks[i].bits;
	return bits;
}

void swz_signatures_mark(uint32_t function, uint32_t bits)
{
	if (!marks_by_id)
		marks_by_id = map(swz_ids_bound(), MAP_NORESERVE);
	if (marks_by_id && function < swz_ids_bound())
		marks_by_id[function] |= (uint8_t)bits;
}

uint32_t swz_signature_marks_of(uint32_t function)
{
	return marks_by_id && function < swz_ids_bound() ? marks_by_id[function]
							 : 0;
}

/* The type of its first part is named after the function: so readers know which
 * it is, whatever its symbol. */
static void add_flow(const struct swz_flow_function *flow)
{
	struct swz_captured *c = &captured[captured_count];

	*c = (struct swz_captured){.parts = &parts[part_count],
				   .number = captured_count};
	captured_count++;
	for (uint32_t i = 0; i < SWZ_MOST_FLOW_PARTS; i++) {
		const struct swz_flow_part *p = &flow->parts[i];

		if (!p->name)
			break;
		parts[part_count] = p->part;
		parts[part_count].value = (uint16_t)part_count;
		named[part_count++] = (struct named_part){
			p->name, (uint32_t)strlen(p->name), p->type,
			i ? NULL : flow->name};
		c->entry_parts += !p->at_return;
		c->return_parts += p->at_return;
	}
}

static const char *read_items(void)
{
	const char *text = swz_config.arguments ? swz_config.arguments : "",
		   *end;
	size_t lines = 1, specs = 1, length = strlen(text);
	char *pattern;

	if (!swz_config.arguments && !swz_config.flows && !swz_config.prints)
		return NULL;
	if (swz_config.flows) {
		lines += flow_function_count;
		specs += (size_t)flow_function_count * SWZ_MOST_FLOW_PARTS;
	}
	for (const char *s = text; *s; s++) {
		lines += *s == '\n';
		specs += *s == ',' || *s == '\n';
	}
	if (swz_config.prints) {
		lines += print_function_count;
		specs += (size_t)print_function_count * SWZ_MOST_FLOW_PARTS;
	}
	captured = map(lines * sizeof(*captured), 0);
	parts = map(specs * sizeof(*parts), 0);
	named = map(specs * sizeof(*named), 0);
	pattern = map(length + 2, 0);
	if (!captured || !parts || !named || !pattern)
		return "no memory for -A, no profile ";
	if (*text)
		swz_signature_patterns = pattern;
	for (; *text; text = end + (*end == '\n')) {
		end = line_end(text);
		if (end > text && !add_item(text, end, &pattern))
			return "SWIZZLE_ARGUMENTS is not FUNCTION@SPEC,..., no "
			       "profile ";
	}
	*pattern = '\0';
	flows_first = captured_count;
	for (uint32_t i = 0; swz_config.flows && i < flow_function_count; i++)
		add_flow(&flow_functions[i]);
	prints_first = captured_count;
	for (uint32_t i = 0; swz_config.prints && i < print_function_count; i++)
		add_flow(&print_functions[i]);
	return NULL;
}

int64_t swz_signature_of_libc(const char *name)
{
	int found = swz_config.prints
			    ? print_function_find(name, swz_config.flows)
			    : -1;

	if (found >= 0)
		return (int64_t)prints_first + found;
	found = swz_config.flows ? swz_flow_function_find(name) : -1;
	return found >= 0 ? (int64_t)flows_first + found : -1;
}

const char *swz_signatures_read(void)
{
	const char *problem = read_items();

	if (!problem && swz_config.signatures &&
	    !swz_exchange_open(swz_config.signatures, &exchange))
		swz_say("--args: what reads debug information cannot be "
			"reached from here",
			NULL, NULL);
	return problem;
}

enum swz_status swz_signatures_begin(void)
{
	if (!swz_signatures_are_wanted())
		return SWZ_OK;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers */
	by_id = map(swz_ids_bound() * sizeof(*by_id), MAP_NORESERVE);
	return by_id ? SWZ_OK : SWZ_E_NOMEM;
}

bool swz_signatures_set(uint32_t function, uint32_t number,
			const struct swz_signature_module *of)
{
	bool is_item = number < captured_count;

	if (!by_id || function >= swz_ids_bound() ||
	    (!is_item && (!of || number - captured_count >= of->file->count)))
		return false;
	by_id[function] = is_item ? &captured[number]
				  : &of->captured[number - captured_count];
	swz_capturing = true;
	return true;
}

const struct swz_captured *swz_signature_of(uint32_t function)
{
	return by_id && function < swz_ids_bound() ? by_id[function] : NULL;
}

/* ------------------------------------------------------------- in the file */

static uint64_t text_bytes(void)
{
	uint64_t bytes = 2;

	for (uint32_t i = 0; i < part_count; i++)
		bytes += named[i].name_length + 1 +
			 (named[i].flow ? strlen(named[i].flow) + 1 : 0);
	return bytes;
}

/* One type for each part; its name behind the others. */
static void fill(struct swz_chunk *chunk, const uint32_t (*pairs)[2])
{
	struct swz_signature *signatures = (void *)(chunk + 1);
	struct swz_value_part *to = (void *)(signatures + chunk->count);
	struct swz_value_type *types = (void *)(to + part_count);
	char *text = (char *)(types + part_count);
	uint32_t at = 1;

	for (uint32_t i = 0; i < chunk->count; i++) {
		const struct swz_captured *c = &captured[pairs[i][1]];

		signatures[i] = (struct swz_signature){
			.function = pairs[i][0],
			.first = (uint32_t)(c->parts - parts),
			.entry_parts = c->entry_parts,
			.return_parts = c->return_parts,
		};
	}
	for (uint32_t i = 0; i < part_count; i++) {
		to[i] = parts[i];
		to[i].name = at;
		to[i].type = i;
		types[i].kind = named[i].type;
		types[i].bytes = parts[i].bytes;
		memcpy(text + at, named[i].name, named[i].name_length);
		at += named[i].name_length + 1;
		if (!named[i].flow)
			continue;
		types[i].name = at;
		memcpy(text + at, named[i].flow, strlen(named[i].flow));
		at += (uint32_t)strlen(named[i].flow) + 1;
	}
}

static enum swz_status record_items(const uint32_t (*pairs)[2], uint32_t count,
				    uint32_t module)
{
	struct swz_chunk *chunk;

	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_SIGNATURES,
			       count * sizeof(struct swz_signature) +
				       part_count *
					       (sizeof(struct swz_value_part) +
						sizeof(struct swz_value_type)) +
				       text_bytes(),
			       count, module);
	if (!chunk)
		return SWZ_E_NOMEM;
	chunk->reserved[SWZ_SIGNATURES_PARTS] = part_count;
	chunk->reserved[SWZ_SIGNATURES_TYPES] = part_count;
	chunk->reserved[SWZ_SIGNATURES_TEXT] = text_bytes();
	fill(chunk, pairs);
	swz_chunk_publish(chunk);
	return SWZ_OK;
}

static enum swz_status record_module(const uint32_t (*pairs)[2], uint32_t count,
				     const struct swz_signature_module *of,
				     uint32_t module)
{
	const struct swz_signature_file *file = of->file;
	uint64_t head = count * sizeof(struct swz_signature);
	struct swz_signature *to;
	struct swz_chunk *chunk;

	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_SIGNATURES,
			       head + swz_signature_file_body(file), count,
			       module);
	if (!chunk)
		return SWZ_E_NOMEM;
	to = (void *)(chunk + 1);
	for (uint32_t i = 0; i < count; i++) {
		to[i] = of->signatures[pairs[i][1] - captured_count];
		to[i].function = pairs[i][0];
	}
	memcpy(to + count, of->signatures + file->count,
	       swz_signature_file_body(file));
	chunk->reserved[SWZ_SIGNATURES_PARTS] = file->parts;
	chunk->reserved[SWZ_SIGNATURES_TYPES] = file->types;
	chunk->reserved[SWZ_SIGNATURES_MEMBERS] = file->members;
	chunk->reserved[SWZ_SIGNATURES_TEXT] = file->text;
	swz_chunk_publish(chunk);
	return SWZ_OK;
}

enum swz_status swz_signatures_record(const uint32_t (*pairs)[2],
				      uint32_t items, uint32_t count,
				      const struct swz_signature_module *of,
				      uint32_t module)
{
	enum swz_status status = SWZ_OK;

	if (items)
		status = record_items(pairs, items, module);
	if (status == SWZ_OK && count > items && of)
		status = record_module(pairs + items, count - items, of,
				       module);
	return status;
}

bool swz_signature_is_item(uint32_t number)
{
	return number < captured_count;
}

unsigned swz_signature_kind(const struct swz_captured *c, unsigned part)
{
	const struct swz_value_type *types;
	const struct swz_signature_file *f;
	uint32_t type = c->parts[part].type;

	if (!c->module)
		return named[c->parts - parts + part].type;
	f = c->module->file;
	types = (const void *)((const struct swz_value_part
					*)(c->module->signatures + f->count) +
			       f->parts);
	return type < f->types ? types[type].kind : SWZ_TYPE_OPAQUE;
}
