/* A linker moves functions and data, so the same code has other bytes in two
 * builds: the operands that hold addresses. A function's hash has what they
 * lead to in their place:
 *
 *   a function, a variable        its name and the place in it
 *   a slot of the GOT or PLT      the name that the relocation gives it
 *   a constant without a name     its bytes, as many as the instruction reads
 *   a text                        its bytes
 *   a table of a switch           where its targets are in the function
 *   anything else, unnamed        nothing
 *
 * Of a variable that cannot be written (a table of constants, a vtable) the
 * contents count, too; pointers in it by what they lead to. Contents of other
 * variables do not: they are not the function's code.
 *
 * Without symbols, functions are those of .eh_frame. */

#include "profile/names/rebuilt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/basics.h"
#include "image/cursor.h"
#include "image/eh_frame.h"
#include "image/elf_view.h"
#include "profile/names/disassembler.h"
#include "util/memory.h"

#define MOST_TEXT 65536      /* bytes; a longer one is none */
#define MOST_CONTENT 1048576 /* bytes of a variable that are looked at */

struct symbol {
	const char *name;  /* interned, without numbers; NULL: it has none */
	const char *file;  /* interned; NULL: it is not static, or not known */
	const char *whole; /* the name with numbers */
	uint64_t address, size;
	uint64_t hash;
	bool is_code;
};

/* A place that the dynamic linker fills in. */
struct filled {
	uint64_t at;
	const char *name; /* NULL: with an address */
	uint64_t address;
};

struct code {
	const struct swz_build *build;
	struct swz_intern *strings; /* of both builds: equal texts have one
				     * address, but that is not hashed */
	struct mapped {
		void *bytes;
		size_t size;
	} file, debug;
	struct swz_elf elf;
	struct symbol *symbols; /* by address */
	size_t count, capacity;
	struct filled *filled; /* by place */
	size_t filled_count, filled_capacity;
	uint64_t start, end; /* of all segments */
	uint64_t tls_end;    /* where the thread pointer is, seen from there */
	bool fixed;          /* addresses are those at run time */
	struct symbol *function; /* whose hash is made */
	struct table {
		struct symbol *function;
		uint64_t address;
		uint32_t step; /* bytes */
	} * tables;            /* of switches */
	size_t table_count, table_capacity;
	uint64_t *references; /* to constants without a name */
	size_t reference_count, reference_capacity;
	csh disassembler;
	cs_insn *insn;
};

/* --- hashes -------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
	return swz_hash(hash, (struct swz_bytes){bytes, size});
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
	return mix(hash, &number, sizeof(number));
}

static uint64_t mix_name(uint64_t hash, const char *name)
{
	return mix(hash, name, strlen(name));
}

/* --- addresses ----------------------------------------------------------- */

static const struct symbol *symbol_among(const struct symbol *symbols,
					 size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* the first of several names */
	while (low > 1 && symbols[low - 2].address == symbols[low - 1].address)
		low--;
	if (!low)
		return NULL;
	return symbols[low - 1].address == address ||
			       address - symbols[low - 1].address <
				       symbols[low - 1].size
		       ? &symbols[low - 1]
		       : NULL;
}

static const struct symbol *symbol_at(const struct code *code, uint64_t address)
{
	return symbol_among(code->symbols, code->count, address);
}

