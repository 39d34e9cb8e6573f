# shellcheck shell=bash
# swizzle-run --check: it tries out what works here, and says what would change
# what does not.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets refused

verdict() { # NAME
	sed -n "s/^  $1 *//p" out
}

it 'where nothing is refused'
capture "$RUN" --check
assert_empty err
assert_eq yes "$(verdict 'hooks (-m profile, count, trace)')" hooks
for name in 'samples by perf events' 'processes that run (-p)' 'profiles in this directory'; do
	assert_matches <(verdict "$name") '^(yes|no: .)'
done
# the status says whether all works
if grep -qE '^  [^ ].* (no|no: .*)$' out; then
	assert_status 1
	assert_matches out '^[1-9][0-9]* of these do not work here\.$'
else
	assert_status 0
	assert_not_contains out 'not work here'
fi
# the cache is where it would be
XDG_CACHE_HOME="$TMP/empty" "$RUN" --check >out
assert_eq "$TMP/empty/swizzle, 0 files, 0.0 MB" "$(verdict 'cache of plans')" cache

it 'what a filter of system calls refuses'
capture "$TARGETS/refused" perf "$RUN" --check
# shellcheck disable=SC2154 # set by capture()
if [ "$status" -eq 77 ]; then
	echo 'not tested: a refusal, without seccomp'
	finish
fi
assert_status 1
assert_contains out 'samples by perf events             no: perf_event_open is not permitted'
assert_contains out 'a seccomp filter is in force'
assert_eq 'yes' "$(verdict 'pauses (functions of scripts)')" pauses
capture "$TARGETS/refused" ptrace "$RUN" --check
assert_status 1
assert_contains out 'samples by perf events             no: perf_event_open is not permitted'
assert_contains out 'processes that run (-p)            no: ptrace: Operation not permitted'
assert_contains out 'docker run --cap-add SYS_PTRACE'

it 'a directory in which no profile can be made'
mkdir gone
(cd gone && rmdir ../gone && "$RUN" --check >../out 2>../err)
assert_eq 1 $? status
assert_matches <(verdict 'profiles in this directory') '^no: '
assert_contains out '-o DIRECTORY/'

it 'nothing is run, and nothing else is needed'
capture "$RUN" --check touch made
assert_missing made
assert_matches out '^swizzle [0-9]'

finish
