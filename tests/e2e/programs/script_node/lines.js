function now() {
	const used = process.cpuUsage();
	return (used.user + used.system) / 1000;
}

function leaf(n) {
	let s = 0;
	for (let i = 0; i < 6 * n; i++)
		s += i & 3; // 60
	for (let i = 0; i < 3 * n; i++)
		s += i & 3; // 30
	for (let i = 0; i < n; i++)
		s += i & 3; // 10
	return s;
}

function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function between(n) {
	return fib(n);
}

function outer(ms) {
	const end = now() + ms;
	let s = 0;
	while (now() < end)
		for (let i = 0; i < 20; i++)
			s += between(18);
	return s;
}

const start = now();
let s = 0;
while (now() < start + 1000)
	s += leaf(2000);
outer(300);
console.log(s);
