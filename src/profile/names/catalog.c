/* The catalog holds each module, function and place once, however many profiles
 * a report is made of. Modules are the same if their build-ids are, functions
 * if module and address are. A hash table per kind leads from a key to an
 * index; the items lie in arrays that grow, so references are indices, never
 * pointers. In a comparison, a function of the later profile gets the index of
 * its earlier version. */

#include "profile/names/catalog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/file/reader.h"
#include "profile/names/debug_info.h"
#include "profile/names/symbols.h"

/* --- modules ------------------------------------------------------------- */

/* A module is known by its build-id: the same file may be at several paths, on
 * several machines or in several containers. That of another size is another
 * file, as programs can be linked with a build-id that somebody made up. What
 * has no build-id is known by its path. */

/* One of a file's copies may have been stripped, but not so many of them are
 * looked at: each may be a question to servers. */
enum { MOST_TRIED = 8 };

static bool has_path(const struct swz_catalog_module *module, const char *path)
{
	size_t i;

	for (i = 0; i < module->path_count; i++)
		if (module->paths[i] == path)
			return true;
	return false;
}

/* In whole pages: what was seen from outside may end with a mapping, not with
 * the last segment. */
static uint64_t pages_of(const struct swz_module_record *record)
{
	return (record->end - record->start + 4095) / 4096;
}

static bool is_module(const struct swz_catalog_module *known,
		      const struct swz_profile_module *module, const char *path)
{
	const struct swz_module_record *record = &module->record;

	if (known->build_id_bytes != record->build_id_bytes ||
	    memcmp(known->build_id, record->build_id, record->build_id_bytes) !=
		    0)
		return false;
	return has_path(known, path) ||
	       (record->build_id_bytes &&
		known->mapped_pages == pages_of(record));
}

static void add_path(struct swz_catalog_module *module, const char *path)
{
	if (has_path(module, path))
		return;
	swz_grow(&module->paths, &module->path_capacity, module->path_count,
		 sizeof(*module->paths));
	module->paths[module->path_count++] = path;
}

static struct swz_catalog_module *new_module(struct swz_catalog *catalog,
					     const char *path,
					     const uint8_t *build_id,
					     size_t build_id_bytes)
{
	struct swz_catalog_module *made;

	swz_grow(&catalog->modules, &catalog->module_capacity,
		 catalog->module_count, sizeof(*catalog->modules));
	made = &catalog->modules[catalog->module_count];
	*made = (struct swz_catalog_module){
		.path = path,
		.name = path,
		.whole = path,
		.build_id_bytes = build_id_bytes,
		.same_as = (uint32_t)catalog->module_count++};
	memcpy(made->build_id, build_id, build_id_bytes);
	add_path(made, path);
	return made;
}

/* The index of a module of a profile that ended at that time (since 1970). */
static uint32_t catalog_add_module(struct swz_catalog *catalog,
				   const struct swz_profile_module *module,
				   uint64_t profiled_ns)
{
	const char *path = swz_intern(&catalog->strings, module->path);
	struct swz_catalog_module *found;
	size_t i;

	for (i = 0; i < catalog->module_count; i++) {
		found = &catalog->modules[i];
		if (is_module(found, module, path)) {
			add_path(found, path);
			if (profiled_ns < found->profiled_ns)
				found->profiled_ns = profiled_ns;
			return (uint32_t)i;
		}
	}
	found = new_module(catalog, path, module->record.build_id,
			   module->record.build_id_bytes);
	found->mapped_pages = pages_of(&module->record);
	found->lies_in_no_file = module->record.start >= SWZ_NO_FILE_START;
	found->profiled_ns = profiled_ns;
	return (uint32_t)i;
}

uint32_t swz_catalog_file(struct swz_catalog *catalog, const char *path,
			  const uint8_t *build_id, size_t build_id_bytes)
{
	uint32_t i;

	path = swz_intern(&catalog->strings, path);
	for (i = 0; i < catalog->module_count; i++) {
		struct swz_catalog_module *known = &catalog->modules[i];

		if (known->build_id_bytes == build_id_bytes &&
		    memcmp(known->build_id, build_id, build_id_bytes) == 0 &&
		    (build_id_bytes || has_path(known, path))) {
			add_path(known, path);
			return i;
		}
	}
	/* (its time is not that of a profile) */
	new_module(catalog, path, build_id, build_id_bytes)->profiled_ns =
		UINT64_MAX;
	return i;
}

