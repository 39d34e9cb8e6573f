#ifndef SWZ_PROFILE_SUPPORT_COMPRESSED_H
#define SWZ_PROFILE_SUPPORT_COMPRESSED_H

/* Output that is compressed as it is written. */

#include "base/status.h"
#include "profile/support/output.h"

enum swz_compression { SWZ_PLAIN, SWZ_GZIP, SWZ_ZSTD };

/* By the name of a file: ".gz", ".zst". */
enum swz_compression swz_compression_of(const char *path);

/* All that is written from now on is compressed. SWZ_E_SYSTEM: it cannot be,
 * and the output is discarded. */
enum swz_status swz_output_compress(struct swz_output *output,
				    enum swz_compression compression)
	SWZ_MUST_CHECK;

#endif
