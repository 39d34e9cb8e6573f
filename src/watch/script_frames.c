/* A call of the interpreter's loop runs the frame that it was called with and
 * those that this one calls without C in between; the first of them is marked
 * as entry. So the groups of frames and the calls of the loop follow each other
 * in the same order. Where a frame is made before the loop
 * is called (Ruby), or after that (Python), one of them may be missing for a
 * moment. */

#include "watch/script_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/interpreters.h"
#include "util/memory.h"
#include "watch/image.h"
#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"
#include "watch/proc_task.h"
#include "watch/unwind/unwind_row.h"

#define WORD 8
#define MOST_CODE ((size_t)1 << 20) /* of one function */

static const struct swz_script_language *const languages[] = {
	&swz_python_language, &swz_ruby_language,   &swz_php_language,
	&swz_perl_language,   &swz_node_language,   &swz_java_language,
	&swz_lua_language,    &swz_luajit_language,
};

#define LANGUAGES \
	(sizeof(languages) / sizeof(const struct swz_script_language *))

/* -------------------------------------------------------- interpreter */

static size_t read_memory(void *context, uint64_t address, void *into,
			  size_t size)
{
	const struct swz_image *image = context;

	return swz_proc_memory(image->pid, address, into, size);
}

static uint64_t symbol_of_module(void *context, const char *name)
{
	const struct swz_image_module *module = context;
	uint64_t address;

	return swz_code_file_symbol(module->file, name, &address)
		       ? address + module->load_bias
		       : 0;
}

static size_t read_file(void *context, uint64_t address, void *into,
			size_t size)
{
	return swz_code_file_bytes(context, address, into, size) ? size : 0;
}

static uint64_t symbol_of_file(void *context, const char *name)
{
	uint64_t address;

	return swz_code_file_symbol(context, name, &address) ? address : 0;
}

static bool is_called(const char *program, const char *name)
{
	const char *slash = strrchr(program, '/');

	return strncmp(slash ? slash + 1 : program, name, strlen(name)) == 0;
}

/* The program itself holds the interpreter. */
static bool holds_interpreter(struct swz_code_file *file, const char *program)
{
	const struct swz_script_module module = {symbol_of_file, file,
						 read_file, file};

	for (size_t i = 0; i < LANGUAGES; i++) {
		struct swz_script_reader *reader;

		if (languages[i]->is_often_embedded &&
		    !is_called(program, languages[i]->program))
			continue;
		reader = languages[i]->open(&module);
		if (!reader)
			continue;
		languages[i]->close(reader);
		/* (frames of the machine need no pause) */
		return languages[i]->frames != NULL;
	}
	return false;
}

static bool needs_library_of(const struct swz_code_file *file,
			     const struct swz_script_language *language)
{
	for (size_t i = 0;
	     i < sizeof(language->libraries) / sizeof(*language->libraries);
	     i++)
		if (language->libraries[i] &&
		    swz_code_file_needs(file, language->libraries[i]))
			return true;
	return false;
}

static bool is_interpreter(struct swz_code_file *file, const char *program)
{
	for (size_t i = 0; i < LANGUAGES; i++)
		if (languages[i]->program &&
		    is_called(program, languages[i]->program) &&
		    needs_library_of(file, languages[i]))
			return true;
	return holds_interpreter(file, program);
}

static bool is_known(struct swz_code_file *file, const char *program)
{
	if (!file->interpreter)
		file->interpreter = is_interpreter(file, program) ? 1 : -1;
	return file->interpreter > 0;
}

bool swz_script_frames_known(const char *program)
{
	return is_known(swz_code_file_of_program(program), program);
}

/* The process may run another file than that with its path here. */
bool swz_script_frames_known_in(int32_t pid, const char *program)
{
	char *path = swz_print("/proc/%d/exe", (int)pid);
	struct swz_mapped_file mapped = {.pid = pid, .path = program};
	struct stat st;

	if (stat(path, &st) == 0)
		mapped.inode = st.st_ino;
	free(path);
	return is_known(swz_code_file_of(&mapped), program);
}

