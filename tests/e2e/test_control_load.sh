# shellcheck shell=bash
# swizzle-ctl on programs that work: two controllers start, stop, take snapshots and
# marks in random order, and the programs' answers are the same; the program is killed
# meanwhile, or a controller is, and what they leave can be read.
# CONTROL_ROUNDS (1) times as much work, and as many kills (8): make check-control
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
CTL=$BUILD/bin/swizzle-ctl
need python3
need_built "$CTL"
need_targets served
ROUNDS=${CONTROL_ROUNDS:-1}
KILLS=$((8 * ROUNDS))

controllers=()
begin_controllers() { # PID
	rm -f no_more
	controllers=()
	for seed in 1 2; do
		python3 "$TOP/tests/e2e/control_at_random.py" "$CTL" "$DUMP" "$1" $seed no_more \
			>done.$seed 2>wrong.$seed &
		controllers+=($!)
	done
}

end_controllers() { # WHAT
	: >no_more
	for seed in 1 2; do
		wait "${controllers[$((seed - 1))]}" || fail "$1: controller $seed"
		assert_empty wrong.$seed
		assert_ge "$(wc -l <done.$seed)" 2 "what controller $seed has asked for"
	done
}

assert_readable() { # PROFILE
	capture "$DUMP" -q -f text "$1"
	assert_status 0
	"$DUMP" -q -f info "$1" >info
	assert_not_contains info damaged
}

has_asked() { [ "$(wc -l <done.$1)" -ge 5 ]; }

is_profiled() { "$CTL" status "$1" >/dev/null 2>&1; }

# The same output as natively, while it is asked for this and that.
work() { # NAME COMMAND...
	local name=$1 worker
	shift
	"$@" >native 2>&1 </dev/null || abort "$name natively"
	rm -f profile
	"$RUN" -q -o profile "$@" >out 2>&1 </dev/null &
	worker=$!
	wait_until is_profiled $worker
	begin_controllers $worker
	wait $worker
	assert_eq 0 $? "status of $name"
	end_controllers "$name"
	assert_same native out
	assert_readable profile
}

if have 'python3' /usr/bin/python3; then
	cat >work.py <<END
import json, hashlib, re, sys
sum = hashlib.sha256()
for i in range(2500 * $ROUNDS):
    data = {'n': [i * j for j in range(200)], 's': 'abc' * (i % 50)}
    text = json.dumps(data, sort_keys=True)
    sum.update(re.sub('[02468]', 'e', text).encode())
    sum.update(repr(sorted(json.loads(text)['n'], key=lambda x: x % 97)).encode())
    try:
        raise ValueError(i)
    except ValueError as error:
        sum.update(str(error).encode())
print(sum.hexdigest())
END
	work python3 /usr/bin/python3 work.py
fi

if have 'sqlite3' sqlite3; then
	cat >work.sql <<END
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000 * $ROUNDS)
	INSERT INTO t SELECT i, 'row ' || (i * 7919 % 10007), i / 3.0 FROM n;
CREATE INDEX x ON t(b);
SELECT count(*), sum(a), max(b), round(sum(c), 3) FROM t;
SELECT b, count(*) FROM t GROUP BY b ORDER BY 2 DESC, 1 LIMIT 20;
SELECT count(*) FROM t a JOIN t b ON a.b = b.b WHERE a.a < 2000;
END
	work sqlite3 sqlite3 :memory: '.read work.sql'
fi

if have 'redis' redis-server redis-cli; then
	rm -f profile
	"$RUN" -q -o profile redis-server --port 0 --unixsocket "$TMP/redis" --save '' \
		--daemonize no --logfile '' >redis.log 2>&1 &
	server=$!
	wait_until test -S redis
	begin_controllers $server
	for client in 1 2; do
		for ((i = 0; i < 20000 * ROUNDS; i++)); do
			echo "INCR counter"
			echo "LPUSH list$client value$i"
		done | redis-cli -s redis >answers.$client 2>&1 &
		clients[client]=$!
	done
	wait "${clients[@]}"
	for seed in 1 2; do
		wait_until has_asked $seed
	done
	end_controllers redis
	assert_eq $((40000 * ROUNDS)) "$(redis-cli -s redis GET counter)" 'the counter'
	assert_eq $((20000 * ROUNDS)) "$(redis-cli -s redis LLEN list1)" 'the list'
	assert_eq $((80000 * ROUNDS)) "$(cat answers.* | grep -cE '^(\(integer\) )?[0-9]+$')" answers
	redis-cli -s redis SHUTDOWN NOSAVE
	wait $server
	assert_eq 0 $? "redis-server's status"
	assert_readable profile
fi

# ---------------------------------------------------------------------- killed

serve() {
	rm -f stop profile snapshot served.out
	"$RUN" -q -o profile "$TARGETS/served" "$TMP/stop" 3 >served.out 2>served.err &
	program=$!
	wait_until grep -qs ready served.out
}

a_moment() { sleep "0.0$(printf %02d $((RANDOM % 30)))"; }

it 'the program is killed while it is started, stopped, and copied'
for ((round = 0; round < KILLS; round++)); do
	serve
	(
		while kill -0 $program 2>/dev/null; do
			"$CTL" stop $program
			"$CTL" snapshot snapshot $program
			"$CTL" start $program
		done
	) >/dev/null 2>&1 &
	controller=$!
	a_moment
	kill -KILL $program
	{ wait $program; } 2>/dev/null
	wait $controller
	assert_readable profile
	[ ! -e snapshot ] || assert_readable snapshot
	all_well || break
done

it 'a controller is killed'
serve
for ((round = 0; round < KILLS; round++)); do
	for what in stop "snapshot snapshot" start; do
		# shellcheck disable=SC2086
		"$CTL" $what $program >/dev/null 2>&1 &
		controller=$!
		a_moment
		kill -KILL $controller 2>/dev/null
		wait $controller 2>/dev/null
	done
	[ ! -e snapshot ] || assert_readable snapshot
done
capture "$CTL" stop $program
assert_status 0
capture "$CTL" snapshot snapshot $program
assert_status 0
assert_readable snapshot
capture "$CTL" start $program
assert_status 0
: >stop
wait $program
assert_eq 0 $? 'status of served'
assert_empty served.err
assert_readable profile

finish
