/* The variables of MPI's launchers come before Slurm's: where mpirun runs
 * inside a job step, SLURM_PROCID is that of mpirun. */

#include "base/labels.h"

#include <stdbool.h>
#include <string.h>

#include "base/output_name.h"

struct source {
	const char *label;
	bool is_number;
	const char *variables[5];
};

static const struct source sources[] = {
	{"rank",
	 true,
	 {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}},
	{"ranks", true, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}},
	{"job", false, {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"}},
	{"task", false, {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX"}},
	{"service.name", false, {"OTEL_SERVICE_NAME"}},
	{"pod", false, {"POD_NAME"}},
	{"namespace", false, {"POD_NAMESPACE"}},
	/* swizzle-run --caller: for swizzle-dump */
	{SWZ_LABEL_CALLER, false, {"SWIZZLE_CALLER"}},
};

static void add(struct swz_labels *labels, const char *name, const char *value)
{
	size_t first = strlen(name) + 1, second = strlen(value) + 1;

	if (second > SWZ_LABELS_BYTES ||
	    first + second > SWZ_LABELS_BYTES - labels->bytes)
		return;
	memcpy(labels->text + labels->bytes, name, first);
	memcpy(labels->text + labels->bytes + first, value, second);
	labels->bytes += first + second;
	labels->strings += 2;
}

/* At most nine digits. */
static bool is_number(const char *text)
{
	size_t n = 0;

	while (text[n] >= '0' && text[n] <= '9')
		n++;
	return n && n < 10 && !text[n];
}

static void add_first(struct swz_labels *labels, const struct source *source,
		      char *const *environment)
{
	const char *const *variable = source->variables;

	for (; *variable; variable++) {
		const char *value = swz_environment_value(
			environment, *variable, strlen(*variable));

		if (!value || !*value ||
		    (source->is_number && !is_number(value)))
			continue;
		add(labels, source->label, value);
		return;
	}
}

void swz_labels_read(struct swz_labels *labels, char *const *environment)
{
	char host[SWZ_HOST_NAME_BYTES];
	size_t i;

	labels->strings = 0;
	labels->bytes = 0;
	swz_host_name(host);
	if (host[0])
		add(labels, "host", host);
	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		add_first(labels, &sources[i], environment);
}
