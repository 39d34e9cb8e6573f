/* Bytes come out in the order in which they went in. So if the order of the
 * calls is known, so are the bytes that each has moved. Calls that overlap may
 * have had their turn in either order. Of two that receive the first to return
 * is known to be the first if nothing more was there yet when it did: then the
 * other one waited on. What is not known is skipped as a whole, and the bytes
 * are known again behind it.
 *
 * If more comes out than has gone in, somebody unseen has sent something, and
 * nothing is certain. */

#include <stdlib.h>

#include "profile/flows/calls.h"
#include "profile/support/memory.h"

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
	size_t low = 0, high = s->sent_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->sent[middle]->begin < ticks)
			low = middle + 1;
		else
			high = middle;
	}
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

/* Of calls that overlap each other, or one alone. Returns where they end. */
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
