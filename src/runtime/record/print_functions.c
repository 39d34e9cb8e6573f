#include "runtime/record/print_functions.h"

#include <string.h>

/* clang-format off */
#define PLACE(n) (SWZ_PLACE_INTEGER + (n) - 1)
#define NUMBER(n, label) \
	{{.place = PLACE(n), .bytes = 4}, SWZ_TYPE_SIGNED, false, label}
#define FD(n) \
	{{.kind = SWZ_PART_FILE, .place = PLACE(n), .bytes = 24}, \
	 SWZ_TYPE_FILE, false, "fd"}
#define TEXT(n, label) \
	{{.kind = SWZ_PART_STRING, .place = PLACE(n), .bytes = 8}, \
	 SWZ_TYPE_STRING, false, label}
/* As many bytes as argument LENGTH says, TIMES what another one says; 0: none. */
#define BYTES(n, length, times) \
	{{.kind = SWZ_PART_SPAN, .place = PLACE(n), .bytes = 8, \
	  .other = PLACE(length), .offset = (times)}, \
	 SWZ_TYPE_STRING, false, "text"}
#define RESULT(size) \
	{{.place = SWZ_PLACE_RAX, .bytes = (size)}, SWZ_TYPE_SIGNED, true, \
	 "result"}

const struct swz_flow_function swz_print_functions[] = {
	/* with --flows, and without */
	{"write", {FD(1), BYTES(2, 3, 0), RESULT(8)}},
	{"write", {NUMBER(1, "fd"), BYTES(2, 3, 0), RESULT(8)}},
	{"puts", {TEXT(1, "text"), RESULT(4)}},
	{"fputs", {TEXT(1, "text"), RESULT(4)}},
	{"fputs_unlocked", {TEXT(1, "text"), RESULT(4)}},
	{"fwrite", {BYTES(1, 2, 3), RESULT(8)}},
	{"fwrite_unlocked", {BYTES(1, 2, 3), RESULT(8)}},
	{"perror", {TEXT(1, "text")}},
	{"syslog", {NUMBER(1, "priority"), TEXT(2, "format")}},
	{"vsyslog", {NUMBER(1, "priority"), TEXT(2, "format")}},
	{"__syslog_chk", {NUMBER(1, "priority"), TEXT(3, "format")}},
};
/* clang-format on */

const uint32_t swz_print_function_count = sizeof(swz_print_functions) /
					  sizeof(swz_print_functions[0]);

int swz_print_function_find(const char *name, bool flows)
{
	for (uint32_t i = flows ? 0 : 1; i < swz_print_function_count; i++)
		if (strcmp(swz_print_functions[i].name, name) == 0)
			return (int)i;
	return -1;
}
