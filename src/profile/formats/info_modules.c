#include "profile/formats/info_modules.h"

#include <inttypes.h>
#include <string.h>

#include "base/refusal_text.h"
#include "profile/support/output.h"

/* A module that nothing was to be hooked in. */
static bool is_left_out(const struct swz_profile_module *module)
{
	unsigned int i;

	if (swz_module_is_code(module))
		return true;
	if (module->record.in_scope)
		return false;
	for (i = 0; i < SWZ_REFUSAL_SLOTS; i++)
		if (module->record.counts[i])
			return false;
	return true;
}

static size_t path_width(const struct swz_profile *profile)
{
	size_t width = 24;
	size_t i;

	for (i = 0; i < profile->module_count; i++) {
		size_t length = strlen(profile->modules[i].path);

		if (!is_left_out(&profile->modules[i]) && length > width &&
		    length <= 60)
			width = length;
	}
	return width;
}

/* What the user did not want is no refusal, and has a column of its own, if
 * there is any. */
static bool any_filtered(const struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < profile->module_count; i++)
		if (profile->modules[i].record.counts[SWZ_REFUSE_FILTERED])
			return true;
	return false;
}

static void put_module(FILE *stream, const struct swz_profile_module *module,
		       int width, bool filtered)
{
	const uint32_t *counts = module->record.counts;
	uint32_t left_out = counts[SWZ_REFUSE_FILTERED];
	int padding = width - (int)strlen(module->path);
	uint64_t others = 0;
	unsigned int i;

	for (i = 1; i < SWZ_REFUSAL_SLOTS; i++)
		others += counts[i];
	swz_put_text(stream, module->path);
	fprintf(stream, "%*s %9" PRIu64 " %9" PRIu32 " %9" PRIu64,
		padding > 0 ? padding : 0, "", others + counts[SWZ_PATCHED],
		counts[SWZ_PATCHED], others - left_out);
	if (filtered)
		fprintf(stream, " %9" PRIu32, left_out);
	putc('\n', stream);
	for (i = 1; i < SWZ_REFUSAL_SLOTS; i++)
		if (counts[i] && i != SWZ_REFUSE_FILTERED)
			fprintf(stream, "    %-*s %9" PRIu32 "\n", width + 16,
				swz_refusal_text(i), counts[i]);
}

static void put_left_out(FILE *stream, const struct swz_profile *profile)
{
	const char *separator = "\nnot in scope: ";
	size_t i;

	for (i = 0; i < profile->module_count; i++) {
		if (!is_left_out(&profile->modules[i]) ||
		    swz_profile_repeats_module(profile, i) ||
		    swz_module_is_no_file(&profile->modules[i]))
			continue;
		fputs(separator, stream);
		swz_put_text(stream, swz_base_name(profile->modules[i].path));
		separator = ", ";
	}
	if (separator[0] == ',')
		putc('\n', stream);
}

static void put_loads(FILE *stream, const struct swz_profile *profile,
		      size_t index)
{
	const struct swz_profile_module *module = &profile->modules[index];
	uint64_t loads = 0;
	bool loaded = false;
	size_t i;

	for (i = index; i < profile->module_count; i++)
		if (swz_profile_same_module(module, &profile->modules[i])) {
			loads += profile->modules[i].record.loads;
			loaded |= !profile->modules[i].record.unload_ticks;
		}
	swz_put_text(stream, swz_base_name(module->path));
	if (loads > 1)
		fprintf(stream, " (%" PRIu64 " times%s)", loads,
			loaded ? "" : ", unloaded");
	else if (!loaded)
		fputs(" (unloaded)", stream);
}

static void put_late(FILE *stream, const struct swz_profile *profile)
{
	const char *separator = "\nloaded later: ";
	size_t i;

	for (i = 0; i < profile->module_count; i++) {
		if (!profile->modules[i].record.load_ticks ||
		    swz_profile_repeats_module(profile, i))
			continue;
		fputs(separator, stream);
		put_loads(stream, profile, i);
		separator = ", ";
	}
	if (separator[0] == ',')
		putc('\n', stream);
}

/* Those that samples hit. */
static void put_sampled_modules(FILE *stream, const struct swz_profile *profile,
				int width)
{
	size_t i;

	fprintf(stream, "\n%-*s %9s\n", width, "module", "functions");
	for (i = 0; i < profile->module_count; i++) {
		const struct swz_profile_module *module = &profile->modules[i];
		int padding = width - (int)strlen(module->path);

		if (!module->record.function_count ||
		    swz_profile_repeats_module(profile, i))
			continue;
		swz_put_text(stream, module->path);
		fprintf(stream, "%*s %9" PRIu32 "\n", padding > 0 ? padding : 0,
			"", module->record.function_count);
	}
}

void swz_info_put_modules(FILE *stream, const struct swz_profile *profile)
{
	bool filtered = any_filtered(profile);
	int width = (int)path_width(profile);
	size_t i;

	if (profile->header.flags & SWZ_FILE_SAMPLES) {
		put_sampled_modules(stream, profile, width);
		return;
	}
	fprintf(stream, "\n%-*s %9s %9s %9s%s\n", width, "module", "functions",
		"patched", "refused", filtered ? "  filtered" : "");
	for (i = 0; i < profile->module_count; i++)
		if (!is_left_out(&profile->modules[i]) &&
		    !swz_profile_repeats_module(profile, i))
			put_module(stream, &profile->modules[i], width,
				   filtered);
	put_left_out(stream, profile);
	put_late(stream, profile);
}

/* Functions of one module that others import, by what was made of them. */
static void put_imports_of(FILE *stream, const struct swz_profile *profile,
			   size_t module, int width)
{
	uint64_t counts[SWZ_REFUSAL_SLOTS] = {0}, total = 0;
	const char *path = profile->modules[module].path;
	int padding = width - (int)strlen(path);
	size_t i;

	for (i = 0; i < profile->function_count; i++) {
		const struct swz_profile_function *f = &profile->functions[i];

		if (!(f->flags & SWZ_FUNCTION_IMPORT) || f->module != module ||
		    f->status >= SWZ_REFUSAL_SLOTS)
			continue;
		counts[f->status]++;
		total++;
	}
	if (!total)
		return;
	swz_put_text(stream, path);
	fprintf(stream, "%*s %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n",
		padding > 0 ? padding : 0, "", total, counts[SWZ_PATCHED],
		total - counts[SWZ_PATCHED]);
	for (i = 1; i < SWZ_REFUSAL_SLOTS; i++)
		if (counts[i])
			fprintf(stream, "    %-*s %9" PRIu64 "\n", width + 16,
				swz_refusal_text((unsigned int)i), counts[i]);
}

void swz_info_put_imports(FILE *stream, const struct swz_profile *profile)
{
	int width = (int)path_width(profile);
	bool any = false;
	size_t i;

	for (i = 0; i < profile->function_count; i++)
		any |= (profile->functions[i].flags & SWZ_FUNCTION_IMPORT) != 0;
	if (!any)
		return;
	fprintf(stream, "\n%-*s %9s %9s %9s\n", width, "imported from",
		"functions", "timed", "refused");
	for (i = 0; i < profile->module_count; i++)
		put_imports_of(stream, profile, i, width);
}
