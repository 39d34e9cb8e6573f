#include <string.h>
#include "base/control.h"
struct swz_control swizzle_control = {
	.magic = SWZ_CONTROL_MAGIC,
	.version = SWZ_CONTROL_VERSION,
	.bytes = sizeof(swizzle_control),
	.handle = 1,
};
/* fails, with a text that a terminal would take for commands */
long swizzle_attach(const struct swz_attach_request *request);
long swizzle_attach(const struct swz_attach_request *request)
{
	(void)request;
	for (unsigned i = 0; i + 3 < sizeof(swizzle_control.message); i += 3)
		memcpy(swizzle_control.message + i, "\033\302\233", 3);
	swizzle_control.message_bytes = BYTES;
	swizzle_control.state = SWZ_CONTROL_FAILED;
	return 0;
}
