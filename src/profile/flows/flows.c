/* A flow leads from one thread's call to another one's: from a write to the
 * read that took it. All calls that can begin or end one are read from the
 * traces into one array; each kind of flow is then matched by its own rule
 * (flow_data.c, flow_tasks.c). What is not certain is no flow: it is counted as
 * a doubt. */

#include "profile/flows/flows.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/basics.h"
#include "profile/file/reader.h"
#include "profile/file/values.h"
#include "util/memory.h"

/* --- calls --------------------------------------------------------------- */

/* An entry and its return are two records. A return belongs to the latest entry
 * of the same node that has not returned; what was entered behind that one was
 * given up. */

/* As in src/runtime/record/value_signatures.c. */
static const struct {
	const char *name;
	uint8_t kind;
} functions[] = {
	{"pthread_create", SWZ_CALL_CREATE},
	{"pthread_join", SWZ_CALL_JOIN},
	{"pthread_tryjoin_np", SWZ_CALL_JOIN},
	{"pthread_timedjoin_np", SWZ_CALL_JOIN},
	{"pthread_clockjoin_np", SWZ_CALL_JOIN},
	{"fork", SWZ_CALL_FORK},
	{"posix_spawn", SWZ_CALL_SPAWN},
	{"posix_spawnp", SWZ_CALL_SPAWN},
	{"wait4", SWZ_CALL_WAIT},
	{"waitid", SWZ_CALL_WAIT},
	{"pipe", SWZ_CALL_PIPE},
	{"pipe2", SWZ_CALL_PIPE},
	{"socketpair", SWZ_CALL_PAIR},
	{"accept", SWZ_CALL_ACCEPT},
	{"accept4", SWZ_CALL_ACCEPT},
	{"connect", SWZ_CALL_CONNECT},
	{"read", SWZ_CALL_RECEIVE},
	{"readv", SWZ_CALL_RECEIVE},
	{"recv", SWZ_CALL_RECEIVE},
	{"recvfrom", SWZ_CALL_RECEIVE},
	{"recvmsg", SWZ_CALL_RECEIVE},
	{"recvmmsg", SWZ_CALL_RECEIVE_SEVERAL},
	{"write", SWZ_CALL_SEND},
	{"writev", SWZ_CALL_SEND},
	{"send", SWZ_CALL_SEND},
	{"sendto", SWZ_CALL_SEND},
	{"sendmsg", SWZ_CALL_SEND},
	{"sendmmsg", SWZ_CALL_SEND_SEVERAL},
	{"sendfile", SWZ_CALL_SEND},
	{"sendfile64", SWZ_CALL_SEND},
	{"splice", SWZ_CALL_SPLICE},
	{"tee", SWZ_CALL_TEE},
	{"vmsplice", SWZ_CALL_OTHER_DATA},
	{"pthread_mutex_lock", SWZ_CALL_LOCK},
	{"pthread_mutex_trylock", SWZ_CALL_LOCK},
	{"pthread_mutex_timedlock", SWZ_CALL_LOCK},
	{"pthread_mutex_clocklock", SWZ_CALL_LOCK},
	{"pthread_mutex_unlock", SWZ_CALL_UNLOCK},
	{"pthread_mutexattr_setpshared", SWZ_CALL_SHARED},
	{"pthread_cond_wait", SWZ_CALL_COND_WAIT},
	{"pthread_cond_timedwait", SWZ_CALL_COND_WAIT},
	{"pthread_cond_clockwait", SWZ_CALL_COND_WAIT},
	{"pthread_cond_signal", SWZ_CALL_COND_WAKE},
	{"pthread_cond_broadcast", SWZ_CALL_COND_WAKE_ALL},
	{"pthread_condattr_setpshared", SWZ_CALL_SHARED},
	{"sem_init", SWZ_CALL_SEM_INIT},
	{"sem_post", SWZ_CALL_SEM_POST},
	{"sem_wait", SWZ_CALL_SEM_WAIT},
	{"sem_timedwait", SWZ_CALL_SEM_WAIT},
	{"sem_clockwait", SWZ_CALL_SEM_WAIT},
	{"sem_trywait", SWZ_CALL_SEM_WAIT},
	{"sigaction", SWZ_CALL_HANDLER},
	{"kill", SWZ_CALL_KILL},
	{"sigqueue", SWZ_CALL_KILL},
	{"tgkill", SWZ_CALL_KILL_TID},
	{"pthread_kill", SWZ_CALL_KILL_THREAD},
	{"pthread_sigqueue", SWZ_CALL_KILL_THREAD},
	{"exec", SWZ_CALL_EXEC},
};
#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

