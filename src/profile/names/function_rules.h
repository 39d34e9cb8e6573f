#ifndef SWZ_PROFILE_NAMES_FUNCTION_RULES_H
#define SWZ_PROFILE_NAMES_FUNCTION_RULES_H

/* Functions by patterns of names. A function is matched by the name that is
 * shown for it, and by each symbol at its address: as it is in the file, as it
 * is shown without parameters, and without template arguments. (If any pattern
 * has a parenthesis, also with parameters.) So does libswizzle.so. */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/config_file.h"
#include "profile/file/values.h"
#include "profile/names/catalog.h"
#include "swizzle/values.h"

/* --- patterns of names --------------------------------------------------- */

struct swz_patterns {
	const char **items; /* as fnmatch(3) takes them, or ! and such a one:
			     * not what matches */
	size_t count;
	size_t excluding; /* of these: with a ! */
	size_t capacity;
	bool with_parameters; /* one has a parenthesis */
};

/* PATTERN must outlive the patterns. */
void swz_patterns_add(struct swz_patterns *patterns, const char *pattern);
void swz_patterns_free(struct swz_patterns *patterns);

/* True if they choose a function of the catalog, which has its name: one
 * matches (or all have a !), and none with a ! does. If HITS is not NULL, it
 * has room for one per pattern, and those that match are set. */
bool swz_patterns_match(const struct swz_patterns *patterns,
			const struct swz_catalog *catalog, uint32_t function,
			bool *hits);

/* --- rules of the configuration ------------------------------------------ */

/* The configuration's rules for the functions of a catalog. */

struct swz_rules {
	const struct swz_config_file *config;
	struct swz_patterns *patterns; /* of each rule; of functions */
	char **texts;                  /* that these are of */
	struct swz_settings **of;      /* by function; NULL: none */
	uint8_t *known;
	size_t count;    /* functions */
	bool any_result; /* a condition is of a result */
	bool any_hidden; /* something is not to be shown */
};

/* The configuration must outlive it. */
void swz_rules_begin(struct swz_rules *rules,
		     const struct swz_config_file *config);
void swz_rules_free(struct swz_rules *rules);

/* The settings of a function that has its name; NULL: none. RULES may be NULL.
 */
const struct swz_settings *swz_rules_of(struct swz_rules *rules,
					const struct swz_catalog *catalog,
					uint32_t function);

/* True if the names of source files have to be known. */
bool swz_rules_need_files(const struct swz_config_file *config);

/* --- conditions on values ------------------------------------------------ */

/* Conditions of the configuration (options/config_file.h), of values that were
 * recorded. */

enum swz_verdict { SWZ_FAILS = 0, SWZ_HOLDS = 1, SWZ_UNDECIDED = 2 };

/* Decides by a value as a whole. A value that was cut may be undecided. */
enum swz_verdict swz_value_decide(const struct swz_value *value,
				  const struct swz_condition *condition);

/* Decides by the argument that an SWZ_IF_ARGUMENT names, or by the result. */
enum swz_verdict swz_values_decide(const struct swz_call_values *values,
				   const struct swz_condition *condition);

/* --- where arguments and results lie -------------------------------------- */

/* Where the arguments and results of functions lie, by their types in the debug
 * information: at the first instruction, where no location list is of use. */

/* Signatures that are being collected. */
struct swz_signature_builder {
	struct swz_signature *signatures;
	size_t count, capacity;
	struct swz_value_part *parts;
	size_t part_count, part_capacity;
	struct swz_value_type *types;
	uint64_t *type_keys; /* of each type's entry; 0: it has none */
	size_t type_count, type_capacity, key_capacity;
	struct swz_value_member *members;
	size_t member_count, member_capacity;
	char *text;
	size_t text_bytes, text_capacity;
	const struct swz_config_file *config; /* its printers; or NULL */
	struct swz_value_check *checks;
	size_t check_count, check_capacity;
};

void swz_signature_builder_free(struct swz_signature_builder *builder);

/* Values that are recorded besides, or alone. */
struct swz_signature_wish {
	bool object; /* of methods the object; of others the argument that a
		      * field begins with */
	char *const *fields; /* of these alone, if there are any */
	size_t field_count;
	/* These arguments and fields alone, if there are any. */
	const char *const *arguments;
	size_t argument_count;
	char *const *more; /* and of these besides */
	size_t more_count;
};

/* Adds the signature of a function at an ELF address; FUNCTION is its entry.
 * WISH may be NULL. False: nothing of it can be recorded. */
bool swz_signature_add(struct swz_signature_builder *builder,
		       Dwarf_Die *function, uint64_t address,
		       const struct swz_signature_wish *wish);

/* Checks a condition of an argument of the signature that was added last, if it
 * can be decided when a call begins. */
void swz_signature_add_check(struct swz_signature_builder *builder,
			     const struct swz_condition *condition);

/* One of a caller that has a mark. */
void swz_signature_add_backtrace(struct swz_signature_builder *builder,
				 unsigned levels, unsigned mark);

#endif