static void warn_no_symbols(const struct swz_catalog *catalog,
			    const struct swz_catalog_module *module,
			    enum swz_status status)
{
	const char *reason = "cannot be read";

	if (catalog->options.quiet)
		return;
	if (status == SWZ_E_UNSUPPORTED)
		reason = "has changed since it was profiled (other build-id)";
	else if (status == SWZ_E_FORMAT)
		reason = "is not an ELF file";
	swz_complain("%s %s; its functions are shown by address", module->path,
		     reason);
}

/* A file without a build-id is told by its time alone. (A copy has another
 * time, too.) */
static bool has_changed(const struct swz_catalog *catalog,
			const struct swz_catalog_module *module)
{
	uint64_t changed_ns = 0;
	struct stat info;
	char *path;

	if (module->build_id_bytes)
		return false;
	path = swz_debug_files_module(catalog->options.files, module->path);
	if (stat(path, &info) == 0 && info.st_mtim.tv_sec >= 0)
		changed_ns = (uint64_t)info.st_mtim.tv_sec * 1000000000 +
			     (uint64_t)info.st_mtim.tv_nsec;
	free(path);
	return changed_ns > module->profiled_ns;
}

static void warn_changed(const struct swz_catalog *catalog,
			 const struct swz_catalog_module *module)
{
	if (catalog->options.quiet)
		return;
	swz_complain("%s has no build-id and is newer than the profile; names "
		     "in it may be wrong",
		     module->path);
}

/* Adds the embedded names of a profile, whose module i is MODULES[i] of the
 * catalog; to be called before symbols are asked for. */
static void catalog_add_embedded(struct swz_catalog *catalog,
				 const struct swz_profile *profile,
				 const uint32_t *modules)
{
	size_t i;

	for (i = 0; i < profile->symbol_count; i++) {
		const struct swz_profile_symbol *symbol = &profile->symbols[i];

		swz_embedded_add_symbol(
			&catalog->modules[modules[symbol->module]].embedded,
			symbol);
	}
	for (i = 0; i < profile->line_count; i++) {
		const struct swz_profile_line *line = &profile->lines[i];

		swz_embedded_add_line(
			&catalog->modules[modules[line->module]].embedded,
			line);
	}
}

/* From the first of the paths where the file is, or rather the first where it
 * has a symbol table. Returns what is wrong with the first one, if none is of
 * use. */
static enum swz_status open_symbols(struct swz_catalog_module *module,
				    struct swz_symbols_source *source)
{
	enum swz_status first = SWZ_E_NOTFOUND;
	size_t i;

	for (i = 0; i < module->path_count && i < MOST_TRIED; i++) {
		struct swz_symbols *symbols;
		enum swz_status status;

		source->path = module->paths[i];
		status = swz_symbols_open(source, &symbols);
		if (i == 0)
			first = status;
		if (status != SWZ_OK)
			continue;
		if (module->symbols && swz_symbols_are_stripped(symbols)) {
			swz_symbols_close(symbols);
			continue;
		}
		swz_symbols_close(module->symbols);
		module->symbols = symbols;
		if (!swz_symbols_are_stripped(symbols))
			break;
	}
	return module->symbols ? SWZ_OK : first;
}

