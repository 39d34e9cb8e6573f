#ifndef SWIZZLE_VALUES_H
#define SWIZZLE_VALUES_H

/* Arguments and results of calls (options -A and --args), as a trace has them.
 *
 * A *signature* says what is recorded of a function: a list of *parts*, first
 * those of its entry, then those of its return. A part is a register, a word of
 * the stack, or memory that one of these points at. One argument may have
 * several parts: a struct in two registers, a pointer and what it points at.
 * Types tell how to show them.
 *
 * A signature's chunk (SWZ_CHUNK_SIGNATURES) holds `count` struct
 * swz_signature, then struct swz_value_part, struct swz_value_type and struct
 * swz_value_member as often as `reserved` says, then text that names refer to
 * by their distance from its beginning. The text begins and ends with a 0, so 0
 * is no name.
 *
 * A chunk of values (SWZ_CHUNK_VALUES) of a thread holds records, each a
 * multiple of 8 bytes: struct swz_value_record, then what its parts are, one
 * after the other, not aligned. A word of 0 where a record would begin is to be
 * skipped.
 * docs/file-format.md has more. */

#include <stdint.h>

struct swz_signature {
	uint32_t function;    /* id */
	uint32_t first;       /* into the chunk's parts */
	uint16_t entry_parts; /* from there on; then */
	uint16_t return_parts;
	uint32_t owner; /* type of `this`, + 1; 0: none */
};

/* swz_chunk.reserved of SWZ_CHUNK_SIGNATURES */
enum {
	SWZ_SIGNATURES_PARTS = 0, /* how many there are */
	SWZ_SIGNATURES_TYPES = 1,
	SWZ_SIGNATURES_MEMBERS = 2,
	SWZ_SIGNATURES_TEXT = 3 /* bytes */
};

enum swz_part_kind {
	SWZ_PART_PLAIN = 0, /* `bytes` of the place itself */
	/* The place points at this, at `offset`: a byte, 1 if it could be read,
	 * then `bytes`. */
	SWZ_PART_MEMORY = 1,
	/* Text: two bytes, its length that follows (SWZ_TEXT_*), then the
	 * bytes. The place points at text that ends with a 0. */
	SWZ_PART_STRING = 2,
	/* The place points at an object that has a pointer to the text at
	 * `offset` and its length, of `bytes` (4 or 8), at `other`. */
	SWZ_PART_COUNTED = 3,
	/* The same, and the length lies before the text, by 24 bytes. */
	SWZ_PART_OLD_STRING = 4,
	/* The place `other` has the length, this one points at the text. From
	 * SWZ_PLACES on `other` is a distance behind the return address. At an
	 * `offset` of N, but on the stack, the length is to be multiplied with
	 * integer argument N (of fwrite). */
	SWZ_PART_SPAN = 5,
	/* The place is kept for the parts of the return; nothing is recorded.
	 */
	SWZ_PART_KEEP = 6,
	/* The place points at an object that has a pointer to text, which ends
	 * with a 0, at `offset`. */
	SWZ_PART_FIELD = 7,
	/* The place holds a file descriptor: struct swz_file_value. */
	SWZ_PART_FILE = 8,
	/* The same of a descriptor that lies where the place points, at
	 * `offset`. */
	SWZ_PART_FILE_AT = 9,
	SWZ_PART_KINDS
};

/* A file descriptor and what it stands for at that moment (fstat). */
struct swz_file_value {
	int32_t fd;
	uint32_t mode; /* st_mode; 0: nothing is known of it */
	uint64_t device, inode;
};

/* The two bytes before a text: its length, and what is true of it. */
#define SWZ_TEXT_LENGTH 0x3fffu
#define SWZ_TEXT_CUT 0x4000u /* there is more of it */
#define SWZ_TEXT_BAD \
	0x8000u /* it cannot be read (the length is 0), or, with a \
		 * length, not all of it; with SWZ_TEXT_CUT: the \
		 * pointer is NULL */

enum swz_place {
	SWZ_PLACE_INTEGER = 0, /* + 0..5: rdi rsi rdx rcx r8 r9 */
	SWZ_PLACE_RAX = 6,
	SWZ_PLACE_RDX = 7,
	SWZ_PLACE_VECTOR = 8, /* + 0..7: xmm0 to xmm7 */
	SWZ_PLACE_STACK = 16, /* at entry: `offset` bytes behind the return
			       * address */
	SWZ_PLACE_X87 = 17,   /* + 0..1: st(0), st(1) */
	SWZ_PLACE_KEPT = 20,  /* + 0..3: what SWZ_PART_KEEP has kept */
	SWZ_PLACES = 24
};

