# shellcheck shell=bash
# -f otlp, and --push to servers: what arrives there is read by programs that were
# made from the public schemas.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need protoc readelf
need_targets workers
python=$(PATH=/usr/bin:$PATH command -v python3)
"$python" -c 'import google.protobuf' 2>/dev/null || skip 'needs python3-protobuf'
unset SWIZZLE_PUSH_TOKEN SWIZZLE_PUSH_TOKEN_FILE
unset http_proxy HTTP_PROXY
protoc --python_out=. -I "$TOP/tests/e2e" otlp.proto || abort 'protoc fails'
OTEL_SERVICE_NAME='my service' "$RUN" -q -o calls "$TARGETS/workers" >/dev/null
"$RUN" -q -m sample -o samples perl -e 'for (1..3000000) { $x += $_ }'

read_otlp() { # FILE
	PYTHONPATH=$TMP "$python" "$TOP/tests/e2e/read_otlp.py" "$1"
}

it '-f otlp has the calls and self times of the table'
"$DUMP" -q -f otlp -o calls.pb calls
capture read_otlp calls.pb
assert_status 0
assert_empty err
sed -n 's/^F //p' out | sort >actual
"$DUMP" -q -n 0 -f csv calls | "$python" -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    if int(r["calls"]) or int(r["self_ns"]):
        print(r["calls"], r["self_ns"], r["function"])' | sort >expected
[ "$(wc -l <expected)" -gt 3 ] || fail 'few functions'
assert_same expected actual
grep -qx 'K wall calls' out || fail "kinds: $(grep ^K out)"
assert_eq "T $("$DUMP" -q -f csv --by thread calls | awk 'END { print NR - 1 }')" \
	"$(grep ^T out)" threads
for wanted in 'service.name my service' "host.name $(uname -n)" \
	'process.executable.name workers' \
	"process.pid $("$DUMP" -f info calls | sed -n 's/^pid: //p')"; do
	grep -qxF "R $wanted" out || fail "resource: no $wanted in $(grep ^R out)"
done
id=$(readelf -n "$TARGETS/workers" | sed -n 's/.*Build ID: //p')
grep -qx "M $id $TARGETS/workers" out || fail "no build-id $id: $(grep ^M out)"
it 'no field has a number that the schema does not have'
protoc --decode=otlp.Request -I "$TOP/tests/e2e" otlp.proto <calls.pb >decoded
assert_eq 0 "$(grep -cE '^ *[0-9]+: ' decoded)" 'unknown fields'

labels() { # PPROF-FILE: those of samples, each once
	PYTHONPATH=$TOP/tests/e2e "$python" -c '
import gzip, sys
from read_format import fields_of
fields = list(fields_of(gzip.open(sys.argv[1]).read()))
strings = [value.decode() for field, value in fields if field == 6]
def text(label):
    label = dict(fields_of(label))
    return "%s=%s" % (strings[label[1]],
                      strings[label[2]] if 2 in label else label[3])
for line in sorted({" ".join(text(value) for field, value in fields_of(sample)
                             if field == 3)
                    for field, sample in fields if field == 2}):
    print(line)' "$1"
}
pid() {
	"$DUMP" -f info "$1" | sed -n 's/^pid: //p'
}

it '-f pprof has labels of the process, and of what processes have in common'
"$DUMP" -q -f pprof -o calls.pb.gz calls
assert_eq "process=workers pid=$(pid calls) service_name=my service host=$(uname -n)" \
	"$(labels calls.pb.gz)" one
PMI_RANK=3 "$RUN" -q -o ranked "$TARGETS/workers" >/dev/null
"$DUMP" -q -f pprof -o both.pb.gz calls ranked
assert_eq "process=workers host=$(uname -n)" "$(labels both.pb.gz)" two
"$DUMP" -q -f pprof --by thread,parts --tid workers -o both.pb.gz calls ranked
assert_eq "$(LC_ALL=C sort <<END
process=workers pid=$(pid calls) service_name=my service host=$(uname -n) \
thread=workers tid=$(pid calls)
process=workers pid=$(pid ranked) host=$(uname -n) rank=3 thread=workers \
tid=$(pid ranked)
END
)" "$(labels both.pb.gz)" 'threads of two'
"$DUMP" -q --merge-into sum.of calls ranked
"$DUMP" -q -f pprof -o sum.pb.gz sum.of
assert_eq "host=$(uname -n)" "$(labels sum.pb.gz)" 'a sum'

it '-f otlp of samples'
"$DUMP" -q -f otlp -o samples.pb samples
capture read_otlp samples.pb
assert_status 0
grep -qx 'K cpu samples' out || fail "kinds: $(grep ^K out)"
grep -qx 'R service.name unknown_service:perl' out || fail 'name of the service'

it 'what a process publishes of itself is in the resource'
cat >publishes.c <<'END'
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* ProcessContext: service.name "shop", service.version "1.2"; shard 7 */
static const char payload[] = "\x0a\x32"
	"\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04shop"
	"\x0a\x18\x0a\x0fservice.version\x12\x05\x0a\x03" "1.2"
	"\x12\x0b\x0a\x05shard\x12\x02\x18\x07";
