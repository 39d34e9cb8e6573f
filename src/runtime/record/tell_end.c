#include "runtime/record/tell_end.h"

#include <stdbool.h>

#include "base/run_summary.h"
#include "base/syscall.h"
#include "runtime/record/file_mapping.h"
#include "runtime/record/file_name.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"

static bool is_to_tell(void)
{
	const struct swz_run *run = &swz_config.run;

	return swz_file && swz_file_path()[0] && run->root_pid &&
	       !(swz_file->flags & SWZ_FILE_TOLD) &&
	       swz_file->pid == run->root_pid &&
	       swz_file->process_start == run->root_start &&
	       (int32_t)SWZ_SYSCALL(SYS_getpid) == run->root_pid;
}

void swz_tell_end(void)
{
	char text[SWZ_SUMMARY_BYTES];
	size_t length;

	if (!swz_config.summary || !is_to_tell())
		return;
	length = swz_run_summarize(&swz_config.run, text);
	if (length && swz_message_put_last(text, length))
		swz_file->flags |= SWZ_FILE_TOLD;
}
