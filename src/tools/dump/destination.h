#ifndef SWZ_TOOLS_DUMP_DESTINATION_H
#define SWZ_TOOLS_DUMP_DESTINATION_H

/* Messages about the program's work, on standard error. */

#include "util/output.h"
#include "profile/formats/formats.h"
#include "tools/dump/dump_options.h"

/* --- messages ------------------------------------------------------------ */

/* One line, with the prefix of all our messages. */
void swz_dump_complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* --- files that are written ---------------------------------------------- */

/* The file that is written. */

/* True if the output goes to standard output. */
bool swz_dump_to_standard_output(const struct swz_dump_options *options);

struct swz_dump_target {
	struct swz_output output;
	struct swz_writer writer;
	char *path;
};

/* Where the output goes if it is that of a process; to be freed. */
char *swz_dump_output_path(const struct swz_dump_options *options, int32_t pid);

/* As swz_output_open(); what is for a terminal goes through the pager from
 * then on. */
enum swz_status swz_dump_open_output(
	struct swz_output *output, const char *path,
	const struct swz_dump_options *options) SWZ_MUST_CHECK;

/* Begins a file in the options' format, at PATH, which it takes over. Returns
 * an exit status, as all of these do. */
int swz_dump_open_target(struct swz_dump_target *target,
			 const struct swz_dump_options *options, char *path);
int swz_dump_close_target(struct swz_dump_target *target,
			  const struct swz_dump_options *options);

/* Not EXIT_OK where no more can be written; swz_dump_close_target says why. */
int swz_dump_write_section(struct swz_dump_target *target,
			   const struct swz_section *section,
			   const struct swz_dump_options *options);

/* Opens one for a thread's part, unless a file is open that takes it, too. */
int swz_dump_begin_part(struct swz_dump_target *to,
			const struct swz_dump_options *options, int32_t pid,
			unsigned int thread_number);

/* The file is complete. */
int swz_dump_end_output(struct swz_output *output, const char *path,
			const struct swz_dump_options *options);

/* Shows the page that was written last in a browser ($BROWSER, or xdg-open
 * where there is a display), or says how to get it to one. */
void swz_dump_open_page(void);

/* Says what errno says of it. */
int swz_dump_write_failed(const char *path);

#endif
