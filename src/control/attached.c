#include "control/attached.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/process_start.h"
#include "control/stop.h"
#include "watch/clock.h"
#include "watch/proc_task.h"

bool swz_attached_fail(struct swz_attached *a, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(a->problem, sizeof(a->problem), format, arguments);
	va_end(arguments);
	return false;
}

bool swz_attached_stop_all(struct swz_attached *a, struct swz_stop *stop,
			   unsigned tries, bool *good)
{
	enum swz_stop_result result = swz_stop_all(stop, a->target.pid,
						   swz_attached_agent(a));

	*good = result == SWZ_STOP_DONE ||
		(result == SWZ_STOP_LATE && tries < SWZ_ATTACH_TRIES) ||
		swz_attached_fail(a, "%s", swz_stop_problem(result));
	return result == SWZ_STOP_DONE;
}

void swz_attached_end_stop(struct swz_attached *a, struct swz_stop *stop)
{
	uint64_t gathering_ns = stop->stopped_ns - stop->began_ns;
	uint64_t ns = swz_stop_end(stop);

	a->stops.count++;
	a->stops.sum_ns += ns;
	a->stops.gathering_ns += gathering_ns;
	if (ns > a->stops.longest_ns)
		a->stops.longest_ns = ns;
	if (ns - gathering_ns > a->stops.longest_work_ns)
		a->stops.longest_work_ns = ns - gathering_ns;
}

static double in_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

void swz_attached_tell_stops(const struct swz_attached *a,
			     char text[SWZ_STOPS_BYTES])
{
	const struct swz_stop_times *s = &a->stops;
	int length = snprintf(
		text, SWZ_STOPS_BYTES,
		"all threads stopped %u time%s: the longest for %.1f ms (%.1f "
		"with all stopped), %.1f ms in total (%.1f until all stopped)",
		s->count, s->count == 1 ? "" : "s", in_ms(s->longest_ns),
		in_ms(s->longest_work_ns), in_ms(s->sum_ns),
		in_ms(s->gathering_ns));

	if (a->borrower.stopped_ns)
		snprintf(text + length, SWZ_STOPS_BYTES - (size_t)length,
			 "; one thread alone for %.1f ms",
			 in_ms(a->borrower.stopped_ns));
}

void swz_attached_pause(unsigned tries)
{
	uint64_t ns = SWZ_ATTACH_PAUSE_NS * (1u + tries / 2);

	swz_stop_reap();
	swz_watch_rest(ns < SWZ_ATTACH_LONGEST_PAUSE_NS
			       ? ns
			       : SWZ_ATTACH_LONGEST_PAUSE_NS);
}

bool swz_attached_open(struct swz_attached *a, int32_t pid)
{
	*a = (struct swz_attached){.target = {.memory = -1}, .lock = -1};
	if (!swz_target_open(&a->target, pid))
		return swz_attached_fail(a, "its memory cannot be opened: %s",
					 strerror(errno));
	if (!swz_target_read_mappings(&a->target))
		return swz_attached_fail(a, "/proc/%d/maps cannot be read: %s",
					 (int)pid, strerror(errno));
	a->borrower.target = &a->target;
	return true;
}

void swz_attached_close(struct swz_attached *a)
{
	swz_borrow_end(&a->borrower);
	swz_target_close(&a->target);
	if (a->lock >= 0)
		close(a->lock);
	a->lock = -1;
}

static bool try_to_lock(struct swz_attached *a)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int length = snprintf(
		name.sun_path + 1, sizeof(name.sun_path) - 1,
		"swizzle-attach-%d-%llu", (int)a->target.pid,
		(unsigned long long)swz_process_start(a->target.pid));

	return bind(a->lock, (struct sockaddr *)&name,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				(size_t)length)) == 0;
}

