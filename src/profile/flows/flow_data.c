/* Flows through pipes, sockets, mutexes, condition variables and semaphores.
 * All have an order: bytes come out as they went in, a mutex has one holder at
 * a time. Where calls overlap, that order may be unknown; then there is no
 * flow. */

#include <stdlib.h>
#include <string.h>

#include "base/basics.h"
#include "profile/flows/flows.h"
#include "util/memory.h"

/* --- bytes in their order ------------------------------------------------ */

/* Bytes come out in the order in which they went in. So if the order of the
 * calls is known, so are the bytes that each has moved. Calls that overlap may
 * have had their turn in either order. Of two that receive the first to return
 * is known to be the first if nothing more was there yet when it did: then the
 * other one waited on. What is not known is skipped as a whole, and the bytes
 * are known again behind it.
 *
 * If more comes out than has gone in, somebody unseen has sent something, and
 * nothing is certain. */

/* Bytes that a call has sent. */
struct piece {
	struct swz_flow_call *call; /* NULL: not certain of which */
	uint64_t from, to;
};

struct stream {
	struct swz_flows *flows;
	bool messages, only_waiters;
	struct piece *pieces;
	size_t piece_count, next_piece;
	struct swz_flow_call **sent; /* by begin */
	uint64_t *sum;               /* of the bytes of those before */
	size_t sent_count;
	uint64_t initial;
	size_t first_flow; /* what is added is taken back from here */
	uint64_t received; /* calls */
	uint64_t doubted;  /* of these */
	bool is_wrong;
};

static uint64_t units(const struct stream *s, const struct swz_flow_call *call)
{
	return s->messages ? 1 : (uint64_t)call->result;
}

static void add_piece(struct stream *s, struct swz_flow_call *call,
		      uint64_t from, uint64_t bytes)
{
	s->pieces[s->piece_count++] = (struct piece){call, from, from + bytes};
}

static void order_sent(struct stream *s)
{
	uint64_t at = s->initial;
	size_t i, j, end;

	if (at)
		add_piece(s, NULL, 0, at);
	for (i = 0; i < s->sent_count; i = end) {
		uint64_t until = s->sent[i]->end, bytes = 0;

		for (end = i + 1;
		     end < s->sent_count && s->sent[end]->begin < until; end++)
			if (s->sent[end]->end > until)
				until = s->sent[end]->end;
		for (j = i; j < end; j++)
			bytes += units(s, s->sent[j]);
		add_piece(s, end - i == 1 ? s->sent[i] : NULL, at, bytes);
		at += bytes;
	}
	s->sum[0] = s->initial;
	for (i = 0; i < s->sent_count; i++)
		s->sum[i + 1] = s->sum[i] + units(s, s->sent[i]);
}

/* So much can have been sent by then. */
static uint64_t available(const struct stream *s, uint64_t ticks)
{
	size_t low;

	SWZ_PARTITION(low, s->sent_count, s->sent[low]->begin < ticks);
	return s->sum[low];
}

static void take(struct stream *s, struct swz_flow_call *call, uint64_t from)
{
	uint64_t to = from + units(s, call);
	bool doubted = false;
	size_t i;

	while (s->next_piece < s->piece_count &&
	       s->pieces[s->next_piece].to <= from)
		s->next_piece++;
	for (i = s->next_piece; i < s->piece_count && s->pieces[i].from < to;
	     i++) {
		struct swz_flow_call *sender = s->pieces[i].call;

		if (!sender) {
			doubted = s->pieces[i].to > s->initial;
			continue;
		}
		if (sender->begin >= call->end ||
		    (s->messages && sender->result < call->result &&
		     !s->only_waiters))
			s->is_wrong = true;
		else if (!s->only_waiters || sender->begin > call->begin)
			swz_flow_between(s->flows, sender, call);
	}
	s->doubted += doubted;
}

static int by_end(const void *left, const void *right)
{
	const struct swz_flow_call *a = *(struct swz_flow_call *const *)left;
	const struct swz_flow_call *b = *(struct swz_flow_call *const *)right;

	return a->end < b->end ? -1 : a->end > b->end;
}

