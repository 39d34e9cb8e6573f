#include "thunks/relocate.h"

/* Capstone says whether bytes are an instruction, but for the usual ones, of
 * which that is known (encoding.c); the rest is read from the encoding. Its
 * detail mode and its printers, which would take more than half of the time,
 * are not used (see capstone_x86_only.c). Both find a length: where they differ
 * the instruction counts as undecodable, so that a fault in either is a refusal
 * and no wrong move. */

#include <capstone/capstone.h>
#include <stddef.h>
#include <string.h>

#include "thunks/encoding.h"

/* A call of capstone that is under way, if `frame` is not NULL: the frame of
 * the function that calls it, and how to go on there. */
struct call {
	const void *frame;
	void *before[5];
};

struct swz_decoder {
	csh handle;
	cs_insn *insn;
	struct call *call;
};

/* Decoders that are used at the same time have one each. */
static struct call calls[SWZ_MOST_DECODERS];
static unsigned decoders_made;

/* Capstone's allocators are process-wide and take no context. What it frees is
 * not reused: it allocates while a decoder is made, not while it decodes. It
 * does not survive a failure of the last of these allocations, an index of 17
 * KiB that the first instruction makes; so all is reserved beforehand, where a
 * failure can be reported. */
static void *(*allocate)(size_t bytes);
static uint8_t *reserve;
static size_t reserve_left;

enum { RESERVE_BYTES = 24 * 1024 };

/* Precedes each block, so that realloc knows how much to copy. */
struct block {
	_Alignas(16) size_t bytes;
};

static void *take(size_t bytes)
{
	void *taken = reserve;

	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > reserve_left)
		return allocate(bytes);
	reserve += bytes;
	reserve_left -= bytes;
	return taken;
}

static void *block_new(size_t bytes)
{
	struct block *block;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	block = take(sizeof(*block) + bytes);
	if (!block)
		return NULL;
	block->bytes = bytes;
	return block + 1;
}

static void *block_new_array(size_t count, size_t bytes)
{
	size_t total;

	if (__builtin_mul_overflow(count, bytes, &total))
		return NULL;
	return block_new(total);
}

static void *block_resize(void *old, size_t bytes)
{
	size_t old_bytes = old ? ((struct block *)old - 1)->bytes : 0;
	void *block;

	if (old && bytes <= old_bytes)
		return old;
	block = block_new(bytes);
	if (block && old_bytes)
		memcpy(block, old, old_bytes);
	return block;
}

static void block_free(void *block)
{
	(void)block;
}

static int format_nothing(char *text, size_t size, const char *format,
			  va_list arguments)
{
	(void)format;
	(void)arguments;
	if (size)
		*text = '\0';
	return 0;
}

/* Capstone does not say whose call it is. Stacks grow down: it is the one whose
 * frame is the next above this one. */
void swz_decoder_escape(void)
{
	const char *here = __builtin_frame_address(0), *lowest = NULL;
	struct call *its = calls;

	for (unsigned i = 0; i < SWZ_MOST_DECODERS; i++) {
		const char *frame = __atomic_load_n(&calls[i].frame,
						    __ATOMIC_RELAXED);

		if (frame > here && (!lowest || frame < lowest)) {
			lowest = frame;
			its = &calls[i];
		}
	}
	__builtin_longjmp(its->before, 1);
}

static void begin_call(struct call *call, const void *frame)
{
	__atomic_store_n(&call->frame, frame, __ATOMIC_RELAXED);
}

static void end_call(struct call *call)
{
	__atomic_store_n(&call->frame, NULL, __ATOMIC_RELAXED);
}

static enum swz_insn_kind kind_in_map_0f(const struct swz_encoding *encoding)
{
	switch (encoding->opcode) {
	case 0x05: /* syscall */
	case 0x34: /* sysenter */
		return SWZ_INSN_SYSCALL;
	case 0x07: /* sysret */
	case 0x35: /* sysexit */
		return SWZ_INSN_RETURN;
	case 0x0b: /* ud2 */
	case 0xb9: /* ud1 */
	case 0xff: /* ud0 */
		return SWZ_INSN_TRAP;
	default:
		return (encoding->opcode & 0xf0) == 0x80 ? SWZ_INSN_JUMP_CC
							 : SWZ_INSN_PLAIN;
	}
}

static enum swz_insn_kind kind_of_group_5(const struct swz_encoding *encoding)
{
	switch (swz_modrm_reg(encoding->modrm)) {
	case 2: /* near, far */
	case 3:
		return SWZ_INSN_CALL_INDIRECT;
	case 4:
	case 5:
		return SWZ_INSN_JUMP_INDIRECT;
	default:
		return SWZ_INSN_PLAIN;
	}
}