/* True if code begins with a frame that is made already: it is no function, but
 * a part of one that the compiler has put elsewhere. */
static bool is_part(const struct swz_unwind_file *unwind, uint64_t address)
{
	struct swz_unwind_row row;
	struct swz_fde fde;

	if (!swz_unwind_file_fde(unwind, address, &fde))
		return false;
	row = swz_unwind_row_of(&fde, address);
	return row.kind == SWZ_ROW_RBP ||
	       (row.kind == SWZ_ROW_RSP && row.cfa_offset != WORD);
}

/* The part of a function that lies elsewhere and has no name in a stripped
 * file: the function jumps there. 0: there is none. */
static uint64_t part_of(struct swz_image *image,
			const struct swz_image_module *module,
			const struct swz_code_function *function)
{
	struct swz_unwind_file *unwind = swz_unwind_file_of(
		&(struct swz_mapped_file){.pid = image->pid,
					  .path = module->file->path,
					  .inode = module->file->inode});
	size_t size = function->size < MOST_CODE ? function->size : MOST_CODE;
	uint8_t *code = swz_allocate(size + 1, 1);
	uint64_t found = 0;

	if (!unwind || read_memory(image, function->start + module->load_bias,
				   code, size) != size)
		size = 0;
	for (size_t i = 0; !found && i + 6 <= size; i++) {
		/* jcc rel32 */
		uint64_t to = function->start + i + 6 +
			      (uint64_t)(int32_t)swz_script_half(code, i + 2);

		if (code[i] != 0x0f || (code[i + 1] & 0xf0) != 0x80 ||
		    to - function->start < function->size)
			continue;
		to = swz_code_file_function(module->file, to).start;
		if (to != function->start && is_part(unwind, to))
			found = to;
	}
	free(code);
	swz_unwind_file_release(unwind);
	return found;
}

static void take_loop(struct swz_image *image,
		      const struct swz_image_module *module)
{
	struct swz_code_function loop = swz_code_file_function(
		module->file, image->script->loop - module->load_bias);

	image->loop_address = loop.start;
	image->loop_part = part_of(image, module, &loop);
}

static void look_for_interpreter(struct swz_image *image)
{
	/* cppcheck-suppress invalidLifetime ; a language does not keep it */
	while (!image->script && image->modules_seen < image->module_count) {
		struct swz_image_module *module =
			&image->modules[image->modules_seen];
		const struct swz_script_module in = {symbol_of_module, module,
						     read_memory, image};

		image->loop_module = (uint32_t)image->modules_seen++;
		for (size_t i = 0; !image->script && i < LANGUAGES; i++)
			image->script = languages[i]->open(&in);
		if (image->script && image->script->loop)
			take_loop(image, module);
	}
}

/* The function that the loop is in, if another one stands for it, has no
 * name in stripped libraries. */
static void find_inner_loop(struct swz_image *image)
{
	const struct swz_image_module *module =
		&image->modules[image->loop_module];
	uint64_t at = image->script->inner_loop;

	/* nothing but that is known */
	if (at && !image->script->loop) {
		image->script->loop = at;
		take_loop(image, module);
	}
	if (!image->inner_loop_address && at != image->script->loop &&
	    at >= module->start && at < module->end)
		image->inner_loop_address = swz_code_file_function(
						    module->file,
						    at - module->load_bias)
						    .start;
}

const struct swz_script_stack *swz_script_frames_read(
	struct swz_image *image, const struct swz_script_thread *thread)
{
	static struct swz_script_stack stack;

	look_for_interpreter(image);
	if (!image->script || !image->script->language->frames)
		return NULL;
	stack.result = image->script->language->frames(
		image->script, thread, stack.frames, SWZ_MOST_FRAMES,
		&stack.count);
	stack.sp = image->script->sp;
	find_inner_loop(image);
	return &stack;
}

