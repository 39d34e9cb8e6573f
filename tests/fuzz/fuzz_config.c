/* libFuzzer target: a configuration file (--config). What it accepts is used,
 * and what it refuses has a message with a line. Build with
 *   clang -fsanitize=fuzzer,address,undefined */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "options/config_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct swz_config_file *config)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct swz_rule *rule = &config->rules[i];
		struct swz_settings settings = {0};

		swz_settings_add(&settings, rule);
		free(swz_rule_functions(rule));
		(void)swz_rule_needs_values(rule);
		(void)swz_rule_matches_path(rule, "/usr/lib/libc.so.6");
		for (size_t c = 0; c < rule->condition_count; c++) {
			const struct swz_condition *of = &rule->conditions[c];

			(void)swz_condition_holds_integer(of, -1, c & 1);
			(void)swz_condition_holds_float(of, 0.5);
			if (of->operand == SWZ_OPERAND_TEXT)
				(void)swz_condition_holds_text(of, "text", 4);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char problem[SWZ_CONFIG_PROBLEM_BYTES] = "";
	struct swz_config_file config = {0};
	struct swz_value_names names = {0};

	(void)swz_value_names_read(&names, (const char *)data, size);
	swz_value_names_free(&names);

	if (swz_config_file_add(&config, "name", (const char *)data, size,
				problem))
		use(&config);
	else if (strncmp(problem, "name:", 5) != 0)
		abort();
	swz_config_file_free(&config);
	return 0;
}