static enum swz_insn_kind kind_of(const struct swz_encoding *encoding,
				  struct swz_bytes code)
{
	if (encoding->map == SWZ_MAP_0F)
		return kind_in_map_0f(encoding);
	if (encoding->map != SWZ_MAP_ONE_BYTE)
		return SWZ_INSN_PLAIN;
	switch (encoding->opcode) {
	case 0xe8:
		return SWZ_INSN_CALL;
	case 0xe9:
	case 0xeb:
		return SWZ_INSN_JUMP;
	case 0xe0: /* loopne, loope, loop, jrcxz and jecxz */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return SWZ_INSN_LOOP;
	case 0xc2: /* ret, far ret, iret */
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return SWZ_INSN_RETURN;
	case 0xcc: /* int3, int1, hlt */
	case 0xf1:
	case 0xf4:
		return SWZ_INSN_TRAP;
	case 0xcd:
		return code.data[code.size - 1] == 0x80 ? SWZ_INSN_SYSCALL
							: SWZ_INSN_TRAP;
	case 0xff:
		return kind_of_group_5(encoding);
	case 0xc7: /* xbegin: goes on, or to its target */
		return encoding->modrm == 0xf8 ? SWZ_INSN_JUMP_CC
					       : SWZ_INSN_PLAIN;
	default:
		return (encoding->opcode & 0xf0) == 0x70 ? SWZ_INSN_JUMP_CC
							 : SWZ_INSN_PLAIN;
	}
}

static bool is_direct_branch(enum swz_insn_kind kind)
{
	return kind == SWZ_INSN_JUMP || kind == SWZ_INSN_JUMP_CC ||
	       kind == SWZ_INSN_LOOP || kind == SWZ_INSN_CALL;
}

/* A signed little-endian integer of 1 or 4 bytes. */
static int64_t read_signed(const uint8_t *bytes, size_t size)
{
	int32_t value;

	if (size == 1)
		return (int8_t)bytes[0];
	memcpy(&value, bytes, sizeof(value));
	return value;
}

static enum swz_status read_branch_target(struct swz_insn *insn,
					  const struct swz_encoding *encoding,
					  struct swz_bytes code)
{
	size_t size = code.size - encoding->operands_at;
	bool one_byte = encoding->map == SWZ_MAP_ONE_BYTE;
	bool is_short = one_byte && insn->kind != SWZ_INSN_CALL &&
			encoding->opcode != 0xe9 && encoding->opcode != 0xc7;

	if (size != (is_short ? 1 : 4))
		return SWZ_E_FORMAT;
	insn->target = insn->address + insn->length +
		       (uint64_t)read_signed(code.data + encoding->operands_at,
					     size);
	return SWZ_OK;
}

/* [rsp + n] and [rbp + n]; the base is in ModRM, or in SIB without an index. */
static void read_memory_operand(struct swz_insn *insn,
				const struct swz_encoding *encoding,
				struct swz_bytes code)
{
	unsigned base = swz_modrm_rm(encoding->modrm);

	if (!encoding->modrm_at || swz_modrm_mod(encoding->modrm) == 3 ||
	    encoding->extends_base || encoding->address_size_32)
		return;
	if (swz_encoding_has_sib(encoding)) {
		bool has_index = encoding->extends_index ||
				 ((encoding->sib >> 3) & 7) != 4;

		base = encoding->sib & 7;
		if (has_index)
			return;
	}
	if ((base != 4 && base != 5) ||
	    (base == 5 && swz_modrm_mod(encoding->modrm) == 0))
		return;
	if (encoding->scaled_displacement &&
	    encoding->displacement_bytes == 1 &&
	    code.data[encoding->displacement_at])
		return;
	insn->memory_base = (uint8_t)base;
	if (encoding->displacement_bytes)
		insn->memory_displacement = read_signed(
			code.data + encoding->displacement_at,
			encoding->displacement_bytes);
}

static void read_rip_relative_operand(struct swz_insn *insn,
				      const struct swz_encoding *encoding,
				      struct swz_bytes code)
{
	insn->rip_relative = true;
	insn->displacement_at = encoding->displacement_at;
	insn->target = insn->address + insn->length +
		       (uint64_t)read_signed(
			       code.data + encoding->displacement_at, 4);
	if (encoding->address_size_32)
		insn->target = (uint32_t)insn->target;
}

/* True for opcodes of the map 0F that version 4 of capstone does not know, in
 * all forms or in some: AMD's and Intel's prefetches, hints that are
 * no-operations to older processors (0F 1A to 1F: bndcl, cldemote, endbr64,
 * rdsspq), ud1, rstorssp, and instructions without an operand, or with a
 * register (wrpkru, serialize, clzero; ptwrite). */
static bool is_new_in_map_0f(const struct swz_encoding *encoding)
{
	bool register_operand = swz_modrm_mod(encoding->modrm) == 3;

	switch (encoding->opcode) {
	case 0x0d:
	case 0x1a:
	case 0x1b:
	case 0x1c:
	case 0x1d:
	case 0x1e:
	case 0x1f:
	case 0xb9:
		return true;
	case 0x01:
		return register_operand || swz_modrm_reg(encoding->modrm) == 5;
	case 0xae:
		return register_operand;
	default:
		return false;
	}
}

/* Nor these of 0F 38: gf2p8mulb, wrss, movdir64b and enqcmd, movdiri, aadd,
 * Key Locker's. */
