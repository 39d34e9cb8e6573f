# shellcheck shell=bash
# Stacks that are copied away and back, so that frames return a second time:
# ruby's callcc, in the process itself and in a child that it forks.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need ruby

cat >again.rb <<'END'
require 'continuation'
def deep(n)
  n == 0 ? callcc { |k| $again = k; 0 } : deep(n - 1) + 0
end
$times = 0
x = deep(20)
$times += 1
puts "#{x} #{$times}"
STDOUT.flush
case $times
when 1..3 then $again.call($times)
when 4
  if ARGV[0] == 'fork'
    Process.wait(fork { $again.call(100) })
    puts "status #{$?.exitstatus}"
  end
when 5..7 then $again.call(200)
end
END

it 'frames return again'
assert_same_as_native ruby -W0 again.rb
assert_complete profile
assert_contains out '3 4'

# the frames' thunks are not in use then, and their edges are the parent's
it 'frames return again in a forked child'
ruby -W0 again.rb fork >native
"$RUN" -q -o d/ ruby -W0 again.rb fork >profiled 2>err
assert_eq 0 $? 'exit status'
assert_same native profiled
assert_empty err
assert_contains profiled '100 5'
assert_contains profiled '200 8'
assert_eq 2 "$(find d -type f | wc -l)" 'profiles'
for file in d/*; do
	assert_complete "$file"
done

finish
