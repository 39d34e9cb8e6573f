/* Graphviz gets boxes of a fixed size and arrows, and answers in its format
 * "plain": a line for each thing, lengths in inches, from the bottom left. What
 * goes to it and comes from it is in files in memory, so neither waits for the
 * other. */

#include "profile/formats/rings_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/support/memory.h"

#define PIXELS 72.0     /* an inch */
#define MOST_RANKED 150 /* functions that dot places in short time */

double swz_rings_box_width(const struct swz_rings *rings, size_t ring)
{
	size_t length = strlen(
		rings->trace->catalog->functions[rings->rings[ring].function]
			.name);
	double width = 6.2 * (double)(length < 24 ? length : 24) + 8;

	return width > 104 ? width : 104;
}

/* ---------------------------------------------------------------- the child */

static bool put_graph(int file, const struct swz_rings *rings)
{
	FILE *stream = fdopen(dup(file), "w");
	bool good;
	size_t i;

	if (!stream)
		return false;
	fputs("digraph rings {\n"
	      "graph [nodesep=0.3, ranksep=0.45, overlap=prism];\n"
	      "node [shape=box, fixedsize=true, label=\"\"];\n",
	      stream);
	for (i = 0; i < rings->count; i++)
		fprintf(stream, "n%zu [width=%.3f, height=%.3f];\n", i,
			swz_rings_box_width(rings, i) / PIXELS,
			SWZ_RINGS_BOX_HEIGHT / PIXELS);
	for (i = 0; i < rings->edge_count; i++)
		fprintf(stream, "n%" PRIu32 " -> n%" PRIu32 ";\n",
			rings->edges[i].caller, rings->edges[i].callee);
	fputs("}\n", stream);
	good = !ferror(stream);
	return fclose(stream) == 0 && good && lseek(file, 0, SEEK_SET) == 0;
}

