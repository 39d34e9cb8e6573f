/* What goes in at a file comes out at its other end: of a pipe that is the same
 * file, of a socket its peer. It is counted from the beginning, so that must
 * have been recorded, and nobody who was not may have had his hands on it. */

#include <stdlib.h>
#include <string.h>

#include "profile/flows/calls.h"
#include "profile/support/memory.h"

#define PEEKS 0x2u        /* MSG_PEEK */
#define OUT_OF_BAND 0x1u  /* MSG_OOB */
#define OF_ERRORS 0x2000u /* MSG_ERRQUEUE */
#define NO_FILE UINT64_MAX
#define STREAM 1u /* SOCK_STREAM */

static struct swz_flow_file *file_at(struct swz_flow_calls *calls,
				     uint64_t index)
{
	return index < calls->file_count ? &calls->files[index] : NULL;
}

/* Which files are born, which are each other's peers, and of which bytes are
 * missing. */
static void note_call(struct swz_flow_calls *calls,
		      const struct swz_flow_call *call)
{
	struct swz_flow_file *file = file_at(calls, call->key);
	struct swz_flow_file *other = file_at(calls, call->other);

	switch (call->kind) {
	case SWZ_CALL_PIPE:
	case SWZ_CALL_PAIR:
		if (!call->ended || call->result < 0 || !file || !other)
			break;
		file->born = other->born = true;
		file->peer = (uint32_t)call->other;
		other->peer = (uint32_t)call->key;
		if (call->kind == SWZ_CALL_PAIR)
			file->type = other->type = (uint16_t)(call->result &
							      0xf);
		break;
	case SWZ_CALL_ACCEPT:
		if (call->ended && file)
			file->born = true;
		break;
	case SWZ_CALL_CONNECT:
		if (file)
			file->born = true;
		break;
	case SWZ_CALL_OTHER_DATA:
		if (file)
			file->uncounted = true;
		break;
	case SWZ_CALL_RECEIVE:
	case SWZ_CALL_SEND:
		if (file && call->other & OUT_OF_BAND)
			file->uncounted = true;
		break;
	case SWZ_CALL_RECEIVE_SEVERAL:
	case SWZ_CALL_SEND_SEVERAL:
		if (file && call->result != 1 && call->result > 0)
			file->uncounted = true;
		break;
	default:
		break;
	}
}

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;

	while (size--)
		hash = (hash ^ *bytes++) * 0x100000001b3u;
	return hash;
}

/* Sockets whose addresses are each other's. A pair of addresses that two
 * connections had, one after the other, is nobody's. */
static void match_addresses(struct swz_flow_calls *calls)
{
	struct swz_map map = {0};
	size_t i;

	for (i = 0; i < calls->file_count; i++) {
		const struct swz_flow_file *f = &calls->files[i];
		uint32_t *at;

		if (!f->has_addresses || f->type != STREAM)
			continue;
		at = swz_map_at(&map, hash_of(f->addresses, 18),
				hash_of(f->addresses + 18, 18));
		*at = *at == SWZ_MAP_NONE ? (uint32_t)i : SWZ_MAP_NONE - 1;
	}
	for (i = 0; i < calls->file_count; i++) {
		struct swz_flow_file *f = &calls->files[i];
		uint32_t own, peer;

		if (!f->has_addresses || f->type != STREAM)
			continue;
		own = swz_map_get(&map, hash_of(f->addresses, 18),
				  hash_of(f->addresses + 18, 18));
		peer = swz_map_get(&map, hash_of(f->addresses + 18, 18),
				   hash_of(f->addresses, 18));
		if (own == i && peer < calls->file_count && peer != i &&
		    memcmp(f->addresses, calls->files[peer].addresses + 18,
			   18) == 0 &&
		    memcmp(f->addresses + 18, calls->files[peer].addresses,
			   18) == 0)
			f->peer = peer;
	}
	swz_map_free(&map);
}

/* When a process has made its latest call, or executed something the last time
 * (in another thread's name, after vfork); by pid. */
static void note_latest(struct swz_map *latest, uint64_t *times, uint64_t pid,
			uint64_t ticks)
{
	uint32_t *at = swz_map_at(latest, pid, 0);

	if (*at == SWZ_MAP_NONE) {
		*at = (uint32_t)(latest->count - 1);
		times[*at] = 0;
	}
	if (ticks > times[*at])
		times[*at] = ticks;
}

/* A process that has executed a program of which there is no profile has taken
 * its files along. Returns when the first one did, or UINT64_MAX. An attempt
 * that failed is one behind which the same process has gone on. */
static uint64_t first_unseen(const struct swz_flow_calls *calls)
{
	uint64_t first = UINT64_MAX;
	uint64_t *times = swz_allocate(calls->count + calls->profile_count + 1,
				       sizeof(*times));
	struct swz_map latest = {0};
	size_t i;

	for (i = 0; i < calls->profile_count; i++)
		note_latest(&latest, times,
			    (uint64_t)calls->profiles[i]->header.pid,
			    calls->profiles[i]->header.start_ticks);
	for (i = 0; i < calls->count; i++) {
		const struct swz_flow_call *call = &calls->of[i];
		const struct swz_file_header *h =
			&calls->profiles[call->process]->header;

		note_latest(&latest, times,
			    call->kind == SWZ_CALL_EXEC ? call->key
							: (uint64_t)h->pid,
			    call->begin);
	}
	for (i = 0; i < calls->count; i++) {
		const struct swz_flow_call *call = &calls->of[i];
		uint32_t at = call->kind == SWZ_CALL_EXEC
				      ? swz_map_get(&latest, call->key, 0)
				      : SWZ_MAP_NONE;

		if (at != SWZ_MAP_NONE && times[at] <= call->begin &&
		    call->begin < first)
			first = call->begin;
	}
	swz_map_free(&latest);
	free(times);
	return first;
}