void swz_script_frames_close(struct swz_script_reader *reader)
{
	if (reader)
		reader->language->close(reader);
}

/* -------------------------------------------------------------- stacks */

struct putting {
	struct swz_image *image;
	struct swz_stack_row *to;
	size_t most, count;
	uint32_t *line; /* of the innermost row, if it is a script's */
};

static void put(struct putting *p, uint32_t function, uint64_t call_site)
{
	if (p->count < p->most)
		p->to[p->count++] = (struct swz_stack_row){function, call_site};
}

static void put_script(struct putting *p, const struct swz_script_frame *frame,
		       uint64_t call_site)
{
	const struct swz_script_code *f = frame->code;
	uint32_t line = frame->line < SWZ_MOST_SCRIPT_LINES ? frame->line : 0;
	char *path = NULL;

	if (!strchr("/<(", f->file[0]) && p->image->directory)
		path = swz_print("%s/%s", p->image->directory, f->file);
	if (p->count)
		p->to[p->count - 1].call_site = line;
	else
		*p->line = line;
	put(p,
	    swz_script_function(p->image, f->name, path ? path : f->file,
				f->line),
	    call_site);
	free(path);
}

/* ------------------------------------------------- frames of the machine */

void swz_script_frames_begin(struct swz_image *image)
{
	if (image->script)
		image->script->stacks++;
}

/* A file of the program's directory has its path; others are as they are. */
static char *path_of(const struct swz_image *image, const char *file)
{
	char *path, *there;
	bool is_there;

	if (strchr("/<(", *file) || !image->directory)
		return swz_duplicate(file);
	path = swz_print("%s/%s", image->directory, file);
	there = swz_print("/proc/%d/root%s", (int)image->pid, path);
	is_there = access(there, F_OK) == 0;
	free(there);
	if (is_there)
		return path;
	free(path);
	return swz_duplicate(file);
}

/* Codes come and go; their numbers stay. */
static uint32_t function_of(struct swz_image *image,
			    const struct swz_script_code *code)
{
	uint32_t *known, function;
	char *path;

	if (image->by_code.count >= SWZ_MOST_CODES)
		swz_map_free(&image->by_code);
	known = swz_map_at(&image->by_code, code->number, 0);
	if (*known != SWZ_MAP_NONE)
		return *known;
	path = path_of(image, code->file);
	function = swz_script_function(image, code->name, path, code->line);
	free(path);
	return *known = function;
}

size_t swz_script_frame_functions(struct swz_image *image,
				  const struct swz_script_place *place,
				  struct swz_placed_function *functions)
{
	struct swz_script_frame frames[SWZ_MOST_INLINED];
	size_t count;

	look_for_interpreter(image);
	if (!image->script || !image->script->language->functions)
		return 0;
	count = image->script->language->functions(image->script, place,
						   frames);
	for (size_t i = 0; i < count; i++)
		functions[i] = (struct swz_placed_function){
			function_of(image, frames[i].code),
			frames[i].line < SWZ_MOST_SCRIPT_LINES ? frames[i].line
							       : 0};
	return count;
}

bool swz_script_frames_are_shared(const struct swz_image *image)
{
	return image->script && image->script->language->shares_frames;
}

bool swz_script_frame_is_helper(struct swz_image *image, uint64_t pc)
{
	return image->script && image->script->language->is_helper &&
	       image->script->language->is_helper(image->script, pc);
}

