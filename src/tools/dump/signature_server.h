#ifndef SWZ_TOOLS_DUMP_SIGNATURE_SERVER_H
#define SWZ_TOOLS_DUMP_SIGNATURE_SERVER_H

/* `swizzle-dump --signatures FILE BELL PID CONFIG [PATTERN...]`: the server of
 * swizzle/signature_exchange.h, which swizzle-run --args starts. FILE and BELL
 * are descriptors, PID that of the program, CONFIG the file of --config (empty:
 * the usual ones; -: none). It ends with the last process that
 * has rung the bell. ARGUMENTS are those behind the option. Returns the exit
 * status. */
int swz_dump_serve_signatures(int count, char **arguments);

#endif
