#ifndef SWZ_TOOLS_DUMP_PAGER_H
#define SWZ_TOOLS_DUMP_PAGER_H

/* Shows what goes to standard output through a pager: SWIZZLE_PAGER, or PAGER,
 * or less, which ends by itself where all fits on the screen (LESS=FRX unless
 * it is set). Does nothing if standard output is no terminal, if we are in the
 * background, if the pager is "" or "cat" or not there, or if it was done
 * before. Messages go through it, too, if they were for the terminal.
 *
 * The program's end waits for the pager's. If the pager ends first, so does the
 * program, as if all had been read. */
void swz_pager_start(void);

#endif