/* The function of libc. */
static const char *flow_call_name(const struct swz_flow_call *call)
{
	return functions[call->number].name;
}

static uint32_t number_of(const char *name)
{
	uint32_t i;

	for (i = 0; i < FUNCTION_COUNT; i++)
		if (strcmp(functions[i].name, name) == 0)
			return i;
	return SWZ_INDEX_NONE;
}

/* --------------------------------------------------------------- files */

#define NO_FILE UINT64_MAX

static uint32_t file_of(struct swz_flow_calls *calls, uint64_t device,
			uint64_t inode, uint64_t ticks)
{
	uint32_t *index = swz_map_at(&calls->by_inode, device, inode);
	struct swz_flow_file *file;

	if (*index == SWZ_MAP_NONE) {
		*index = (uint32_t)calls->file_count;
		swz_grow(&calls->files, &calls->file_capacity,
			 calls->file_count, sizeof(*file));
		file = &calls->files[calls->file_count++];
		*file = (struct swz_flow_file){
			.inode = inode, .peer = SWZ_INDEX_NONE, .since = ticks};
	}
	file = &calls->files[*index];
	if (ticks < file->since)
		file->since = ticks;
	return *index;
}

/* The file that a value stands for, if data comes out of it as it went in. */
static uint64_t file_of_value(struct swz_flow_calls *calls,
			      const struct swz_value *value, uint64_t ticks)
{
	struct swz_file_value from;
	uint32_t index;

	if (!value || value->plain.size != sizeof(from))
		return NO_FILE;
	memcpy(&from, value->plain.bytes, sizeof(from));
	if (!S_ISFIFO(from.mode) && !S_ISSOCK(from.mode))
		return NO_FILE;
	index = file_of(calls, from.device, from.inode, ticks);
	calls->files[index].is_socket = S_ISSOCK(from.mode);
	return index;
}

/* 16 bytes, as IPv6 has it, and the port. */
static bool put_address(uint8_t to[18], const uint8_t *from, uint16_t bytes)
{
	uint16_t family;

	memcpy(&family, from, sizeof(family));
	memset(to, 0, 18);
	memcpy(to + 16, from + 2, 2);
	if (family == AF_INET && bytes >= 8) {
		to[10] = to[11] = 0xff;
		memcpy(to + 12, from + 4, 4);
		return true;
	}
	if (family != AF_INET6 || bytes < 24)
		return false;
	memcpy(to, from + 8, 16);
	return true;
}

/* Sockets lie in one file system. Its number is in the values of files. */
static void note_socket(struct swz_flow_calls *calls, uint64_t device,
			const uint8_t *bytes, size_t size, uint64_t ticks)
{
	struct swz_socket_value value;
	struct swz_flow_file *file;

	if (size < sizeof(value))
		return;
	memcpy(&value, bytes, sizeof(value));
	file = &calls->files[file_of(calls, device, value.inode, ticks)];
	file->is_socket = true;
	file->type = value.type;
	file->has_addresses =
		put_address(file->addresses, value.own, value.own_bytes) &&
		put_address(file->addresses + 18, value.peer, value.peer_bytes);
}

/* --------------------------------------------------------------- calls */

/* A call that has been entered. */
struct entered {
	uint32_t node;
	uint32_t call; /* into calls->of */
};

struct reading {
	struct swz_flow_calls *calls;
	const struct swz_profile *profile;
	uint32_t process, thread;
	uint32_t *numbers; /* of the functions of the profile's signatures */
	struct entered *open;
	size_t open_count, open_capacity;
	uint64_t socket_device;
	struct swz_call_values values;
};

static uint64_t word_of(const struct swz_value *value)
{
	uint64_t word = 0;
	size_t size;

	if (!value || value->plain.bad || !value->plain.bytes)
		return 0;
	size = value->plain.size < 8 ? value->plain.size : 8;
	memcpy(&word, value->plain.bytes, size);
	if (value->type->kind == SWZ_TYPE_SIGNED && size == 4)
		word = (uint64_t)(int64_t)(int32_t)word;
	return word;
}

static const struct swz_value *nth(const struct swz_call_values *values,
				   size_t n, bool pointed)
{
	size_t i;

	for (i = 0; i < values->count; i++)
		if (values->values[i].pointed == pointed && !n--)
			return &values->values[i];
	return NULL;
}

static bool has_file(enum swz_flow_call_kind kind)
{
	return kind == SWZ_CALL_CONNECT ||
	       (kind >= SWZ_CALL_RECEIVE && kind <= SWZ_CALL_OTHER_DATA);
}

