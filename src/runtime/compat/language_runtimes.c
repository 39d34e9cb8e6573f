/* Runtimes that would notice return thunks, known by the marks that their
 * compilers leave in a module, and the answers that they get; options for the
 * sanitizers; and whether a program starts recording by itself. */

#include "runtime/compat/compat.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "swizzle.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/return_slot.h"
#include "runtime/hooks/unwind.h"
#include "runtime/module/code_owners.h"
#include "runtime/module/module.h"
#include "runtime/support/config.h"

/* ------------------------------------------------ swizzle_resume_process() */

static const char resume_name[] = "swizzle_resume_process";

static bool holds_name(const char *bytes, uint64_t count)
{
	uint64_t begins, at;

	memcpy(&begins, resume_name, sizeof(begins));
	for (uint64_t i = 0; i + sizeof(resume_name) <= count; i++) {
		memcpy(&at, bytes + i, sizeof(at));
		if (at == begins &&
		    memcmp(bytes + i, resume_name, sizeof(resume_name)) == 0)
			return true;
	}
	return false;
}

static bool is_in(const struct swz_module *m)
{
	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *s = &m->segments[i];

		if (s->p_type == PT_LOAD && s->p_flags & PF_R &&
		    !(s->p_flags & PF_W) &&
		    holds_name((const char *)swz_module_bytes(m, s->p_vaddr),
			       s->p_filesz))
			return true;
	}
	return false;
}

bool swz_program_resumes_itself(const struct swz_modules *modules)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (modules->of[i].in_scope && is_in(&modules->of[i]))
			return true;
	return false;
}

/* ---------------------------------- runtimes that look return addresses up */

/* OCaml's collector finds the roots of a native frame by its return address
 * (caml_frametable; a plugin, .cmxs, has a header instead, by which the program
 * finds its part of that table); Go's runtime does the same (pclntab). V8 finds
 * the code object of each JavaScript frame by its return address, but takes a
 * function that maps the place of a return address to the place where it really
 * is; the builtins that its compiler has put into the program (the embedded
 * blob) keep conventions of their own. What Mono has compiled ahead of time is
 * refused as a whole, too. For code that is made at run time see
 * code_owners.c. */

#define V8_SET_RESOLVER "_ZN2v82V832SetReturnAddressLocationResolverEPFmmE"

static bool has_exception_tables(const struct swz_module *m)
{
	struct swz_fde_iterator fdes;
	struct swz_fde fde;

	swz_fde_begin(&fdes, &m->eh_frame);
	while (swz_fde_next(&fdes, &fde))
		if (fde.has_lsda)
			return true;
	return false;
}

static bool is_unwinding(const char *name)
{
	if (strncmp(name, "__cxa_", 6) == 0)
		return strcmp(name, "__cxa_finalize") != 0 &&
		       strcmp(name, "__cxa_atexit") != 0 &&
		       strcmp(name, "__cxa_thread_atexit_impl") != 0;
	return strncmp(name, "_Unwind_", 8) == 0 ||
	       strncmp(name, "__gxx_personality", 17) == 0 ||
	       strncmp(name, "__gcc_personality", 17) == 0;
}

/* True if the module was linked with an unwinder of its own (-static-libgcc):
 * it has exception tables, asks nobody for an unwinder, and asks for what
 * every unwinder must: where the unwind tables are. What it exports tells
 * nothing: a static libgcc is hidden even where all else is exported
 * (-rdynamic). Or it has exception tables and its symbols speak of no
 * unwinding at all. */
static bool has_own_unwinder(const struct swz_module *m)
{
	bool asks_for_tables = false, asks_for_unwinder = false;
	bool silent = true;
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;

	if (!m->file.file.size ||
	    swz_elf_symbols_open(&it, &m->file, SHT_DYNSYM) != SWZ_OK)
		return false;
	while (swz_elf_symbols_next(&it, &symbol)) {
		const char *name = symbol.name;

		silent = silent && !is_unwinding(name);
		if (symbol.section != SHN_UNDEF)
			continue;
		if (strncmp(name, "_Unwind_", 8) == 0)
			asks_for_unwinder = true;
		if (strcmp(name, "_dl_find_object") == 0 ||
		    strcmp(name, "dl_iterate_phdr") == 0)
			asks_for_tables = true;
	}
	return (silent || (asks_for_tables && !asks_for_unwinder)) &&
	       has_exception_tables(m);
}

