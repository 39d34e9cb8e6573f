#include "top/program_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/program.h"
#include "profile/support/figures.h"
#include "profile/support/memory.h"

#define SHOWN_BYTES 65536u    /* on the screen */
#define MOST_BYTES (1u << 20) /* behind it */

static int make_temporary(struct swz_program_output *output)
{
	const char *folder = getenv("TMPDIR");

	output->path = swz_print("%s/swizzle-top.out.XXXXXX",
				 folder && *folder ? folder : "/tmp");
	output->temporary = true;
	return mkostemp(output->path, O_APPEND | O_CLOEXEC);
}

int swz_program_output_open(struct swz_program_output *output,
			    const char *wanted)
{
	int fd;

	*output = (struct swz_program_output){0};
	if (!wanted && !isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO))
		return -1;
	if (wanted) {
		output->path = swz_duplicate(wanted);
		fd = open(wanted,
			  O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
			  0666);
	} else {
		fd = make_temporary(output);
	}
	if (fd < 0)
		swz_die(SWZ_CANNOT_RUN,
			"cannot write the program's output to %s: %s. Name "
			"another file by -o",
			output->path, strerror(errno));
	return fd;
}

/* The end of the file, SHOWN_BYTES of it at most. */
static char *read_end(const char *path)
{
	char *text = swz_allocate(SHOWN_BYTES + 1, 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	off_t from = 0;
	ssize_t n = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (st.st_size > SHOWN_BYTES)
			from = st.st_size - SHOWN_BYTES;
		n = pread(fd, text, SHOWN_BYTES, from);
	}
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++)
		if (!text[i] || text[i] == '\t')
			text[i] = text[i] ? ' ' : '?';
	text[n > 0 ? n : 0] = '\0';
	if (from) { /* the first line may have been cut */
		char *line = strchr(text, '\n');

		if (line)
			memmove(text, line + 1, strlen(line + 1) + 1);
	}
	return text;
}

static size_t count_lines(const char *text)
{
	size_t count = 1;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

/* Pointers, and behind them the text. */
char **swz_program_output_lines(const struct swz_program_output *output)
{
	char *text = output->path ? read_end(output->path) : swz_duplicate("");
	size_t size = strlen(text) + 1, most = count_lines(text) + 1, count = 0;
	char **lines = swz_allocate(1, most * sizeof(*lines) + size);
	char *at = memcpy(lines + most, text, size);

	free(text);
	while (*at) {
		char *end = strchrnul(at, '\n');
		bool last = !*end;

		*end = '\0';
		lines[count++] = at;
		at = last ? end : end + 1;
	}
	return lines;
}

static void copy(const char *path)
{
	FILE *file = fopen(path, "re");
	char bytes[4096];
	size_t n;

	if (!file)
		return;
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		(void)!fwrite(bytes, 1, n, stdout);
	fflush(stdout);
	fclose(file);
}

void swz_program_output_show(struct swz_program_output *output, bool ended)
{
	char size[SWZ_FIGURE_BYTES];
	struct stat st;

	if (!output->path || stat(output->path, &st) != 0)
		return;
	if (output->temporary && ended && st.st_size <= MOST_BYTES) {
		if (isatty(STDOUT_FILENO))
			copy(output->path);
		(void)unlink(output->path);
	} else if (st.st_size || !ended) {
		fprintf(stderr,
			"swizzle: what the program %s is in %s (%s bytes)\n",
			ended ? "has written" : "writes", output->path,
			swz_figure_count(size, (uint64_t)st.st_size));
	}
	free(output->path);
	*output = (struct swz_program_output){0};
}

void swz_program_output_drop(struct swz_program_output *output)
{
	if (output->path && output->temporary)
		(void)unlink(output->path);
}