static void note_device(struct reading *r, const struct swz_value *value)
{
	struct swz_file_value file;

	if (!value || value->plain.size != sizeof(file))
		return;
	memcpy(&file, value->plain.bytes, sizeof(file));
	if (S_ISSOCK(file.mode))
		r->socket_device = file.device;
}

static void set_entry(struct reading *r, struct swz_flow_call *call)
{
	const struct swz_call_values *v = &r->values;

	call->key = word_of(nth(v, 0, false));
	call->other = word_of(nth(v, 1, false));
	if (call->kind == SWZ_CALL_CREATE)
		call->key = 0;              /* that is where it starts */
	if (call->kind == SWZ_CALL_HANDLER) /* one that asks sets none */
		call->is_doubted = !nth(v, 1, false) ||
				   nth(v, 1, false)->plain.bad;
	if (call->kind == SWZ_CALL_SEM_INIT)
		call->other = (uint32_t)word_of(nth(v, 2, false)) |
			      (call->other ? SWZ_SEM_SHARED : 0);
	if (!has_file(call->kind))
		return;
	note_device(r, nth(v, 0, false));
	call->key = file_of_value(r->calls, nth(v, 0, false), call->begin);
	if (call->kind == SWZ_CALL_SPLICE || call->kind == SWZ_CALL_TEE)
		call->other = file_of_value(r->calls, nth(v, 1, false),
					    call->begin);
}

static void set_return(struct reading *r, struct swz_flow_call *call)
{
	const struct swz_call_values *v = &r->values;

	call->result = (int64_t)word_of(nth(v, 0, false));
	switch (call->kind) {
	case SWZ_CALL_CREATE:
	case SWZ_CALL_SPAWN:
		call->key = word_of(nth(v, 0, true));
		break;
	case SWZ_CALL_WAIT:
		call->key = nth(v, 0, true) ? word_of(nth(v, 0, true))
					    : (uint64_t)call->result;
		break;
	case SWZ_CALL_ACCEPT:
		note_device(r, nth(v, 0, false));
		call->key = file_of_value(r->calls, nth(v, 0, false),
					  call->begin);
		break;
	case SWZ_CALL_PIPE:
	case SWZ_CALL_PAIR:
		note_device(r, nth(v, 0, true));
		if (call->kind == SWZ_CALL_PAIR)
			call->result = call->result ? -1 : (int64_t)call->key;
		call->key = file_of_value(r->calls, nth(v, 0, true),
					  call->begin);
		call->other = file_of_value(r->calls, nth(v, 1, true),
					    call->begin);
		break;
	default:
		break;
	}
}

static struct swz_flow_call *add_call(struct reading *r, uint32_t number,
				      uint64_t ticks)
{
	struct swz_flow_calls *calls = r->calls;
	struct swz_flow_call *call;

	swz_grow(&calls->of, &calls->capacity, calls->count, sizeof(*call));
	call = &calls->of[calls->count++];
	*call = (struct swz_flow_call){.kind = functions[number].kind,
				       .process = r->process,
				       .thread = r->thread,
				       .number = number,
				       .begin = ticks,
				       .end = UINT64_MAX};
	return call;
}

static void enter(struct reading *r, uint32_t number, uint32_t node,
		  uint64_t ticks)
{
	struct swz_flow_call *call = add_call(r, number, ticks);

	swz_grow(&r->open, &r->open_capacity, r->open_count, sizeof(*r->open));
	r->open[r->open_count++] = (struct entered){
		node, (uint32_t)(call - r->calls->of)};
	set_entry(r, call);
}

static void leave(struct reading *r, uint32_t number, uint32_t node,
		  uint64_t ticks)
{
	struct swz_flow_call *call;
	size_t i = r->open_count;

	while (i && r->open[i - 1].node != node)
		i--;
	if (!i) /* a forked child's return from fork, for one */
		return;
	r->open_count = i - 1;
	call = &r->calls->of[r->open[i - 1].call];
	if (call->number != number)
		return;
	call->ended = true;
	call->end = ticks;
	set_return(r, call);
}