bool swz_attached_lock(struct swz_attached *a, uint64_t wait_ns)
{
	uint64_t end = swz_watch_now() + wait_ns;

	a->lock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (a->lock < 0)
		return true; /* there are no sockets here */
	while (!try_to_lock(a)) {
		if (swz_watch_now() >= end)
			return swz_attached_fail(
				a, "it is being profiled by swizzle already: "
				   "by another swizzle-run -p");
		swz_watch_rest(SWZ_ATTACH_LOOK_NS);
	}
	return true;
}

/* ---------------------------------------------------------- taking turns */

/* What the process says is shown on our terminal, which takes some of it for
 * commands (C0, and C1 as UTF-8 has it). */
static void make_harmless(char *text, size_t bytes)
{
	uint8_t before = 0;

	for (size_t i = 0; i < bytes; i++) {
		uint8_t byte = (uint8_t)text[i];

		if ((byte && byte < ' ' && byte != '\n') || byte == 0x7f ||
		    (before == 0xc2 && byte >= 0x80 && byte < 0xa0))
			text[i] = '?';
		before = byte;
	}
}

bool swz_attached_read(struct swz_attached *a)
{
	struct swz_control *c = &a->control;

	if (!swz_target_read(&a->target, a->control_at, c, sizeof(*c)) ||
	    c->magic != SWZ_CONTROL_MAGIC ||
	    c->version != SWZ_CONTROL_VERSION || c->bytes != sizeof(*c))
		return false;
	c->path[sizeof(c->path) - 1] = '\0';
	make_harmless(c->path, sizeof(c->path));
	make_harmless(c->message, sizeof(c->message));
	return true;
}

bool swz_attached_set_state(const struct swz_attached *a, uint32_t state)
{
	return swz_target_write(
		&a->target, a->control_at + offsetof(struct swz_control, state),
		&state, sizeof(state));
}

uint32_t swz_attached_state(const struct swz_attached *a)
{
	uint32_t state = SWZ_CONTROL_FAILED;

	(void)swz_target_read(
		&a->target, a->control_at + offsetof(struct swz_control, state),
		&state, sizeof(state));
	return state;
}

/* Whether a task of the process is the library's own, by its name and by its
 * number there: the last one of NSpid. */
struct agent_search {
	int32_t pid, inner, found;
};

static void look_for_agent(void *context, int32_t tid)
{
	struct agent_search *s = context;
	char path[64], line[512];
	bool named = false;
	FILE *file;

	if (s->found)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)s->pid,
		 (int)tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "Name:", 5) == 0)
			named = strcmp(line, "Name:\tswizzle\n") == 0;
		if (named && last && strncmp(line, "NSpid:", 6) == 0 &&
		    atoi(last + 1) == s->inner)
			s->found = tid;
		if (!named)
			break;
	}
	if (file)
		fclose(file);
}

int32_t swz_attached_agent(const struct swz_attached *a)
{
	struct agent_search s = {.pid = a->target.pid,
				 .inner = a->control.agent_tid};
	char path[64];

	if (!s.inner)
		return 0;
	/* most often they are the same */
	look_for_agent(&s, s.inner);
	if (!s.found) {
		snprintf(path, sizeof(path), "/proc/%d/task", (int)s.pid);
		swz_proc_numbers(path, look_for_agent, &s);
	}
	return s.found;
}

bool swz_attached_beat(const struct swz_attached *a)
{
	uint64_t now = swz_watch_now();

	return swz_target_write(&a->target,
				a->control_at +
					offsetof(struct swz_control, heartbeat),
				&now, sizeof(now));
}

bool swz_attached_wait_while(struct swz_attached *a, uint32_t state,
			     uint64_t ns)
{
	uint64_t end = swz_watch_now() + ns;

	while (swz_attached_state(a) == state) {
		if (!swz_attached_beat(a) || swz_watch_now() > end)
			return false;
		swz_stop_reap();
		swz_watch_rest(SWZ_ATTACH_LOOK_NS);
	}
	return swz_attached_read(a);
}
