#ifndef SWZ_TESTS_RUN_SUITE_H
#define SWZ_TESTS_RUN_SUITE_H

#include <check.h>

/* Runs the suite, frees it, and returns what main() is to return. */
int run_suite(Suite *suite);

#endif
