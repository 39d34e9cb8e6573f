/* Functions are known by their symbol; static ones by their source file's name,
 * too. The numbers that compilers put behind names (f.constprop.3) are left
 * out, as one more in the same file changes them. Several functions of one name
 * are paired in their order or, if there are not equally many, by their hash.
 * What has no name is known by its hash alone. */

#include "profile/names/rebuilt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/output.h"

/* --- pairs --------------------------------------------------------------- */

struct entry {
	struct swz_code_function code;
	enum swz_code_change change;
	const struct entry *pair;
};

struct side {
	struct entry *entries; /* by address */
	struct entry **sorted; /* by what they are known by */
	size_t count;
};

static int compare_names(const struct swz_code_function *a,
			 const struct swz_code_function *b)
{
	int by;

	if (!a->name || !b->name)
		return (a->name != NULL) - (b->name != NULL);
	by = a->name == b->name ? 0 : strcmp(a->name, b->name);
	if (by || a->file == b->file)
		return by;
	return !a->file ? -1 : !b->file ? 1 : strcmp(a->file, b->file);
}

/* Without a name, by what it does. */
static int by_key(const void *left, const void *right)
{
	const struct swz_code_function *a =
		&(*(struct entry *const *)left)->code;
	const struct swz_code_function *b =
		&(*(struct entry *const *)right)->code;
	int by = compare_names(a, b);

	if (!by && !a->name && a->hash != b->hash)
		by = a->hash < b->hash ? -1 : 1;
	return by;
}

static int by_key_and_address(const void *left, const void *right)
{
	const struct entry *a = *(struct entry *const *)left;
	const struct entry *b = *(struct entry *const *)right;
	int by = by_key(left, right);

	return by ? by : (a > b) - (a < b);
}

static enum swz_status read_side(struct side *side, const char *path,
				 const struct swz_debug_files *files,
				 struct swz_intern *strings,
				 struct swz_build *build)
{
	struct swz_code_function *functions;
	enum swz_status status = swz_code_read(path, files, strings, build,
					       &functions, &side->count);
	size_t i;

	side->entries = swz_allocate(side->count + 1, sizeof(*side->entries));
	side->sorted = swz_allocate(side->count + 1, sizeof(void *));
	for (i = 0; i < side->count; i++) {
		side->entries[i] = (struct entry){.code = functions[i],
						  .change = SWZ_CODE_GONE};
		side->sorted[i] = &side->entries[i];
	}
	if (side->count > 1)
		qsort(side->sorted, side->count, sizeof(void *),
		      by_key_and_address);
	free(functions);
	return status;
}

static void free_side(struct side *side)
{
	free(side->entries);
	free(side->sorted);
}

static size_t end_of_group(const struct side *side, size_t from)
{
	size_t end = from;

	while (end < side->count &&
	       by_key(&side->sorted[end], &side->sorted[from]) == 0)
		end++;
	return end;
}

static void pair(struct entry *old, struct entry *new)
{
	bool same = old->code.hash == new->code.hash;

	old->change = same ? SWZ_CODE_SAME : SWZ_CODE_CHANGED;
	new->change = old->change;
	old->pair = same ? new : NULL;
	new->pair = old;
}

/* Functions of one name. */
static void pair_group(struct entry **old, size_t old_count, struct entry **new,
		       size_t new_count)
{
	size_t i, j;

	for (i = 0; old_count == new_count && i < old_count; i++)
		pair(old[i], new[i]);
	if (old_count == new_count)
		return;
	for (i = 0; i < old_count; i++) {
		if (new_count)
			old[i]->change = SWZ_CODE_CHANGED;
		for (j = 0; j < new_count; j++)
			if (!new[j]->pair &&new[j]->code.hash ==
			    old[i]->code.hash) {
				pair(old[i], new[j]);
				break;
			}
	}
}

static void pair_all(const struct side *old, const struct side *new)
{
	size_t i = 0, j = 0, i_end, j_end;

	for (; i < old->count || j < new->count; i = i_end, j = j_end) {
		int by = i == old->count ? 1
			 : j == new->count
				 ? -1
				 : by_key(&old->sorted[i], &new->sorted[j]);

		i_end = by > 0 ? i : end_of_group(old, i);
		j_end = by < 0 ? j : end_of_group(new, j);
		pair_group(old->sorted + i, i_end - i, new->sorted + j,
			   j_end - j);
	}
}

/* A compiler puts what is rarely executed into parts (f.cold), which are the
 * function's, too. */
static void spread_to_wholes(const struct side *side)
{
	size_t i;

	for (i = 0; i < side->count; i++) {
		const struct entry *part = side->sorted[i];
		const char *name = part->code.name;
		const char *cold = name ? strstr(name, ".cold") : NULL;
		struct entry key = *part, *wanted = &key, **found;

		if (!cold || part->change == SWZ_CODE_SAME)
			continue;
		key.code.name = name = swz_print("%.*s", (int)(cold - name),
						 name);
		found = bsearch(&wanted, side->sorted, side->count,
				sizeof(void *), by_key);
		free((char *)(uintptr_t)name);
		if (found && (*found)->change == SWZ_CODE_SAME) {
			(*found)->change = SWZ_CODE_CHANGED;
			(*found)->pair = NULL;
		}
	}
}

