// Colours of boxes. A module has a hue, the functions in it differ a little in
// lightness; the modules with the most self time get the hues that are easiest
// to tell apart.

const HUES = [212, 28, 152, 278, 350, 186, 48, 318, 96, 240, 8, 128];

// Hues of the configuration's colours; the others have none.
const NAMED_HUES = {red: 4, green: 130, yellow: 50, blue: 214, magenta: 305,
	cyan: 184};

class Colours {
	constructor(model) {
		this.model = model;
		this.mode = model.comparison ? 'change' : 'module';
		this.rankModules();
		this.refresh();
	}

	rankModules() {
		const {catalog, threads} = this.model;
		const self = new Float64Array(catalog.modules.length);

		for (const {rows} of threads)
			for (let i = 0; i < rows.count; i++) {
				const module = catalog.module[rows.fn[i]];

				if (module >= 0)
					self[module] += rows.self[i];
			}
		this.order = [...self.keys()].sort((a, b) => self[b] - self[a]);
		this.hue = new Int32Array(self.length);
		this.order.forEach((module, rank) => {
			this.hue[module] = HUES[rank % HUES.length] +
				7 * Math.floor(rank / HUES.length);
		});
	}

	// To be called when the theme or the mode has changed.
	refresh() {
		const style = getComputedStyle(document.documentElement);
		const get = name => style.getPropertyValue(name).trim();

		this.dark = get('--dark') === '1';
		for (const name of ['back', 'raised', 'line', 'text', 'dim',
			'accent', 'faint', 'found', 'bad'])
			this[name] = get('--' + name);
		this.label = this.dark ? '#0b0e13' : '#16202e';
		this.cache = new Array(this.model.catalog.count);
		this.hottest = 0;
		for (const fn of this.model.functions)
			if (!isNoCall(fn))
				this.hottest = Math.max(this.hottest,
					this.model.sums.self[fn]);
	}

	hsl(hue, saturation, lightness) {
		return `hsl(${hue % 360} ${saturation}% ${lightness}%)`;
	}

	ofModule(module) {
		return module < 0 ? this.hsl(215, 8, this.dark ? 52 : 80) :
			this.hsl(this.hue[module], this.dark ? 50 : 66,
				this.dark ? 60 : 76);
	}

	ofThread(index) {
		return this.hsl(HUES[index % HUES.length], this.dark ? 50 : 66,
			this.dark ? 60 : 76);
	}

	ofFunction(fn) {
		return this.cache[fn] || (this.cache[fn] = this.compute(fn));
	}

	// SHARE is 0 to 1.
	ofHeat(share) {
		return this.hsl(50 - 45 * share, 40 + 45 * share,
			this.dark ? 66 - 10 * share : 86 - 24 * share);
	}

	// Of a call that threw or returned an error.
	get ofError() {
		return this.hsl(2, this.dark ? 68 : 78, this.dark ? 58 : 66);
	}

	// One that the configuration has given a function.
	named(colour) {
		if (colour in NAMED_HUES)
			return this.hsl(NAMED_HUES[colour], this.dark ? 62 : 74,
				this.dark ? 60 : 72);
		return colour === 'dim' ? this.hsl(215, 6, this.dark ? 34 : 90) :
			this.hsl(215, 12, this.dark ? 86 : 48); // bold
	}

	compute(fn) {
		const module = this.model.catalog.module[fn];
		const hash = scatter(fn);
		const shift = hash % 13 - 6;

		if (this.mode === 'change')
			return this.model.comparison.ofFunction(this, fn);
		const {colour} = this.model.settings.get(fn) || {};

		if (colour && this.mode !== 'heat')
			return this.named(colour);
		if (this.mode === 'function')
			return this.hsl(hash % 360, this.dark ? 48 : 66,
				(this.dark ? 60 : 76) + shift / 2);
		if (this.mode === 'heat') {
			return this.ofHeat(Math.sqrt(this.model.sums.self[fn] /
				(this.hottest || 1)));
		}
		if (module < 0)
			return this.hsl(215, 8, (this.dark ? 52 : 80) + shift);
		return this.hsl(this.hue[module] + (hash >> 8) % 15 - 7,
			this.dark ? 50 : 66, (this.dark ? 60 : 76) + shift);
	}
}

// A number that has nothing to do with its neighbours'.
function scatter(number) {
	let hash = Math.imul(number + 1, 0x9e3779b1);

	hash ^= hash >>> 15;
	hash = Math.imul(hash, 0x85ebca6b);
	return (hash ^ hash >>> 13) >>> 1;
}
