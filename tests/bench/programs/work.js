// Objects, strings, closures, sorting and JSON, as often as the first argument says.
'use strict';

function words(n) {
	const list = [];

	for (let i = 0; i < n; i++)
		list.push('word' + (i * 7919 % n));
	return list;
}

function count(list) {
	const counts = new Map();

	for (const word of list)
		counts.set(word, (counts.get(word) || 0) + 1);
	return [...counts].sort((a, b) => a[0] < b[0] ? -1 : 1);
}

function packed(entries) {
	return JSON.parse(JSON.stringify(entries)).map(([word, n]) =>
		word.replace(/[aeiou]/g, '_') + n).join(',');
}

let length = 0;

for (let i = 0; i < Number(process.argv[2]); i++)
	length += packed(count(words(20000))).length;
console.log(length);