/* Returns an errno. */
static int start(pid_t *pid, const char *program, int from, int to)
{
	char *const arguments[] = {(char *)(uintptr_t)program,
				   (char *)"-Tplain", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t usual;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (!error) {
		/* what we ignore it need not */
		sigemptyset(&usual);
		sigaddset(&usual, SIGPIPE);
		sigaddset(&usual, SIGXFSZ);
		error = posix_spawn_file_actions_adddup2(&actions, from,
							 STDIN_FILENO);
		error = error ? error
			      : posix_spawn_file_actions_adddup2(&actions, to,
								 STDOUT_FILENO);
		error = error ? error
			      : posix_spawn_file_actions_addopen(
					&actions, STDERR_FILENO, "/dev/null",
					O_WRONLY, 0);
		error = error ? error
			      : posix_spawnattr_setsigdefault(&attributes,
							      &usual);
		error = error ? error
			      : posix_spawnattr_setflags(&attributes,
							 POSIX_SPAWN_SETSIGDEF);
		error = error ? error
			      : posix_spawnp(pid, program, &actions,
					     &attributes, arguments, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static char *run(const char *program, int from, int to)
{
	pid_t pid;
	int status = 0, error = start(&pid, program, from, to);

	if (error == ENOENT)
		return swz_print("%s of graphviz is not installed: install the "
				 "package graphviz, or use -f graph",
				 program);
	if (error)
		return swz_print("cannot run %s of graphviz: %s", program,
				 strerror(error));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return swz_print("cannot wait for %s: %s", program,
					 strerror(errno));
	if (WIFSIGNALED(status))
		return swz_print("%s of graphviz was ended by signal %d",
				 program, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return swz_print("%s of graphviz failed with status %d: fewer "
				 "functions (-n) may help",
				 program, WEXITSTATUS(status));
	return NULL;
}

static char *read_whole(int file)
{
	struct stat stat;
	size_t size, done = 0;
	char *text;

	if (fstat(file, &stat) != 0)
		return NULL;
	size = (size_t)stat.st_size;
	text = swz_allocate(size + 1, 1);
	while (done < size) {
		ssize_t bytes = pread(file, text + done, size - done,
				      (off_t)done);

		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes <= 0)
			break;
		done += (size_t)bytes;
	}
	text[done] = '\0';
	return text;
}

static char *ask(struct swz_rings_layout *layout, const struct swz_rings *rings,
		 const char *program)
{
	int from = memfd_create("graph", MFD_CLOEXEC);
	int to = memfd_create("plain", MFD_CLOEXEC);
	char *failure = NULL;

	if (from < 0 || to < 0 || !put_graph(from, rings))
		failure = swz_print("cannot give the graph to graphviz: %s",
				    strerror(errno));
	else
		failure = run(program, from, to);
	if (!failure)
		layout->text = read_whole(to);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return failure;
}

/* --------------------------------------------------------------- the answer */

/* The next word of a line, or NULL. */
static char *word(char **rest)
{
	return strtok_r(NULL, " \n", rest);
}

static bool number(char **rest, double *value)
{
	char *text = word(rest), *end;

	if (!text)
		return false;
	*value = strtod(text, &end) * PIXELS;
	return !*end && *value > -1e7 && *value < 1e7;
}

static bool ring(char **rest, const struct swz_rings *rings, uint32_t *index)
{
	char *text = word(rest), *end;
	unsigned long value;

	if (!text || *text != 'n')
		return false;
	value = strtoul(text + 1, &end, 10);
	*index = (uint32_t)value;
	return !*end && value < rings->count;
}

static bool point(char **rest, const struct swz_rings_layout *layout,
		  struct swz_rings_point *to)
{
	if (!number(rest, &to->x) || !number(rest, &to->y))
		return false;
	to->y = layout->height - to->y;
	return true;
}

static bool read_line(struct swz_rings_layout *layout,
		      const struct swz_rings *rings, char **rest)
{
	struct swz_rings_line *line = &layout->lines[layout->line_count];
	char *count;
	size_t i;

	if (layout->line_count == rings->edge_count ||
	    !ring(rest, rings, &line->caller) ||
	    !ring(rest, rings, &line->callee) || !(count = word(rest)))
		return false;
	line->count = strtoul(count, NULL, 10);
	if (line->count < 4 || line->count > 100000 || line->count % 3 != 1)
		return false;
	line->points = swz_allocate(line->count, sizeof(*line->points));
	layout->line_count++;
	for (i = 0; i < line->count; i++)
		if (!point(rest, layout, &line->points[i]))
			return false;
	return true;
}

static bool read_answer(struct swz_rings_layout *layout,
			const struct swz_rings *rings)
{
	char *lines, *text = strtok_r(layout->text, "\n", &lines);
	size_t placed = 0;
	double scale;

	for (; text; text = strtok_r(NULL, "\n", &lines)) {
		char *rest, *kind = strtok_r(text, " ", &rest);
		uint32_t index;

		if (!kind)
			continue;
		if (strcmp(kind, "stop") == 0)
			break;
		if (strcmp(kind, "graph") == 0 &&
		    !(number(&rest, &scale) && number(&rest, &layout->width) &&
		      number(&rest, &layout->height)))
			return false;
		if (strcmp(kind, "node") == 0) {
			if (!ring(&rest, rings, &index) ||
			    !point(&rest, layout, &layout->middles[index]))
				return false;
			placed++;
		}
		if (strcmp(kind, "edge") == 0 &&
		    !read_line(layout, rings, &rest))
			return false;
	}
	return placed == rings->count &&
	       layout->line_count == rings->edge_count;
}

char *swz_rings_lay_out(struct swz_rings_layout *layout,
			const struct swz_rings *rings)
{
	const char *program = rings->count <= MOST_RANKED ? "dot" : "sfdp";
	char *failure;

	*layout = (struct swz_rings_layout){0};
	layout->middles = swz_allocate(rings->count + 1,
				       sizeof(*layout->middles));
	layout->lines = swz_allocate(rings->edge_count + 1,
				     sizeof(*layout->lines));
	if (!rings->count)
		return NULL;
	failure = ask(layout, rings, program);
	if (!failure && !(layout->text && read_answer(layout, rings)))
		failure = swz_print("%s of graphviz gave no layout that can be "
				    "read",
				    program);
	return failure;
}

void swz_rings_layout_free(struct swz_rings_layout *layout)
{
	size_t i;

	for (i = 0; i < layout->line_count; i++)
		free(layout->lines[i].points);
	free(layout->lines);
	free(layout->middles);
	free(layout->text);
}