static volatile unsigned long sink;
__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += i;
}
int main(void)
{
	struct { char signature[8]; uint32_t version, size; uint64_t time; const void *at; }
		header = {{0}, 2, sizeof(payload) - 1, 1, payload}, *published;
	int fd = memfd_create("OTEL_CTX", 0);
	struct timespec used = {0};
	if (fd < 0 || ftruncate(fd, 4096))
		return 1;
	published = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	*published = header;
	memcpy(published->signature, "OTEL_CTX", 8);
	while (used.tv_sec < 1) {
		work();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	}
	return 0;
}
END
gcc -O1 -o publishes publishes.c || abort 'no program'
for mode in sample both; do
	OTEL_SERVICE_NAME=other "$RUN" -q -m $mode -o published.$mode ./publishes ||
		fail "$mode: status $?"
	"$DUMP" -q -f otlp -o published.pb published.$mode
	capture read_otlp published.pb
	assert_status 0
	for wanted in 'service.name shop' 'service.version 1.2' "host.name $(uname -n)"; do
		grep -qxF "R $wanted" out ||
			fail "$mode: resource: no $wanted in $(grep ^R out)"
	done
	! grep -qx 'R service.name other' out || fail "$mode: both names"
done
"$DUMP" -f info published.sample >info
assert_contains info 'shard'

serve() { # STATUS...: starts a server, that notes in $got
	got=$(mktemp -d got.XXXXXX)
	rm -f port
	"$python" "$TOP/tests/e2e/receive_profiles.py" "$got" "$@" >port &
	server=$!
	wait_until test -s port
	url=http://127.0.0.1:$(cat port)
}
stop() {
	kill $server
	wait $server 2>/dev/null
	rm -f port
}
told() { # KEY: of the last request
	"$python" -c '
import json, sys
note = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."):
    note = note and note.get(key)
print(note)' "$(find "$got" -name '*.json' | sort | tail -n 1)" "$1"
}

it 'OTLP over HTTP: compressed, at the usual path'
"$DUMP" -V >/dev/null
serve
capture "$DUMP" --push "$url" calls
if grep -q 'needs libcurl' err; then
	stop
	skip 'needs libcurl'
fi
assert_status 0
assert_contains err "bytes sent to $url"
assert_eq '/v1development/profiles application/x-protobuf gzip None' \
	"$(told path) $(told type) $(told encoding) $(told authorization)" request
cmp -s calls.pb "$got/0.pb" || fail 'other bytes than those of -f otlp'
assert_eq 0 "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'swizzle-push.*' \
	-newer port | wc -l)" 'left over'

it 'Pyroscope: name, labels, time and both kinds of values'
capture "$DUMP" -q --push "$url/ingest" calls
assert_status 0
assert_empty err
assert_eq "my service{process=workers,host=$(uname -n)}" "$(told query.name)" name
assert_eq 'pprof nanoseconds count' "$(told query.format) $(told \
	config.time.units) $(told config.calls.units)" kinds
[ "$(told query.from)" -gt 1000000000 ] || fail 'no time'
"$DUMP" -q -f pprof -o calls.pprof calls
cmp -s calls.pprof "$got/1.pprof" || fail 'other bytes than those of -f pprof'

it 'Parca: labels and the profile'
capture "$DUMP" -q --push "$url/api/profiles/writeraw" calls
assert_status 0
assert_eq 'application/json workers my service' \
	"$(told type) $(told labels.process) $(told labels.service_name)" request
cmp -s calls.pprof "$got/2.pprof" || fail 'other bytes than those of -f pprof'

it 'of several processes: what they have in common'
capture "$DUMP" -q --push "$url/ingest" calls ranked
assert_eq "workers{process=workers,host=$(uname -n)}" "$(told query.name)" name
"$DUMP" -q -f otlp -o both.pb calls ranked
capture read_otlp both.pb
assert_status 0
assert_eq "$(printf 'R %s\n' "host.name $(uname -n)" \
	'process.executable.name workers' 'service.name unknown_service:workers')" \
	"$(grep ^R out)" resource

it 'the token comes from the environment or a file, not from the command line'
SWIZZLE_PUSH_TOKEN=secret capture "$DUMP" -q --push "$url" calls
assert_eq 'Bearer secret' "$(told authorization)" environment
echo hidden >token
SWIZZLE_PUSH_TOKEN_FILE=token capture "$DUMP" -q --push "$url" calls
assert_eq 'Bearer hidden' "$(told authorization)" file
SWIZZLE_PUSH_TOKEN_FILE=missing capture "$DUMP" -q --push "$url" calls
assert_status 1
assert_contains err 'SWIZZLE_PUSH_TOKEN_FILE: missing'
stop

it 'a server that is busy is asked again, one that refuses is not'
serve 503 429
capture "$DUMP" -q --push "$url" calls
assert_status 0
assert_eq 3 "$(find "$got" -name '*.json' | wc -l)" requests
stop
serve 401
capture "$DUMP" -q --push "$url" calls
assert_status 1
assert_contains err 'status 401: no room (SWIZZLE_PUSH_TOKEN'
assert_eq 1 "$(find "$got" -name '*.json' | wc -l)" requests
stop
it 'no server is an error that says so'
capture "$DUMP" -q --push "$url" calls
assert_status 1
assert_contains err "$url: "

finish
