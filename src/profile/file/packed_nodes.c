#include "profile/file/packed_nodes.h"

#include "base/number_bytes.h"

/* The first byte of a node: what is not there, as it is what most have. */
enum {
	SAME_SITE = 1,   /* as the function was called from last */
	OWN_CONTEXT = 2, /* it is one */
	SAME_PARENT = 4, /* as the node before */
	SAME_OUTER = 8,  /* as its ticks */
	ONE_CALL = 16,   /* which took the shortest and the longest time */
	NOT_OPEN = 32,   /* and no flags */
	UNUSED = 64      /* there is no more of it */
};
#define ALL_KINDS 127u

static bool is_one_call(const struct swz_node *n)
{
	return n->calls == 1 && n->min_ticks == (uint64_t)n->ticks &&
	       n->max_ticks == (uint64_t)n->ticks;
}

static uint8_t *put_signed(uint8_t *at, int64_t distance)
{
	return swz_number_put(at, swz_number_of_signed(distance));
}

/* Sums wrap around. */
static int64_t distance(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from);
}

static unsigned kind_of(const struct swz_packed_nodes *before, uint32_t unit,
			const struct swz_node *n)
{
	uint32_t place = n->function % SWZ_PACKED_NODES_SITES;
	unsigned kind = 0;

	if (before->functions[place] == n->function &&
	    before->sites[place] == n->call_site)
		kind |= SAME_SITE;
	if (n->context == unit)
		kind |= OWN_CONTEXT;
	if (n->parent == before->last_parent)
		kind |= SAME_PARENT;
	if (n->outer_ticks == n->ticks)
		kind |= SAME_OUTER;
	if (is_one_call(n))
		kind |= ONE_CALL;
	if (!n->open)
		kind |= NOT_OPEN;
	return kind;
}

static void note(struct swz_packed_nodes *before, const struct swz_node *n)
{
	uint32_t place = n->function % SWZ_PACKED_NODES_SITES;

	before->last_site = n->call_site;
	before->last_parent = n->parent;
	before->functions[place] = n->function;
	before->sites[place] = n->call_site;
}

unsigned swz_node_pack(uint8_t *to, struct swz_packed_nodes *before,
		       uint32_t unit, const struct swz_node *n)
{
	unsigned kind = kind_of(before, unit, n);
	uint8_t *at = to;

	if (n->function == SWZ_FUNCTION_NONE) {
		*to = UNUSED;
		return 1;
	}
	*at++ = (uint8_t)kind;
	at = swz_number_put(at, n->function);
	if (!(kind & SAME_SITE))
		at = put_signed(at, distance(before->last_site, n->call_site));
	if (!(kind & SAME_PARENT))
		at = put_signed(at, (int32_t)(unit - n->parent));
	if (!(kind & OWN_CONTEXT))
		at = put_signed(at, (int32_t)(unit - n->context));
	at = put_signed(at, n->ticks);
	if (!(kind & SAME_OUTER))
		at = put_signed(at, n->outer_ticks);
	if (!(kind & ONE_CALL)) {
		at = swz_number_put(at, n->calls);
		at = swz_number_put(at, n->min_ticks);
		at = put_signed(at, distance(n->min_ticks, n->max_ticks));
	}
	if (!(kind & NOT_OPEN))
		at = swz_number_put(at, n->open);
	note(before, n);
	return (unsigned)(at - to);
}

static bool get(const uint8_t **at, const uint8_t *limit, uint64_t *number)
{
	return swz_number_get(at, limit, UINT64_MAX, number);
}

static bool get_signed(const uint8_t **at, const uint8_t *limit,
		       int64_t *number)
{
	uint64_t bits;

	if (!get(at, limit, &bits))
		return false;
	*number = swz_number_to_signed(bits);
	return true;
}

/* *UNIT is given, or so far before the node's own. */
static bool get_unit(const uint8_t **at, const uint8_t *limit, bool given,
		     uint32_t own, uint32_t *unit)
{
	int64_t before;

	if (given)
		return true;
	if (!get_signed(at, limit, &before))
		return false;
	*unit = own - (uint32_t)before;
	return true;
}

static bool get_times(const uint8_t **at, const uint8_t *limit, unsigned kind,
		      struct swz_node *n)
{
	int64_t more = 0;

	if (!get_signed(at, limit, &n->ticks))
		return false;
	n->outer_ticks = n->ticks;
	if (!(kind & SAME_OUTER) && !get_signed(at, limit, &n->outer_ticks))
		return false;
	n->calls = 1;
	n->min_ticks = (uint64_t)n->ticks;
	if (!(kind & ONE_CALL) &&
	    (!get(at, limit, &n->calls) || !get(at, limit, &n->min_ticks) ||
	     !get_signed(at, limit, &more)))
		return false;
	n->max_ticks = n->min_ticks + (uint64_t)more;
	return true;
}

bool swz_node_unpack(const uint8_t **at, const uint8_t *limit,
		     struct swz_packed_nodes *before, uint32_t unit,
		     struct swz_node *node)
{
	struct swz_node n = {0};
	const uint8_t *from = *at;
	uint64_t number;
	int64_t site = 0;
	unsigned kind;

	if (from == limit || (kind = *from++) > ALL_KINDS)
		return false;
	if (kind & UNUSED) {
		*at = from;
		*node = n;
		return true;
	}
	if (!swz_number_get(&from, limit, UINT32_MAX, &number))
		return false;
	n.function = (uint32_t)number;
	n.call_site = before->sites[n.function % SWZ_PACKED_NODES_SITES];
	if (!(kind & SAME_SITE)) {
		if (!get_signed(&from, limit, &site))
			return false;
		n.call_site = before->last_site + (uint64_t)site;
	}
	n.parent = before->last_parent;
	n.context = unit;
	if (!get_unit(&from, limit, kind & SAME_PARENT, unit, &n.parent) ||
	    !get_unit(&from, limit, kind & OWN_CONTEXT, unit, &n.context) ||
	    !get_times(&from, limit, kind, &n))
		return false;
	if (!(kind & NOT_OPEN)) {
		if (!swz_number_get(&from, limit, UINT32_MAX, &number))
			return false;
		n.open = (uint32_t)number;
	}
	note(before, &n);
	*at = from;
	*node = n;
	return true;
}