static const struct filled *filled_at(const struct code *code, uint64_t at)
{
	size_t low = 0, high = code->filled_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->filled[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < code->filled_count && code->filled[low].at == at
		       ? &code->filled[low]
		       : NULL;
}

static const Elf64_Shdr *section_at(const struct code *code, uint64_t address)
{
	size_t i;

	for (i = 0; i < code->elf.section_count; i++) {
		const Elf64_Shdr *section = &code->elf.sections[i];

		if (section->sh_flags & SHF_ALLOC &&
		    !(section->sh_flags & SHF_TLS) &&
		    address >= section->sh_addr &&
		    address - section->sh_addr < section->sh_size)
			return section;
	}
	return NULL;
}

/* (.data.rel.ro is written by the dynamic linker alone.) */
static bool is_constant(const struct code *code, const Elf64_Shdr *section)
{
	const char *names = (const char *)code->elf.section_names.data;

	if (!section || section->sh_type == SHT_NOBITS ||
	    section->sh_flags & SHF_EXECINSTR)
		return false;
	return !(section->sh_flags & SHF_WRITE) ||
	       (section->sh_name < code->elf.section_names.size &&
		strncmp(names + section->sh_name, ".data.rel.ro", 12) == 0);
}

/* Its length with the NUL; 0: what is there is no text (UTF-8), or an empty
 * one, as which a table of numbers may begin. */
static size_t text_size(struct swz_bytes bytes)
{
	size_t i, more = 0;

	for (i = 0; i < bytes.size && i < MOST_TEXT; i++) {
		uint8_t byte = bytes.data[i];

		if (more) {
			if ((byte & 0xc0) != 0x80)
				return 0;
			more--;
		} else if (!byte) {
			return i ? i + 1 : 0;
		} else if (byte >= 0xc2 && byte < 0xf5) {
			more = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
		} else if (byte >= 0x7f ||
			   (byte < ' ' &&
			    !strchr("\a\b\t\n\v\f\r\033", byte))) {
			return 0;
		}
	}
	return 0;
}

/* Mixes in the name of what is at an address, or a text there. */
static uint64_t mix_place(const struct code *code, uint64_t hash,
			  uint64_t address)
{
	const struct symbol *symbol = symbol_at(code, address);
	struct swz_bytes bytes = {0};

	if (symbol && symbol->name)
		return mix_number(mix_name(hash, symbol->name),
				  address - symbol->address);
	if (!symbol && is_constant(code, section_at(code, address)))
		bytes = swz_elf_bytes_from(&code->elf, address);
	return mix(hash, bytes.data, text_size(bytes));
}

static uint64_t mix_filled(const struct code *code, uint64_t hash,
			   const struct filled *filled)
{
	return filled->name ? mix_name(hash, filled->name)
			    : mix_place(code, hash, filled->address);
}

static bool is_in_image(const struct code *code, uint64_t address)
{
	return address >= code->start && address < code->end;
}

/* Words of eight bytes may be pointers. */
static uint64_t mix_content(const struct code *code, uint64_t hash,
			    uint64_t address, uint64_t size)
{
	struct swz_bytes bytes = swz_elf_bytes_at(
		&code->elf, address, size < MOST_CONTENT ? size : MOST_CONTENT);
	size_t i, step;

	for (i = 0; i < bytes.size; i += step) {
		const struct filled *filled = NULL;
		uint64_t word = 0;

		step = bytes.size - i < 8 ? bytes.size - i : 8;
		if ((address + i) % 8)
			step = 1;
		memcpy(&word, bytes.data + i, step);
		if (step == 8)
			filled = filled_at(code, address + i);
		if (filled)
			hash = mix_filled(code, hash, filled);
		else if (step == 8 && code->fixed && is_in_image(code, word))
			hash = mix_place(code, hash, word);
		else
			hash = mix(hash, bytes.data + i, step);
	}
	return hash;
}

/* The first target of a switch whose table is at ADDRESS: within the function,
 * a word or a distance (of 4 bytes) from the table. */
static bool leads_within(const struct code *code, const struct symbol *function,
			 uint64_t table, uint64_t address, size_t step,
			 uint64_t *target)
{
	struct swz_bytes bytes = swz_elf_bytes_at(&code->elf, address, step);

	*target = 0;
	if (bytes.size != step)
		return false;
	memcpy(target, bytes.data, step);
	if (step == 4)
		*target = table + (uint64_t)(int64_t)(int32_t)*target;
	*target -= function->address;
	return *target < function->size;
}

/* True if a table of the function's is there: it is looked at when it is known
 * where all tables begin, for nothing says where one ends. */
static bool note_table(struct code *code, uint64_t address)
{
	size_t step = 4;
	uint64_t target;

	if (address % 4 || !is_constant(code, section_at(code, address)))
		return false;
	if (!leads_within(code, code->function, address, address, 4, &target)) {
		step = 8;
		if (!code->fixed || !leads_within(code, code->function, address,
						  address, 8, &target))
			return false;
	}
	swz_grow(&code->tables, &code->table_capacity, code->table_count,
		 sizeof(*code->tables));
	code->tables[code->table_count++] = (struct table){
		code->function, address, (uint32_t)step};
	return true;
}

static void note_reference(struct code *code, uint64_t address)
{
	swz_grow(&code->references, &code->reference_capacity,
		 code->reference_count, sizeof(*code->references));
	code->references[code->reference_count++] = address;
}

static int by_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* A table ends where code refers to something else, at the latest. */
static void hash_tables(struct code *code)
{
	size_t i, low;

	if (code->reference_count > 1)
		qsort(code->references, code->reference_count,
		      sizeof(*code->references), by_number);
	for (i = 0; i < code->table_count; i++) {
		const struct table *table = &code->tables[i];
		uint64_t at = table->address, end = UINT64_MAX, target;

		SWZ_PARTITION(low, code->reference_count,
			      code->references[low] <= at);
		if (low < code->reference_count)
			end = code->references[low];
		for (; at < end &&
		       leads_within(code, table->function, table->address, at,
				    table->step, &target);
		     at += table->step)
			table->function->hash = mix_number(
				table->function->hash, target);
	}
}

#define NO_READ 0     /* the operand is the address itself */
#define OF_TABLE (-1) /* it reads an element that is not known */

/* An operand that reads SIZE bytes at an address, or has it otherwise. */
static uint64_t mix_operand(struct code *code, uint64_t hash, uint64_t address,
			    int size)
{
	const struct symbol *symbol = symbol_at(code, address);
	const struct filled *filled = size > 0 ? filled_at(code, address)
					       : NULL;
	bool constant;

	if (filled)
		return mix_filled(code, hash, filled);
	if (!symbol)
		note_reference(code, address);
	if (!symbol && size <= 0 && note_table(code, address))
		return hash;
	constant = is_constant(code, section_at(code, address));
	if (symbol || size == NO_READ)
		hash = mix_place(code, hash, address);
	if (constant && symbol && !symbol->is_code)
		return mix_content(code, hash, symbol->address, symbol->size);
	if (constant && size > 0)
		return mix_content(code, hash, address, (uint64_t)size);
	return hash;
}

/* --- instructions -------------------------------------------------------- */

/* A variable of threads, by its place below the thread pointer. */
static uint64_t mix_of_thread(const struct code *code, uint64_t hash,
			      int64_t place)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;
	uint64_t at = code->tls_end + (uint64_t)place;

	if (swz_elf_symbols_open(&it, &code->elf, SHT_SYMTAB) != SWZ_OK)
		return hash;
	while (swz_elf_symbols_next(&it, &symbol))
		if (symbol.type == STT_TLS && at >= symbol.value &&
		    at - symbol.value < symbol.size)
			return mix_number(mix_name(hash, symbol.name),
					  at - symbol.value);
	return hash;
}

