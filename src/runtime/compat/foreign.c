/* OCaml's collector finds the roots of a native frame by its return address
 * (caml_frametable; a plugin, .cmxs, has a header instead, by which the program
 * finds its part of that table); Go's runtime does the same (pclntab). V8 finds
 * the code object of each JavaScript frame by its return address, but takes a
 * function that maps the place of a return address to the place where it really
 * is; the builtins that its compiler has put into the program (the embedded
 * blob) keep conventions of their own. What Mono has compiled ahead of time is
 * refused as a whole, too. For code that is made at run time see
 * foreign_callers.c. */

#include "runtime/compat/foreign.h"

#include <string.h>

#include "runtime/hooks/unwind.h"
#include "runtime/module/foreign_callers.h"
#include "runtime/support/config.h"
#include "swizzle.h"

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

/* Whether the module was linked with an unwinder of its own (-static-libgcc):
 * it has exception tables, asks nobody for an unwinder, and asks for what every
 * unwinder must: where the unwind tables are. What it exports tells nothing: a
 * static libgcc is hidden even where all else is exported (-rdynamic). Or it
 * has exception tables and its symbols speak of no unwinding at all. */
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

void swz_foreign_inspect(struct swz_module *m)
{
	struct swz_elf_symbol symbol;

	m->foreign_runtime = has_section(m, ".gopclntab") ||
			     has_section(m, ".note.go.buildid") ||
			     swz_module_symbol(m, "caml_frametable", &symbol) ||
			     swz_module_symbol(m, "caml_plugin_header",
					       &symbol) ||
			     swz_module_symbol(m, SWZ_MONO_COMPILED, &symbol);
	m->looks_at_callers = swz_module_symbol(m, "gHotSpotVMStructs",
						&symbol);
	m->own_unwinder = has_own_unwinder(m);
	m->unwinder_unserved = is_unwinder_unserved(m);
	mark_v8_blob(m);
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
