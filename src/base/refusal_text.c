#include "base/refusal_text.h"

#include <stddef.h>

const char *swz_refusal_text(unsigned int reason)
{
	static const char *const texts[] = {
#define X(symbol, text) [symbol] = (text),
		SWZ_REFUSALS(X)
#undef X
	};

	if (reason < sizeof(texts) / sizeof(texts[0]) && texts[reason])
		return texts[reason];
	return "a reason unknown to this version";
}
