# shellcheck shell=bash
# --imports: calls that go through the caller's GOT into libraries that are not
# hooked, for all ways in which such an entry is bound, and the calls that must
# be left as they are.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets imports libimports.so libpatching.so late pointers libpointers.so \
	overwritten
RUN_OPTIONS=(--imports)

# The calls that each thread has made, against what it says.
check_threads() { # PROGRAM
	local tid times calls
	assert_same_as_native "$1" threads ids
	assert_complete profile
	assert_calls profile writer 4 write 100
	assert_eq 4 "$(wc -l <ids)" 'threads'
	while read -r tid times; do
		dump_table profile --tid "$tid" -F write
		calls=$(row table calls write)
		assert_eq "$times" "${calls:-0}" 'writes of a thread'
		assert_eq 1 "$(grep -vc -e '^#' -e ' function ' table)" \
			'rows with -F write'
	done <ids
}

# setjmp to cancellation: as native, and counted.
check_all() { # PROGRAM
	assert_same_as_native "$1"
	assert_complete profile
	assert_readable profile
	# qsort: thrown through 10 times, jumped out of once; write: 10 times by
	# the handler, and in the child
	assert_calls profile qsort 11 getppid 10 read 1 fork 1 system 1 \
		sigsuspend 10 write 10 setjmp 0 _setjmp 0 vfork 0 dlsym 0 dlopen 0
	dump_table profile
	assert_eq 10 "$(unwound table qsort)" 'calls of qsort that were thrown'
	assert_eq 1 "$(unwound table read)" 'calls of read that were cancelled'
	callees_of profile reader | tr ' ' '\n' >callees
	assert_matches callees '^read$'
	# of the forked child; the other one is the shell's
	for child in profile.*; do
		case $("$DUMP" -q -f info "$child") in
		*executable:*"${1##*/}"*) mv "$child" profile.forked ;;
		esac
	done
	assert_eq 1 "$(calls_of profile.forked write)" 'writes of the child'
	assert_eq 1 "$(calls_of profile.forked _exit)" 'calls of _exit'
	rm -f profile.*
}

it 'each thread'\''s calls of write'
check_threads "$TARGETS/imports"
it 'what returns twice, reads its return address, throws or is cancelled'
check_all "$TARGETS/imports"

it 'nothing of it without the option'
RUN_OPTIONS=()
assert_same_as_native "$TARGETS/imports"
assert_calls profile qsort 0 getppid 0 write 0
rm -f profile.*
SWIZZLE_IMPORTS=1 assert_same_as_native "$TARGETS/imports"
assert_calls profile qsort 11 getppid 10
rm -f profile.*
RUN_OPTIONS=(--imports)


build() { # NAME FLAG...
	local name=$1
	shift
	if ! g++ -O2 -g -pthread -o "$name" "$TOP/tests/targets/imports.cc" \
		"$@" 2>build.err; then
		echo "not built here: $name ($*): $(head -n 1 build.err)"
		return 1
	fi
}
if have 'other ways of linking' g++; then
	it 'bound lazily'
	build lazy -Wl,-z,lazy && check_threads ./lazy && check_all ./lazy
	it 'bound by LD_BIND_NOW'
	export LD_BIND_NOW=1
	[ ! -x lazy ] || check_all ./lazy
	unset LD_BIND_NOW
	it 'bound at once and read-only'
	build now -Wl,-z,now -Wl,-z,relro && check_threads ./now &&
		check_all ./now && assert_contains out 'GOT r--p'
	it 'called through the GOT, without a PLT'
	build no_plt -fno-plt && check_threads ./no_plt && check_all ./no_plt
	it 'at a fixed address'
	build fixed -no-pie -fno-pie -Wl,-z,lazy && check_threads ./fixed &&
		check_all ./fixed
	it 'functions in scope that cannot be patched'
	cat >refused.cc <<-'EOF'
		#include <cstdio>
		extern "C" long no_one_byte(long), no_reads_by_index(long), loop_to_0(long);
		int main()
		{
			for (int i = 0; i < 10; i++) {
				no_one_byte(i);
				no_reads_by_index(i);
				printf("%ld\n", loop_to_0(i) - loop_to_0(i));
			}
		}
	EOF
	for how in -Wl,-z,lazy -Wl,-z,now -fno-plt; do
		g++ -O1 $how -o refused refused.cc -L"$TARGETS" -lpatching \
			-Wl,-rpath,"$TARGETS" || abort 'not built'
		assert_same_as_native ./refused
		assert_complete profile
		assert_calls profile no_one_byte 10 no_reads_by_index 0 loop_to_0 20
	done
	it 'but not without the option, and not where a filter leaves them out'
	RUN_OPTIONS=()
	assert_same_as_native ./refused
	assert_calls profile no_one_byte 0 loop_to_0 20
	RUN_OPTIONS=(--imports -H 'no_*')
	assert_same_as_native ./refused
	assert_calls profile no_one_byte 0 loop_to_0 20
	RUN_OPTIONS=(--imports)

	it 'tables in the text segment'
	build together -Wl,-z,noseparate-code -Wl,-z,lazy &&
		check_threads ./together
	it 'PLT with endbr64'
	build plt_sec -fcf-protection -Wl,-z,ibtplt -Wl,-z,lazy &&
		check_threads ./plt_sec