struct swz_symbols *swz_catalog_symbols(struct swz_catalog *catalog,
					uint32_t index)
{
	struct swz_catalog_module *module;
	struct swz_symbols_source source;
	enum swz_status status;
	bool has_file;

	if (index == SWZ_INDEX_NONE || !catalog->options.symbols)
		return NULL;
	module = &catalog->modules[index];
	if (module->tried)
		return module->symbols;
	module->tried = true;
	/* the vdso has no file, nor has code that was made at run time */
	has_file = module->path[0] == '/';
	if (!has_file && swz_embedded_is_empty(&module->embedded))
		return NULL;
	module->doubtful = has_file && !catalog->options.only_embedded &&
			   has_changed(catalog, module);
	source = (struct swz_symbols_source){
		.build_id = module->build_id,
		.build_id_bytes = module->build_id_bytes,
		.files = catalog->options.files,
		.embedded = &module->embedded,
		.only_embedded = !has_file || catalog->options.only_embedded ||
				 (module->doubtful &&
				  !swz_embedded_is_empty(&module->embedded)),
	};
	status = open_symbols(module, &source);
	if (status != SWZ_OK)
		warn_no_symbols(catalog, module, status);
	else if (module->doubtful && !source.only_embedded)
		warn_changed(catalog, module);
	return module->symbols;
}

struct swz_source swz_catalog_line(struct swz_catalog *catalog, uint32_t index,
				   struct swz_symbols *symbols,
				   uint64_t address)
{
	struct swz_catalog_module *module = &catalog->modules[index];
	struct swz_source source = swz_symbols_line(symbols, address);

	if (module->lines_tried)
		return source;
	module->lines_tried = true;
	if (swz_symbols_lack_sections(symbols) && !catalog->options.quiet)
		swz_complain("the debug information of %s cannot be "
			     "decompressed; source lines are missing. objcopy "
			     "--decompress-debug-sections makes a file that "
			     "can be read (--debug-dir)",
			     module->path);
	return source;
}

/* --- versions of a module ------------------------------------------------ */

/* Versions of a module: a program and its libraries before and after they were
 * changed. Which modules these are is told by path and, failing that, by the
 * name of the file; the programs themselves may be called what they like. Each
 * module is a version of one at most.
 *
 * A function is known by its symbol; a static one, as there may be several of
 * the same name, by its source file's name, too, and among those of one file by
 * their order, which they keep if the program is built anew. Where there are no
 * symbols, addresses mean nothing but in the same file. */

enum side { NEW = 1, OLD = 2, TAKEN = 4 /* by an old one */ };

struct matching {
	struct swz_catalog *catalog;
	uint8_t *sides; /* per module of the catalog */
};

static void note_side(struct matching *m, const struct swz_binding *binding,
		      enum side side)
{
	size_t i;

	for (i = 0; i < binding->profile->module_count; i++)
		m->sides[binding->modules[i]] |= (uint8_t)side;
}

static bool is_old_only(const struct matching *m, size_t module)
{
	return !(m->sides[module] & NEW);
}

/* (Paths are interned.) */
static bool share_path(const struct swz_catalog_module *a,
		       const struct swz_catalog_module *b)
{
	size_t i, j;

	for (i = 0; i < a->path_count; i++)
		for (j = 0; j < b->path_count; j++)
			if (a->paths[i] == b->paths[j])
				return true;
	return false;
}

/* The first module of that side that was at the same path. */
static uint32_t first_of_path(const struct matching *m, size_t module,
			      enum side side)
{
	const struct swz_catalog_module *modules = m->catalog->modules;
	uint32_t i;

	for (i = 0; i < m->catalog->module_count; i++)
		if (m->sides[i] & side &&
		    share_path(&modules[i], &modules[module]))
			return i;
	return (uint32_t)module;
}

static bool has_counterpart(const struct matching *m, size_t module)
{
	return !is_old_only(m, m->catalog->modules[module].same_as);
}

/* All old versions of that path are versions of a new one. */
static void take(struct matching *m, size_t old, uint32_t new)
{
	struct swz_catalog_module *modules = m->catalog->modules;
	size_t i;

	m->sides[new] |= TAKEN;
	for (i = 0; i < m->catalog->module_count; i++)
		if (is_old_only(m, i) && share_path(&modules[i], &modules[old]))
			modules[i].same_as = new;
}

static bool is_free(const struct matching *m, uint32_t new)
{
	return !is_old_only(m, new) &&
	       m->catalog->modules[new].same_as == new &&
	       !(m->sides[new] & (OLD | TAKEN));
}

static void match_path(struct matching *m, size_t module)
{
	struct swz_catalog_module *modules = m->catalog->modules;
	uint32_t new = first_of_path(m, module, NEW);

	modules[module].same_as = is_old_only(m, new)
					  ? first_of_path(m, module, OLD)
					  : new;
	if (is_old_only(m, module) && !is_old_only(m, new))
		m->sides[new] |= TAKEN;
}