static void *address_of(const struct swz_module *m, const char *name)
{
	struct swz_elf_symbol symbol;

	return swz_module_symbol(m, name, &symbol)
		       ? (void *)(uintptr_t)(m->load_bias + symbol.value)
		       : NULL;
}

/* Finds the unwinder's functions by the symbols of the module's file, those
 * included that are not exported. A stripped program has none. */
static bool note_own_unwinder(const struct swz_module *m)
{
	struct swz_unwinder u = {.start = m->start, .end = m->end};

	*(void **)&u.get_ip = address_of(m, "_Unwind_GetIP");
	if (!u.get_ip)
		*(void **)&u.get_ip = address_of(m, "_Unwind_GetIPInfo");
	*(void **)&u.set_gr = address_of(m, "_Unwind_SetGR");
	*(void **)&u.set_ip = address_of(m, "_Unwind_SetIP");
	*(void **)&u.get_cfa = address_of(m, "_Unwind_GetCFA");
	u.resume = address_of(m, "_Unwind_Resume");
	return swz_unwinder_note(&u);
}

/* nongnu libunwind tries memory before it reads it; no other unwinder does. Its
 * name for x86-64's step function tells it for sure. */
static bool may_be_nongnu(const struct swz_module *m)
{
	bool asks_for_mincore = false, asks_for_sigfillset = false;
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;

	if (swz_elf_symbols_open(&it, &m->file, SHT_DYNSYM) != SWZ_OK)
		return false;
	while (swz_elf_symbols_next(&it, &symbol)) {
		if (symbol.section != SHN_UNDEF)
			continue;
		if (strcmp(symbol.name, "mincore") == 0)
			asks_for_mincore = true;
		if (strcmp(symbol.name, "sigfillset") == 0)
			asks_for_sigfillset = true;
	}
	return asks_for_mincore && asks_for_sigfillset;
}

/* An unwinder whose functions are not known can only be served by describing
 * thunks such that it need not do anything about them (swz_unwind_apart), which
 * is wrong for nongnu libunwind, and not needed by it. */
static bool is_unwinder_unserved(const struct swz_module *m)
{
	struct swz_elf_symbol symbol;

	if (!m->own_unwinder || note_own_unwinder(m) ||
	    swz_module_symbol(m, "_ULx86_64_step", &symbol))
		return false;
	return may_be_nongnu(m) || swz_unwinders_export("_ULx86_64_step") ||
	       swz_unwind_apart() != SWZ_OK;
}

bool swz_foreign_serve_unwinder(struct swz_module *m)
{
	m->own_unwinder = true;
	m->unwinder_unserved = is_unwinder_unserved(m);
	return !m->unwinder_unserved;
}

static bool has_section(const struct swz_module *m, const char *name)
{
	return m->file.file.size && swz_elf_section(&m->file, name) != NULL;
}

static void mark_v8_blob(struct swz_module *m)
{
	struct swz_elf_symbol code, size;
	uint32_t bytes;

	if (!swz_module_symbol(m, "v8_Default_embedded_blob_code_", &code) ||
	    !swz_module_symbol(m, "v8_Default_embedded_blob_code_size_", &size))
		return;
	memcpy(&bytes, swz_module_bytes(m, size.value), sizeof(bytes));
	m->generated.start = code.value;
	m->generated.end = code.value + bytes;
}

static bool begins_with(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), bytes = strlen(end);

	return length > bytes && strcmp(name + length - bytes, end) == 0;
}

/* Code that OCaml's compiler has made, from the first unit to the last, and
 * the runtime's assembly. */
struct ocaml_code {
	struct swz_range compiled, assembly;
};

static bool find_ocaml_code(const struct swz_module *m, struct ocaml_code *code)
{
	struct swz_range *range;
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;

	code->compiled = code->assembly = (struct swz_range){UINT64_MAX, 0};
	if (!m->file.file.size ||
	    (swz_elf_symbols_open(&it, &m->file, SHT_SYMTAB) != SWZ_OK &&
	     swz_elf_symbols_open(&it, &m->file, SHT_DYNSYM) != SWZ_OK))
		return false;
	while (swz_elf_symbols_next(&it, &symbol)) {
		range = begins_with(symbol.name, "caml_system__") ||
					begins_with(symbol.name, "caml_hot__")
				? &code->assembly
				: &code->compiled;
		if (ends_with(symbol.name, "__code_begin") &&
		    symbol.value < range->start)
			range->start = symbol.value;
		if (ends_with(symbol.name, "__code_end") &&
		    symbol.value > range->end)
			range->end = symbol.value;
	}
	return code->compiled.end != 0;
}

