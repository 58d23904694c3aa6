package contentseen

import "math/bits"

// Constants of XXH3's way with up to 16 bytes and no seed: words of its default secret, XORed as it does, and its
// multipliers (xxHash specification, "XXH3 Algorithm Overview").
const (
	secret1To3      = 0xbe4ba423 ^ 0x396cfeb8
	secret4To8      = 0x1cad21f72c81017c ^ 0xdb979083e96dd4de
	secret9To16Low  = 0x1f67b3b7a4a44072 ^ 0x78e5c0cc4ee679cb
	secret9To16High = 0x2172ffcc7dd05a82 ^ 0x8e2443f7744608b8

	mixShort   = 0x9fb21c651e98df25
	mixLong    = 0x165667919e3779f9
	primeTwo   = 0xc2b2ae3d27d4eb4f
	primeThree = 0x165667b19e3779f9
)

// hash8 returns the XXH3 hash of the lowest n bytes of w, 1 to 8; the others must be 0. Most words are so short: it
// spares a way through memory. Both of XXH3's ways are gone, since which of them a word takes nobody could foretell.
func hash8(w uint64, n int) uint64 {
	size := uint64(n)
	middle, last := w>>(8*(size>>1)&63)&0xff, w>>(8*(size-1)&63)&0xff
	short := (w&0xff<<16 | middle<<24 | last | size<<8) ^ secret1To3
	short = (short ^ short>>33) * primeTwo
	short = (short ^ short>>29) * primeThree
	short ^= short >> 32

	tail := w >> (8 * (size - 4) & 63) & 0xffff_ffff
	long := (tail + w<<32) ^ secret4To8
	long ^= bits.RotateLeft64(long, 49) ^ bits.RotateLeft64(long, 24)
	long *= mixShort
	long ^= long>>35 + size
	long *= mixShort
	long ^= long >> 28

	if n > 3 {
		short = long
	}
	return short
}

// hash16 returns the XXH3 hash of n bytes, 9 to 16: the first eight are low, the others the lowest of high, whose rest
// must be 0.
func hash16(low, high uint64, n int) uint64 {
	more := 8 * uint(n-8)
	last := low>>(more&127) | high<<((64-more)&63) // the last eight bytes
	if more == 64 {
		last = high
	}
	low, last = low^secret9To16Low, last^secret9To16High
	hi, lo := bits.Mul64(low, last)
	x := uint64(n) + bits.ReverseBytes64(low) + last + (hi ^ lo)
	x = (x ^ x>>37) * mixLong
	return x ^ x>>32
}