static void clear(uint8_t *bytes, const cs_insn *insn, size_t at, size_t size)
{
	if (at && size && at + size <= insn->size)
		memset(bytes + at, 0, size);
}

/* The address that a direct branch leads to; false: it is none. */
static bool branch_of(const struct code *code, const cs_insn *insn,
		      uint64_t *target)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (!(cs_insn_group(code->disassembler, insn, CS_GRP_JUMP) ||
	      cs_insn_group(code->disassembler, insn, CS_GRP_CALL)) ||
	    x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)x86->operands[0].imm;
	return true;
}

/* Capstone 4 gives instructions on one float the size of the whole register. */
static int read_size(const cs_insn *insn, const cs_x86_op *operand)
{
	size_t length = strlen(insn->mnemonic);
	const char *end = insn->mnemonic + (length > 2 ? length - 2 : 0);
	int most = 64;

	if (insn->id == X86_INS_LEA)
		return NO_READ;
	if (strcmp(end, "ss") == 0 || strstr(insn->mnemonic, "cvtss2"))
		most = 4;
	else if (strcmp(end, "sd") == 0 || strstr(insn->mnemonic, "cvtsd2"))
		most = 8;
	return operand->size < most ? operand->size : most;
}

static uint64_t mix_memory(struct code *code, uint64_t hash,
			   const cs_insn *insn, const cs_x86_op *operand,
			   uint8_t *bytes)
{
	const cs_x86 *x86 = &insn->detail->x86;
	uint64_t address = (uint64_t)operand->mem.disp;
	int size = read_size(insn, operand);

	if (operand->mem.segment == X86_REG_FS) {
		if (operand->mem.disp >= 0)
			return hash; /* the thread's own fields */
		hash = mix_of_thread(code, hash, operand->mem.disp);
	} else if (operand->mem.base == X86_REG_RIP) {
		address += insn->address + insn->size;
		hash = mix_operand(code, hash, address, size);
	} else if (code->fixed && is_in_image(code, address) &&
		   x86->encoding.disp_size > 1) {
		if (operand->mem.base || operand->mem.index)
			size = OF_TABLE;
		hash = mix_operand(code, hash, address, size);
	} else {
		return hash;
	}
	/* (behind a prefix 66 capstone 4 says that it has two bytes) */
	clear(bytes, insn, x86->encoding.disp_offset, 4);
	return hash;
}

