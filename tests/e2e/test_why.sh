# shellcheck shell=bash
# --why names the cause of a slow call: delays of known causes and times.
. "${BASH_SOURCE%/*}/lib.sh"
need cc python3 taskset
export SWIZZLE_MODE=trace
program delays.c >delays.c
cc -O1 -g -o delays delays.c -pthread || fail 'the program'
library=$(ldd "$DUMP" | awk '$1 == "libdw.so.1" { print $3 }')

why_of() { # KIND [OPTION...]: of the slowest call
	local kind=$1
	shift
	rm -rf profile
	taskset -c 0 "$RUN" -q --imports --flows "$@" -o profile ./delays "$kind" || fail "$kind"
	"$DUMP" --why handle --json profile >why.json || fail "why: $kind"
	"$DUMP" --why handle profile >why || fail "why: $kind"
}

# The cause with the most time is FUNCTION's, and takes at least LEAST ms. What all
# causes explain is the difference.
explains() { # FUNCTION CAUSE LEAST
	python3 - "$@" <<'END' || { cat why; fail "$1 $2"; }
import json, sys
why = json.load(open("why.json"))
function, wanted, least = sys.argv[1], sys.argv[2], float(sys.argv[3])
if why.get("waiting_known") is False and "waited" in wanted:
    print("not tested: waiting, which the kernel does not tell here")
    sys.exit(0)
extra, causes = why["extra_ns"], why["causes"]
total = sum(cause["extra_ns"] for cause in causes)
if not 0.95 * extra <= total <= 1.05 * extra + 1000:
    sys.exit("the causes add up to %d of %d" % (total, extra))
found = [c["extra_ns"] for c in causes
         if (c.get("function") or "") == function and c["cause"] == wanted]
if not found or found[0] < least * 1e6:
    sys.exit("found %s" % [(c.get("function"), c["cause"], c["extra_ns"]) for c in causes])
END
}

it 'a lock'
why_of lock --slow handle:10ms
explains pthread_mutex_lock 'waited for a lock' 10

it 'a lock: who held it, and where, in a whole trace'
why_of lock --switches
explains pthread_mutex_lock 'waited for a lock' 10
grep -q 'waiting is not told' why || assert_matches why 'until pthread_mutex_unlock in delays .*hold_lock'

it 'input: what it waited for'
why_of read --slow handle:10ms
explains read 'waited for input or output' 10
assert_matches why 'read\(.*pipe:'

assert_eq 0 "$("$DUMP" -f raw profile | awk '$1 == "lost_values" { print $2 }')" 'values that had no room'

it 'page faults'
why_of faults --slow handle:2ms
explains touch 'ran longer' 2

it 'another thread on its processor'
why_of processor --slow handle:10ms
explains compute 'waited for a processor' 4

it 'a garbage collection'
why_of collect --slow handle:10ms
explains luaC_fullgc 'garbage collection' 10

it "swizzle's own work: the plan of a library that is loaded, once"
why_of "$library" --slow handle:1ms
explains '' "swizzle's own work" 1
