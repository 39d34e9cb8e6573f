#include "thunks/counting.h"

#include <string.h>

#define HEAD (-(int)SWZ_COUNT_HEAD) /* from entry */
#define STANDARD_HEAD 18            /* SWZ_TRAMPOLINE_BODY */
#define SECOND (HEAD + STANDARD_HEAD)

/* The code's parts are the same in both forms, at other offsets. */
struct form {
	uint8_t bytes;  /* from entry to the copies */
	uint8_t factor; /* where the distances lie, from entry */
	uint8_t mask;
	uint8_t base;
	uint8_t to_head; /* the last bytes of two short jumps */
	uint8_t to_second;
	uint8_t done; /* what the second slot's code goes on with */
	const uint8_t *code;
};

#define SAVE_RAX 0x48, 0x89, 0x44, 0x24, 0xf0 /* mov %rax, -16(%rsp) */
#define SAVE_RCX 0x48, 0x89, 0x4c, 0x24, 0xe8 /* mov %rcx, -24(%rsp) */
#define SAVE_FLAGS \
	0x9f, 0x0f, 0x90, 0xc0,        /* lahf; seto %al */ \
		0x89, 0x44, 0x24, 0xe0 /* mov %eax, -32(%rsp) */
#define FIND \
	0x48, 0x8b, 0x05, 0, 0, 0, 0,   /* mov factor(%rip), %rax */ \
		0x48, 0x03, 0x04, 0x24, /* add (%rsp), %rax */ \
		0x69, 0xc8, 0xb1, 0x79, 0x37, 0x9e, /* imul $mixer, %eax, \
						       %ecx */ \
		0x64, 0x23, 0x0c, 0x25, 0, 0, 0, 0, /* and %fs:mask, %ecx */ \
		0x64, 0x48, 0x03, 0x0c, 0x25, 0, 0, 0, 0, /* add %fs:base, \
							     %rcx */ \
		0x74, 0,                                  /* jz head */ \
		0x48, 0x39, 0x01,      /* cmp %rax, (%rcx) */ \
		0x75, 0,               /* jne second */ \
		0x48, 0xff, 0x41, 0x08 /* incq 8(%rcx) */
#define RESTORE_FLAGS \
	0x8b, 0x44, 0x24, 0xe0,  /* mov -32(%rsp), %eax */ \
		0x04, 0x7f, 0x9e /* add $0x7f, %al; sahf */
#define RESTORE \
	0x48, 0x8b, 0x4c, 0x24, 0xe8,        /* mov -24(%rsp), %rcx */ \
		0x48, 0x8b, 0x44, 0x24, 0xf0 /* mov -16(%rsp), %rax */

static const uint8_t with_flags[] = {SAVE_RAX, SAVE_FLAGS,    SAVE_RCX,
				     FIND,     RESTORE_FLAGS, RESTORE};
static const uint8_t without_flags[] = {SAVE_RAX, SAVE_RCX, FIND, RESTORE};
static const uint8_t first_only[] = {
	SAVE_RAX, SAVE_RCX, 0x48, 0x8b, 0x0d,
	0,        0,        0,    0,         /* mov factor(%rip),
					      * %rcx */
	0xe3,     0,                         /* jrcxz second */
	0x48,     0x8b,     0x4c, 0x24, 0xe8 /* mov -24(%rsp), %rcx */
};

/* The word has all bits or none (SWZ_COUNT_CALLED). */
static const uint8_t first_without_flags[] = {
	0x48, 0x85, 0x25, 0, 0, 0, 0, /* test %rsp, factor(%rip) */
	0x74, 0                       /* jz second */
};

/* AT: where FIND begins. */
#define FORM(name, at) \
	{ \
		.bytes = sizeof(name), .factor = (at) + 3, .mask = (at) + 21, \
		.base = (at) + 30, .to_head = (at) + 35, \
		.to_second = (at) + 40, .done = (at) + 45, .code = (name) \
	}

static const struct form forms[] = {
	[SWZ_COUNT_KEEPING_FLAGS] = FORM(with_flags, 18),
	[SWZ_COUNT_FREE_FLAGS] = FORM(without_flags, 10),
	[SWZ_COUNT_FIRST] = {.bytes = sizeof(first_only),
			     .factor = 13,
			     .to_second = 18,
			     .code = first_only},
	[SWZ_COUNT_FIRST_FREE_FLAGS] = {.bytes = sizeof(first_without_flags),
					.factor = 3,
					.to_second = 8,
					.code = first_without_flags}};