/* Takes calls that overlap each other, or one alone. Returns where they end. */
static uint64_t take_group(struct stream *s, struct swz_flow_call **group,
			   size_t count, uint64_t at)
{
	uint64_t latest = 0, bytes = 0;
	size_t i, j;

	qsort(group, count, sizeof(struct swz_flow_call *), by_end);
	for (i = 0; i < count; i++) {
		uint64_t there = at + units(s, group[i]);

		for (latest = UINT64_MAX, j = i + 1; j < count; j++)
			if (group[j]->begin < latest)
				latest = group[j]->begin;
		if (i + 1 < count && latest < group[i]->end &&
		    available(s, group[i]->end) > there)
			break;
		take(s, group[i], at);
		at = there;
	}
	for (j = i; j < count; j++)
		bytes += units(s, group[j]);
	s->doubted += count - i;
	return at + bytes;
}

static uint64_t take_all(struct stream *s, struct swz_flow_call **received,
			 size_t count)
{
	uint64_t at = 0;
	size_t i, end;

	for (i = 0; i < count && !s->is_wrong; i = end) {
		uint64_t until = received[i]->end;

		for (end = i + 1; end < count && received[end]->begin < until;
		     end++)
			if (received[end]->end > until)
				until = received[end]->end;
		at = take_group(s, received + i, end - i, at);
		if (at > available(s, until))
			s->is_wrong = true;
	}
	return at;
}

void swz_flow_stream(struct swz_flows *flows, struct swz_flow_call **sent,
		     size_t sent_count, struct swz_flow_call **received,
		     size_t received_count, uint64_t initial, bool messages,
		     bool only_waiters)
{
	struct stream s = {.flows = flows,
			   .messages = messages,
			   .only_waiters = only_waiters,
			   .sent = sent,
			   .sent_count = sent_count,
			   .initial = initial,
			   .first_flow = flows->count};

	s.pieces = swz_allocate(sent_count + 2, sizeof(*s.pieces));
	s.sum = swz_allocate(sent_count + 1, sizeof(*s.sum));
	order_sent(&s);
	take_all(&s, received, received_count);
	if (s.is_wrong) {
		flows->count = s.first_flow;
		flows->doubts[SWZ_FLOW_OUTSIDE] += received_count;
	} else {
		flows->doubts[SWZ_FLOW_ORDER] += s.doubted;
	}
	free(s.pieces);
	free(s.sum);
}

/* --- pipes and sockets --------------------------------------------------- */

/* Bytes that go in at a file come out at its other end: of a pipe that is the
 * same file, of a socket its peer. They are counted from the beginning, so that
 * must have been recorded, and nobody else may have read or written there. */

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

/* Notes which files are born, which are each other's peers, and of which bytes
 * are missing. */
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

/* The calls of a file from *AT on that have moved something; others go. Sets
 * *CUT if one has not returned. */
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

/* --- mutexes ------------------------------------------------------------- */

/* A mutex has one holder at a time, and each holder's lock returns before it
 * unlocks, which is before the next one's lock returns. So the order in which
 * locks return is the order in which threads had it. Whoever had asked before
 * the last holder gave it up has waited for that. */

#define OWNER_DIED 130 /* EOWNERDEAD: it is locked all the same */

struct moment {
	struct swz_flow_call *call;
	uint64_t mutex, ticks;
	bool takes; /* else: gives up */
};

