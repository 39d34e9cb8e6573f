<?php
$own = [];
$stacks = [];

function now() {
	$r = getrusage();
	return ($r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec']) * 1000 +
		($r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec']) / 1000;
}

function note() {
	global $stacks;
	$names = [];
	foreach (debug_backtrace() as $at) {
		$name = $at['function'];
		if ($name == 'note' || $name == 'array_map' || $name == 'usort')
			continue;
		if (strpos($name, '{closure') === 0)
			$name = '{closure}';
		if (isset($at['class']))
			$name = $at['class'] . '::' . $name;
		array_unshift($names, $name);
	}
	$stacks['{main};' . implode(';', $names)] = true;
}

function spin($first) {
	if ($first)
		note();
	$s = 0;
	for ($i = 0; $i < 20000; $i++) {
		$s += $i & 3; // HOT
	}
	return $s;
}

function busy($ms) {
	$end = now() + $ms;
	spin(true);
	while (now() < $end)
		spin(false);
}

function sixty($n, $ms) {
	if ($n)
		sixty($n - 1, $ms);
	else
		busy($ms);
}

class Thing {
	function thirty($ms) {
		array_map(function ($x) use ($ms) { busy($ms); }, [1]);
	}
	static function made($ms) {
		busy($ms);
	}
	function generated($ms) {
		for ($i = 0; $i < 3; $i++) {
			busy($ms / 3);
			yield $i;
		}
	}
}

function ten($ms) {
	try {
		throw new Exception('x');
	} catch (Exception $e) {
		busy($ms);
	}
}

function sorting($ms) {
	$a = [3, 1];
	usort($a, function ($x, $y) use ($ms) { busy($ms); return 0; });
}

function timed($name, $call) {
	global $own;
	$start = now();
	$call();
	$own[$name] = now() - $start;
}

timed('sixty', function () { sixty(200, 600); });
timed('Thing::thirty', function () { (new Thing)->thirty(300); });
timed('ten', function () { ten(100); });
timed('Thing::made', function () { Thing::made(50); });
timed('Thing::generated', function () { foreach ((new Thing)->generated(60) as $x); });
timed('sorting', function () { sorting(50); });
foreach ($own as $name => $ms)
	echo "$name $ms\n";
foreach ($stacks as $stack => $x)
	echo "stack $stack\n";
echo 'process ', now(), "\n";