static void read_record(struct reading *r, struct swz_value_reader *reader,
			const struct swz_value_item *item)
{
	const struct swz_value_record *record = &item->record;
	struct swz_flow_thread *thread;
	struct swz_flow_call *call;
	uint32_t number;
	uint64_t word = 0;

	if (item->size >= sizeof(word))
		memcpy(&word, item->bytes, sizeof(word));
	switch (record->kind) {
	case SWZ_VALUES_SOCKET:
		note_socket(r->calls, r->socket_device, item->bytes, item->size,
			    record->ticks);
		return;
	case SWZ_VALUES_EXEC:
		call = add_call(r, (uint32_t)FUNCTION_COUNT - 1, record->ticks);
		call->key = word;
		return;
	case SWZ_VALUES_THREAD:
		thread = &r->calls->threads[r->calls->thread_count - 1];
		thread->self = word;
		return;
	case SWZ_VALUES_ENTRY:
	case SWZ_VALUES_RETURN:
		break;
	default:
		return;
	}
	if (!item->signature)
		return;
	number = r->numbers[item->signature - r->profile->signatures];
	if (number == SWZ_INDEX_NONE)
		return;
	swz_values_decode(reader, item, &r->values);
	if (record->kind == SWZ_VALUES_ENTRY)
		enter(r, number, record->node, record->ticks);
	else
		leave(r, number, record->node, record->ticks);
}

static void read_thread(struct reading *r, const struct swz_profile_thread *t)
{
	struct swz_flow_calls *calls = r->calls;
	struct swz_value_reader *reader;
	struct swz_value_item item;

	swz_grow(&calls->threads, &calls->thread_capacity, calls->thread_count,
		 sizeof(*calls->threads));
	calls->threads[calls->thread_count++] = (struct swz_flow_thread){
		.process = r->process,
		.thread = r->thread,
		.start = t->record.start_ticks,
		.last = t->last_ticks};
	r->open_count = 0;
	if (t->value_chunk_count && t->value_chunks[0].number)
		calls->lost[r->process] = true; /* --ring */
	reader = swz_values_open(r->profile, t);
	while (reader && swz_values_next(reader, &item))
		read_record(r, reader, &item);
	swz_values_close(reader);
}

/* True if calls may have been made that nothing was written of. */
static bool has_lost(const struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < profile->mark_count; i++)
		if (profile->marks[i].kind == SWZ_MARK_PAUSED ||
		    profile->marks[i].kind == SWZ_MARK_PROCESS_PAUSED ||
		    profile->marks[i].kind == SWZ_MARK_DETACHED)
			return true;
	return profile->header.lost_values || profile->header.lost_calls ||
	       profile->header.flags & SWZ_FILE_FILTERED ||
	       swz_profile_damaged(profile);
}

static int compare_threads(const void *left, const void *right)
{
	const struct swz_flow_thread *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->self != b->self)
		return a->self < b->self ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static void read_profile(struct reading *r)
{
	const struct swz_profile *profile = r->profile;
	size_t i;

	r->numbers = swz_allocate(profile->signature_count + 1,
				  sizeof(*r->numbers));
	for (i = 0; i < profile->signature_count; i++) {
		const struct swz_profile_signature *s = &profile->signatures[i];
		const char *name = "";

		if (s->entry_parts + s->return_parts)
			name = swz_signature_text(
				s->set, s->set->types[s->parts->type].name);
		r->numbers[i] = number_of(name);
	}
	for (i = 0; i < profile->thread_count; i++) {
		r->thread = (uint32_t)i;
		read_thread(r, &profile->threads[i]);
	}
	free(r->numbers);
}

void swz_flow_calls_read(struct swz_flow_calls *calls,
			 struct swz_profile *const *profiles, size_t count)
{
	struct reading r = {.calls = calls};
	size_t i;

	*calls = (struct swz_flow_calls){.profiles = profiles,
					 .profile_count = count};
	calls->lost = swz_allocate(count + 1, sizeof(*calls->lost));
	for (i = 0; i < count; i++) {
		if (!(profiles[i]->header.flags & SWZ_FILE_FLOWS))
			continue;
		r.profile = profiles[i];
		r.process = (uint32_t)i;
		calls->lost[i] = has_lost(profiles[i]);
		read_profile(&r);
		calls->any_lost |= calls->lost[i];
	}
	free(r.open);
	if (calls->thread_count)
		qsort(calls->threads, calls->thread_count,
		      sizeof(*calls->threads), compare_threads);
}

void swz_flow_calls_free(struct swz_flow_calls *calls)
{
	free(calls->of);
	free(calls->files);
	free(calls->threads);
	free(calls->lost);
	swz_map_free(&calls->by_inode);
}

/* ---------------------------------------------------------------- lists */

