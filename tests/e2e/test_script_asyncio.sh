# shellcheck shell=bash
# -m sample of asyncio: the task that the event loop runs, and above it the
# coroutines of the tasks that await it. By each version of Python that is there.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need python3
unset SWIZZLE_MODE
PYTHONS=() VERSIONS=' '
for python in /usr/bin/python3.* ~/.pyenv/versions/3.*/bin/python3; do
	[ -x "$python" ] || continue
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
	case $VERSIONS in *" $version "*) continue ;; esac
	case $version in
	3.[89] | 3.1[0-5]) PYTHONS+=("$python") VERSIONS+="$version " ;;
	esac
done
[ ${#PYTHONS[@]} -gt 0 ] || skip 'needs Python 3.8 to 3.15, which is not there'
"$RUN" -q -m sample --engine pause -o try "${PYTHONS[0]}" -c 1 2>err ||
	skip "cannot sample by pauses here: $(cat err)"

# The script knows who awaits whom, as it makes the tasks, and where a coroutine
# waits by its cr_await.
program script.py >script.py

# MS of a task, with what it awaits.
of_task() {
	"$DUMP" -q -f csv -o - profile | awk -F , -v name="[task $1]" '$7 == name { print $3 / 1e6 }'
}

for python in "${PYTHONS[@]}"; do
	it "the stacks that the script knows: $python"
	"$RUN" -q -m sample -r 500 -o profile "$python" script.py >printed || fail "exit status $?"
	assert_stacks spin
	# (one for each way to await, and others: a test that looks at nothing passes)
	assert_ge "$(grep -c '^stack .*;\[task [a-z]*\];worker;leaf;busy;spin$' printed)" 7 'ways'
	for way in heavy waited shielded awaited nobody; do
		grep -q ";\[task $way\];worker;leaf;busy;spin " sampled.stacks || fail "no task $way"
	done

	it "the shares of tasks: $python"
	samples=$("$DUMP" -f info profile | awk '/^samples:/ { print $2 + 0 }')
	assert_ge "$samples" 100 'samples'
	for name in heavy middle light; do
		awk -v ms="$(of_task $name)" -v own="$(own $name)" -v all="$(own process)" -v n="$samples" 'BEGIN {
			share = own / all
			off = ms / all - share
			most = 0.02 + 4 * sqrt(share * (1 - share) / n)
			exit !(ms > 0 && off < most && off > -most) }' </dev/null ||
			fail "task $name: $(of_task $name) ms, not about $(own $name)"
	done
done

it 'callers of a coroutine in the tree, with the task'
"$DUMP" -q -f tree -F gathering -o - profile >tree
assert_matches tree '^.* \[task heavy\]  \(asyncio\)$'

it 'lines of coroutines that wait'
"$DUMP" -q -f csv --by line --script -o - profile >lines
line=$(grep -n "start(300, 'heavy')" script.py | cut -d : -f 1)
awk -F , -v line="$line" '$6 ~ /script[.]py$/ && $7 == line { found = 1 } END { exit !found }' lines ||
	fail "no line $line: $(grep script.py lines)"
