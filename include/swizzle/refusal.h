#ifndef SWIZZLE_REFUSAL_H
#define SWIZZLE_REFUSAL_H

/* Why a function is not hooked. The value is stored in the profile
 * (struct swz_function_record.status), so values never change their meaning.
 * The second column is the name that users see. */
#define SWZ_REFUSALS(X) \
	X(SWZ_PATCHED, "patched") \
	X(SWZ_REFUSE_TOO_SHORT, "too short for a jump") \
	X(SWZ_REFUSE_BRANCH_INTO_SITE, "branch into the patch site") \
	X(SWZ_REFUSE_UNDECODABLE, "undecodable instruction") \
	X(SWZ_REFUSE_UNRELOCATABLE, "instruction that cannot be moved") \
	X(SWZ_REFUSE_READS_RETURN_SLOT, "reads its return address") \
	X(SWZ_REFUSE_TAIL_CALLS_READER, \
	  "tail-calls a function that reads its return address") \
	X(SWZ_REFUSE_RETURNS_TWICE, "returns twice") \
	X(SWZ_REFUSE_NO_STANDARD_FRAME, "no standard frame at entry") \
	X(SWZ_REFUSE_OVERLAPS, "overlaps another function") \
	X(SWZ_REFUSE_OUT_OF_REACH, "no trampoline memory within reach") \
	X(SWZ_REFUSE_FILTERED, "excluded by a filter") \
	X(SWZ_REFUSE_FOREIGN_RUNTIME, "runtime that looks code addresses up") \
	X(SWZ_REFUSE_UNWRITABLE, "code cannot be changed, or made executable") \
	X(SWZ_REFUSE_OWN_UNWINDER, "module with an unwinder of its own") \
	X(SWZ_REFUSE_WALKS_STACK, "walks the stack (patched, not recorded)") \
	X(SWZ_REFUSE_TEXT_RELOCATIONS, "module with text relocations") \
	X(SWZ_REFUSE_CALLEE_READS, \
	  "calls a function that reads its caller's return address") \
	X(SWZ_REFUSE_ADDRESS_TAKEN, "import whose address is taken") \
	X(SWZ_REFUSE_UNKNOWN_TARGET, "import that leads to something unknown") \
	X(SWZ_REFUSE_WRAPPED, \
	  "limits or replaces the process (patched, not recorded)") \
	X(SWZ_REFUSE_LIVE, "cannot be changed at once while it may run")

enum swz_refusal {
#define X(symbol, text) symbol,
	SWZ_REFUSALS(X)
#undef X
		SWZ_REFUSAL_COUNT
};

#define SWZ_REFUSAL_SLOTS 32 /* room in the file for reasons to come */

#endif
