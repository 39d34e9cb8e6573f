#ifndef SWZ_TESTS_WALKED_STACK_H
#define SWZ_TESTS_WALKED_STACK_H

/* A stack that a test makes word by word, and its walk. The code is this
 * program's own, of which frame_kinds.S has a label for each kind of frame. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/unwind/unwinder.h"

/* What each frame is like stands there. */
extern const char t_by_rsp_at[], t_popped_at[], t_by_rbp_at[], t_aligned_at[],
	t_aligned_8_at[], t_by_rbx_at[], t_plt_at[], t_plt_pushed[],
	t_in_rdi_at[], t_in_xmm_at[], t_far_at[], t_far_rbp_at[], t_signal_at[],
	t_bare_signal_at[], t_bare_signal_call[], t_short_signal_at[],
	t_short_signal_call[], t_root_at[], t_bare_begin[], t_bare_pushed[],
	t_bare_at[], t_bare_called[], t_bare_end[], t_bare_end_called[],
	t_clone_at[], t_entry_at[], t_entry_close[], t_leaving_at[],
	t_leaving_called[], t_behind_call[];

#define AT(label) ((uint64_t)(uintptr_t)(label))

enum { WORDS = 256, MOST = 16 };
#define STACK UINT64_C(0x7ffc00001000)

struct walk {
	struct swz_unwinder *unwinder; /* knows this program's code */
	struct swz_registers registers;
	struct swz_stack stack;
	uint64_t words[WORDS]; /* of the stack, from STACK on */
	uint64_t pcs[MOST];    /* what the last walk found, and why it ended */
	enum swz_walk_end end;
};

extern struct walk walk;

/* Fixtures, around each test: registers are 0 but rsp, which is STACK; words
 * are no addresses. */
void walk_set_up(void);
void walk_tear_down(void);

/* Walks from a label on; returns how many pcs there are. */
size_t walk_from(const char *label);

/* Of a word of the stack. */
uint64_t walk_address(size_t word);

/* What the kernel puts on the stack for a signal, from the frame's return
 * address on. */
void walk_put_context(size_t word, const char *ip, uint64_t sp, uint64_t bp,
		      uint64_t bx);

/* For walk.stack.read: the words, and nothing else. */
bool walk_read_words(void *context, uint64_t address, void *into, size_t size);

/* Maps [0x10000, 0x11000) without a file. */
void walk_map_anonymous(void);
/* Maps a file, in place of this program, where the labels are. */
void walk_map_page(const char *path, uint64_t offset, uint64_t inode);

#endif
