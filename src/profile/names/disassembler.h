#ifndef SWZ_PROFILE_NAMES_DISASSEMBLER_H
#define SWZ_PROFILE_NAMES_DISASSEMBLER_H

#include <capstone/capstone.h>
#include <stdbool.h>

/* Opens capstone for x86-64, with details; for cs_close(). INTEL: in that
 * syntax, else in AT&T's. False: there is no memory. */
bool swz_disassembler_open(csh *handle, bool intel);

#endif
