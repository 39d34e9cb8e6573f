/* The runtime's configuration, where a test says nothing of its own: nothing is
 * asked for. */

#include "runtime/support/config.h"

struct swz_config swz_config;