static int compare_calls(const struct swz_flow_call *a,
			 const struct swz_flow_call *b)
{
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int by_key(const void *left, const void *right)
{
	return compare_calls(*(struct swz_flow_call *const *)left,
			     *(struct swz_flow_call *const *)right);
}

static int by_process(const void *left, const void *right)
{
	const struct swz_flow_call *a = *(struct swz_flow_call *const *)left;
	const struct swz_flow_call *b = *(struct swz_flow_call *const *)right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return compare_calls(a, b);
}

struct swz_flow_call **swz_flow_calls_of(const struct swz_flow_calls *calls,
					 uint64_t kinds, bool all_processes,
					 size_t *count)
{
	struct swz_flow_call **list;
	size_t i, n = 0;

	for (i = 0; i < calls->count; i++)
		n += kinds >> calls->of[i].kind & 1;
	list = swz_allocate(n + 1, sizeof(struct swz_flow_call *));
	for (i = n = 0; i < calls->count; i++)
		if (kinds >> calls->of[i].kind & 1)
			list[n++] = &calls->of[i];
	if (n)
		qsort(list, n, sizeof(struct swz_flow_call *),
		      all_processes ? by_key : by_process);
	*count = n;
	return list;
}

/* --- flows and their order ----------------------------------------------- */

struct swz_flow_end swz_flow_at_begin(const struct swz_flow_call *call)
{
	/* within the call, whose begin is an event at this tick */
	return (struct swz_flow_end){call->process, call->thread,
				     call->begin + 1, flow_call_name(call)};
}

struct swz_flow_end swz_flow_at_end(const struct swz_flow_call *call)
{
	return (struct swz_flow_end){call->process, call->thread, call->end,
				     flow_call_name(call)};
}

void swz_flow_add(struct swz_flows *flows, struct swz_flow_end from,
		  struct swz_flow_end to)
{
	if (from.ticks > to.ticks)
		from.ticks = to.ticks;
	swz_grow(&flows->of, &flows->capacity, flows->count,
		 sizeof(*flows->of));
	flows->of[flows->count++] = (struct swz_flow){from, to};
}

void swz_flow_between(struct swz_flows *flows, const struct swz_flow_call *from,
		      const struct swz_flow_call *to)
{
	swz_flow_add(flows, swz_flow_at_begin(from), swz_flow_at_end(to));
}

int swz_flow_places_compare(const void *left, const void *right)
{
	const struct swz_flow_place *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

void swz_flows_free(struct swz_flows *flows)
{
	if (!flows)
		return;
	free(flows->of);
	free(flows->places);
	free(flows);
}

/* ------------------------------------------------------------------ reading */

static size_t first_place(const struct swz_flows *flows, uint32_t process,
			  uint32_t thread, uint64_t ticks)
{
	const struct swz_flow_place key = {process, thread, ticks, 0, false};
	size_t low;

	SWZ_PARTITION(low, 2 * flows->count,
		      swz_flow_places_compare(&flows->places[low], &key) < 0);
	return low;
}

void swz_flow_reader_begin(struct swz_flow_reader *reader,
			   const struct swz_flows *flows, size_t process,
			   size_t thread, uint64_t from)
{
	*reader = (struct swz_flow_reader){.flows = flows};
	if (!flows)
		return;
	reader->next = first_place(flows, (uint32_t)process, (uint32_t)thread,
				   from);
	reader->end = first_place(flows, (uint32_t)process,
				  (uint32_t)thread + 1, 0);
}

const struct swz_flow *swz_flow_reader_next(struct swz_flow_reader *reader,
					    uint64_t until, bool *is_to)
{
	const struct swz_flow_place *place;

	if (reader->next >= reader->end)
		return NULL;
	place = &reader->flows->places[reader->next];
	if (place->ticks > until)
		return NULL;
	reader->next++;
	*is_to = place->is_to;
	return &reader->flows->of[place->flow];
}

char *swz_flows_doubts(const struct swz_flows *flows)
{
	static const char *const why[SWZ_FLOW_DOUBTS] = {
		[SWZ_FLOW_OUTSIDE] = "the other end was not recorded",
		[SWZ_FLOW_ORDER] = "calls overlap",
		[SWZ_FLOW_LOST] = "calls are missing in the traces"};
	char *text = NULL, *more;
	size_t i;

	for (i = 0; i < SWZ_FLOW_DOUBTS; i++) {
		if (!flows->doubts[i])
			continue;
		more = swz_print("%s%" PRIu64 " flow%s not matched, as %s",
				 text ? text : "", flows->doubts[i],
				 flows->doubts[i] == 1 ? "" : "s", why[i]);
		free(text);
		text = swz_print("%s; ", more);
		free(more);
	}
	if (text)
		text[strlen(text) - 2] = '\0';
	return text;
}
