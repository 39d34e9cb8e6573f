# shellcheck shell=bash
# Work that a thread does for another has a second parent: --causes, --by cause.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets causes calls
unset SWIZZLE_MODE

record() { # NAME
	mkdir "$1"
	"$RUN" -q -m trace --flows -M causes -o "$1/" "$TARGETS/causes" "$1" || fail "$1: status $?"
}

program read_tree.py >read_tree.py

check() { # PROFILES PATH COUNT [OPTION...]
	local from=$1 path=$2 count=$3
	shift 3
	"$DUMP" -q --causes -f tree -s name -o tree "$@" "$from"
	"$DUMP" -q -f csv -o csv "$@" "$from"
	"$DUMP" -q --by cause -f csv -o causes "$@" "$from"
	python3 read_tree.py tree csv causes "$path" "$count" 2>err || fail "$(tail -n 1 err)"
}

it 'a job of a pool is below the call that queued it'
record pool
check pool/ 'submit pthread_cond_signal > job' 20
check pool/ 'pool start pthread_create > works' 1

it 'so is the answer of a process that reads from a pipe'
record pipes
check pipes/ 'pipes ask write > answer' 20

it 'and what a server does behind a socket'
record sockets
check sockets/ 'sockets request send > handle' 20

it 'what that has done by others is below it in its turn'
record chain
check chain/ 'request send > handle submit pthread_cond_signal > job spin' 20

it 'who waits for the next work does so for nobody'
"$DUMP" -q --causes -f tree -o tree pool/
assert_eq 0 "$(grep -c 'pthread_cond_wait .*(in another thread)' tree)" waits

it 'a range of time adds up, too'
at=$("$DUMP" -q -f calls -o - pool/ | awk '/ submit\(?\)? \{/ && ++n == 11 { print $1 }')
check pool/ 'submit pthread_cond_signal > job' 10 --from "$at"

it 'calls of which the trace has no events stay with their callers'
mkdir short
"$RUN" -q -m trace --flows --min-time 10ms -M causes -o short/ "$TARGETS/causes" chain || fail "status $?"
check short/ works 1

it 'and callers are those for which it was done'
"$DUMP" -q --causes --bottom-up -o tree pool/
awk '/  job  / { at = 1; next } at { print; exit }' tree >next
assert_contains next pthread_cond_signal

finish