static uint64_t mix_instruction(struct code *code, uint64_t hash,
				const struct symbol *function,
				const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	uint8_t bytes[sizeof(insn->bytes)];
	uint64_t target;
	uint8_t i;

	memcpy(bytes, insn->bytes, insn->size);
	if (branch_of(code, insn, &target)) {
		if (target - function->address >= function->size) {
			clear(bytes, insn, insn->size - 4u, 4);
			hash = mix_place(code, hash, target);
		}
		return mix(hash, bytes, insn->size);
	}
	for (i = 0; i < x86->op_count; i++) {
		const cs_x86_op *operand = &x86->operands[i];

		if (operand->type == X86_OP_MEM) {
			hash = mix_memory(code, hash, insn, operand, bytes);
		} else if (operand->type == X86_OP_IMM && code->fixed &&
			   x86->encoding.imm_size >= 4 &&
			   is_in_image(code, (uint64_t)operand->imm)) {
			hash = mix_operand(code, hash, (uint64_t)operand->imm,
					   NO_READ);
			clear(bytes, insn, x86->encoding.imm_offset,
			      x86->encoding.imm_size);
		}
	}
	return mix(hash, bytes, insn->size);
}

static void hash_function(struct code *code, struct symbol *function)
{
	struct swz_bytes bytes = swz_elf_bytes_at(&code->elf, function->address,
						  function->size);
	uint64_t hash = mix_number(0, function->size), at = function->address;
	const uint8_t *next = bytes.data;
	size_t left = bytes.size;

	code->function = function;
	while (left) {
		if (cs_disasm_iter(code->disassembler, &next, &left, &at,
				   code->insn)) {
			hash = mix_instruction(code, hash, function,
					       code->insn);
			continue;
		}
		hash = mix(hash, next, 1); /* data between code */
		next++;
		at++;
		left--;
	}
	function->hash = hash;
}

/* --- what a file has ----------------------------------------------------- */

static struct mapped map_file(int fd)
{
	struct mapped mapped = {0};
	struct stat info;

	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0) {
		mapped.size = (size_t)info.st_size;
		mapped.bytes = mmap(NULL, mapped.size, PROT_READ, MAP_PRIVATE,
				    fd, 0);
		if (mapped.bytes == MAP_FAILED)
			mapped = (struct mapped){0};
	}
	if (fd >= 0)
		close(fd);
	return mapped;
}