_Static_assert(sizeof(with_flags) == 80 && sizeof(without_flags) == 65 &&
		       sizeof(first_only) == 24 &&
		       sizeof(first_without_flags) == 9,
	       "the code");

unsigned swz_count_bytes(enum swz_counting form)
{
	return forms[form].bytes;
}

unsigned swz_count_factor_at(enum swz_counting form)
{
	return forms[form].factor;
}

static void put32(uint8_t *at, int64_t value)
{
	int32_t v = (int32_t)value;

	memcpy(at, &v, sizeof(v));
}

/* A short jump's distance counts from its end. */
static void put_short(uint8_t *entry, int at, int target)
{
	entry[at] = (uint8_t)(target - (at + 1));
}

static void write_access(uint8_t *entry, const struct form *form,
			 const struct swz_count_access *access)
{
	if (!form->mask)
		return;
	put32(entry + form->mask, access->mask);
	put32(entry + form->base, access->base);
}

#define SECOND_BYTES ((int)SWZ_COUNT_HEAD - STANDARD_HEAD)

/* The second place of the edge's counter. */
static void write_second(uint8_t *entry, const struct form *form)
{
	static const uint8_t second[] = {
		0x48, 0x39, 0x41, 0x10, /* cmp %rax, 16(%rcx) */
		0x75, 0,                /* jne head */
		0x48, 0xff, 0x41, 0x18, /* incq 24(%rcx) */
		0xeb, 0,                /* jmp done */
		0x66, 0x90,
	};

	_Static_assert(sizeof(second) == SECOND_BYTES, "before entry");
	memcpy(entry + SECOND, second, sizeof(second));
	put_short(entry, SECOND + 5, HEAD);
	put_short(entry, SECOND + 11, form->done);
	put_short(entry, form->to_head, HEAD);
}

/* The way to C of a first call: the flags are saved as C expects them. */
static void write_first(uint8_t *entry)
{
	static const uint8_t first[] = {
		0x9f, 0x0f, 0x90, 0xc0, /* lahf; seto %al */
		0x89, 0x44, 0x24, 0xe0, /* mov %eax, -32(%rsp) */
		0xeb, 0,                /* jmp head */
		0x66, 0x66, 0x66, 0x90,
	};

	_Static_assert(sizeof(first) == SECOND_BYTES, "before entry");
	memcpy(entry + SECOND, first, sizeof(first));
	put_short(entry, SECOND + 9, HEAD);
}

/* The same where nothing was saved yet, and flags need not be. */
static void write_first_without_flags(uint8_t *entry)
{
	static const uint8_t first[] = {
		SAVE_RAX, SAVE_RCX, 0xeb, 0, /* jmp head */
		0x66,     0x90,
	};

	_Static_assert(sizeof(first) == SECOND_BYTES, "before entry");
	memcpy(entry + SECOND, first, sizeof(first));
	put_short(entry, SECOND + 11, HEAD);
}

void swz_count_write(uint8_t *entry, enum swz_counting which,
		     const uint64_t *factor,
		     const struct swz_count_access *access)
{
	const struct form *form = &forms[which];

	memcpy(entry, form->code, form->bytes);
	if (which == SWZ_COUNT_FIRST)
		write_first(entry);
	else if (which == SWZ_COUNT_FIRST_FREE_FLAGS)
		write_first_without_flags(entry);
	else
		write_second(entry, form);
	put_short(entry, form->to_second, SECOND);
	put32(entry + form->factor,
	      (const uint8_t *)factor - (entry + form->factor + 4));
	write_access(entry, form, access);
}

enum swz_counting swz_count_form(const uint8_t *entry)
{
	if (entry[1] == first_without_flags[1])
		return SWZ_COUNT_FIRST_FREE_FLAGS;
	if (entry[5] == 0x9f) /* lahf */
		return SWZ_COUNT_KEEPING_FLAGS;
	return entry[forms[SWZ_COUNT_FIRST].factor - 1] == 0x0d
		       ? SWZ_COUNT_FIRST
		       : SWZ_COUNT_FREE_FLAGS;
}

void swz_count_settle(uint8_t *entry, const struct swz_count_access *access)
{
	write_access(entry, &forms[swz_count_form(entry)], access);
}

uint64_t *swz_count_factor(const uint8_t *entry)
{
	const uint8_t *at = entry + forms[swz_count_form(entry)].factor;
	int32_t distance;

	memcpy(&distance, at, sizeof(distance));
	return (uint64_t *)(uintptr_t)(at + 4 + distance);
}