fi

it 'libraries that come later'
late_library=$TARGETS/libimports.so
for how in lazy now; do
	assert_same_as_native "$TARGETS/imports" late "$late_library" $how 1
	assert_complete profile
	assert_calls profile write 10 getppid 1 getpgrp 1 imports_entry 1
	assert_eq 'write' "$(callees_of profile imports_entry)" \
		'callees of the library'
done
it 'reloaded 100 times'
assert_same_as_native "$TARGETS/imports" late "$late_library" lazy 100
assert_complete profile
assert_calls profile write 1000 getppid 100 imports_entry 100
if have 'a library without a PLT, reloaded' gcc; then
	gcc -O2 -shared -fPIC -fno-plt -Wl,-z,now -Wl,-z,relro -o late_now.so \
		"$TOP/tests/targets/libimports.c"
	assert_same_as_native "$TARGETS/imports" late ./late_now.so lazy 5
	assert_calls profile write 50 getppid 5 getpgrp 5 imports_group 5
fi

# Pointers: 1 call by name and what is called through dlsym's.
it 'pointers from dlsym stay what they are'
assert_same_as_native "$TARGETS/pointers"
assert_calls profile getppid 1 getpgrp 1
assert_contains out 'lost 0'
it 'with =dlsym calls through them are timed'
RUN_OPTIONS=(--imports=dlsym)
check_pointers() { # PROGRAM
	assert_same_as_native "$1"
	assert_complete profile
	assert_readable profile
	# not the 10 of which another module has asked; nor is dlsym timed
	assert_calls profile getppid 31 getsid 4 getpgrp 1 dlsym 0 dlvsym 0
	dump_table profile
	callees_of profile pointers_call | tr ' ' '\n' >callees
	assert_matches callees '^getppid$'
	assert_eq '' "$(row table calls getpriority)" 'calls of getpriority'
}
check_pointers "$TARGETS/pointers"
assert_contains out 'lost 0'
if have 'pointers, linked in other ways' gcc; then
	hows=('-Wl,-z,lazy' '-Wl,-z,now -Wl,-z,relro' -fno-plt -no-pie)
	# whose PLT has the number of the relocation in a register
	! command -v mold >/dev/null || hows+=('-fuse-ld=mold -Wl,-z,lazy')
	for how in "${hows[@]}"; do
		# shellcheck disable=SC2086
		gcc -O2 $how -o asking "$TOP/tests/targets/pointers.c" \
			-L"$TARGETS" -lpointers -Wl,-rpath,"$TARGETS" ||
			abort 'not built'
		check_pointers ./asking
	done
fi
it 'dlsym, where the code that it would return to is not as it was'
assert_same_as_native "$TARGETS/overwritten"
assert_complete profile
# by name, and by the pointer that was asked for before
assert_calls profile getppid 11 mix 1 ask 2
it 'also for libraries that come later'
assert_same_as_native "$TARGETS/pointers" "$TARGETS/libpointers.so" 3
assert_calls profile getppid 31
cp "$TARGETS/libpointers.so" libother.so
assert_same_as_native "$TARGETS/pointers" ./libother.so 20
assert_complete profile
assert_calls profile getppid 201
for how in sampled trace; do
	case $how in
	trace) RUN_OPTIONS=(--imports=dlsym -m trace) ;;
	*) RUN_OPTIONS=(--imports=dlsym --timing sampled) ;;
	esac
	[ -z "${TEST_MODE:-}${TEST_TIMING:-}" ] || break
	check_pointers "$TARGETS/pointers"
