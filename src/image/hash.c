#include "image/hash.h"

#include <string.h>

/* Odd numbers with as many ones as zeros, without a pattern: the fractional
 * parts of square roots of primes. */
static const uint64_t roots[4] = {0x6a09e667f3bcc909, 0xbb67ae8584caa73b,
				  0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1};

/* Both halves of the product: every bit of either factor gets everywhere. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* The processor multiplies for four lanes at a time, which keep their former
 * value besides: a factor of zero would forget it. */
uint64_t swz_hash(uint64_t seed, struct swz_bytes bytes)
{
	const uint8_t *at = bytes.data;
	size_t left = bytes.size;
	uint64_t lanes[4], tail[8] = {0};

	for (size_t i = 0; i < 4; i++)
		lanes[i] = mix(seed ^ roots[i], roots[(i + 1) % 4]) + i;
	for (; left >= 64; left -= 64, at += 64)
		for (size_t i = 0; i < 4; i++)
			lanes[i] = mix(lanes[i] ^ word(at + 16 * i),
				       word(at + 16 * i + 8) ^ roots[i]) +
				   (lanes[i] << 1 | lanes[i] >> 63);
	if (left)
		memcpy(tail, at, left);
	for (size_t i = 0; i < 4; i++)
		lanes[i] = mix(lanes[i] ^ tail[2 * i],
			       tail[2 * i + 1] ^ roots[i]) +
			   (lanes[i] << 1 | lanes[i] >> 63);
	seed = mix(bytes.size ^ roots[0], roots[1]);
	for (size_t i = 0; i < 4; i++)
		seed = mix(seed ^ lanes[i], roots[i]) + lanes[i];
	return mix(seed, roots[2]) ^ seed;
}