static bool row_of_frame(void *context, uint64_t pc, uint64_t sp,
			 bool is_innermost, struct swz_unwind_row *row)
{
	struct swz_image *image = context;
	uint32_t size = 0;

	look_for_interpreter(image);
	if (!image->script || !image->script->language->leave)
		return false;
	switch (image->script->language->leave(image->script, pc, sp,
					       is_innermost, &size)) {
	case SWZ_LEAVE_BY_SIZE:
		*row = (struct swz_unwind_row){.kind = SWZ_ROW_RSP,
					       .cfa_offset = (int32_t)size};
		return true;
	case SWZ_LEAVE_BY_SIZE_WITH_RBP:
		*row = (struct swz_unwind_row){.kind = SWZ_ROW_RSP,
					       .cfa_offset = (int32_t)size,
					       .rbp = SWZ_ROW_RBP_AT_CFA,
					       .rbp_offset = -2 * WORD};
		return true;
	case SWZ_LEAVE_BY_RBP:
		*row = (struct swz_unwind_row){.kind = SWZ_ROW_RBP_AND_SP,
					       .cfa_offset = -WORD};
		return true;
	case SWZ_LEAVE_UNKNOWN:
	default:
		return false;
	}
}

void swz_script_frames_unwind(struct swz_image *image)
{
	swz_unwinder_describe(image->unwinder, row_of_frame, image);
}

/* ----------------------------------------------- frames of a loop's calls */

static bool is_loop(const struct swz_image *image, uint32_t function)
{
	const struct swz_image_function *f = &image->functions[function];

	if (f->module == SWZ_NO_MODULE &&
	    image->script->language->runs_made_code)
		return f->pending ||
		       (f->name && strcmp(f->name, SWZ_CODE_UNNAMED) == 0);
	return f->module == image->loop_module &&
	       (f->address == image->loop_address ||
		(image->loop_part && f->address == image->loop_part));
}

uint64_t swz_script_frames_samples(struct swz_image *image)
{
	uint64_t samples = 0;

	look_for_interpreter(image);
	if (!image->script || !image->script->language->frames)
		return 0;
	find_inner_loop(image);
	for (size_t i = 0; i < image->thread_count; i++) {
		const struct swz_image_thread *thread = image->threads[i];
		bool *below = swz_allocate(thread->node_count + 1,
					   sizeof(*below));

		for (size_t k = 0; k < thread->node_count; k++) {
			const struct swz_stack_node *node = &thread->nodes[k];

			below[k] = (node->function < image->function_count &&
				    is_loop(image, node->function)) ||
				   (node->parent < k && below[node->parent]);
			if (below[k])
				samples += node->samples;
		}
		free(below);
	}
	return samples;
}

static size_t count_loops(const struct swz_image *image,
			  const struct swz_stack_row *rows, size_t count)
{
	size_t loops = 0;

	for (size_t i = 0; i < count; i++)
		loops += is_loop(image, rows[i].function);
	return loops;
}

static size_t count_groups(const struct swz_script_stack *script)
{
	size_t groups = 0;

	for (size_t i = 0; i < script->count; i++)
		groups += script->frames[i].is_entry;
	return groups;
}

/* How the loops and the groups of frames fit together. */
struct fit {
	size_t bare;    /* loops, the innermost, that have no group */
	size_t at;      /* of the script's frames: the first that has a loop */
	bool is_unread; /* the script's functions are not to be had */
	/* The loops and the groups do not follow each other: all frames take
	 * the place of so many loops, and of what is between these. */
	size_t joined;
};

/* Puts the functions of a call of the loop; the loop, where there are none. */
static void put_group(struct putting *p, const struct swz_script_stack *script,
		      size_t from, size_t to, const struct swz_stack_row *loop)
{
	bool is_empty = from < to;

	for (; from < to; from++) {
		if (!script->frames[from].code)
			continue;
		put_script(p, &script->frames[from], loop->call_site);
		is_empty = false;
	}
	if (is_empty)
		put(p, loop->function, loop->call_site);
}

static size_t past_group(const struct swz_script_stack *script, size_t at,
			 bool all)
{
	if (all)
		return script->count;
	while (at < script->count && !script->frames[at].is_entry)
		at++;
	return at + (at < script->count);
}