static void unmap(const struct mapped *mapped)
{
	if (mapped->bytes)
		(void)munmap(mapped->bytes, mapped->size);
}

/* The name without ".3", wherever that is in it. */
static const char *without_numbers(struct swz_intern *strings, const char *name)
{
	char *copy = swz_duplicate(name), *to = copy;
	const char *interned;

	while (*name) {
		size_t digits = *name == '.' ? strspn(name + 1, "0123456789")
					     : 0;

		if (digits && (!name[1 + digits] || name[1 + digits] == '.'))
			name += 1 + digits;
		else
			*to++ = *name++;
	}
	*to = '\0';
	interned = swz_intern(strings, copy);
	free(copy);
	return interned;
}

static void add_symbol(struct code *code, const struct symbol *symbol)
{
	swz_grow(&code->symbols, &code->capacity, code->count,
		 sizeof(*code->symbols));
	code->symbols[code->count++] = *symbol;
}

static void add_symbols(struct code *code, const struct swz_elf *elf,
			uint32_t type)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;
	const char *file = NULL;

	if (swz_elf_symbols_open(&it, elf, type) != SWZ_OK)
		return;
	while (swz_elf_symbols_next(&it, &symbol)) {
		bool is_code = symbol.type == STT_FUNC ||
			       symbol.type == STT_GNU_IFUNC;

		if (symbol.type == STT_FILE)
			file = *symbol.name
				       ? swz_intern(code->strings, symbol.name)
				       : NULL;
		if ((!is_code && symbol.type != STT_OBJECT) ||
		    symbol.section == SHN_UNDEF || symbol.section == SHN_ABS ||
		    !*symbol.name)
			continue;
		add_symbol(
			code,
			&(struct symbol){
				.name = without_numbers(code->strings,
							symbol.name),
				.whole = swz_intern(code->strings, symbol.name),
				.file = symbol.binding == STB_LOCAL ? file
								    : NULL,
				.address = symbol.value,
				.size = symbol.size,
				.is_code = is_code});
	}
}

/* Jumps through the GOT have a name, but are no functions. */
static void add_plt(struct code *code)
{
	struct swz_plt_names names;
	struct swz_plt_entry entry;
	uint64_t resolver = 0;
	struct swz_plt plt;

	swz_plt_names_open(&names, &code->elf);
	swz_plt_begin(&plt, &code->elf);
	while (swz_plt_next(&plt, &entry)) {
		const char *name = entry.slot ? swz_plt_name(&names, entry.slot,
							     &resolver)
					      : NULL;

		if (name && *name)
			add_symbol(
				code,
				&(struct symbol){
					.name = swz_intern(code->strings, name),
					.address = entry.start,
					.size = entry.end - entry.start});
	}
}

static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	/* an empty function lies where by chance another one follows it */
	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	if (!a->name || !b->name)
		return (a->name != NULL) - (b->name != NULL);
	return strcmp(a->name, b->name);
}

static void sort_symbols(struct code *code)
{
	if (code->count > 1)
		qsort(code->symbols, code->count, sizeof(*code->symbols),
		      by_address);
}

/* Functions that no symbol names. */
static void add_entries(struct code *code)
{
	const Elf64_Shdr *section = swz_elf_section(&code->elf, ".eh_frame");
	struct swz_eh_frame entries;
	struct swz_fde_iterator it;
	struct swz_fde fde;
	size_t named = code->count, i = 0;

	if (!section)
		return;
	entries = (struct swz_eh_frame){
		swz_elf_section_bytes(&code->elf, section), section->sh_addr};
	swz_fde_begin(&it, &entries);
	while (swz_fde_next(&it, &fde)) {
		const Elf64_Shdr *in = section_at(code, fde.start);

		if (!symbol_among(code->symbols, named, fde.start) && in &&
		    !swz_plt_is_section(&code->elf, in))
			add_symbol(code, &(struct symbol){.address = fde.start,
							  .size = fde.size,
							  .is_code = true});
	}
	sort_symbols(code);
	/* (an entry of a damaged file may be there twice) */
	for (named = 0; i < code->count; i++)
		if (!named || code->symbols[i].name ||
		    code->symbols[named - 1].address !=
			    code->symbols[i].address)
			code->symbols[named++] = code->symbols[i];
	code->count = named;
}

