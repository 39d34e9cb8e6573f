# shellcheck shell=bash
# Debug information from a debuginfod server: asked where DEBUGINFOD_URLS is set
# and the machine has none, and only then.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 objcopy strip readelf
need_targets workers
ldconfig -p 2>/dev/null | grep -q 'libdebuginfod\.so\.1' ||
	/sbin/ldconfig -p | grep -q 'libdebuginfod\.so\.1' ||
	skip 'needs libdebuginfod.so.1, which is not there'

cp "$TARGETS/workers" program
id=$(readelf -n program | sed -n 's/.*Build ID: //p')
[ -n "$id" ] || skip 'programs have no build-id here'
mkdir -p "served/buildid/$id"
objcopy --only-keep-debug program "served/buildid/$id/debuginfo"
strip program
"$RUN" -o profile ./program >/dev/null || abort 'no profile'

python3 -u - >port 2>log <<'END' &
import functools, http.server, os
handler = functools.partial(http.server.SimpleHTTPRequestHandler,
                            directory="served")
server = http.server.HTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1], flush=True)
server.serve_forever()
END
server=$!
stop_server() {
	local code=$?
	kill $server 2>/dev/null
	(exit $code)
	at_exit
}
trap stop_server EXIT
wait_until test -s port || skip 'no server can be started here'
export DEBUGINFOD_CACHE_PATH=$TMP/cache DEBUGINFOD_TIMEOUT=60 no_proxy='*'
urls=http://127.0.0.1:$(cat port)

it 'without the variable nobody is asked'
unset DEBUGINFOD_URLS
dump_table profile
assert_eq '' "$(row table calls shop::round)" 'calls of a function by name'
assert_empty log

it 'nor with --no-debuginfod'
capture env DEBUGINFOD_URLS="$urls" "$DUMP" --no-debuginfod -f text profile
assert_status 0
assert_not_contains out ' shop::round '
assert_empty log

it 'with the variable names and lines are found'
capture env DEBUGINFOD_URLS="$urls" "$DUMP" -f text profile
assert_status 0
assert_ge "$(row out calls shop::round)" 1 'calls of a function'
assert_contains log "/buildid/$id/debuginfo"
capture env DEBUGINFOD_URLS="$urls" "$DUMP" -f callgrind -o - profile
assert_contains out workers.cc

it 'a server that is not there'
rm -rf cache
kill $server
wait $server 2>/dev/null
capture env DEBUGINFOD_URLS="$urls" timeout 240 "$DUMP" -f text profile
assert_status 0
assert_not_contains out ' shop::round '

finish
