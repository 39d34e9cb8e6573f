#ifndef SWZ_TOOLS_DUMP_SIGNATURES_H
#define SWZ_TOOLS_DUMP_SIGNATURES_H

/* `swizzle-dump --signatures OUT PROGRAM [PATTERN...]`: what swizzle-run --args
 * hands to the program it starts. ARGUMENTS are those behind the option.
 * Returns the exit status: 1 if there is no debug information, or nothing
 * matches. */
int swz_dump_signatures(int count, char **arguments);

#endif
