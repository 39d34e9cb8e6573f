/* Functions without a name are counted by module. A file that has its symbol
 * table may have some, which nobody can help; of one that was stripped, its
 * debug file has the names. */

#include "tools/dump/advice.h"

#include <stdlib.h>
#include <string.h>

#include "profile/names/catalog_modules.h"
#include "profile/names/symbols.h"
#include "profile/support/arith.h"
#include "profile/support/interpreters.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"
#include "tools/dump/message.h"

/* Less than this is not worth a line: of the time, in percent. */
#define LEAST_SHARE 5

enum { MOST_LINES = 2 }; /* one of each kind */

struct swz_dump_shown {
	bool present;
	int64_t self_ns, incl_ns;
};

/* Of a module. */
struct share {
	size_t rows, nameless;
	int64_t self_ns, nameless_ns;
};

struct swz_dump_advice swz_dump_advice_begin(
	struct swz_debug_packages *packages)
{
	return (struct swz_dump_advice){.packages = packages};
}

void swz_dump_advice_free(struct swz_dump_advice *advice)
{
	size_t i;

	for (i = 0; advice->lines && advice->lines[i]; i++)
		free(advice->lines[i]);
	free(advice->lines);
	free(advice->functions);
	*advice = (struct swz_dump_advice){0};
}

static void make_room(struct swz_dump_advice *advice, size_t count)
{
	size_t old = advice->capacity;

	if (count <= old)
		return;
	advice->functions = swz_reallocate(advice->functions, count,
					   sizeof(*advice->functions));
	memset(advice->functions + old, 0,
	       (count - old) * sizeof(*advice->functions));
	advice->capacity = count;
}

void swz_dump_advice_add(struct swz_dump_advice *advice,
			 const struct swz_report *report)
{
	size_t count = report->function_capacity, i;

	make_room(advice, count);
	for (i = 0; i < count; i++) {
		struct swz_dump_shown *function = &advice->functions[i];

		function->present |= report->functions[i].present;
		function->self_ns = swz_add(function->self_ns,
					    report->functions[i].self_ns);
		function->incl_ns = swz_add(
			function->incl_ns,
			swz_report_function(report, (uint32_t)i).inclusive_ns);
	}
	advice->total_ns = swz_add(advice->total_ns, report->total_ns);
}

static bool is_shown(const struct swz_dump_advice *advice,
		     const struct swz_catalog *catalog, uint32_t function,
		     const struct swz_dump_options *options)
{
	const struct swz_patterns *filters = &options->table.filters;

	return function < advice->capacity &&
	       advice->functions[function].present &&
	       catalog->functions[function].module != SWZ_INDEX_NONE &&
	       (!filters->count ||
		swz_patterns_match(filters, catalog, function, NULL));
}

/* For free(). */
static struct share *shares_of(const struct swz_dump_advice *advice,
			       const struct swz_catalog *catalog,
			       const struct swz_dump_options *options)
{
	struct share *shares = swz_allocate(catalog->module_count,
					    sizeof(*shares));
	uint32_t i;

	for (i = 0; i < catalog->function_count; i++) {
		const struct swz_catalog_function *f = &catalog->functions[i];
		struct share *share;
		int64_t ns;

		if (!is_shown(advice, catalog, i, options))
			continue;
		ns = advice->functions[i].self_ns;
		share = &shares[f->module];
		share->rows++;
		share->self_ns = swz_add(share->self_ns, ns);
		if (!f->nameless)
			continue;
		share->nameless++;
		share->nameless_ns = swz_add(share->nameless_ns, ns);
	}
	return shares;
}

static double percent(const struct swz_dump_advice *advice, int64_t ns)
{
	return advice->total_ns > 0
		       ? 100 * (double)ns / (double)advice->total_ns
		       : 0;
}

/* Takes LINE over. */
static void add_line(struct swz_dump_advice *advice, char *line)
{
	size_t count = 0;

	while (advice->lines[count])
		count++;
	advice->lines[count] = line;
}

/* ---- names ---- */