static int by_place(const void *left, const void *right)
{
	const struct filled *a = left, *b = right;

	return (a->at > b->at) - (a->at < b->at);
}

static void add_filled(struct code *code, const struct filled *filled)
{
	swz_grow(&code->filled, &code->filled_capacity, code->filled_count,
		 sizeof(*code->filled));
	code->filled[code->filled_count++] = *filled;
}

static void add_relocations(struct code *code, const Elf64_Shdr *section)
{
	struct swz_bytes bytes = swz_elf_section_bytes(&code->elf, section);
	struct swz_elf_symbols names;
	Elf64_Rela rela;
	size_t at;

	if (swz_elf_symbols_open(&names, &code->elf, SHT_DYNSYM) != SWZ_OK)
		names = (struct swz_elf_symbols){0};
	for (at = 0; at + sizeof(rela) <= bytes.size; at += sizeof(rela)) {
		struct swz_elf_symbol symbol = {0};
		struct filled filled;

		memcpy(&rela, bytes.data + at, sizeof(rela));
		names.next = ELF64_R_SYM(rela.r_info);
		filled = (struct filled){.at = rela.r_offset,
					 .address = (uint64_t)rela.r_addend};
		if (names.next && swz_elf_symbols_next(&names, &symbol) &&
		    *symbol.name)
			filled.name = symbol.name;
		add_filled(code, &filled);
	}
}

/* SHT_RELR: the places of addresses, packed. An even word is a place, an odd
 * one has a bit for each of the 63 words behind the last. */
static void add_packed_relocations(struct code *code, const Elf64_Shdr *section)
{
	struct swz_cursor cursor = swz_cursor(
		swz_elf_section_bytes(&code->elf, section));
	uint64_t at = 0, bits, i;

	while (!swz_cursor_at_end(&cursor)) {
		uint64_t word = swz_cursor_u64(&cursor);

		bits = word & 1 ? word >> 1 : 1;
		if (!(word & 1))
			at = word;
		for (i = 0; bits >> i; i++) {
			struct swz_bytes is = swz_elf_bytes_at(&code->elf,
							       at + 8 * i, 8);
			struct filled filled = {.at = at + 8 * i};

			if (!(bits >> i & 1) || is.size != 8)
				continue;
			memcpy(&filled.address, is.data, 8);
			add_filled(code, &filled);
		}
		at += word & 1 ? 63 * 8 : 8;
	}
}

static void find_segments(struct code *code)
{
	size_t i;

	code->start = UINT64_MAX;
	for (i = 0; i < code->elf.segment_count; i++) {
		const Elf64_Phdr *segment = &code->elf.segments[i];

		if (segment->p_type == PT_TLS && segment->p_align)
			code->tls_end = (segment->p_memsz + segment->p_align -
					 1) /
					segment->p_align * segment->p_align;
		if (segment->p_type != PT_LOAD)
			continue;
		if (segment->p_vaddr < code->start)
			code->start = segment->p_vaddr;
		if (segment->p_vaddr + segment->p_memsz > code->end)
			code->end = segment->p_vaddr + segment->p_memsz;
	}
	code->fixed = code->elf.header->e_type == ET_EXEC;
}

static void find_filled(struct code *code)
{
	size_t i;

	for (i = 0; i < code->elf.section_count; i++) {
		const Elf64_Shdr *section = &code->elf.sections[i];

		if (!(section->sh_flags & SHF_ALLOC))
			continue;
		if (section->sh_type == SHT_RELA)
			add_relocations(code, section);
		else if (section->sh_type == SHT_RELR)
			add_packed_relocations(code, section);
	}
	if (code->filled_count > 1)
		qsort(code->filled, code->filled_count, sizeof(*code->filled),
		      by_place);
}