static bool has(const struct swz_range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

/* -m count leaves return addresses alone. But OCaml raises Stack_overflow where
 * SIGSEGV came from an instruction of OCaml code, by its address (segv_handler
 * of 4.13's runtime/signals_nat.c); a trampoline, which needs the stack before
 * the function does, is none. OCaml 5 gives a function that calls nothing 256
 * bytes of stack. So only the module's functions in C are counted. */
static void refuse_ocaml(struct swz_module *m)
{
	struct ocaml_code code;

	m->foreign_runtime = !swz_config.count || !find_ocaml_code(m, &code);
	for (uint32_t i = 0; !m->foreign_runtime && i < m->function_count;
	     i++) {
		struct swz_function *f = &m->functions[i];

		if (has(&code.compiled, f->start) ||
		    has(&code.assembly, f->start))
			swz_function_refuse(f, SWZ_REFUSE_FOREIGN_RUNTIME);
	}
}

void swz_foreign_inspect(struct swz_module *m)
{
	struct swz_elf_symbol symbol;

	m->foreign_runtime = has_section(m, ".gopclntab") ||
			     has_section(m, ".note.go.buildid") ||
			     swz_module_symbol(m, SWZ_MONO_COMPILED, &symbol);
	if (!m->foreign_runtime &&
	    (swz_module_symbol(m, "caml_frametable", &symbol) ||
	     swz_module_symbol(m, "caml_plugin_header", &symbol)))
		refuse_ocaml(m);
	mark_v8_blob(m);
	if (swz_config.count) /* none of the others meets a thunk */
		return;
	m->looks_at_callers = swz_module_symbol(m, "gHotSpotVMStructs",
						&symbol);
	m->own_unwinder = has_own_unwinder(m);
	m->unwinder_unserved = is_unwinder_unserved(m);
	if (!swz_module_symbol(m, V8_SET_RESOLVER, &symbol))
		return;
	m->resolver = symbol.value;
	/* it cannot be answered before it is relocated, nor when V8 runs */
	if (m->late || swz_config.attached)
		m->foreign_runtime = true;
}

typedef uintptr_t resolver(uintptr_t location);

void swz_foreign_answer(const struct swz_module *m)
{
	void (*set_resolver)(resolver *);

	if (!m->resolver)
		return;
	set_resolver = (void (*)(resolver *))(uintptr_t)swz_module_bytes(
		m, m->resolver);
	set_resolver(swizzle_resolve_return_location);
}

/* -------------------------------------------------------------- sanitizers */

/* The run-time libraries of compilers' sanitizers ask the program that they are
 * in. They look these functions up by name and take the first: the program's
 * own, if it has one, before ours.
 *
 * AddressSanitizer's shared runtime refuses to start if it is not the first
 * library, for the sake of what may hide its own malloc and the like; we hide
 * nothing, but are before it. And the sanitizers record a stack with each
 * malloc by following the saved %rbp; these must be the program's functions and
 * not our thunks. Where the load that finds them could not be made to see what
 * thunks stand for (runtime/discovery/return_slot.h), they are told to use
 * unwind tables, which takes some 30 times longer. */

#define PUBLIC __attribute__((visibility("default")))
#define FIRST "verify_asan_link_order=0"
#define BY_UNWIND_TABLES \
	"fast_unwind_on_malloc=0:fast_unwind_on_check=0:fast_unwind_on_fatal=" \
	"0"

static bool sees_through_thunks;

/* With -m count there are none. */
static bool may_follow_frames(void)
{
	return sees_through_thunks || swz_config.count;
}

#define JMP 0xe9

void swz_sanitizer_patched(const struct swz_module *m)
{
	for (uint32_t i = 0; i < m->inner_site_count; i++) {
		uint64_t at = m->inner_sites[i].at;
		const struct swz_function *f = swz_function_at(m, at);

		if (!m->inner_sites[i].keeps_opcode && f &&
		    swz_is_frame_walker(f) && *swz_module_bytes(m, at) == JMP)
			sees_through_thunks = true;
	}
}

PUBLIC const char *__asan_default_options(void)
{
	if (swz_config.linked)
		return "";
	return may_follow_frames() ? FIRST : FIRST ":" BY_UNWIND_TABLES;
}

PUBLIC const char *__lsan_default_options(void)
{
	return swz_config.linked || may_follow_frames() ? "" : BY_UNWIND_TABLES;
}
