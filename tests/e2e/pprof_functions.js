// Prints "calls self name" of each function of a pprof file, by pprof-format.
//   node pprof_functions.js DIRECTORY-OF-MODULES FILE
'use strict'

const { readFileSync } = require('fs')
const { gunzipSync } = require('zlib')
const { Profile } = require(`${process.argv[2]}/pprof-format`)

const profile = Profile.decode(gunzipSync(readFileSync(process.argv[3])))
const strings = profile.stringTable.strings
const by = (list) => new Map(list.map((item) => [String(item.id), item]))
const locations = by(profile.location)
const functions = by(profile.function)
const sums = new Map()

for (const sample of profile.sample) {
	for (const id of sample.locationId) {
		if (!locations.has(String(id))) throw new Error(`location ${id}`)
	}
	const line = locations.get(String(sample.locationId[0])).line.at(-1)
	const name = strings[Number(functions.get(String(line.functionId)).name)]
	const sum = sums.get(name) || [0n, 0n]
	sums.set(name, sample.value.map((v, i) => sum[i] + BigInt(v)))
}
for (const [name, [calls, self]] of sums) console.log(`${calls} ${self} ${name}`)
