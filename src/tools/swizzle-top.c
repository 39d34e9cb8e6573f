/* swizzle-top: where a program spends its time, while it runs. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/program.h"
#include "top/batch.h"
#include "top/options.h"
#include "top/session.h"

int main(int argc, char **argv)
{
	struct swz_top_options options;
	struct swz_top_session session;
	int status = EXIT_SUCCESS;

	if (argc < 1)
		return 2;
	options = swz_top_options_read(argv + 1);
	swz_top_session_begin(&session, &options, !options.batch);
	if (!swz_top_batch(&session)) {
		fprintf(stderr, "swizzle: standard output: %s\n",
			strerror(errno));
		status = EXIT_FAILURE;
	}
	if (session.sampler.problem[0]) {
		fprintf(stderr, "swizzle: %s\n", session.sampler.problem);
		status = EXIT_FAILURE;
	}
	/* it may be about to end, where the sampler knows that first */
	if (!status && session.ended)
		swz_top_await(&session.started);
	if (!status && session.started.ended)
		status = session.started.status;
	swz_top_session_end(&session);
	return status;
}
