// Reads the blocks of data that swizzle-dump wrote into the page
// (src/profile/formats/page/html_blocks.c): base64, deflated, numbers in LEB128.

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);

	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream()
		.pipeThrough(new DecompressionStream('deflate'));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Blocks {
	constructor() {
		this.elements = new Map();
		for (const element of document.querySelectorAll(
			'script[type="application/x-swizzle"]'))
			this.elements.set(element.dataset.name, element);
		this.count = this.elements.size;
		this.done = 0;
	}

	has(name) {
		return this.elements.has(name);
	}

	// The bytes of a block.
	peek(name) {
		const element = this.elements.get(name);

		if (!element)
			throw new Error(`the page is incomplete: no ${name}`);
		return inflate(fromBase64(element.textContent));
	}

	// The same of one that is then removed.
	take(name) {
		const bytes = this.peek(name);

		this.elements.get(name).remove();
		this.elements.delete(name);
		this.done++;
		return bytes;
	}
}

class Reader {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	// Beyond 2^53 numbers are not exact.
	number() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];

		if (byte < 128)
			return byte;
		let value = byte & 127, unit = 128;

		do {
			byte = bytes[this.at++];
			value += (byte & 127) * unit;
			unit *= 128;
		} while (byte & 128);
		return value;
	}

	// Up to a NUL.
	string() {
		const end = this.bytes.indexOf(0, this.at);
		const string = text(this.bytes.subarray(this.at, end));

		this.at = end + 1;
		return string;
	}

	// COUNT rows of numbers, as one array per column.
	table(count, ...types) {
		const columns = types.map(type => new type(count));

		for (let i = 0; i < count; i++)
			for (const column of columns)
				column[i] = this.number();
		return columns;
	}
}

const text = bytes => new TextDecoder().decode(bytes);
