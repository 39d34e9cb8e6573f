# shellcheck shell=bash
# -m sample: the methods and blocks of a Ruby script, in place of the
# interpreter's loop: their shares, who calls them, threads, fibers, C in between
# (each, map, define_method, raise), names that are not ASCII, code that comes
# and goes.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
# TEST_RUBY is another Ruby, of another version.
ruby=${TEST_RUBY:-ruby}
need "$ruby"
unset SWIZZLE_MODE
RUBY=$("$ruby" -e 'puts RbConfig.ruby')
# Before 3.4 back traces have no classes; since then no part of a method that rescues.
not_seen='s/[A-Z][A-Za-z]*(::[A-Z][A-Za-z]*)*[#.]//g'
case $("$RUBY" -e 'puts RUBY_VERSION[/\d+\.\d+/], RUBY_ENGINE' | tr '\n' ' ') in
'2.7 ruby ' | '3.1 ruby ' | '3.3 ruby ') ;;
'3.4 ruby ') not_seen='s/;rescue in [^;]*;/;/g' ;;
*) skip 'needs Ruby 2.7, 3.1, 3.3 or 3.4, which is not there' ;;
esac
"$RUN" -q -m sample --engine pause -o try "$RUBY" -e 1 2>err ||
	skip "cannot sample by pauses here: $(cat err)"

SCRIPT=script.rb
program script.rb >script.rb

line_of() { # TEXT
	grep -nF -- "$1" script.rb | cut -d : -f 1
}

it 'shares of methods'
SWIZZLE_SUMMARY=1 "$RUN" -m sample -r 500 -o profile "$RUBY" script.rb >printed 2>err || fail "exit status $?"
assert_matches err '^swizzle: sampling by pauses .*script.s functions$'
wait_until grep -q Next err
assert_matches err ' -> profile(;.*)?[.] Next: swizzle-dump --script profile$'
assert_shares recursing in_block 'Thing#method_in_class' Thing.of_class Part.of_module \
	'Part::Inner#mixed_in' rescuing passing größe
"$DUMP" -f info profile >info
assert_matches info '^engine: pause$'
! grep -q "without the script's functions" info || fail "$(grep without info)"

it 'the stacks that the script sees'
assert_stacks spin 's/:[0-9]+;/;/g; s/(^|;)([A-Z][a-z]*#)?(loop|times|each|map);/\1/g; '"$not_seen"

it 'file and line'
hot=$(line_of 'HOT')
assert_hot_lines $((hot - 1)) $((hot + 1))
assert_eq "$PWD/script.rb" "$(row spin 9)" 'file'
assert_eq "$(line_of 'def spin')" "$(row spin 10)" 'line'
assert_eq "$(line_of 'def method_in_class')" "$(row Thing#method_in_class 10)" 'line'
assert_eq script.rb "$(row spin 8)" 'module'

it 'callers, through C and without it'
"$DUMP" -q -f folded -o - profile >stacks
grep -Eq '^_start;.*;<main>;timed;block in <main>:[0-9]+;recursing;recursing;.*recursing;busy;spin' stacks ||
	fail 'not from the root to spin by recursing'
block=$(line_of 'sort_by')
grep -Eq '^([^;]*clone3?[^;]*|sub_[0-9a-f]+);.*;block in <main>:[0-9]+;timed;block .2 levels. in <main>:[0-9]+;größe;busy;spin' stacks ||
	fail 'no thread from its root, which lies behind a megabyte of stack'
grep -Eq ";Thing#method_in_class;([^;]*;)*(rb_|sub_)[^;]*;([^;]*;)*block in Thing#method_in_class:$block;busy;spin" stacks ||
	fail 'no C between method_in_class and its block'

it '--script: the methods and blocks alone, with the time of the C that they call'
assert_script_alone '^(ruby3|lib.*[.]so|ld-|\\[vdso)'
block=$(line_of 'sort_by')
grep -q ";timed;block in <main>:[0-9]*;Thing#method_in_class;block in Thing#method_in_class:$block;busy;spin" stacks ||
	fail 'method_in_class does not call its block'
block=$(line_of '[1].each')
grep -q ";in_block;block in in_block:$block;block (2 levels) in in_block:$block;busy;spin" stacks ||
	fail 'in_block does not call its blocks'
grep -q ';block in <class:Thing>:[0-9]*;busy;spin' stacks || fail 'nothing by define_method'
grep -q ';Part.of_module;block in Part.of_module:[0-9]*;busy;spin' stacks || fail 'no block of a module'
grep -q ';rescuing;rescue in rescuing;busy;spin' stacks || fail 'nothing where an exception is handled'
grep -q 'block (2 levels) in in_fiber:[0-9]*;busy;spin' stacks || fail 'nothing in a fiber'
grep -q '^block in <main>:[0-9]*;timed;block (2 levels) in <main>:[0-9]*;größe;busy;spin' stacks ||
	fail 'no thread'
assert_loop_is_small rb_vm_exec

it 'the time in a fiber is that of the fiber'
assert_shares
awk -v ns="$(row 'block (2 levels) in in_fiber:'"$(line_of 'Fiber.new')" 3)" -v ms="$(own in_fiber)" \
	'BEGIN { exit !(ns / 1e6 > ms / 2 && ns / 1e6 < ms * 2) }' </dev/null ||
	fail "$(row 'block (2 levels) in in_fiber:'"$(line_of 'Fiber.new')" 3) ns of $(own in_fiber) ms"

it 'a process that runs already, with many threads'
cat >many.rb <<'END'
def work(ms)
  finish = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :float_millisecond) + ms
  i = 0
  i += 1 while i % 1000 != 0 || Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :float_millisecond) < finish
end
threads = Array.new(20) { |n| Thread.new { n == 13 ? work(1500) : sleep } }
File.write("begun", "")
threads[13].join
END
SCRIPT=many.rb
"$RUBY" many.rb &
pid=$!
wait_until test -e begun
"$RUN" -q -m sample -r 500 -p $pid -o profile
wait $pid
assert_ge "$(row work 3)" 500000000 'ns of work'

it 'threads that wait'
cat >waits.rb <<'END'
def waiting
  sleep 0.5
end
Array.new(2) { Thread.new { waiting } }.each(&:join)
END
SCRIPT=waits.rb
"$RUN" -q -m sample --wall -o profile "$RUBY" waits.rb
awk -v ns="$(row waiting 12)" 'BEGIN { exit !(ns > 700e6 && ns < 1300e6) }' </dev/null ||
	fail "$("$DUMP" -q -f csv -o - profile)"

it 'a child, and a forked one'
cat >forks.rb <<'END'
def work(ms)
  finish = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond) + ms
  i = 0
  i += 1 while i % 1000 != 0 || Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond) < finish
end
fork { work(300) }
Process.wait
END
rm -rf tree
"$RUN" -q -m sample -r 500 -o tree/ "$RUBY" forks.rb
"$DUMP" -q -f csv -o - tree >rows
awk -F , '$7 == "work" { ns += $3 } END { exit !(ns > 150e6) }' rows ||
	fail "no work in the child: $(cat rows)"

it 'with perf there are C functions'
if "$RUN" -q -m sample --engine perf -o profile "$RUBY" -e 'i = 0; i += 1 while i < 20_000_000' 2>/dev/null; then
	"$DUMP" -q -f csv -o - profile >rows
	# (a library that is stripped exports it, or not)
	assert_matches rows ',(rb_vm_exec,|sub_[0-9a-f]+,libruby)'
fi