static int compare(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	if (a->call->process != b->call->process)
		return a->call->process < b->call->process ? -1 : 1;
	if (a->mutex != b->mutex)
		return a->mutex < b->mutex ? -1 : 1;
	return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

struct holder {
	uint32_t thread;
	unsigned depth;                    /* recursive mutexes; 0: nobody */
	const struct swz_flow_call *given; /* how it was given up last */
};

static void follow(struct swz_flows *flows, struct holder *h,
		   const struct moment *m)
{
	bool own = h->depth && h->thread == m->call->thread;

	if (!m->takes) {
		if (!own)
			return;
		if (--h->depth == 0)
			h->given = m->call;
		return;
	}
	if (own) {
		h->depth++;
		return;
	}
	if (h->depth)
		h->given = NULL; /* how it was given up was not seen */
	if (h->given && h->given->thread != m->call->thread &&
	    m->call->kind == SWZ_CALL_LOCK && h->given->begin > m->call->begin)
		swz_flow_between(flows, h->given, m->call);
	h->thread = m->call->thread;
	h->depth = 1;
}

/* True for each process that has locks which others may have, too, or of which
 * calls are missing. To be freed. */
static bool *find_unknown(const struct swz_flow_calls *calls)
{
	bool *unknown = swz_allocate(calls->profile_count + 1,
				     sizeof(*unknown));
	bool any_shared = false;
	size_t i;

	for (i = 0; i < calls->count; i++)
		any_shared |= calls->of[i].kind == SWZ_CALL_SHARED &&
			      calls->of[i].key == 1;
	for (i = 0; i < calls->profile_count; i++)
		unknown[i] = calls->lost[i] || any_shared;
	return unknown;
}

void swz_flow_match_locks(struct swz_flows *flows, struct swz_flow_calls *calls)
{
	struct swz_flow_call **list;
	struct moment *moments;
	struct holder holder = {0};
	bool *unknown = find_unknown(calls);
	size_t count, i, n = 0;

	list = swz_flow_calls_of(calls,
				 SWZ_CALLS(LOCK) | SWZ_CALLS(UNLOCK) |
					 SWZ_CALLS(COND_WAIT),
				 false, &count);
	moments = swz_allocate(2 * count + 1, sizeof(*moments));
	for (i = 0; i < count; i++) {
		struct swz_flow_call *call = list[i];
		bool waits = call->kind == SWZ_CALL_COND_WAIT;
		uint64_t mutex = waits ? call->other : call->key;

		if (call->kind == SWZ_CALL_UNLOCK || waits)
			moments[n++] = (struct moment){call, mutex, call->begin,
						       false};
		if (call->ended && (waits || (call->kind == SWZ_CALL_LOCK &&
					      (call->result == 0 ||
					       call->result == OWNER_DIED))))
			moments[n++] = (struct moment){call, mutex, call->end,
						       true};
	}
	if (n)
		qsort(moments, n, sizeof(*moments), compare);
	for (i = 0; i < n; i++) {
		const struct moment *m = &moments[i];

		if (!i || m[-1].mutex != m->mutex ||
		    m[-1].call->process != m->call->process)
			holder = (struct holder){0};
		if (!unknown[m->call->process])
			follow(flows, &holder, m);
	}
	free(moments);
	free(list);
	free(unknown);
}

/* --- condition variables and semaphores ---------------------------------- */

/* A wait on a condition is ended by a signal that came while it waited. If it
 * is the only one that waits then, it is certain that the signal was for it; if
 * several are, only a broadcast is for all of them. A semaphore's units are
 * like the bytes of a pipe. */

/* Waits that have begun, and none woke them yet. */
struct waiting {
	struct swz_flow_call **of;
	size_t count;
};

static void drop_ended(struct waiting *w, uint64_t ticks)
{
	size_t i, n = 0;

	for (i = 0; i < w->count; i++)
		if (!w->of[i]->has_cause && w->of[i]->end > ticks)
			w->of[n++] = w->of[i];
	w->count = n;
}

static void doubt(struct swz_flows *flows, struct swz_flow_call *wait)
{
	if (!wait->is_doubted && wait->ended && wait->result == 0)
		flows->doubts[SWZ_FLOW_ORDER]++;
	wait->is_doubted = true;
}

static void wake(struct swz_flows *flows, struct waiting *w,
		 const struct swz_flow_call *by)
{
	bool all = by->kind == SWZ_CALL_COND_WAKE_ALL, any_late = false;
	size_t i;

	for (i = 0; i < w->count; i++) /* it began while this was called */
		any_late |= w->of[i]->begin > by->begin;
	for (i = 0; i < w->count; i++) {
		struct swz_flow_call *wait = w->of[i];

		if (wait->is_doubted)
			continue;
		if (wait->begin > by->begin ||
		    (!all && (w->count > 1 || any_late))) {
			doubt(flows, wait);
			continue;
		}
		wait->has_cause = true;
		if (wait->ended && wait->result == 0)
			swz_flow_between(flows, by, wait);
	}
}

static bool is_wait(const struct swz_flow_call *call)
{
	return call->kind == SWZ_CALL_COND_WAIT;
}

static void match_condition(struct swz_flows *flows,
			    struct swz_flow_call **list, size_t count,
			    struct waiting *w)
{
	size_t i, j;

	w->count = 0;
	for (i = j = 0; i < count; i++) {
		if (is_wait(list[i]))
			continue;
		for (; j < count && list[j]->begin < list[i]->end; j++)
			if (is_wait(list[j]))
				w->of[w->count++] = list[j];
		drop_ended(w, list[i]->begin);
		wake(flows, w, list[i]);
	}
}

static bool same_object(const struct swz_flow_call *a,
			const struct swz_flow_call *b)
{
	return a->process == b->process && a->key == b->key;
}

static size_t end_of_object(struct swz_flow_call **list, size_t count, size_t i)
{
	size_t end = i + 1;

	while (end < count && same_object(list[i], list[end]))
		end++;
	return end;
}

static bool has_shared(const struct swz_flow_calls *calls)
{
	size_t i;

	for (i = 0; i < calls->count; i++)
		if (calls->of[i].kind == SWZ_CALL_SHARED &&
		    calls->of[i].key == 1)
			return true;
	return false;
}

static void match_conditions(struct swz_flows *flows,
			     struct swz_flow_calls *calls)
{
	struct waiting waiting;
	size_t count, i, end;
	struct swz_flow_call **list = swz_flow_calls_of(
		calls,
		SWZ_CALLS(COND_WAIT) | SWZ_CALLS(COND_WAKE) |
			SWZ_CALLS(COND_WAKE_ALL),
		false, &count);

	waiting.of = swz_allocate(count + 1, sizeof(struct swz_flow_call *));
	for (i = 0; i < count; i = end) {
		end = end_of_object(list, count, i);
		if (!calls->lost[list[i]->process])
			match_condition(flows, list + i, end - i, &waiting);
	}
	free(waiting.of);
	free(list);
}

/* From its sem_init to the next one. */
static void match_semaphore(struct swz_flows *flows,
			    struct swz_flow_call **list, size_t count,
			    struct swz_flow_call **posts,
			    struct swz_flow_call **waits)
{
	size_t i, post_count = 0, wait_count = 0;

	if (list[0]->kind != SWZ_CALL_SEM_INIT ||
	    list[0]->other & SWZ_SEM_SHARED)
		return;
	for (i = 1; i < count; i++) {
		if (!list[i]->ended) {
			if (list[i]->kind == SWZ_CALL_SEM_WAIT)
				continue;
			break;
		}
		if (list[i]->result)
			continue;
		if (list[i]->kind == SWZ_CALL_SEM_POST)
			posts[post_count++] = list[i];
		else
			waits[wait_count++] = list[i];
	}
	swz_flow_stream(flows, posts, post_count, waits, wait_count,
			list[0]->other, true, true);
}

static void match_semaphores(struct swz_flows *flows,
			     struct swz_flow_calls *calls)
{
	struct swz_flow_call **posts, **waits;
	size_t count, i, end;
	struct swz_flow_call **list = swz_flow_calls_of(
		calls,
		SWZ_CALLS(SEM_INIT) | SWZ_CALLS(SEM_POST) | SWZ_CALLS(SEM_WAIT),
		false, &count);

	posts = swz_allocate(count + 1, sizeof(struct swz_flow_call *));
	waits = swz_allocate(count + 1, sizeof(struct swz_flow_call *));
	for (i = 0; i < count; i = end) {
		for (end = i + 1; end < count &&
				  same_object(list[i], list[end]) &&
				  list[end]->kind != SWZ_CALL_SEM_INIT;)
			end++;
		if (!calls->lost[list[i]->process])
			match_semaphore(flows, list + i, end - i, posts, waits);
	}
	free(posts);
	free(waits);
	free(list);
}

void swz_flow_match_conditions(struct swz_flows *flows,
			       struct swz_flow_calls *calls)
{
	if (!has_shared(calls))
		match_conditions(flows, calls);
	match_semaphores(flows, calls);
}