static void match_file_name(struct matching *m, size_t module)
{
	const struct swz_catalog_module *modules = m->catalog->modules;
	const char *name = swz_base_name(modules[module].path);
	uint32_t i;

	for (i = 0; i < m->catalog->module_count; i++) {
		if (!is_free(m, i) ||
		    strcmp(swz_base_name(modules[i].path), name) != 0)
			continue;
		take(m, module, i);
		return;
	}
}

/* The program that a profile is of; SWZ_INDEX_NONE if it is not there. */
static uint32_t program_of(const struct swz_binding *binding)
{
	const struct swz_profile *profile = binding->profile;
	size_t i;

	for (i = 0; i < profile->module_count; i++)
		if (strcmp(profile->modules[i].path, profile->executable) == 0)
			return binding->modules[i];
	return SWZ_INDEX_NONE;
}

static void match_program(struct matching *m, uint32_t old,
			  const struct swz_binding *bindings, size_t new_count)
{
	size_t i;

	if (old == SWZ_INDEX_NONE || has_counterpart(m, old))
		return;
	for (i = 0; i < new_count; i++) {
		uint32_t new = program_of(&bindings[i]);

		if (new == SWZ_INDEX_NONE || !is_free(m, new))
			continue;
		take(m, old, new);
		return;
	}
}

void swz_catalog_match(struct swz_catalog *catalog,
		       const struct swz_binding *bindings, size_t new_count,
		       size_t count)
{
	struct matching m = {.catalog = catalog};
	size_t i;

	m.sides = swz_allocate(catalog->module_count, 1);
	for (i = 0; i < count; i++)
		note_side(&m, &bindings[i], i < new_count ? NEW : OLD);
	for (i = 0; i < catalog->module_count; i++)
		match_path(&m, i);
	for (i = 0; i < catalog->module_count; i++)
		if (!has_counterpart(&m, i))
			match_file_name(&m, i);
	for (i = new_count; i < count; i++)
		match_program(&m, program_of(&bindings[i]), bindings,
			      new_count);
	catalog->matches = true;
	free(m.sides);
}

/* Where the index of a function is kept for all versions of its module or, if
 * it has no name to be known by, for this one. As swz_map_at(). */
static uint32_t *catalog_shared(struct swz_catalog *catalog, uint32_t module,
				uint64_t address, const char *asked)
{
	struct swz_symbols *symbols = swz_catalog_symbols(catalog, module);
	const char *symbol = asked, *file = NULL;
	uint64_t offset = 0;
	uint32_t number = 0;
	char *key;

	if (!symbol && symbols)
		symbol = swz_symbols_name(symbols, address, &offset);
	if (!symbol || offset)
		return swz_map_at(&catalog->by_address, module, address);
	if (symbol != asked)
		number = swz_symbols_number(symbols, address, &file);
	key = swz_print("%s\n%s", symbol, file ? file : "");
	symbol = swz_intern(&catalog->strings, key);
	free(key);
	return swz_map_at(&catalog->by_symbol,
			  (uint64_t)catalog->modules[module].same_as << 32 |
				  number,
			  (uintptr_t)symbol);
}

/* --- functions that wait ------------------------------------------------- */

/* Functions that do little but a system call that may block, and those that
 * wait for a lock, a thread or a signal. Not those that compute as well (stdio,
 * getaddrinfo, system). */

/* Sorted. Symbols like __read, read64 and __read_chk count as read. fcntl may
 * wait for a lock of a file, ioctl for a device. */
