#ifndef SWZ_THUNKS_SAVED_PLAN_H
#define SWZ_THUNKS_SAVED_PLAN_H

/* The plan for one module as a file of the plan cache holds it: what was
 * decided for each function, and the trampolines with what must change in them
 * when module and trampolines lie elsewhere (docs/cache.md). The reader takes
 * any bytes: what it accepts may be used without looking again. Pure. */

#include <stdbool.h>
#include <stdint.h>

#include "base/basics.h"
#include "image/elf_view.h"
#include "thunks/unwind_table.h"

#define SWZ_SAVED_MAGIC "SWZplan\n"
#define SWZ_SAVED_VERSION 8u
#define SWZ_SAVED_MOST_TEXTS 64u
/* More than any module has. */
#define SWZ_SAVED_MOST_BYTES (1u << 30)

enum swz_saved_flags {
	SWZ_SAVED_IN_SCOPE = 1,
	SWZ_SAVED_LATE = 2,
	SWZ_SAVED_SHADOW_STACK = 4,
	SWZ_SAVED_COUNTS = 8, /* -m count: see thunks/counting.h */
	/* The run counts, also where the module is out of scope: what reads its
	 * return address or walks the stack has no wrapper. */
	SWZ_SAVED_NO_WALKERS = 16,
	/* The program is at a fixed address: mmap has a wrapper. */
	SWZ_SAVED_FIXED = 32
};

/* All that a plan depends on but the bytes of the text. */
struct swz_saved_key {
	uint8_t build_id[32]; /* zeros behind its end */
	uint8_t ours[32];     /* libswizzle.so's own build-id */
	uint64_t device, inode, file_bytes, mtime_ns, ctime_ns;
	uint64_t options; /* a hash of those that change the plan */
	uint32_t flags;
	uint32_t text_count;
	struct {
		uint64_t start, end; /* ELF virtual addresses */
	} texts[SWZ_SAVED_MOST_TEXTS];
};

struct swz_saved_function {
	uint32_t start; /* ELF virtual address; ascending */
	uint32_t size;
	uint32_t trampoline; /* where the jump goes, in the region; 0: none */
	uint32_t name;       /* in the module's file; 0: none */
	uint16_t status;     /* enum swz_refusal */
	int16_t island;
	uint8_t flags;
	uint8_t site;
	uint8_t padding[2];
};

/* Where 5 bytes change in a function behind its patch site. */
struct swz_saved_inner {
	uint32_t at;           /* ELF virtual address; ascending */
	uint32_t copy;         /* where it leads, in the region */
	uint32_t keeps_opcode; /* 1: of a branch, but for the first; 0: a jump,
				* in place of a load of a return address */
};

/* A function that is led to a wrapper of ours. */
struct swz_saved_wrapper {
	uint32_t function; /* its index */
	uint16_t kind;     /* enum swz_saved_wrapper_kind */
	uint16_t which;    /* the kind's own */
	uint64_t helper;   /* ELF virtual address */
};

enum swz_saved_wrapper_kind { SWZ_SAVED_WALKER, SWZ_SAVED_WATCH };

/* Facts of the module's file. */
enum swz_saved_facts {
	SWZ_SAVED_ASKS = 1,    /* for a function that gets a wrapper */
	SWZ_SAVED_OFFERS = 2,  /* it is libc, which has these */
	SWZ_SAVED_WRAPPED = 4, /* some module asked for one */
	SWZ_SAVED_OF_FILE = 8, /* the text was that of the file, and this had
				* not been changed just then */
	SWZ_SAVED_OWN_UNWINDER = 16,
	SWZ_SAVED_LOOKS_AT_CALLERS = 32,
	SWZ_SAVED_TABLELESS = 64
};

struct swz_saved_header {
	char magic[8];
	uint32_t version;
	uint32_t facts;
	uint64_t bytes;       /* of the file */
	uint64_t header_hash; /* of this header with a 0 here */
	uint64_t hash;        /* of the parts that follow */
	uint64_t text_hash;   /* of the module's text, unpatched */
	struct swz_saved_key key;
	uint64_t resolver;          /* V8's, or 0 */
	uint64_t generated_start;   /* its built-in code: ELF virtual */
	uint64_t generated_end;     /* addresses; or 0 */
	uint64_t load_bias, region; /* of the process that wrote it */
	uint64_t trampoline_bytes, frame_bytes;
	/* How many there are, in the order in which they follow; then come
	 * trampoline_bytes and frame_bytes: as they lie in the region. */
	uint32_t functions, entries, wrappers, relative, absolute, islands;
	uint32_t inners;
	uint32_t factors; /* SWZ_SAVED_COUNTS: that trampolines refer to */
};

struct swz_saved_plan {
	const struct swz_saved_header *header;
	const struct swz_saved_function *functions;
	const struct swz_unwind_entry *entries;
	const struct swz_saved_wrapper *wrappers;
	const uint32_t *relative;
	const uint32_t *absolute;
	const int32_t *islands;
	const struct swz_saved_inner *inners;
	const uint8_t *frame;
	const uint8_t *trampolines;
};

/* The bytes of a file with this header, or 0 if that is too many; of these,
 * what comes before the trampolines. */
uint64_t swz_saved_plan_bytes(const struct swz_saved_header *header);
uint64_t swz_saved_plan_head_bytes(const struct swz_saved_header *header);

/* Where the parts are in the file that begins with the header, which is
 * complete; `tail` is where trampolines and frame are. */
void swz_saved_plan_parts(const struct swz_saved_header *header,
			  const uint8_t *tail, struct swz_saved_plan *plan);

/* The parts, wherever they are, in the order in which they follow the header.
 */
#define SWZ_SAVED_PARTS 9
void swz_saved_plan_list(const struct swz_saved_plan *plan,
			 struct swz_bytes parts[SWZ_SAVED_PARTS]);

/* Sets both hashes of the header, which is the plan's; that of the parts if
 * their counts fit in with the length. */
void swz_saved_plan_finish(struct swz_saved_header *header,
			   const struct swz_saved_plan *plan);

/* True if a file of this length may begin with this header. SWZ_E_NOTFOUND: it
 * does, but is for another key; SWZ_E_FORMAT: it is damaged, or no such file.
 */
enum swz_status swz_saved_plan_check(
	const struct swz_saved_header *header, uint64_t bytes,
	const struct swz_saved_key *key) SWZ_MUST_CHECK;

/* A view of a file that passed that check, header and parts (16-byte aligned)
 * and the tail, each as long as the header says. SWZ_E_FORMAT: it is damaged.
 */
enum swz_status swz_saved_plan_open(struct swz_saved_plan *plan,
				    const struct swz_saved_header *header,
				    const uint8_t *tail) SWZ_MUST_CHECK;

#endif