/* Splices are two calls. */
static void split(struct swz_flow_calls *calls)
{
	size_t i, count = calls->count;

	for (i = 0; i < count; i++) {
		struct swz_flow_call both = calls->of[i], *other;

		if (both.kind != SWZ_CALL_SPLICE && both.kind != SWZ_CALL_TEE)
			continue;
		swz_grow(&calls->of, &calls->capacity, calls->count,
			 sizeof(*calls->of));
		other = &calls->of[calls->count++];
		*other = both;
		other->kind = SWZ_CALL_SEND;
		other->key = both.other;
		other->other = 0;
		/* (tee takes nothing out) */
		calls->of[i].kind = both.kind == SWZ_CALL_TEE
					    ? SWZ_CALL_KINDS
					    : SWZ_CALL_RECEIVE;
		calls->of[i].other = 0;
	}
}

/* Those of a file from *AT on that have moved something; others go. Sets *CUT
 * if one has not returned. */
static size_t of_file(struct swz_flow_call **list, size_t count, size_t *at,
		      uint64_t file, uint64_t *cut, struct swz_flow_call **to)
{
	size_t n = 0;

	while (*at < count && list[*at]->key < file)
		++*at;
	for (; *at < count && list[*at]->key == file; ++*at) {
		struct swz_flow_call *call = list[*at];

		if (call->other & (PEEKS | OF_ERRORS))
			continue;
		if (!call->ended && call->begin < *cut)
			*cut = call->begin;
		if (call->ended && call->result > 0)
			to[n++] = call;
	}
	return n;
}

static size_t before(struct swz_flow_call **list, size_t count, uint64_t cut)
{
	while (count && list[count - 1]->begin >= cut)
		count--;
	return count;
}

static void match_file(struct swz_flows *flows, struct swz_flow_calls *calls,
		       const struct swz_flow_file *file,
		       struct swz_flow_call **sent, size_t sent_count,
		       struct swz_flow_call **received, size_t received_count,
		       uint64_t cut, uint64_t unseen)
{
	const struct swz_flow_file *peer = file->peer == SWZ_INDEX_NONE
						   ? NULL
						   : &calls->files[file->peer];
	size_t kept;

	if (!received_count)
		return;
	if (calls->any_lost) {
		flows->doubts[SWZ_FLOW_LOST] += received_count;
		return;
	}
	if (!peer || !file->born || !peer->born || file->uncounted ||
	    peer->uncounted ||
	    (unseen != UINT64_MAX &&
	     (file->since < unseen || peer->since < unseen))) {
		flows->doubts[SWZ_FLOW_OUTSIDE] += received_count;
		return;
	}
	/* one that was killed may have moved something, too */
	kept = before(received, received_count, cut);
	flows->doubts[SWZ_FLOW_ORDER] += received_count - kept;
	swz_flow_stream(flows, sent, before(sent, sent_count, cut), received,
			kept, 0, file->is_socket && file->type != STREAM,
			false);
}

void swz_flow_match_data(struct swz_flows *flows, struct swz_flow_calls *calls)
{
	struct swz_flow_call **sends, **receives, **sent, **received;
	size_t send_count, receive_count, at = 0, i;
	uint64_t unseen = first_unseen(calls);

	split(calls);
	for (i = 0; i < calls->count; i++)
		note_call(calls, &calls->of[i]);
	match_addresses(calls);
	sends = swz_flow_calls_of(calls,
				  SWZ_CALLS(SEND) | SWZ_CALLS(SEND_SEVERAL),
				  true, &send_count);
	receives = swz_flow_calls_of(
		calls, SWZ_CALLS(RECEIVE) | SWZ_CALLS(RECEIVE_SEVERAL), true,
		&receive_count);
	sent = swz_allocate(send_count + 1, sizeof(struct swz_flow_call *));
	received = swz_allocate(receive_count + 1,
				sizeof(struct swz_flow_call *));
	for (i = 0; i < calls->file_count; i++) {
		struct swz_flow_file *file = &calls->files[i];
		uint64_t cut = UINT64_MAX;
		size_t from, in, out;

		/* (both lists are sorted by file, the peers are not) */
		out = of_file(receives, receive_count, &at, i, &cut, received);
		for (from = 0, in = send_count;
		     file->peer != SWZ_INDEX_NONE && from < in;) {
			size_t middle = from + (in - from) / 2;

			if (sends[middle]->key < file->peer)
				from = middle + 1;
			else
				in = middle;
		}
		in = file->peer == SWZ_INDEX_NONE
			     ? 0
			     : of_file(sends, send_count, &from, file->peer,
				       &cut, sent);
		match_file(flows, calls, file, sent, in, received, out, cut,
			   unseen);
	}
	free(sends);
	free(receives);
	free(sent);
	free(received);
}
