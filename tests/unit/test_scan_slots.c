/* Which functions use the memory of their return address, by the rows of their
 * unwind table and the instructions in these. */

#include <check.h>
#include <string.h>

#include "runtime/discovery/return_slot.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/support/worker_threads.h"
#include "tests/unit/module_builder.h"
#include "tests/unit/run_suite.h"

#define CODE(text) text, sizeof(text) - 1

enum {
	START = MODULE_TEXT + 0x100,
	PATCHED = SWZ_PATCHED,
	READS = SWZ_REFUSE_READS_RETURN_SLOT,
	ODD = SWZ_REFUSE_NO_STANDARD_FRAME
};

static struct built_module built;

/* ------------------------------------------------- what it is surrounded by */

void swz_profile_calls_find(struct swz_profile_calls *calls,
			    const struct swz_module *module)
{
	(void)module;
	memset(calls, 0, sizeof(*calls));
}

void swz_frame_walker_note(const struct swz_module *module,
			   struct swz_function *function,
			   struct swz_decoder *decoder)
{
	(void)module;
	(void)function;
	(void)decoder;
}

bool swz_is_cold_part(const struct swz_module *module,
		      const struct swz_function *function,
		      const struct swz_cfi_row *first)
{
	(void)module;
	(void)function;
	(void)first;
	return false;
}

uint32_t swz_workers_portion(uint32_t usual)
{
	return usual;
}

void swz_workers_run(swz_workers_work *work, void *context, uint32_t count,
		     uint32_t portion)
{
	(void)portion;
	work(context, 0, count, 0);
}

/* ------------------------------------------------------------------ the tests
 */

/* CFA = rsp + 8; the return address at CFA - 8. */
static const uint8_t cie[] = {0x0c, 7, 8, 0x90, 1};

/* Rows: 4n: n bytes further; 0e n: CFA = rsp + n; 0c r n: register r + n; 0d r:
 * the register; 90 n: the return address at CFA - 8 n. */
static const struct {
	const char *what, *code;
	size_t size;
	const char *rows;
	size_t row_bytes;
	int status;
} functions[] = {
	{"leaf", CODE("\x48\x89\xf8\xc3"), CODE(""), PATCHED},
	{"push, pop", CODE("\x53\x5b\xc3"), CODE("\x41\x0e\x10\x41\x0e\x08"),
	 PATCHED},
	{"reads it", CODE("\x48\x03\x04\x24\xc3"), CODE(""), READS},
	{"reads it behind a push", CODE("\x53\x48\x03\x44\x24\x08\x5b\xc3"),
	 CODE("\x41\x0e\x10\x46\x0e\x08"), READS},
	{"reads what was pushed", CODE("\x53\x48\x03\x04\x24\x5b\xc3"),
	 CODE("\x41\x0e\x10\x45\x0e\x08"), PATCHED},
	{"reads it by %rbp", CODE("\x55\x48\x89\xe5\x48\x03\x45\x08\x5d\xc3"),
	 CODE("\x41\x0e\x10\x43\x0d\x06\x45\x0c\x07\x08"), READS},
	{"a row below the return address", CODE("\x58\xff\xe0"),
	 CODE("\x41\x0e\x00"), ODD},
	{"sub $24, %rsp, as the rows say", CODE("\x48\x83\xec\x18\x90\xc3"),
	 CODE("\x44\x0e\x20"), PATCHED},
	{"sub $24, %rsp, and other rows", CODE("\x48\x83\xec\x18\x90\xc3"),
	 CODE("\x44\x0e\x10"), ODD},
	/* at last it describes another frame: by %r10, with the return address
	 * 16 below; then nothing may have been popped */
	{"goes on elsewhere", CODE("\x90\x90\x41\xff\xe1"),
	 CODE("\x42\x0c\x0a\x08\x90\x02"), PATCHED},
	{"pops what it pushed, and goes on elsewhere",
	 CODE("\x53\x5b\x90\x41\xff\xe1"),
	 CODE("\x41\x0e\x10\x41\x0e\x08\x41\x0c\x0a\x08\x90\x02"), PATCHED},
	{"pops two of two, and goes on elsewhere",
	 CODE("\x53\x53\x5b\x5b\x90\x41\xff\xe1"),
	 CODE("\x42\x0e\x18\x42\x0e\x08\x41\x0c\x0a\x08\x90\x02"), PATCHED},
	{"pops the return address, and goes on elsewhere",
	 CODE("\x58\x90\x90\x41\xff\xe1"), CODE("\x42\x0c\x0a\x08\x90\x02"),
	 ODD},
	{"pops more than it pushed, and goes on elsewhere",
	 CODE("\x53\x5b\x58\x90\x41\xff\xe1"),
	 CODE("\x41\x0e\x10\x43\x0c\x0a\x08\x90\x02"), ODD},
	{"uses the stack when it is elsewhere",
	 CODE("\x90\x90\x48\x8b\x04\x24\x41\xff\xe1"),
	 CODE("\x42\x0c\x0a\x08\x90\x02"), ODD},
	{"uses %r12 when it is elsewhere",
	 CODE("\x90\x90\x49\x8b\x04\x24\x41\xff\xe1"),
	 CODE("\x42\x0c\x0a\x08\x90\x02"), PATCHED},
};

START_TEST(rows_and_instructions_are_asked)
{
	struct swz_fde fde = {.start = START,
			      .size = functions[_i].size,
			      .return_column = 16,
			      .code_align = 1,
			      .data_align = -8,
			      .cie_program = {cie, sizeof(cie)},
			      .program = {(const uint8_t *)functions[_i].rows,
					  functions[_i].row_bytes}};
	struct swz_function *f;

	module_begin(&built);
	f = module_function(&built, START, functions[_i].code,
			    functions[_i].size);
	f->fde = &fde;
	swz_scan_return_slot(&built.m, f, built.decoder);
	ck_assert_msg(f->status == functions[_i].status, "%s: %u",
		      functions[_i].what, f->status);
}
END_TEST

START_TEST(a_function_that_goes_to_a_wrapper_is_let_be)
{
	static const struct swz_wrapper wrapper;
	struct swz_function *f;

	module_begin(&built);
	f = module_function(&built, START, "\x48\x8b\x04\x24\xc3", 5);
	f->wrapper = &wrapper;
	swz_scan_return_slot(&built.m, f, built.decoder);
	ck_assert_int_eq(f->status, SWZ_PATCHED);
	f->wrapper = NULL;
	f->is_piece = true; /* without a table */
	swz_scan_return_slot(&built.m, f, built.decoder);
	ck_assert_int_eq(f->status, SWZ_PATCHED);
	f->is_piece = false;
	swz_scan_return_slot(&built.m, f, built.decoder);
	ck_assert_int_eq(f->status, SWZ_REFUSE_READS_RETURN_SLOT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scan_slots");
	TCase *t = tcase_create("scan_slots");

	tcase_add_loop_test(t, rows_and_instructions_are_asked, 0,
			    sizeof(functions) / sizeof(*functions));
	tcase_add_test(t, a_function_that_goes_to_a_wrapper_is_let_be);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
