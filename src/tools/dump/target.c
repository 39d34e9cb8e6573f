/* A file is complete or not there at all: see profile/support/output.h. */

#include "tools/dump/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/compressed.h"
#include "profile/support/memory.h"
#include "tools/dump/message.h"
#include "tools/dump/pager.h"

int swz_dump_write_failed(const char *path)
{
	swz_dump_complain("cannot write %s: %s",
			  strcmp(path, "-") == 0 ? "standard output" : path,
			  strerror(errno));
	return EXIT_INPUT;
}

bool swz_dump_to_standard_output(const struct swz_dump_options *options)
{
	return options->output ? strcmp(options->output, "-") == 0
			       : !options->format->prefix;
}

/* NUMBER is that of the part, or "". */
static char *path_of(const struct swz_dump_options *options, int32_t pid,
		     const char *number)
{
	const struct swz_format *format = options->format;

	if (options->output)
		return swz_print("%s%s", options->output, number);
	if (format->prefix)
		return swz_print("%s%s%" PRId32 "%s%s", format->prefix,
				 options->old ? "diff." : "", pid, number,
				 format->suffix);
	return swz_duplicate("-");
}

char *swz_dump_output_path(const struct swz_dump_options *options, int32_t pid)
{
	return path_of(options, pid, "");
}

enum swz_status swz_dump_open_output(struct swz_output *output,
				     const char *path,
				     const struct swz_dump_options *options)
{
	enum swz_compression compression = swz_compression_of(path);
	enum swz_status status;

	if (!options->output && strcmp(path, "-") == 0 && options->pager)
		swz_pager_start();
	status = swz_output_open(output, path);
	/* of standard output there is no name */
	if (status == SWZ_OK && options->output && strcmp(path, "-") != 0 &&
	    compression != SWZ_PLAIN &&
	    !(options->format->takes & SWZ_COMPRESSES))
		status = swz_output_compress(output, compression);
	return status;
}

int swz_dump_open_target(struct swz_dump_target *target,
			 const struct swz_dump_options *options, char *path)
{
	target->path = path;
	if (swz_dump_open_output(&target->output, path, options) != SWZ_OK)
		return swz_dump_write_failed(path);
	if (options->format->takes & SWZ_WRITES_FILE &&
	    !target->output.temporary) {
		swz_dump_complain("cannot write %s to %s: it is not written "
				  "from its beginning to its end. Name a file "
				  "with -o",
				  options->format->name, path);
		swz_output_discard(&target->output);
		target->output.stream = NULL;
		return EXIT_USAGE;
	}
	target->writer = (struct swz_writer){.stream = target->output.stream,
					     .path = target->output.temporary,
					     .options = &options->table};
	if (options->format->begin)
		options->format->begin(&target->writer);
	return EXIT_OK;
}

int swz_dump_write_section(struct swz_dump_target *target,
			   const struct swz_section *section,
			   const struct swz_dump_options *options)
{
	options->format->section(&target->writer, section);
	target->writer.sections++;
	return ferror(target->output.stream) ? EXIT_INPUT : EXIT_OK;
}

int swz_dump_begin_part(struct swz_dump_target *to,
			const struct swz_dump_options *options, int32_t pid,
			unsigned int thread_number)
{
	char number[16] = "";

	/* tables need no files of their own, unless a name is given */
	if (to->path && !options->separate_threads)
		return EXIT_OK;
	if (options->separate_threads && !swz_dump_to_standard_output(options))
		snprintf(number, sizeof(number), "-%02u", thread_number);
	return swz_dump_open_target(to, options, path_of(options, pid, number));
}

int swz_dump_end_output(struct swz_output *output, const char *path,
			const struct swz_dump_options *options)
{
	if (swz_output_close(output) != SWZ_OK)
		return swz_dump_write_failed(path);
	if (!options->quiet && !options->output && options->format->prefix)
		swz_dump_complain("wrote %s", path);
	return EXIT_OK;
}

/* What the format has written is of no use. */
static int give_up(struct swz_dump_target *target)
{
	swz_dump_complain("cannot write %s: %s", target->path,
			  target->writer.failure);
	free(target->writer.failure);
	swz_output_discard(&target->output);
	return EXIT_INPUT;
}

int swz_dump_close_target(struct swz_dump_target *target,
			  const struct swz_dump_options *options)
{
	int status = EXIT_OK;

	if (target->path && target->output.stream) {
		if (options->format->end)
			options->format->end(&target->writer);
		status = target->writer.failure
				 ? give_up(target)
				 : swz_dump_end_output(&target->output,
						       target->path, options);
	}
	free(target->path);
	*target = (struct swz_dump_target){0};
	return status;
}