/* Those of the file, or of the debug file that belongs to it. */
static void find_symbols(struct code *code, const struct swz_debug_files *files)
{
	struct swz_elf debug;
	char *found = NULL;
	int fd;

	add_symbols(code, &code->elf, SHT_SYMTAB);
	if (!code->count) {
		fd = swz_debug_files_find(files, code->build->path,
					  code->build->build_id,
					  code->build->build_id_bytes, &found);
		if (fd < 0)
			fd = swz_debug_files_find_usual(
				code->build->path, code->build->build_id,
				code->build->build_id_bytes, &found);
		code->debug = map_file(fd);
		free(found);
		if (code->debug.bytes &&
		    swz_elf_open(&debug, (struct swz_bytes){
						 code->debug.bytes,
						 code->debug.size}) == SWZ_OK)
			add_symbols(code, &debug, SHT_SYMTAB);
	}
	if (!code->count)
		add_symbols(code, &code->elf, SHT_DYNSYM);
	add_plt(code);
	sort_symbols(code);
	add_entries(code);
}

static enum swz_status open_code(struct code *code, struct swz_build *build,
				 const char *path)
{
	struct swz_bytes id;
	enum swz_status status;

	build->path = realpath(path, NULL);
	if (!build->path)
		return SWZ_E_NOTFOUND;
	code->build = build;
	code->file = map_file(swz_debug_files_open(path));
	if (!code->file.bytes)
		return SWZ_E_NOTFOUND;
	status = swz_elf_open(&code->elf, (struct swz_bytes){code->file.bytes,
							     code->file.size});
	if (status != SWZ_OK)
		return status;
	id = swz_elf_build_id(&code->elf);
	if (id.size <= sizeof(build->build_id)) {
		memcpy(build->build_id, id.data, id.size);
		build->build_id_bytes = id.size;
	}
	if (!swz_disassembler_open(&code->disassembler, false))
		swz_out_of_memory();
	code->insn = cs_malloc(code->disassembler);
	if (!code->insn)
		swz_out_of_memory();
	return SWZ_OK;
}

static void read_code(struct code *code, const struct swz_debug_files *files)
{
	size_t i;

	find_segments(code);
	find_filled(code);
	find_symbols(code, files);
	for (i = 0; i < code->count; i++)
		if (code->symbols[i].is_code)
			hash_function(code, &code->symbols[i]);
	hash_tables(code);
}

static void close_code(struct code *code)
{
	if (code->insn)
		cs_free(code->insn, 1);
	if (code->disassembler)
		cs_close(&code->disassembler);
	free(code->symbols);
	free(code->filled);
	free(code->tables);
	free(code->references);
	unmap(&code->file);
	unmap(&code->debug);
}

enum swz_status swz_code_read(const char *path,
			      const struct swz_debug_files *files,
			      struct swz_intern *strings,
			      struct swz_build *build,
			      struct swz_code_function **functions,
			      size_t *count)
{
	struct code code = {.strings = strings};
	enum swz_status status = open_code(&code, build, path);
	size_t i;

	*count = 0;
	*functions = NULL;
	if (status == SWZ_OK) {
		read_code(&code, files);
		*functions = swz_allocate(code.count + 1, sizeof(**functions));
	}
	for (i = 0; status == SWZ_OK && i < code.count; i++) {
		const struct symbol *symbol = &code.symbols[i];

		if (symbol->is_code)
			(*functions)[(*count)++] = (struct swz_code_function){
				.name = symbol->name,
				.whole = symbol->whole,
				.file = symbol->file,
				.address = symbol->address,
				.size = symbol->size,
				.hash = symbol->hash};
	}
	close_code(&code);
	return status;
}
