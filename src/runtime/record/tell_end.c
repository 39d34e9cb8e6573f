#include "runtime/record/tell_end.h"

#include <stdbool.h>

#include "base/run_summary.h"
#include "base/syscall.h"
#include "runtime/record/file_mapping.h"
#include "runtime/record/file_name.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"

static bool is_there(void)
{
	return swz_file && swz_file_path()[0] && swz_config.run.root_pid;
}

/* The first process decides when all is known. */
static void remove_unused(void)
{
	if (is_there() && swz_config.run.only_used &&
	    swz_file->pid == (int32_t)SWZ_SYSCALL(SYS_getpid) &&
	    swz_run_is_unused(swz_file_path()))
		SWZ_SYSCALL(SYS_unlink, swz_file_path());
}

static bool is_root(void)
{
	const struct swz_run *run = &swz_config.run;

	return is_there() && swz_file->pid == run->root_pid &&
	       swz_file->process_start == run->root_start &&
	       (int32_t)SWZ_SYSCALL(SYS_getpid) == run->root_pid;
}

void swz_tell_end(void)
{
	char text[SWZ_SUMMARY_BYTES];
	size_t length;

	if (!is_root()) {
		remove_unused();
		return;
	}
	if (swz_file->flags & SWZ_FILE_TOLD ||
	    (!swz_config.summary && !swz_config.run.only_used))
		return;
	swz_config.run.end_ticks = swz_ticks();
	length = swz_run_summarize(&swz_config.run, text);
	if (length && swz_config.summary && swz_message_put_last(text, length))
		swz_file->flags |= SWZ_FILE_TOLD;
}