static const char *const waiting_names[] = {
	"accept",
	"accept4",
	"aio_suspend",
	"clock_nanosleep",
	"cnd_timedwait",
	"cnd_wait",
	"connect",
	"copy_file_range",
	"epoll_pwait",
	"epoll_pwait2",
	"epoll_wait",
	"fcntl",
	"fdatasync",
	"flock",
	"flockfile",
	"fsync",
	"io_getevents",
	"ioctl",
	"lockf",
	"mq_receive",
	"mq_send",
	"mq_timedreceive",
	"mq_timedsend",
	"msgrcv",
	"msgsnd",
	"msync",
	"mtx_lock",
	"mtx_timedlock",
	"nanosleep",
	"pause",
	"poll",
	"ppoll",
	"pread",
	"preadv",
	"preadv2",
	"pselect",
	"pthread_barrier_wait",
	"pthread_clockjoin_np",
	"pthread_cond_clockwait",
	"pthread_cond_timedwait",
	"pthread_cond_wait",
	"pthread_join",
	"pthread_mutex_clocklock",
	"pthread_mutex_lock",
	"pthread_mutex_timedlock",
	"pthread_rwlock_clockrdlock",
	"pthread_rwlock_clockwrlock",
	"pthread_rwlock_rdlock",
	"pthread_rwlock_timedrdlock",
	"pthread_rwlock_timedwrlock",
	"pthread_rwlock_wrlock",
	"pthread_timedjoin_np",
	"pwrite",
	"pwritev",
	"pwritev2",
	"read",
	"readv",
	"recv",
	"recvfrom",
	"recvmmsg",
	"recvmsg",
	"select",
	"sem_clockwait",
	"sem_timedwait",
	"sem_wait",
	"semop",
	"semtimedop",
	"send",
	"sendfile",
	"sendmmsg",
	"sendmsg",
	"sendto",
	"sigsuspend",
	"sigtimedwait",
	"sigwait",
	"sigwaitinfo",
	"sleep",
	"splice",
	"sync",
	"sync_file_range",
	"syncfs",
	"syscall",
	"tcdrain",
	"tee",
	"thrd_join",
	"thrd_sleep",
	"usleep",
	"vmsplice",
	"wait",
	"wait3",
	"wait4",
	"waitid",
	"waitpid",
	"write",
	"writev",
	"xpg_sigpause",
};

