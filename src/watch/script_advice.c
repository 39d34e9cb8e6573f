#include "watch/script_advice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/interpreters.h"
#include "util/memory.h"
#include "watch/jit_functions.h"
#include "watch/script_frames.h"

/* Less is not worth a line: one in so many samples. */
#define LEAST_SHARE 20u

static bool is_unnamed(const struct swz_image *image, uint32_t function)
{
	const char *name = function < image->function_count
				   ? image->functions[function].name
				   : NULL;

	return name && strcmp(name, SWZ_CODE_UNNAMED) == 0;
}

/* Of one thread, those in such code and in what it called: a script's time is
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

/* What names the code: of a process that runs already, or from its start. */
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
