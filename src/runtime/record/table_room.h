#ifndef SWZ_RUNTIME_RECORD_TABLE_ROOM_H
#define SWZ_RUNTIME_RECORD_TABLE_ROOM_H

/* Room for the tables of contexts (edge_table.h): one range of address space
 * for the process, zeros at first and again in a forked child. A thread takes
 * blocks of it, and tables of these. Nothing is given back: as with nodes, of
 * which tables take less. */

#include <stdint.h>

#include "runtime/record/thread.h"

/* A table's place is a number of these before swz_table_room_end(). */
#define SWZ_TABLE_UNIT (1u << SWZ_TABLE_SHIFT)

/* Two ranges, the first, which may be empty, to be used up before the second.
 * At the end of that one is a page that stays zeros. */
void swz_table_room_begin(char *first, uint64_t first_bytes, char *second,
			  uint64_t second_bytes);

char *swz_table_room_end(void);

/* So many bytes of zeros, at a multiple of SWZ_TABLE_UNIT, for the thread.
 * NULL: there are none left, but for tables of folded contexts.
 * Async-signal-safe, needs no system call. */
char *swz_table_room_take(struct swz_thread_cold *cold, uint64_t bytes);

/* In a forked child, whose threads have no block. */
void swz_table_room_begin_again(void);

#endif
