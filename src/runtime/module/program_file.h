#ifndef SWZ_RUNTIME_MODULE_PROGRAM_FILE_H
#define SWZ_RUNTIME_MODULE_PROGRAM_FILE_H

#include <stddef.h>

/* The path of the program's own file, with its NUL, or "" if it is not known:
 * /proc/self/exe, or without /proc what the kernel was asked to execute, then.
 * That may be another file by now. To be called first before the program runs.
 * Returns the length. */
size_t swz_program_file(char *path, size_t room);

#endif
