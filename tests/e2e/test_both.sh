# shellcheck shell=bash
# -m both: the command runs twice, and the two profiles know each other. The
# program sees nothing of it but that it runs again.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets joined shares
unset SWIZZLE_MODE SWIZZLE_TIMING

it 'two runs, two profiles, one table'
capture "$RUN" -q -m both -o run/ "$TARGETS/joined" </dev/null
assert_status 0
assert_empty err
assert_eq 2 "$(grep -c '^process ' out)" 'runs of the program'
calls=$(echo run/swizzle.out.*[0-9])
assert_exists "$calls.samples"
capture "$DUMP" -f csv -o - "$calls"
assert_contains err "swizzle: times are from $calls.samples; --no-times shows the recorded ones"
"$DUMP" -q --times "$calls.samples" -f csv -o - "$calls" >joined
assert_same joined out
assert_matches out '^2000,[1-9].*,work,joined,'
"$DUMP" -q -f csv -o - --no-times "$calls" >recorded
assert_ge "$(wc -l <recorded)" 10 'rows of the recorded run'
assert_not_contains recorded bound_ns
"$DUMP" -q -f csv -o - run >of_directory
assert_same joined of_directory
"$DUMP" -q -f csv -o - run/* >of_both
assert_same joined of_both
(cd run && "$DUMP" -q -f csv -o -) >newest
assert_same joined newest
"$DUMP" -q -f csv -o - "$calls.samples" >samples
assert_matches samples '^samples,'
"$DUMP" -f info run >info
assert_matches info '^engine: '
capture "$DUMP" -f csv -o - --by thread "$calls"
assert_contains err 'the times are the recorded ones'
assert_not_contains out bound_ns

it 'child processes'
"$RUN" -q -m both -o tree/ sh -c "'$TARGETS/joined' >/dev/null; :" </dev/null
assert_eq 4 "$(find tree -type f | wc -l)" 'profiles'
"$DUMP" -q -f csv -o - tree >joined
assert_matches joined '^2000,[1-9].*,work,joined,'
assert_matches joined ',bound_ns$'

it 'exit status is that of the second run'
capture "$RUN" -m both -o ends "$TARGETS/joined" exit 3 </dev/null
assert_status 3
assert_contains err 'swizzle: the first run, which was sampled, ended with exit status 3'
# shellcheck disable=SC2016
capture "$RUN" -q -m both -o ends sh -c 'echo x >>count; exit $(wc -l <count)' </dev/null
assert_status 2
(
	ulimit -c 0
	"$RUN" -m both -o ends sh -c 'kill -SEGV $$' </dev/null 2>err
	echo $? >status
) 2>/dev/null
assert_eq 139 "$(cat status)" 'status of a program that was killed twice'
assert_contains err 'swizzle: the first run, which was sampled, was killed by signal 11'
capture "$RUN" -q -m both -o ends /nothing/there </dev/null
assert_status 127

it 'a signal that ends the first run ends all'
rm -f count
# shellcheck disable=SC2016
"$RUN" -q -m both -o ends sh -c 'echo x >>count; exec sleep 60' </dev/null &
pid=$!
wait_until test -s count
sleep 0.3
kill -TERM $pid
wait $pid
assert_eq 143 $? 'status'
assert_eq 1 "$(wc -l <count)" 'runs'

it 'standard input: a file is read twice, a pipe is refused'
printf 'one\ntwo\n' >input
{ read -r _; "$RUN" -q -m both -o ends cat; } <input >out
assert_eq 'two two' "$(xargs <out)" 'what was read'
rm -f count
echo text | "$RUN" -m both -o ends touch count >out 2>err
assert_eq 126 "${PIPESTATUS[1]}" 'status'
assert_contains err 'swizzle: -m both runs the program twice, but standard input can be read once only.'
assert_contains err 'swizzle-dump --times'
assert_missing count

it 'the program finds what it would find'
env -i PATH="$PATH" sh -c 'env | sort' >native
env -i PATH="$PATH" "$RUN" -q -m both -o ends sh -c 'test -s found || env | sort >found' </dev/null
assert_same native found
cat >finds.py <<'END'
import os, resource
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child")
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_minflt)
END
"$RUN" -q -m both -o ends /usr/bin/python3 finds.py </dev/null >found
assert_eq 2 "$(grep -c '^no child$' found)" 'runs without a child'
assert_eq '0.0 0' "$(tail -n 1 found)" 'what children of the second run have used'

it 'options'
capture "$RUN" -m both -p 1
assert_refused 2 'option -p is not for --mode both'
capture "$RUN" -m both --list true
assert_refused 2 'option --list is not for --mode both'
capture "$RUN" -q -m both -r 0 -o ends touch count </dev/null
assert_status 2
assert_missing count
"$RUN" -q -m both -r 200 --timing sampled -N rare -o ends "$TARGETS/joined" </dev/null >/dev/null
assert_matches <("$DUMP" -f info ends.samples) '200'
assert_not_contains <("$DUMP" -q -f csv -o - ends) ,rare,

it 'a library by another name, mapped at first as code to its end'
mkdir real
cat >busy.c <<'END'
long sum;
long busy(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(sum));
	return n;
}
END
echo 'long busy(long); int main(void) { for (int i = 0; i < 300; i++) busy(1000000); }' >uses.c
gcc -O1 -shared -fPIC -Wl,-z,noseparate-code -Wl,--build-id \
	-Wl,-soname,libbusy.so.1 \
	-o real/libbusy.so.1.0 busy.c
ln -s libbusy.so.1.0 real/libbusy.so.1
gcc -O1 -o uses uses.c real/libbusy.so.1.0 -Wl,-rpath,"$PWD/real"
"$RUN" -q -m both -o named ./uses </dev/null
"$DUMP" -q -f csv -o - named >out
assert_matches out '^300,[1-9].*,busy,libbusy.so'

finish