/* --- the result ---------------------------------------------------------- */

static bool is_whole(const struct entry *entry)
{
	return !entry->code.name || !strstr(entry->code.name, ".cold");
}

/* Without a symbol, as in tables. */
static const char *name_of(struct swz_rebuilt *rebuilt,
			   const struct swz_code_function *code)
{
	const char *interned;
	char *name;

	if (code->whole)
		return code->whole;
	name = swz_print("sub_%" PRIx64, code->address);
	interned = swz_intern(&rebuilt->strings, name);
	free(name);
	return interned;
}

static void keep_old(struct swz_rebuilt *rebuilt, const struct side *side)
{
	struct swz_old_function *last = NULL;
	size_t i;

	rebuilt->functions = swz_allocate(side->count + 1,
					  sizeof(*rebuilt->functions));
	for (i = 0; i < side->count; i++) {
		const struct entry *entry = &side->entries[i];

		if (!is_whole(entry))
			continue;
		/* of several names one may be gone, or lead elsewhere */
		if (last && last->address == entry->code.address) {
			if (entry->change > last->change)
				last->change = entry->change;
			continue;
		}
		last = &rebuilt->functions[rebuilt->count++];
		*last = (struct swz_old_function){
			.address = entry->code.address,
			.size = entry->code.size,
			.name = name_of(rebuilt, &entry->code),
			.new_address = entry->pair ? entry->pair->code.address
						   : 0,
			.change = entry->change};
	}
}

static void keep_new(struct swz_rebuilt *rebuilt, const struct side *side)
{
	struct swz_map taken = {0};
	size_t i;

	for (i = 0; i < rebuilt->count; i++)
		if (rebuilt->functions[i].change == SWZ_CODE_SAME)
			*swz_map_at(&taken, rebuilt->functions[i].new_address,
				    0) = 0;
	rebuilt->others = swz_allocate(side->count + 1,
				       sizeof(*rebuilt->others));
	for (i = 0; i < side->count; i++) {
		const struct swz_code_function *code = &side->entries[i].code;
		uint32_t *at;

		if (!is_whole(&side->entries[i]))
			continue;
		at = swz_map_at(&taken, code->address, 0);
		if (*at != SWZ_MAP_NONE)
			continue;
		*at = 0;
		rebuilt->others[rebuilt->other_count++] =
			(struct swz_new_function){code->address,
						  (uint32_t)code->size};
	}
	swz_map_free(&taken);
}

enum swz_status swz_rebuilt_compare(struct swz_rebuilt *rebuilt,
				    const char *old_path, const char *new_path,
				    const struct swz_debug_files *files,
				    const char **failed)
{
	struct side old = {0}, new = {0};
	enum swz_status status;

	*rebuilt = (struct swz_rebuilt){0};
	*failed = old_path;
	status = read_side(&old, old_path, files, &rebuilt->strings,
			   &rebuilt->old);
	if (status == SWZ_OK) {
		*failed = new_path;
		status = read_side(&new, new_path, files, &rebuilt->strings,
				   &rebuilt->new);
	}
	if (status == SWZ_OK) {
		pair_all(&old, &new);
		spread_to_wholes(&old);
		keep_old(rebuilt, &old);
		keep_new(rebuilt, &new);
	}
	free_side(&old);
	free_side(&new);
	if (status != SWZ_OK)
		swz_rebuilt_free(rebuilt);
	return status;
}

void swz_rebuilt_free(struct swz_rebuilt *rebuilt)
{
	free(rebuilt->old.path);
	free(rebuilt->new.path);
	free(rebuilt->functions);
	free(rebuilt->others);
	swz_intern_free(&rebuilt->strings);
	*rebuilt = (struct swz_rebuilt){0};
}

const struct swz_old_function *swz_rebuilt_find(
	const struct swz_rebuilt *rebuilt, uint64_t address)
{
	size_t low = 0, high = rebuilt->count;
	const struct swz_old_function *found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rebuilt->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	found = &rebuilt->functions[low - 1];
	return address == found->address ||
			       address - found->address < found->size
		       ? found
		       : NULL;
}

bool swz_build_is(const struct swz_build *build,
		  const struct swz_profile_module *module)
{
	size_t size = module->record.build_id_bytes;

	if (build->build_id_bytes || size)
		return size == build->build_id_bytes &&
		       memcmp(module->record.build_id, build->build_id, size) ==
			       0;
	return strcmp(swz_base_name(module->path),
		      swz_base_name(build->path)) == 0;
}