static struct fit fit_together(const struct swz_image *image,
			       const struct swz_script_stack *script,
			       size_t loops, bool to_root)
{
	size_t groups = count_groups(script);
	struct fit fit = {0};

	if (script->result == SWZ_SCRIPT_LOST) {
		fit.bare = loops;
		fit.is_unread = loops != 0;
		return fit;
	}
	if (!to_root)
		return fit; /* from the innermost on, as far as it goes */
	if (loops == groups || loops == groups + 1) {
		fit.bare = loops - groups;
	} else if (image->script->language->is_frame_first &&
		   loops + 1 == groups) {
		fit.at = past_group(script, 0, false);
	} else if (!groups || !loops) {
		fit.bare = loops;
		fit.is_unread = loops > 1 || groups > 1;
	} else {
		fit.joined = loops;
	}
	return fit;
}

/* The function that has the loop, called by the one that stands for it. */
static bool is_inner_loop(const struct swz_image *image,
			  const struct swz_stack_row *rows, size_t count,
			  size_t i)
{
	const struct swz_image_function *f =
		&image->functions[rows[i].function];

	return image->inner_loop_address && i + 1 < count &&
	       f->module == image->loop_module &&
	       f->address == image->inner_loop_address &&
	       is_loop(image, rows[i + 1].function);
}

size_t swz_script_frames_put(struct swz_image *image,
			     const struct swz_script_stack *script,
			     const struct swz_stack_row *rows, size_t count,
			     bool to_root, struct swz_stack_row *to,
			     size_t most, uint32_t *line)
{
	struct putting p = {image, to, most, 0, line};
	struct fit fit = fit_together(image, script,
				      count_loops(image, rows, count), to_root);

	bool is_within = false;

	image->unread_scripts += fit.is_unread;
	for (size_t i = 0; i < count; i++) {
		bool loop = is_loop(image, rows[i].function);
		bool joined = fit.joined != 0;
		size_t end;

		fit.joined -= joined && loop;
		is_within |= joined && loop;
		if (is_within && fit.joined)
			continue; /* the outermost loop stands for all */
		if (!loop || fit.bare) {
			if (fit.bare || !is_inner_loop(image, rows, count, i))
				put(&p, rows[i].function, rows[i].call_site);
			fit.bare -= loop;
			continue;
		}
		end = past_group(script, fit.at, joined);
		put_group(&p, script, fit.at, end, &rows[i]);
		fit.at = end;
	}
	return p.count;
}

/* --- what to do where code has no names ----------------------------------- */

/* Less is not worth a line: one in so many samples. */
#define LEAST_SHARE 20u

static bool is_unnamed(const struct swz_image *image, uint32_t function)
{
	const char *name = function < image->function_count
				   ? image->functions[function].name
				   : NULL;

	return name && strcmp(name, SWZ_CODE_UNNAMED) == 0;
}

/* A thread's samples in such code and in what it called: a script's time is
 * often in the interpreter's own functions. */
static uint64_t count_below(const struct swz_image *image,
			    const struct swz_image_thread *thread)
{
	bool *below = swz_allocate(thread->node_count + 1, sizeof(*below));
	uint64_t samples = 0;

	for (size_t i = 0; i < thread->node_count; i++) {
		const struct swz_stack_node *node = &thread->nodes[i];

		below[i] = is_unnamed(image, node->function) ||
			   (node->parent < i && below[node->parent]);
		if (below[i])
			samples += node->samples;
	}
	free(below);
	return samples;
}

static uint64_t count_unnamed(const struct swz_image *image)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < image->thread_count; i++)
		samples += count_below(image, image->threads[i]);
	return samples;
}

static bool defines(void *context, const char *symbol)
{
	uint64_t address;

	return swz_code_file_symbol(context, symbol, &address);
}

static bool has_argument(const struct swz_image *image, const char *word,
			 size_t length)
{
	const char *at = image->arguments, *end = at + image->argument_bytes;

	for (; at && at < end; at += strlen(at) + 1)
		if (strlen(at) == length && strncmp(at, word, length) == 0)
			return true;
	return false;
}

