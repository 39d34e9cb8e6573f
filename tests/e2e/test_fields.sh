# shellcheck shell=bash
# What pointers and references lead to, and what a configuration says of values:
# chosen fields, names of numbers, values that are watched.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets fields referred
export SWIZZLE_MODE=trace XDG_CONFIG_HOME=$PWD/none

record() { # TARGET OPTION...: its calls, without times and addresses, in `calls`
	local target=$1
	shift
	"$RUN" -q "$@" -o profile "$TARGETS/$target" >/dev/null || fail "status $?"
	show "$@"
}

show() { # OPTION...: as swizzle-run takes them
	local options=()
	[ "$1" = --config ] && options=("$@")
	"$DUMP" -q -f calls "${options[@]}" -o listing profile || fail "status $?"
	sed -E 's/^ *[0-9.]* +([0-9.]+ .?.?s)? *//; s/0x7ff[0-9a-f]{9}/PLACE/g; s/ \([^ ]*\.so[^)]*\)//g' \
		listing >calls
}

it 'a pointer to a struct shows it, with texts, and what has changed at the return'
record fields --args='*'
request='{id = 7, uri = "/index", at = {x = 1, y = 2}, stage = STAGE_IDLE}'
after='{id = 7, uri = "/index", at = {x = 6, y = 2}, stage = STAGE_DONE}'
assert_contains calls "look(request = PLACE, *request = $request) = 8"
assert_contains calls "advance(request = PLACE, *request = $request, by = 5)  *request = $after"
assert_matches calls '^touch\(request = PLACE, \*request = \{id = 7.*STAGE_DONE\}\)$' # unchanged: once
assert_contains calls "*ctx = {request = PLACE, depth = 4, parent = PLACE, name = NULL}, req = $after) = 12  *ctx = {request = PLACE, depth = 5,"
assert_contains calls 'name = "outer"}'
assert_matches calls '^close_log\(stream = (0x[0-9a-f]+|PLACE)\) = 0$' # of the C library: nothing

it 'texts of structs that are passed and returned by value'
assert_contains calls 'take_pair(pair = {key = "key", value = 3}) = 3'
assert_contains calls 'make_pair(key = "made", value = 4) = {key = "made", value = 4}'
assert_contains calls 'take_wide(wide = {numbers = [1, 2, 3], label = "label"}) = 4'

it 'strings, containers and objects behind pointers and references of C++'
record referred --args='[!s]*'
assert_matches calls '^append\(text = PLACE, \*text = "text"\) \{$'
assert_contains calls '} append  *text: "text" -> "text!"'
assert_contains calls '} extend  text: "text!" -> "text!?"'
assert_contains calls 'by_pointer(text = PLACE, *text = "text!?") = 6'
assert_contains calls 'by_reference(text = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") = 30'
assert_contains calls 'rename(a = {id = 1, owner = "Ann", bank = "north"}, count = 4) {'
assert_contains calls '} rename  a = {id = 1, owner = "Eve", bank = "north"}, count: 4 -> 5'
assert_contains calls 'elements(numbers = PLACE, *numbers = {size = 3}, names = PLACE) = 4'

it 'list_args chooses arguments and fields; dump_this an argument of a C function'
cat >arguments <<'END'
[func@enter]
list_args = req.uri, ctx->depth, ctx->request->uri, req.stage
[func@leave]
dump_this = ctx
[func@advance]
dump_this = request->at, request->uri
[func@take_*]
list_args = pair.key, wide.label, wide.numbers
[func@check]
list_args = flags
only_show_if = arg,n,>,0
[func@look]
list_args = request->at, request->nothing
END
record fields --config arguments
assert_contains calls 'enter(ctx->depth = 4, ctx->request->uri = "/index", req.uri = "/index", req.stage = STAGE_DONE) = 12  ctx->depth: 4 -> 5'
assert_matches calls '^leave\(ctx = PLACE, \*ctx = \{request = PLACE, depth = 6, .*\}\)  \*ctx: depth: 6 -> 5$'
assert_contains calls 'advance(request = PLACE, *request = {uri = "/index", at.x = 1, at.y = 2}, by = 5)  *request: at.x: 1 -> 6'
assert_contains calls 'take_pair(pair.key = "key") = 3'
assert_contains calls 'take_wide(wide.label = "label", wide.numbers = [1, 2, 3]) = 4'
assert_contains calls 'check(n = 1, flags = 1) = 2147500037'
assert_eq 3 "$(grep -c '^check(' calls)" 'calls of check with n > 0'
assert_contains calls 'look(request->at = {x = 1, y = 2}) = 8'

it 'names, flags and errors of a type, of a C header and of its own'
cat >errors.h <<'END'
/* errors */
#define ST_OK 0
#define ST_BASE (0x80000000u | \
	0)
#define ST_ERROR_FAILURE ((status_t)(ST_BASE | 0x4005)) // failure
typedef enum { FLAG_READ = 1 << 0, FLAG_WRITE = 1 << 1 } flag;
END
cat >types <<'END'
[type@status_t]
names = errors.h, ST_*
base = hex
exceptional = >= 0x80000000
[type@flags_t]
names = errors.h, FLAG_*, NO_FLAGS:0
[type@result_t]
names = E_IO:-5
[func@check]
only_show_if = retval,!=,ST_OK
END
record fields --args='*'
show --config types
cat >expected <<'END'
check(n = 0, flags = NO_FLAGS) = 0x7
check(n = 1, flags = FLAG_READ) = ST_ERROR_FAILURE  <- first returned here
check(n = 2, flags = FLAG_WRITE) = 0x80070057  <- first returned here
END
grep '^check(' calls >checks
assert_same expected checks
assert_contains calls 'try(n = 1) = E_IO  <- first returned here'
"$DUMP" -q -f sqlite --config types -o database profile
assert_contains database ST_ERROR_FAILURE

it 'watch: each change, with both values and since when'
cat >watch <<'END'
[func@*]
watch = ctx->depth, request->at, retval
END
record fields --config watch
grep -o '^<- .*' calls | sed -E 's/[0-9]+\.[0-9]{6}/TIME/g' >changes
cat >expected <<'END'
<- request->at: {x = 1, y = 2} -> {x = 6, y = 2}, in this call
<- ctx->depth: 4 -> 5, in this call
<- ctx->depth: 0 -> 1, in this call; retval: 12 -> 8, since enter returned at TIME
<- ctx->depth: 5 -> 6, in this call; retval: 8 -> 13, since enter returned at TIME
<- ctx->depth: 6 -> 5, in this call
<- retval: 7 -> 2147500037, since check returned at TIME
<- retval: 2147500037 -> 2147942487, since check returned at TIME
<- retval: 2147942487 -> 0, since check returned at TIME
<- retval: 0 -> -5, since try returned at TIME
END
assert_same expected changes

it 'watch: a change between two calls names the one before'
printf '%s\n' '[func@[elt]*]' 'watch = request->at' >between
record fields --config between
assert_matches calls '^<- request->at: \{x = 1, y = 2\} -> \{x = 6, y = 2\}, since look began at 0\.[0-9]{6}$'

finish
