# shellcheck shell=bash
# Stacks that are copied away and back, so that frames return a second time:
# in the process itself and in children that it forks.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets continuations

check_children() { # OPTION...
	rm -rf d
	"$TARGETS/continuations" >native
	assert_eq 3 $? 'exit status'
	"$RUN" -q "$@" -o d/ "$TARGETS/continuations" >profiled 2>err
	assert_eq 3 $? 'exit status'
	assert_same native profiled
	assert_empty err
	assert_eq 3 "$(find d -type f | wc -l)" 'profiles'
	for file in d/*; do
		assert_complete "$file"
		assert_time_is_sane "$file"
		case $(calls_of "$file" wait_for) in
		2)
			assert_calls "$file" many 8191 deep 21 take 1 \
				resume 3 give_back 3 after 85
			assert_eq 'after deep take' \
				"$(callees_of "$file" deep)" 'called by deep'
			assert_eq '' "$(callees_of "$file" give_back)" \
				'called by give_back'
			;;
		*)
			assert_calls "$file" many 0 resume 1 give_back 1 after 22
			# the frames that return again are the parent's
			assert_eq 'after' "$(callees_of "$file" give_back)" \
				'called by give_back'
			assert_eq 'after run' "$(callees_of "$file" main)" \
				'called by main'
			;;
		esac
	done
}

it 'frames return again that were copied away and back'
check_children
[ -n "${TEST_MODE:-}${TEST_TIMING:-}" ] || {
	check_children --timing sampled
	check_children -m trace
}

# Functions that are hidden have no hooks: the child's first one is that of a
# frame that returns again. Its own, which it has from its parent, are open.
it 'a forked child begins with such a frame'
rm -rf d
"$RUN" -q -H resume -H give_back -o d/ "$TARGETS/continuations" >profiled 2>err
assert_eq 3 $? 'exit status'
assert_same native profiled
assert_empty err
for file in d/*; do
	assert_complete "$file"
	assert_time_is_sane "$file"
	[ "$(calls_of "$file" wait_for)" -eq 0 ] || continue
	assert_calls "$file" deep 0 after 22
	assert_eq 'after run' "$(callees_of "$file" main)" 'called by main'
	callees_of "$file" run >callees
	assert_matches callees '^after( before_copy)?$'
	assert_ge "$(row table incl run)" 1 'time of run'
	assert_eq '' "$(row table incl deep)" 'time of deep'
done

have 'ruby'\''s callcc' ruby || finish
program again.rb >again.rb

it 'frames return again'
assert_same_as_native ruby -W0 again.rb
assert_complete profile
assert_contains out '3 4'

# the frames' thunks are not in use then, and their edges are the parent's
it 'frames return again in a forked child'
rm -rf d
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
