package contentseen

import "math/bits"

// Eight bytes of a text are looked at together, as the lanes of one number (SWAR; Warren, Hacker's Delight, chapter 6).
const (
	every = 0x0101_0101_0101_0101 // a 1 in each lane
	tops  = 0x80 * every          // the top bit of each lane
	small = 0x20 * every          // what makes a letter small
)

// wordLanes returns eight bytes with their ASCII letters made small, and the top bit of each lane that holds an ASCII
// letter or digit. No sum carries from lane to lane, since the top bits are cleared before.
func wordLanes(x uint64) (lower, words uint64) {
	plain := x &^ tops
	lettered := plain | small
	letters := (lettered + (0x80-'a')*every) &^ (lettered + (0x80-'z'-1)*every) &^ x & tops
	digits := (plain + (0x80-'0')*every) &^ (plain + (0x80-'9'-1)*every) &^ x & tops
	return x | letters>>2, letters | digits
}

// lanesBefore returns how many lanes lie before the first whose top bit is set in marks: 8 if there is none.
func lanesBefore(marks uint64) int { return bits.TrailingZeros64(marks) >> 3 }

// firstLanes keeps the first n lanes of x, 0 to 7.
func firstLanes(x uint64, n int) uint64 { return x & (1<<(8*uint(n)&63) - 1) }

// eightBytes reads text[i:i+8], the first byte lowest.
func eightBytes(text string, i int) uint64 {
	b := text[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
