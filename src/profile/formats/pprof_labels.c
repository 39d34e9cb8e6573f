#include "profile/formats/pprof_labels.h"

#include <string.h>

#include "profile/support/output.h"

/* Of a sum nobody knows which processes they were; NULL. */
static const char *program_of(const struct swz_profile *profile,
			      const char *unused)
{
	(void)unused;
	if (profile->header.flags & SWZ_FILE_MERGED &&
	    profile->header.merged_profiles > 1)
		return NULL;
	return swz_base_name(profile->executable);
}

/* NULL where they differ, or have none. */
static const char *common(const struct swz_section *section,
			  const char *(*of)(const struct swz_profile *profile,
					    const char *name),
			  const char *name)
{
	const char *value = of(section->profiles[0], name);
	size_t i;

	for (i = 1; i < section->profile_count && value; i++) {
		const char *other = of(section->profiles[i], name);

		if (!other || strcmp(other, value) != 0)
			value = NULL;
	}
	return value && *value ? value : NULL;
}

const char *swz_common_label(const struct swz_section *section,
			     const char *name)
{
	return common(section, swz_profile_label, name);
}

const char *swz_common_program(const struct swz_section *section)
{
	return common(section, program_of, NULL);
}

const char *swz_pprof_time(const struct swz_profile *profile)
{
	if (!(profile->header.flags & SWZ_FILE_SAMPLES))
		return "time";
	return profile->header.sample_flags & SWZ_SAMPLES_OF_WAITING ? "wall"
								     : "cpu";
}

size_t swz_pprof_labels(const struct swz_section *section,
			struct swz_pprof_label *labels)
{
	static const struct {
		const char *key, *name;
	} known[] = {{"service_name", "service.name"},
		     {"host", "host"},
		     {"job", "job"},
		     {"rank", "rank"},
		     {"pod", "pod"},
		     {"namespace", "namespace"}};
	const char *program = swz_common_program(section);
	size_t count = 0, i;

	if (program)
		labels[count++] = (struct swz_pprof_label){.key = "process",
							   .text = program};
	if (program && section->profile_count == 1)
		labels[count++] = (struct swz_pprof_label){
			.key = "pid",
			.number = (uint32_t)section->profile->header.pid};
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *value = swz_common_label(section, known[i].name);

		if (value)
			labels[count++] = (struct swz_pprof_label){
				.key = known[i].key, .text = value};
	}
	return count;
}