#define SWZ_MOST_KEPT 4u

struct swz_value_part {
	uint8_t kind;     /* enum swz_part_kind */
	uint8_t place;    /* enum swz_place */
	uint16_t bytes;   /* of the place, or of the memory */
	int32_t offset;   /* see kind and place */
	uint16_t other;   /* see kind */
	uint16_t through; /* not 0: the place points at an object, which has at
			   * `through` - 1 a pointer. It is that which `kind`
			   * is about */
	uint16_t value;   /* parts of one value have the same number */
	uint16_t pointed; /* 1: of what the value points at; 2: of a text that
			   * a field of that points at: NAME.FIELD */
	uint32_t name;    /* of the argument; 0: none */
	uint32_t type;    /* of the value; into the chunk's types */
};

enum swz_type_kind {
	SWZ_TYPE_SIGNED = 0,
	SWZ_TYPE_UNSIGNED = 1,
	SWZ_TYPE_HEX = 2,
	SWZ_TYPE_OCTAL = 3,
	SWZ_TYPE_BOOL = 4,
	SWZ_TYPE_CHAR = 5,
	SWZ_TYPE_FLOAT = 6, /* of 4, 8 or 16 bytes: an x87 one */
	SWZ_TYPE_ENUM = 7,  /* its members are the names of values */
	SWZ_TYPE_POINTER = 8,
	SWZ_TYPE_STRING = 9, /* a text is recorded */
	SWZ_TYPE_STRUCT = 10,
	SWZ_TYPE_ARRAY = 11,  /* of `of`, `bytes` in all */
	SWZ_TYPE_VECTOR = 12, /* three pointers; `of`: what it has many of */
	SWZ_TYPE_SMART = 13,  /* a pointer first; `of`: what it points at */
	SWZ_TYPE_FUNCTION = 14,
	SWZ_TYPE_REFERENCE = 15,
	SWZ_TYPE_OPAQUE = 16, /* bytes, shown as they are */
	SWZ_TYPE_FILE = 17,   /* struct swz_file_value */
	/* An enum of Rust with data. Its first member is the discriminant. The
	 * others are variants: their `offset` is its value, or their `bit` is
	 * 1: any other value; the type has all of the variant's data. */
	SWZ_TYPE_VARIANT = 18
};

struct swz_value_type {
	uint8_t kind;  /* enum swz_type_kind */
	uint8_t flags; /* SWZ_TYPE_* below */
	uint16_t members;
	uint32_t bytes;
	uint32_t name;  /* 0: none */
	uint32_t first; /* into the chunk's members */
	uint32_t of;    /* a type, + 1; 0: none */
};

#define SWZ_TYPE_IS_ERROR 1u  /* an enum with a value that means success: 0 */
#define SWZ_TYPE_IS_CUT 2u    /* a struct that has more fields */
#define SWZ_TYPE_IS_OBJECT 4u /* the object of a method, by dump_this */

/* A field of a struct, or a value of an enum. */
struct swz_value_member {
	uint32_t name;
	uint32_t type;  /* of a field */
	int64_t offset; /* of a field, bytes; of an enum: the value */
	uint8_t bit;    /* of a bit-field: its first bit, from the offset on */
	uint8_t bits;   /* 0: no bit-field */
	uint8_t padding[6];
};

struct swz_value_record {
	uint32_t node;  /* file offset / 64: as in the event */
	uint16_t bytes; /* of the record; a multiple of 8 */
	uint8_t kind;   /* enum swz_value_moment */
	uint8_t whole;  /* 1, stored last */
	uint64_t ticks; /* rdtsc: of the event that it belongs to */
};

/* Profile mode: of one context's values the last ones, and how far its numbers
 * go. A chunk (SWZ_CHUNK_SUMMARY) has one: this, then ranges, then what a
 * record of the last entry would hold, then the same of the last return, in
 * SWZ_LAST_VALUE_BYTES each; those of a moment without parts are missing. */
#define SWZ_LAST_VALUE_BYTES 512u

struct swz_last_values {
	uint64_t calls;    /* of which there were values */
	uint32_t sequence; /* odd: they were being written */
	uint16_t bytes;
	uint16_t unused;
};

