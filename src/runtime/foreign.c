/* OCaml's collector finds the roots of a native frame by its return address
 * (caml_frametable); Go's runtime does the same (pclntab). V8 finds the code
 * object of each JavaScript frame by its return address, but takes a function
 * that maps the place of a return address to the place where it really is; the
 * builtins that its compiler has put into the program (the embedded blob) keep
 * conventions of their own. */

#include "runtime/foreign.h"

#include <string.h>

#include "swizzle.h"

#define V8_SET_RESOLVER "_ZN2v82V832SetReturnAddressLocationResolverEPFmmE"

/* Whether the module has exception tables but gets no unwinder from elsewhere
 * and gives none: then it was linked with one (-static-libgcc). Such an
 * unwinder exports nothing by which a thunk's frame could be cleaned up, and
 * takes it for the handler's frame next to it. */
static bool has_own_unwinder(const struct swz_module *m)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;
	struct swz_fde_iterator fdes;
	struct swz_fde fde;

	if (!m->file.file.size ||
	    swz_elf_symbols_open(&it, &m->file, SHT_DYNSYM) != SWZ_OK)
		return false;
	while (swz_elf_symbols_next(&it, &symbol))
		if (strncmp(symbol.name, "_Unwind_", 8) == 0 ||
		    strncmp(symbol.name, "__cxa_", 6) == 0 ||
		    strncmp(symbol.name, "__gxx_personality", 17) == 0 ||
		    strncmp(symbol.name, "__gcc_personality", 17) == 0)
			if (strcmp(symbol.name, "__cxa_finalize") != 0 &&
			    strcmp(symbol.name, "__cxa_atexit") != 0 &&
			    strcmp(symbol.name, "__cxa_thread_atexit_impl") !=
				    0)
				return false;
	swz_fde_begin(&fdes, &m->eh_frame);
	while (swz_fde_next(&fdes, &fde))
		if (fde.has_lsda)
			return true;
	return false;
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
			     swz_module_symbol(m, "caml_frametable", &symbol);
	m->own_unwinder = has_own_unwinder(m);
	mark_v8_blob(m);
	/* it cannot be answered before it is relocated */
	if (m->late && swz_module_symbol(m, V8_SET_RESOLVER, &symbol))
		m->foreign_runtime = true;
}

typedef uintptr_t resolver(uintptr_t location);

void swz_foreign_answer(const struct swz_module *m)
{
	struct swz_elf_symbol symbol;
	void (*set_resolver)(resolver *);

	if (!swz_module_symbol(m, V8_SET_RESOLVER, &symbol))
		return;
	set_resolver = (void (*)(resolver *))(uintptr_t)swz_module_bytes(
		m, symbol.value);
	set_resolver(swizzle_resolve_return_location);
}