static bool is_new_in_map_0f38(const struct swz_encoding *encoding)
{
	switch (encoding->opcode) {
	case 0xcf:
	case 0xd8:
	case 0xdc:
	case 0xdd:
	case 0xde:
	case 0xdf:
	case 0xf6:
	case 0xf8:
	case 0xf9:
	case 0xfa:
	case 0xfb:
	case 0xfc:
		return true;
	default:
		return false;
	}
}

/* True if the length is certain without capstone, version 4 of which does not
 * know all instructions of VEX and EVEX (AVX-512 string functions are made of
 * them), and finds an immediate too many where EVEX rounds. */
static bool length_is_certain(const struct swz_encoding *encoding)
{
	switch (encoding->map) {
	case SWZ_MAP_0F:
		return is_new_in_map_0f(encoding);
	case SWZ_MAP_0F38:
		return is_new_in_map_0f38(encoding);
	case SWZ_MAP_0F3A: /* gf2p8affineqb, gf2p8affineinvqb, hreset */
		return encoding->opcode == 0xce || encoding->opcode == 0xcf ||
		       encoding->opcode == 0xf0;
	case SWZ_MAP_VECTOR:
		return encoding->vector_map >= 1 && encoding->vector_map <= 6 &&
		       encoding->vector_map != 4;
	default:
		return false;
	}
}

/* True if the code begins with a valid instruction of this length. */
static bool capstone_agrees(struct swz_decoder *decoder, struct swz_bytes code,
			    size_t length)
{
	const uint8_t *next = code.data;
	size_t left = code.size;
	uint64_t address = 0;
	bool found;

	if (__builtin_setjmp(decoder->call->before)) {
		end_call(decoder->call);
		return false;
	}
	begin_call(decoder->call, __builtin_frame_address(0));
	found = cs_disasm_iter(decoder->handle, &next, &left, &address,
			       decoder->insn);
	end_call(decoder->call);
	return found && code.size - left == length;
}

static struct swz_decoder *make(void *(*alloc)(size_t bytes), struct call *call)
{
	cs_opt_mem functions = {block_new, block_new_array, block_resize,
				block_free, format_nothing};
	struct swz_decoder *decoder;

	allocate = alloc;
	reserve = alloc(RESERVE_BYTES);
	reserve_left = RESERVE_BYTES;
	if (!reserve ||
	    cs_option(0, CS_OPT_MEM, (size_t)&functions) != CS_ERR_OK)
		return NULL;
	decoder = take(sizeof(*decoder));
	if (!decoder ||
	    cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->handle) != CS_ERR_OK)
		return NULL;
	decoder->insn = cs_malloc(decoder->handle);
	decoder->call = call;
	return decoder->insn ? decoder : NULL;
}

struct swz_decoder *swz_decoder_new(void *(*alloc)(size_t bytes))
{
	static const uint8_t nop[] = {0x90};
	struct swz_bytes code = {nop, sizeof(nop)};
	struct call *call = &calls[decoders_made++ % SWZ_MOST_DECODERS];
	struct swz_decoder *decoder;

	swz_usual_init();
	if (__builtin_setjmp(call->before)) {
		end_call(call);
		return NULL;
	}
	begin_call(call, __builtin_frame_address(0));
	decoder = make(alloc, call);
	end_call(call);
	/* the instruction makes the index, see above */
	return decoder && capstone_agrees(decoder, code, 1) ? decoder : NULL;
}

enum swz_status swz_decode_encoding(struct swz_decoder *decoder,
				    struct swz_bytes code, uint64_t address,
				    struct swz_insn *insn,
				    struct swz_encoding *encoding)
{
	size_t length, usual = swz_usual_length(code);

	if (swz_encoding_read(code, encoding) != SWZ_OK)
		return SWZ_E_FORMAT;
	if (code.size > SWZ_MAX_INSN)
		code.size = SWZ_MAX_INSN;
	length = encoding->operands_at + (size_t)encoding->immediate_bytes;
	if (length > code.size ||
	    (length != usual && !length_is_certain(encoding) &&
	     !capstone_agrees(decoder, code, length)))
		return SWZ_E_FORMAT;
	code.size = length;
	memset(insn, 0, sizeof(*insn));
	insn->address = address;
	insn->length = (uint8_t)code.size;
	insn->kind = kind_of(encoding, code);
	insn->memory_is_lea = encoding->map == SWZ_MAP_ONE_BYTE &&
			      encoding->opcode == 0x8d;
	if (is_direct_branch(insn->kind))
		return read_branch_target(insn, encoding, code);
	if (swz_encoding_rip_relative(encoding))
		read_rip_relative_operand(insn, encoding, code);
	else
		read_memory_operand(insn, encoding, code);
	return SWZ_OK;
}

enum swz_status swz_decode(struct swz_decoder *decoder, struct swz_bytes code,
			   uint64_t address, struct swz_insn *insn)
{
	struct swz_encoding encoding;

	return swz_decode_encoding(decoder, code, address, insn, &encoding);
}

unsigned swz_decode_length(struct swz_decoder *decoder, struct swz_bytes code)
{
	unsigned length = swz_usual_length(code);
	struct swz_insn insn;

	if (!length && swz_decode(decoder, code, 0, &insn) == SWZ_OK)
		length = insn.length;
	return length;
}