static int compare(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

static void cut_ending(char *name, const char *ending)
{
	size_t length = strlen(name), cut = strlen(ending);

	if (length > cut && strcmp(name + length - cut, ending) == 0)
		name[length - cut] = '\0';
}

/* True if the function of libc with that symbol may wait for time, a file, a
 * peer, a lock, a thread or a process. Nearly all of what such a call takes is
 * taken to be waiting; what of it the processor has run is not known. */
static bool call_waits(const char *symbol)
{
	char name[32];

	/* "read@GLIBC_2.2.5" and the like */
	size_t length = strcspn(symbol, "@");

	while (length && *symbol == '_') {
		symbol++;
		length--;
	}
	if (!length || length >= sizeof(name))
		return false;
	memcpy(name, symbol, length);
	name[length] = '\0';
	cut_ending(name, "_chk");
	cut_ending(name, "64");
	return bsearch(name, waiting_names,
		       sizeof(waiting_names) / sizeof(waiting_names[0]),
		       sizeof(waiting_names[0]), compare) != NULL;
}

/* --- functions and places ------------------------------------------------ */

/* Modules are the same if their build-ids are; functions, if module and
 * address are. A file holds at most as many functions as fit into it, so
 * indices of 32 bits suffice. */

#define UNKNOWN_MODULE UINT64_MAX

static uint32_t add_function(struct swz_catalog *catalog, uint32_t module,
			     uint64_t address)
{
	swz_grow(&catalog->functions, &catalog->function_capacity,
		 catalog->function_count, sizeof(*catalog->functions));
	catalog->functions[catalog->function_count] =
		(struct swz_catalog_function){.module = module,
					      .address = address};
	return (uint32_t)catalog->function_count++;
}

static uint32_t add_place(struct swz_catalog *catalog,
			  const struct swz_catalog_place *place)
{
	swz_grow(&catalog->places, &catalog->place_capacity,
		 catalog->place_count, sizeof(*catalog->places));
	catalog->places[catalog->place_count] = *place;
	return (uint32_t)catalog->place_count++;
}

void swz_catalog_begin(struct swz_catalog *catalog,
		       const struct swz_catalog_options *options)
{
	*catalog = (struct swz_catalog){.options = *options};
	if (!catalog->options.files)
		catalog->options.files = &swz_debug_files_usual;
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_OUTSIDE */
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_UNKNOWN */
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_UNTRACED */
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_KERNEL */
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_UNSAMPLED */
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_COUNTING */
	add_place(catalog, &(struct swz_catalog_place){NULL, 0, NULL, 0});
}

void swz_catalog_free(struct swz_catalog *catalog)
{
	size_t i;

	for (i = 0; i < catalog->module_count; i++) {
		swz_symbols_close(catalog->modules[i].symbols);
		swz_embedded_free(&catalog->modules[i].embedded);
		free(catalog->modules[i].paths);
	}
	free(catalog->modules);
	free(catalog->functions);
	free(catalog->places);
	swz_map_free(&catalog->by_address);
	swz_map_free(&catalog->by_site);
	swz_map_free(&catalog->by_location);
	swz_map_free(&catalog->by_symbol);
	swz_intern_free(&catalog->strings);
	*catalog = (struct swz_catalog){0};
}

/* ---- bindings ---- */

/* UINT64_MAX: not known. */
static uint64_t profiled_until(const struct swz_profile *profile)
{
	uint64_t start = profile->header.start_realtime_ns;
	int64_t duration = swz_profile_ns(
		profile, (int64_t)swz_profile_duration_ticks(profile));

	return start ? start + (uint64_t)duration : UINT64_MAX;
}

/* A file that has several programs (busybox) has its own name. */
static void add_called(const struct swz_binding *binding)
{
	const struct swz_profile *profile = binding->profile;

	for (size_t i = 0; i < profile->module_count; i++) {
		struct swz_catalog_module *module =
			&binding->catalog->modules[binding->modules[i]];
		const char *called = swz_profile_called(
			profile, profile->modules[i].path);

		if (!called)
			continue;
		if (!*called)
			called = NULL;
		if (called)
			called = swz_intern(&binding->catalog->strings, called);
		if (!module->called_known)
			module->called = called;
		else if (module->called != called)
			module->called = NULL;
		module->called_known = true;
	}
}

void swz_catalog_bind(struct swz_binding *binding, struct swz_catalog *catalog,
		      struct swz_profile *profile)
{
	uint64_t end_ns = profiled_until(profile);
	size_t i;

	*binding = (struct swz_binding){.catalog = catalog, .profile = profile};
	catalog->samples |= (profile->header.flags & SWZ_FILE_SAMPLES) != 0;
	catalog->has_unnamed_code |= profile->unnamed_code_nodes != 0;
	catalog->has_named_code |= profile->named_code_nodes != 0;
	binding->modules = swz_allocate(profile->module_count,
					sizeof(uint32_t));
	binding->functions = swz_allocate(profile->function_count,
					  sizeof(uint32_t));
	for (i = 0; i < profile->module_count; i++)
		binding->modules[i] = catalog_add_module(
			catalog, &profile->modules[i], end_ns);
	for (i = 0; i < profile->function_count; i++) {
		const struct swz_profile_function *function =
			&profile->functions[i];

		binding->functions[i] = SWZ_INDEX_NONE;
		binding->has_imports |= function->flags & SWZ_FUNCTION_IMPORT &&
					function->status == SWZ_PATCHED;
	}
	add_called(binding);
	catalog_add_embedded(catalog, profile, binding->modules);
}

void swz_binding_free(struct swz_binding *binding)
{
	free(binding->modules);
	free(binding->functions);
	swz_map_free(&binding->places);
	*binding = (struct swz_binding){0};
}

static uint32_t function_at(struct swz_catalog *catalog, uint32_t module,
			    uint64_t address, const char *asked)
{
	uint64_t key = module == SWZ_INDEX_NONE ? UNKNOWN_MODULE : module;
	uint32_t *found = swz_map_at(&catalog->by_address, key, address);
	uint32_t *shared = NULL, index;

	if (*found != SWZ_MAP_NONE)
		return *found;
	if (catalog->matches && module != SWZ_INDEX_NONE) {
		shared = catalog_shared(catalog, module, address, asked);
	}
	index = shared && *shared != SWZ_MAP_NONE
			? *shared
			: add_function(catalog, module, address);
	if (shared)
		*shared = index;
	*swz_map_at(&catalog->by_address, key, address) = index;
	return index;
}

uint32_t swz_catalog_function_at(struct swz_catalog *catalog, uint32_t module,
				 uint64_t address)
{
	return function_at(catalog, module, address, NULL);
}

uint32_t swz_binding_function(struct swz_binding *binding, uint32_t index,
			      uint32_t id)
{
	const struct swz_profile_function *function;
	uint32_t module = SWZ_INDEX_NONE, found;
	uint64_t address = id;

	if (id == SWZ_FUNCTION_UNTRACED)
		return SWZ_CATALOG_UNTRACED;
	if (binding->profile->header.flags & SWZ_FILE_SAMPLES) {
		if (id == SWZ_FUNCTION_KERNEL)
			return SWZ_CATALOG_KERNEL;
		if (id == SWZ_FUNCTION_UNSAMPLED)
			return SWZ_CATALOG_UNSAMPLED;
		if (id == SWZ_FUNCTION_COUNTING)
			return SWZ_CATALOG_COUNTING;
		if (id == SWZ_FUNCTION_CALLERS)
			return SWZ_CATALOG_UNKNOWN;
	}
	if (index == SWZ_INDEX_NONE)
		return function_at(binding->catalog, module, address, NULL);
	if (binding->functions[index] != SWZ_INDEX_NONE)
		return binding->functions[index];
	function = &binding->profile->functions[index];
	if (function->module != SWZ_INDEX_NONE) {
		module = binding->modules[function->module];
		address = function->address;
	}
	found = function_at(binding->catalog, module, address, function->name);
	if (!function->name && module != SWZ_INDEX_NONE)
		binding->catalog->functions[found].size = function->size;
	/* of several names for one address (free, cfree) it is the right one */
	if (function->name)
		binding->catalog->functions[found].asked = swz_intern(
			&binding->catalog->strings, function->name);
	if (function->flags & SWZ_FUNCTION_IMPORT && function->name &&
	    call_waits(function->name))
		binding->catalog->functions[found].waits = true;
	binding->functions[index] = found;
	return found;
}

/* ---- places ---- */

/* Interned strings are 16 bytes apart at least, so the key is exact for files
 * of up to a million lines. */
static uint64_t location_key(const char *text, int line)
{
	return (uint64_t)(uintptr_t)text << 16 ^ (uint32_t)line;
}

static uint32_t place_of(struct swz_catalog *catalog, uint32_t module,
			 uint64_t address)
{
	struct swz_symbols *symbols = swz_catalog_symbols(catalog, module);
	struct swz_catalog_place place = {NULL, 0, NULL, 0};
	struct swz_source source;
	struct swz_inline inlined;
	uint32_t *found;

	if (!symbols)
		return SWZ_PLACE_UNKNOWN;
	source = swz_catalog_line(catalog, module, symbols, address);
	if (!source.file)
		return SWZ_PLACE_UNKNOWN;
	place.file = swz_intern(&catalog->strings, source.file);
	place.line = source.line;
	inlined = swz_symbols_inline(symbols, address);
	if (inlined.name) {
		char *name = swz_demangle(inlined.name,
					  swz_symbols_languages(symbols),
					  catalog->options.demangle);

		place.inlined = swz_intern(&catalog->strings, name);
		place.outer_line = inlined.line;
		free(name);
	}
	/* interned strings: their addresses stand for them */
	found = swz_map_at(&catalog->by_location,
			   location_key(place.file, place.line),
			   location_key(place.inlined, place.outer_line));
	if (*found == SWZ_MAP_NONE)
		*found = add_place(catalog, &place);
	return *found;
}

/* Finds the module of the profile that the address is in: CALLER's, a function
 * of the catalog, if it can be; that may have been loaded at several places,
 * and others at the same one. */
static uint32_t module_of_call(const struct swz_binding *binding,
			       uint32_t caller, uint64_t address)
{
	const struct swz_catalog *catalog = binding->catalog;
	uint32_t wanted = catalog->functions[caller].module;
	uint32_t i;

	if (wanted != SWZ_INDEX_NONE)
		wanted = catalog->modules[wanted].same_as;
	for (i = 0; i < binding->profile->module_count; i++)
		if (catalog->modules[binding->modules[i]].same_as == wanted &&
		    swz_profile_module_holds(binding->profile, i, address))
			return i;
	return swz_profile_module_at(binding->profile, address);
}

static uint32_t find_place(struct swz_binding *binding, uint64_t address,
			   uint32_t caller)
{
	struct swz_catalog *catalog = binding->catalog;
	uint32_t module, *found;

	module = module_of_call(binding, caller, address);
	if (module == SWZ_INDEX_NONE)
		return SWZ_PLACE_UNKNOWN;
	/* libc's line that calls main, which nobody looks for, would take its
	 * debug information to be read */
	if (caller == SWZ_CATALOG_OUTSIDE &&
	    !binding->profile->modules[module].record.in_scope)
		return SWZ_PLACE_UNKNOWN;
	address -= binding->profile->modules[module].record.load_bias;
	module = binding->modules[module];
	found = swz_map_at(&catalog->by_site, module, address);
	if (*found == SWZ_MAP_NONE)
		*found = place_of(catalog, module, address);
	return *found;
}

uint32_t swz_binding_place(struct swz_binding *binding, uint64_t return_address,
			   uint32_t caller)
{
	uint32_t *found;

	if (!binding->catalog->options.lines ||
	    return_address == SWZ_CALL_SITE_TAIL)
		return SWZ_PLACE_UNKNOWN;
	found = swz_map_at(&binding->places, return_address, caller);
	/* the instruction before the return address is the call */
	if (*found == SWZ_MAP_NONE)
		*found = find_place(binding, return_address - 1, caller);
	return *found;
}

uint32_t swz_binding_offset(const struct swz_binding *binding, uint64_t address,
			    uint32_t caller)
{
	const struct swz_catalog *catalog = binding->catalog;
	const struct swz_catalog_function *of = &catalog->functions[caller];
	uint32_t module;

	if (!of->size || address == SWZ_CALL_SITE_TAIL)
		return SWZ_PLACE_UNKNOWN;
	/* a call that never returns may be the last instruction */
	module = module_of_call(binding, caller, address - 1);
	if (module == SWZ_INDEX_NONE ||
	    catalog->modules[binding->modules[module]].same_as !=
		    catalog->modules[of->module].same_as)
		return SWZ_PLACE_UNKNOWN;
	address -= binding->profile->modules[module].record.load_bias;
	if (address < of->address || address - of->address > of->size)
		return SWZ_PLACE_UNKNOWN;
	return (uint32_t)(address - of->address) + 1;
}

/* A function that starts at a run-time address, as the catalog has it. */
static uint32_t function_that_starts(struct swz_binding *binding,
				     uint64_t address)
{
	struct swz_profile *profile = binding->profile;
	uint32_t index = swz_profile_function_at(profile, address);
	const struct swz_profile_function *function;

	if (index == SWZ_INDEX_NONE)
		return SWZ_INDEX_NONE;
	function = &profile->functions[index];
	if (profile->modules[function->module].record.load_bias +
		    function->address !=
	    address)
		return SWZ_INDEX_NONE;
	return swz_binding_function(binding, index, function->id);
}

bool swz_binding_is_jump(struct swz_binding *binding, uint64_t return_address,
			 uint32_t caller, uint32_t callee)
{
	const struct swz_profile *profile = binding->profile;
	struct swz_symbols *symbols;
	uint64_t bias, target;
	uint32_t module, called;

	if (!return_address || !SWZ_CATALOG_IS_REAL(caller))
		return false;
	module = module_of_call(binding, caller, return_address - 1);
	if (module == SWZ_INDEX_NONE)
		return false;
	bias = profile->modules[module].record.load_bias;
	symbols = swz_catalog_symbols(binding->catalog,
				      binding->modules[module]);
	if (!symbols ||
	    !swz_symbols_calls(symbols, return_address - bias, &target))
		return false;
	called = function_that_starts(binding, bias + target);
	return called != SWZ_INDEX_NONE && called != callee;
}
