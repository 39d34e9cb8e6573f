#ifndef SWZ_TOOLS_DUMP_MESSAGE_H
#define SWZ_TOOLS_DUMP_MESSAGE_H

/* What the program says about its work, on standard error. */

/* One line, with the prefix of all our messages. */
void swz_dump_complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif
