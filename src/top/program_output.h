#ifndef SWZ_TOP_PROGRAM_OUTPUT_H
#define SWZ_TOP_PROGRAM_OUTPUT_H

/* What the program writes while the screen has the terminal: it goes to a
 * file, of the user's choice or a temporary one. */

#include <stdbool.h>

struct swz_program_output {
	char *path; /* NULL: the program does not write to the terminal */
	bool temporary;
};

/* Opens the file to be written, if standard output or error is a terminal; -1:
 * neither is. WANTED: its path, or NULL. Dies where it cannot be made. */
int swz_program_output_open(struct swz_program_output *output,
			    const char *wanted);

/* The last lines in it, ended by NULL; to be freed as one. */
char **swz_program_output_lines(const struct swz_program_output *output);

/* The screen is gone. A temporary file whose program has ended is shown and
 * removed, unless it is long; of any other one it is said where it is. */
void swz_program_output_show(struct swz_program_output *output, bool ended);

/* The program was never executed. */
void swz_program_output_drop(struct swz_program_output *output);

#endif
