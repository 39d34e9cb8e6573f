#include "runtime/discovery/function.h"

#include <string.h>

#include "runtime/support/scratch.h"

#define INDEX_SHIFT 10

/* Code may lie far apart: more pages than this for each function are too many.
 */
#define MOST_PAGES 64u

void swz_functions_index(struct swz_module *m)
{
	const struct swz_function *f = m->functions;
	uint32_t n = m->function_count, at = 0;

	m->page_count = 0;
	if (!n)
		return;
	m->first_page = f[0].start >> INDEX_SHIFT;
	m->page_count = (f[n - 1].start >> INDEX_SHIFT) - m->first_page + 1;
	if (m->page_count > (uint64_t)MOST_PAGES * n)
		m->page_count = 0;
	m->page_index = swz_scratch_alloc((m->page_count + 1) *
					  sizeof(*m->page_index));
	if (!m->page_index)
		m->page_count = 0;
	for (uint64_t page = 0; page < m->page_count; page++) {
		uint64_t start = (m->first_page + page) << INDEX_SHIFT;

		while (f[at].start < start)
			at++;
		m->page_index[page] = at;
	}
	if (m->page_count)
		m->page_index[m->page_count] = n;
}

struct swz_function *swz_function_at(const struct swz_module *m,
				     uint64_t address)
{
	uint32_t low = 0, high = m->function_count;
	uint64_t page;

	if (!high || address < m->functions[0].start)
		return NULL;
	page = (address >> INDEX_SHIFT) - m->first_page;
	if (page < m->page_count) {
		low = m->page_index[page];
		high = m->page_index[page + 1];
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	low--;
	return address - m->functions[low].start < m->functions[low].size
		       ? &m->functions[low]
		       : NULL;
}

bool swz_function_returns_twice(const char *name)
{
	static const char *const names[] = {
		"setjmp",           "_setjmp",         "__setjmp",
		"sigsetjmp",        "__sigsetjmp",     "__sigjmp_save",
		"savectx",          "getcontext",      "__getcontext",
		"swapcontext",      "__swapcontext",   "vfork",
		"__vfork",          "__libc_vfork",    "clone",
		"__clone",          "clone3",          "__clone3",
		"__clone_internal", "__start_context", "__restore_rt",
	};

	if (name[0] == '_' && name[1] == 'Z') /* C++ */
		return false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

void swz_functions_refuse(struct swz_module *m, enum swz_refusal reason)
{
	for (uint32_t i = 0; i < m->function_count; i++)
		swz_function_refuse(&m->functions[i], reason);
}

void swz_functions_count(struct swz_module *m)
{
	memset(m->counts, 0, sizeof(m->counts));
	if (!m->in_scope)
		return;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!m->functions[i].is_piece)
			m->counts[m->functions[i].status]++;
}