/* Then the code is of another maker, such as a library's for patterns. */
static bool has_options(const struct swz_image *image, const char *options)
{
	while (*options) {
		size_t length = strcspn(options, " ");

		if (!has_argument(image, options, length))
			return false;
		options += length + (options[length] == ' ');
	}
	return true;
}

static size_t reads(void *context, const char *symbol, void *into, size_t size)
{
	uint64_t address;

	return swz_code_file_symbol(context, symbol, &address) &&
			       swz_code_file_bytes(context, address, into, size)
		       ? size
		       : 0;
}

static struct swz_interpreter_file interpreter_file(struct swz_code_file *file)
{
	return (struct swz_interpreter_file){defines, reads, file, file->path};
}

/* The program itself, or a library that a program of that name has it from:
 * others run scripts for extensions. */
static bool is_program(const struct swz_image *image,
		       const struct swz_image_module *module,
		       const struct swz_interpreter *interpreter)
{
	const char *program = image->executable ? image->executable : "";
	const char *slash = strrchr(program, '/');
	size_t length = strlen(interpreter->language);

	return !strcmp(module->file->path, program) ||
	       !strncasecmp(slash ? slash + 1 : program, interpreter->language,
			    length);
}

char *swz_script_version_advice(const struct swz_image *image)
{
	char *version = NULL, *line;
	const struct swz_interpreter *found = NULL;
	struct swz_interpreter_file in;
	size_t i;

	for (i = 0; !version && i < image->module_count; i++) {
		struct swz_code_file *file = image->modules[i].file;

		if (!file)
			continue;
		in = interpreter_file(file);
		found = swz_interpreter_in(&in);
		if (found && is_program(image, &image->modules[i], found))
			version = swz_interpreter_unknown_version(found, &in);
	}
	if (!version || image->samples < LEAST_SHARE ||
	    has_options(image, "-X perf")) {
		free(version);
		return NULL;
	}
	line = swz_print("%s is %s %s: its rows are the interpreter's C "
			 "functions. The script's own can be read "
			 "of " SWZ_KNOWN_SCRIPTS " only",
			 image->executable, found->language, version);
	free(version);
	return line;
}

/* Names the code of a process that runs already, or from its start. */
static char *names_help(const struct swz_image *image,
			const struct swz_interpreter *interpreter)
{
	const char *command = interpreter->command;

	if (image->ran_before && command)
		return swz_print("run %.*s%" PRId32 "%s, then sample it again",
				 (int)(strchr(command, '%') - command), command,
				 image->pid, strchr(command, '%') + 2);
	return swz_print("%s its command: %s",
			 image->ran_before ? "start it with these added to"
					   : "add to",
			 interpreter->options);
}

char *swz_script_advice(const struct swz_image *image)
{
	char *help, *line;
	uint64_t unnamed = count_unnamed(image);
	const struct swz_interpreter *found = NULL;
	size_t i;

	if (!unnamed || unnamed * LEAST_SHARE < image->samples)
		return NULL;
	for (i = 0; !found && i < image->module_count; i++) {
		const struct swz_interpreter_file in = interpreter_file(
			image->modules[i].file);

		found = swz_interpreter_in(&in);
	}
	if (!found || !found->options || has_options(image, found->options))
		return NULL;
	help = names_help(image, found);
	line = swz_print(
		"%" PRIu64 "%% of the samples are in code that %s "
		"made at run time or below it, without names. For the names of "
		"%s functions %s",
		100 * unnamed / image->samples,
		image->modules[i - 1].file->path, found->language, help);
	free(help);
	return line;
}

bool swz_script_needs_pauses(const struct swz_image *image)
{
	return image->samples && image->executable &&
	       swz_script_frames_known(image->executable);
}

char *swz_pause_advice(uint64_t samples, uint64_t all, const char *program)
{
	if (!samples || samples * LEAST_SHARE < all)
		return NULL;
	return swz_print("%" PRIu64 "%% of the samples are in %s and show its "
			 "C functions. To see the script's functions: "
			 "swizzle-run -m sample --engine pause",
			 100 * samples / all, program);
}