struct swz_value_summary {
	uint32_t node; /* file offset / 64 */
	uint16_t ranges;
	uint16_t unused;
	struct swz_last_values entry, result;
};

enum swz_range_kind {
	SWZ_RANGE_SIGNED = 0,
	SWZ_RANGE_UNSIGNED = 1,
	SWZ_RANGE_FLOAT = 2
};

/* The range of a part that is all of a number. */
struct swz_value_range {
	uint16_t part; /* of the signature: those of the return behind */
	uint16_t kind; /* enum swz_range_kind */
	uint32_t unused;
	uint64_t count;     /* of the values; 0: there is none (but NaN) */
	uint64_t low, high; /* the part's bytes, the others 0 */
};

static inline struct swz_value_range *swz_summary_ranges(
	struct swz_value_summary *summary)
{
	return (struct swz_value_range *)(summary + 1);
}

static inline uint8_t *swz_summary_entry(struct swz_value_summary *summary)
{
	return (uint8_t *)(swz_summary_ranges(summary) + summary->ranges);
}

static inline uint8_t *swz_summary_result(struct swz_value_summary *summary,
					  int has_entry)
{
	return swz_summary_entry(summary) +
	       (has_entry ? SWZ_LAST_VALUE_BYTES : 0);
}

enum swz_value_moment {
	SWZ_VALUES_ENTRY = 1,
	SWZ_VALUES_RETURN = 2,
	SWZ_VALUES_EXCEPTION = 3, /* the type's name follows, as a text */
	/* --flows, of no event: */
	SWZ_VALUES_SOCKET = 4, /* struct swz_socket_value: of a socket that the
				* thread has come to */
	SWZ_VALUES_THREAD = 5, /* the thread's pthread_t, 8 bytes */
	SWZ_VALUES_EXEC = 6    /* it is about to execute a program; in the
				* process with this pid (8 bytes): after vfork
				* that is another one */
};

/* A socket's addresses, by its inode: from when it has a peer on they stay. */
struct swz_socket_value {
	uint64_t inode;
	uint16_t family;           /* AF_*: as in the addresses */
	uint16_t type;             /* SOCK_* */
	uint16_t own_bytes;        /* 0: of AF_UNIX, or none is known */
	uint16_t peer_bytes;       /* 0: it has no peer yet, or the same */
	uint8_t own[28], peer[28]; /* struct sockaddr_in, sockaddr_in6 */
};

/* A call is recorded if all conditions of its signature hold when it begins
 * (only_show_if of --config). */
enum swz_check_kind {
	SWZ_CHECK_SIGNED = 0, /* the part's bytes and `value` */
	SWZ_CHECK_UNSIGNED = 1,
	SWZ_CHECK_FLOAT = 2, /* of the part's size; `value` has its bits */
	SWZ_CHECK_TEXT = 3,
	SWZ_CHECK_NULL = 4,     /* a text: whether its pointer is NULL */
	SWZ_CHECK_BACKTRACE = 5 /* one of the `part` callers has this mark */
};

struct swz_value_check {
	uint32_t signature; /* which, from 0 */
	uint8_t kind;       /* enum swz_check_kind */
	uint8_t op;         /* 0 ==, 1 !=, 2 <, 3 <=, 4 >, 5 >= */
	uint16_t part;      /* which of the entry, from 0 */
	int64_t value;      /* or bits; of a BACKTRACE: of marks */
	uint32_t text;      /* of a TEXT: into the text */
	uint32_t length;
};

/* A function that conditions look for among the callers. */
struct swz_value_mark {
	uint32_t function; /* ELF virtual address, low half; ascending */
	uint32_t bits;
};

#define SWZ_MOST_MARKS 8u /* different ones */

/* swizzle-dump makes this of a module's debug information for `swizzle-run
 * --args` (signature_exchange.h): a head, checks in the order of their
 * signatures, marks, then as in a chunk of signatures, with the functions' ELF
 * virtual addresses (low half) in place of ids, ascending. */
#define SWZ_SIGNATURES_MAGIC "SWZsign3"
struct swz_signature_file {
	char magic[8];
	uint32_t count;
	uint32_t parts, types, members, text;
	uint32_t checks, marks;
	uint32_t unused;
};

#define SWZ_MOST_VALUE_BYTES 4096u /* of a record */
#define SWZ_MOST_STRING_BYTES 2048u
#define SWZ_USUAL_STRING_BYTES 64u

#endif
