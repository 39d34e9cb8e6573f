#ifndef SWZ_BASE_STATUS_H
#define SWZ_BASE_STATUS_H

/* Fallible functions return one of these; only SWZ_OK is success. */
enum swz_status {
	SWZ_OK = 0,
	SWZ_E_NOMEM,  /* memory or room ran out */
	SWZ_E_RANGE,  /* beyond the reach of a displacement */
	SWZ_E_FORMAT, /* malformed input */
	SWZ_E_SYSTEM, /* a system call failed */
	SWZ_E_NOTFOUND,
	SWZ_E_UNSUPPORTED
};

#define SWZ_MUST_CHECK __attribute__((warn_unused_result))

#endif
