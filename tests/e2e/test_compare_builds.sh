# shellcheck shell=bash
# swizzle-run --compare: two builds in turns, until the change is told from noise.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc
status=0

program build.c >build.c
build() { # FILE ROUNDS [FLAG...]
	local file=$1 rounds=$2
	shift 2
	gcc -g -O1 -DNAME="\"$file\"" -DROUNDS="$rounds" -DFAILS=1000 -DSTATUS=0 "$@" \
		-o "$file" build.c 2>/dev/null || abort 'no program'
}
build old 4000000
build new 16000000

compare() { # OPTION...: into out and err
	rm -rf log turns
	capture timeout 300 "$RUN" --mode profile -o turns "$@"
}

it 'takes turns, with the arguments behind --, and stops when the change is told'
compare --compare ./old ./old --runs 12 -m count -- log
assert_status 0
assert_matches err '^swizzle: 5 runs of each, in turns -> turns[.] The change is told from noise$'
# (of times that may take more, or be in vain on a busy machine)
compare --compare ./old ./new --runs 12 -- log -x
assert_matches out '^# total: [+-][0-9]+ ns \([+-][0-9]+[.][0-9]+%\), noise [0-9]+ ns: '
case $status in
0) assert_matches err '^swizzle: ([5-9]|1[0-2]) runs of each, in turns -> turns[.] The change is told from noise$' ;;
*)
	assert_status 3
	assert_matches err '^swizzle: 12 runs of each, in turns -> turns[.] The change is not told from noise: '
	;;
esac
compare --compare ./old ./new --runs 3 -- log -x
assert_eq 'old -x
new -x
new -x
old -x
old -x
new -x' "$(cat log)" 'the order'
assert_not_contains out printed
for run in old.1 old.2 old.3 new.1 new.2 new.3; do
	assert_eq 1 "$(find turns/$run -name 'swizzle.out.*' | wc -l)" "profiles of $run"
done
assert_missing turns/old.4

it 'a limit of runs, and options behind the builds'
compare --compare ./old ./new -r 2 -q log
assert_eq 4 "$(wc -l <log)" runs
assert_empty err
compare --compare ./old ./old -r 2 -m count log
assert_status 0
assert_matches err '^swizzle: 2 runs of each, in turns -> turns[.] The change is told from noise$'
assert_matches out '^# no times'

it 'gates by --report'
compare --compare ./old ./new -r 3 --report='--fail-above 20%' log
assert_ge "$status" 1 'status of twice the time and more'
compare --compare ./old ./new -r 2 -m count --report='--fail-calls-above 1%' log
assert_status 0

it 'without -o there is a directory of the process'
rm -f log
capture "$RUN" -q --compare ./old ./old --runs 2 -m count -- log
assert_eq 1 "$(find . -maxdepth 1 -name 'swizzle.compare.*' | wc -l)" directories

it 'a build that fails in some runs is not compared'
build broken 1000 -UFAILS -DFAILS=3
compare --compare ./broken ./broken -r 5 -- log
assert_refused 1 './broken: run 1 ended with status 0, run 2 with 3. Nothing is compared'
build always 1000 -USTATUS -DSTATUS=7
compare --compare ./always ./always -r 2 -m count -- log
assert_status 0
assert_contains err 'swizzle: ./always ends with status 7, in this comparison'
compare --compare ./old ./nosuch -- log
assert_refused 127 './nosuch: not found'
compare --compare ./old ./old -r 2 -m count -- log

it 'runs are not mixed with those of an earlier comparison'
capture "$RUN" -o turns -m count --compare ./old ./old -r 2 -- log
assert_refused 2 'turns has the runs of an earlier comparison. Remove it, or give -o another name'

it 'wrong usage'
for wrong in '--compare ./old' '--compare ./old ./new -p 1' '--compare ./old ./new --runs 1' \
	'--runs 3 ./old'; do
	# shellcheck disable=SC2086 # words
	capture "$RUN" $wrong
	assert_status 2
	assert_matches err '^swizzle: '
done
finish