/* To be freed. */
static char *hex(const struct swz_catalog_module *module)
{
	char *text = swz_allocate(2 * module->build_id_bytes + 1, 1);
	size_t i;

	for (i = 0; i < module->build_id_bytes; i++) {
		text[2 * i] = "0123456789abcdef"[module->build_id[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[module->build_id[i] & 15];
	}
	return text;
}

/* Whether the file at the module's path is, to our knowledge, the one that was
 * profiled, on this machine. */
static bool is_here(const struct swz_catalog_module *module,
		    const struct swz_dump_options *options)
{
	return module->symbols && !module->doubtful && !options->files.root &&
	       swz_embedded_is_empty(&module->embedded);
}

/* What is to be done, as a sentence's beginning; to be freed. */
static char *first_help(const struct swz_dump_advice *advice,
			const struct swz_catalog_module *module,
			const char *build_id,
			const struct swz_dump_options *options)
{
	const struct swz_debug_package *package =
		is_here(module, options)
			? swz_debug_package_find(advice->packages, module->path,
						 build_id)
			: NULL;

	if (package && package->exact)
		return swz_print("Install %s", package->exact);
	if (package && package->owner && package->source)
		return swz_print("Install the -dbgsym or -dbg package of %s, "
				 "or of its source %s",
				 package->owner, package->source);
	if (package && package->owner)
		return swz_print("Install the -dbgsym or -dbg package of %s",
				 package->owner);
	if (package && package->has_no_owner)
		return swz_duplicate("Build it without stripping it");
	return swz_duplicate("Install its debug package");
}

static char *nameless_line(const struct swz_dump_advice *advice,
			   const struct swz_catalog_module *module,
			   const struct share *share,
			   const struct swz_dump_options *options)
{
	char *build_id = hex(module);
	char *help = first_help(advice, module, build_id, options);
	const char *servers = getenv("DEBUGINFOD_URLS");
	char *line = swz_print(
		"%s: %zu of %zu rows have no name (%.0f%% of the time). Its "
		"debug file has the names (%s%s). %s%s, or name the directory "
		"of the file with --debug-dir",
		module->path, share->nameless, share->rows,
		percent(advice, share->nameless_ns),
		*build_id ? "build-id " : "it has no build-id", build_id, help,
		*build_id && !(servers && *servers) ? ", set DEBUGINFOD_URLS"
						    : "");

	free(help);
	free(build_id);
	return line;
}

static bool lacks_names(const struct swz_dump_advice *advice,
			struct swz_catalog *catalog, uint32_t module,
			const struct share *share)
{
	struct swz_symbols *symbols;

	if (catalog->modules[module].path[0] != '/' || !share->nameless ||
	    percent(advice, share->nameless_ns) < LEAST_SHARE)
		return false;
	symbols = swz_catalog_symbols(catalog, module);
	return !symbols || swz_symbols_are_stripped(symbols);
}

/* One line: about the module with most time in nameless rows. */
static void find_nameless(struct swz_dump_advice *advice,
			  struct swz_catalog *catalog,
			  const struct share *shares,
			  const struct swz_dump_options *options)
{
	uint32_t worst = SWZ_INDEX_NONE, i;

	for (i = 0; i < catalog->module_count; i++)
		if ((worst == SWZ_INDEX_NONE ||
		     shares[i].nameless_ns > shares[worst].nameless_ns) &&
		    lacks_names(advice, catalog, i, &shares[i]))
			worst = i;
	if (worst != SWZ_INDEX_NONE)
		add_line(advice, nameless_line(advice, &catalog->modules[worst],
					       &shares[worst], options));
}

/* ---- interpreters ---- */

static bool defines(void *context, const char *symbol)
{
	return swz_symbols_define(context, symbol);
}

/* Code that it has made may have called what is hooked. */
static char *interpreter_line(const struct swz_catalog *catalog,
			      uint32_t module,
			      const struct swz_interpreter *interpreter)
{
	const char *path = catalog->modules[module].path;

	if (catalog->has_named_code)
		return swz_print("%s interprets %s: functions of the script "
				 "have the time of what they called. For "
				 "their own times record with swizzle-run "
				 "-m both",
				 path, interpreter->language);
	if (catalog->has_unnamed_code && interpreter->options)
		return swz_print("%s interprets %s: its rows are the "
				 "interpreter's C functions. To see the "
				 "script's own, record with swizzle-run -m "
				 "sample, or add to its command: %s",
				 path, interpreter->language,
				 interpreter->options);
	return swz_print("%s interprets %s: its rows are the interpreter's C "
			 "functions. %s",
			 path, interpreter->language,
			 interpreter->sampled
				 ? "To see the script's own, record with "
				   "swizzle-run -m sample"
				 : "The script's own are not recorded");
}

/* The one in which most time was spent. */
/* Whether scripts took time, as far as that can be told. */
static bool runs_scripts(const struct swz_dump_advice *advice,
			 const struct swz_catalog *catalog, uint32_t module,
			 const struct swz_interpreter *interpreter)
{
	if (!interpreter->runs)
		return true;
	for (size_t i = 0; i < catalog->function_count && i < advice->capacity;
	     i++)
		if (catalog->functions[i].module == module &&
		    catalog->functions[i].name &&
		    strcmp(catalog->functions[i].name, interpreter->runs) ==
			    0 &&
		    percent(advice, advice->functions[i].incl_ns) >=
			    LEAST_SHARE)
			return true;
	return false;
}

static void find_interpreter(struct swz_dump_advice *advice,
			     struct swz_catalog *catalog,
			     const struct share *shares)
{
	const struct swz_interpreter *interpreter = NULL;
	uint32_t i, most = 0;

	for (i = 0; i < catalog->module_count; i++) {
		const struct swz_interpreter *found;
		struct swz_symbols *symbols;

		if (percent(advice, shares[i].self_ns) < LEAST_SHARE ||
		    (interpreter && shares[i].self_ns <= shares[most].self_ns))
			continue;
		symbols = swz_catalog_symbols(catalog, i);
		found = symbols ? swz_interpreter_in(defines, symbols) : NULL;
		if (!found || !runs_scripts(advice, catalog, i, found))
			continue;
		interpreter = found;
		most = i;
	}
	if (interpreter)
		add_line(advice, interpreter_line(catalog, most, interpreter));
}

static bool is_wanted(const struct swz_dump_options *options)
{
	const char *wanted = getenv("SWIZZLE_ADVICE");

	return !options->quiet && !(wanted && strcmp(wanted, "0") == 0);
}

void swz_dump_advice_find(struct swz_dump_advice *advice,
			  struct swz_catalog *catalog,
			  const struct swz_dump_options *options,
			  struct swz_writer *writer)
{
	struct share *shares;

	/* what is written can be seen while others are asked */
	if (writer && writer->stream)
		(void)fflush(writer->stream);
	advice->lines = swz_allocate(MOST_LINES + 1, sizeof(*advice->lines));
	if (is_wanted(options)) {
		shares = shares_of(advice, catalog, options);
		find_nameless(advice, catalog, shares, options);
		/* of samples the script's functions are there */
		if (!catalog->samples)
			find_interpreter(advice, catalog, shares);
		free(shares);
	}
	if (writer)
		writer->advice = (const char *const *)advice->lines;
}

void swz_dump_advice_say(const struct swz_dump_advice *advice)
{
	size_t i;

	for (i = 0; advice->lines && advice->lines[i]; i++)
		swz_dump_complain("%s", advice->lines[i]);
}