done
RUN_OPTIONS=(--imports)

it 'other ones in parent and child of a fork'
assert_same_as_native "$TARGETS/late" fork
assert_complete profile
assert_calls profile late_entry 1 late_leaf 6 other_entry 1
for child in profile.*; do
	assert_readable "$child"
	assert_calls "$child" late_entry 1 late_leaf 7 other_entry 0
done
rm -f profile.*

it '--list tells of imports, and the profile of what was refused'
capture "$RUN" --imports --list -v "$TARGETS/imports"
assert_status 0
assert_matches out '^    imports +[0-9]+ +[0-9]+ +[0-9]+$'
assert_matches out '^ +timed +write$'
assert_matches out '^ +returns twice +vfork$'
assert_matches out '^ +reads its return address +dlsym$'
assert_same_as_native "$TARGETS/imports" threads ids
assert_complete profile
assert_matches info '^imported from +functions +timed +refused$'
assert_matches info '^/.*/libc.so.6 +[0-9]+ +[0-9]+ +[0-9]+$'

it 'swizzle-dump -F shows what matches'
dump_table profile -F 'wri[st]e*'
assert_eq '4 100' "$(row table calls writer) $(row table calls write)" \
	'calls of writer and write'
assert_eq 2 "$(grep -vc -e '^#' -e ' function ' table)" 'rows'
dump_table profile -q -F nobody --filter writer
assert_eq 4 "$(row table calls writer)" 'calls of writer'
assert_eq '' "$(row table calls write)" 'calls of write'
capture "$DUMP" -f text -F '' profile
assert_status 2

it 'the option'\''s value'
capture "$RUN" --imports=write true
assert_status 2
assert_contains err "unknown value of --imports 'write'. There are: dlsym"
capture "$RUN" --imports= true
assert_status 2
SWIZZLE_IMPORTS=dlsm capture "$RUN" true
assert_refused 2 "SWIZZLE_IMPORTS in the environment: 'dlsm' is neither 1, 0 nor dlsym"

it 'filters'
RUN_OPTIONS=(--imports -H write)
assert_same_as_native "$TARGETS/imports" threads ids
assert_calls profile writer 4 write 0
RUN_OPTIONS=(--imports -F write)
assert_same_as_native "$TARGETS/imports" threads ids
assert_calls profile writer 0 write 100
RUN_OPTIONS=(--imports -N '*writer*')
assert_same_as_native "$TARGETS/imports" threads ids
assert_calls profile writer 0 write 0
# a library that is not in scope neither calls nor is hooked
RUN_OPTIONS=(--imports -M 'libstdc++*')
assert_same_as_native "$TARGETS/imports" threads ids
assert_calls profile writer 0 write 0

RUN_OPTIONS=(--imports)
if have 'a library of which functions are watched' gcc; then
	# libc is searched for prctl, and strtoul ends with a jump
	cat >wrapped_functions.c <<-'EOF'
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/prctl.h>
		int main(void)
		{
			char name[16];
			prctl(PR_GET_NAME, name);
			printf("%lu %s\n", strtoul("12", 0, 10), name);
		}
	EOF
	# (of C23, strtoul is another function)
	gcc -std=gnu11 -O2 -o watched wrapped_functions.c || abort 'not built'
	RUN_OPTIONS=(--imports --no-cache)
	assert_same_as_native ./watched
	assert_complete profile
	assert_calls profile strtoul 1
	RUN_OPTIONS=(--imports)
fi
if have 'programs as they are: sqlite3' sqlite3; then
	assert_same_as_native sqlite3 :memory: \
		'create table t(a); insert into t values(1),(2);
		select sum(a) from t;'
	assert_complete profile
fi
for program in /usr/bin/{python3,gdb,node}; do
	have "programs as they are: $program" "$program" || continue
	case $program in
	*python3)
		assert_same_as_native "$program" -c \
			'import json, threading; print(json.dumps([1, 2]))'
		assert_complete profile
		;;
	*gdb) assert_same_as_native "$program" --version ;;
	*node) assert_same_as_native "$program" -e 'console.log(1 + 1)' ;;
	esac
done

finish
