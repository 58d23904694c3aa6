package contentseen

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unicode"

	"github.com/zeebo/xxh3"
)

// The short ways must give the hashes that stored fingerprints were made of.
func TestHashesOfShortWordsAreXXH3s(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	for n := 1; n <= 16; n++ {
		for range 1_000 {
			var b [16]byte
			for i := range n {
				b[i] = byte(rnd.Uint32())
			}
			low, high := binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
			got := hash16(low, high, max(n, 9))
			if n <= 8 {
				got = hash8(low, n)
			}
			if want := xxh3.Hash(b[:n]); got != want {
				t.Fatalf("%x: %016x, want %016x", b[:n], got, want)
			}
		}
	}
}

func TestLanesTellLettersAndDigits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 0))
	for c := range 256 {
		for lane := range 8 {
			x := rnd.Uint64()&^(0xff<<(8*lane)) | uint64(c)<<(8*lane)
			lower, words := wordLanes(x)
			want, inWord := byte(c), false
			if c < 0x80 && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))) {
				want, inWord = byte(unicode.ToLower(rune(c))), true
			}
			if got := byte(lower >> (8 * lane)); got != want || words>>(8*lane+7)&1 == 1 != inWord {
				t.Errorf("%02x in lane %d: %02x, a word's: %v", c, lane, got, words>>(8*lane+7)&1 == 1)
			}
		}
	}
}

// Each word is at each place of the eight bytes that are looked at together, and of the text's end.
func TestWordsAtEveryPlace(t *testing.T) {
	for _, word := range []string{"A", "Bc", "abcdefg", "ABCDEFGH", "abcdefghi", "aBcdefghijklmnO", "abcdefghijklmnop",
		"abcdefghijklmnopq", "é", "abcé", "abcdefgé", "abcdefghé", "abcdefghijklmnopé", "網絡", "ab網絡"} {
		for before := range 20 {
			for after := range 20 {
				for _, between := range []string{" ", "é ", "x "} {
					text := spaces(before) + between + word + spaces(after)
					got, _, n := Fingerprint(text)
					if words := plainWords(text); got != plainSimhash(words) || n != len(words) {
						t.Fatalf("%q: %d words, %016x; want %d, %016x", text, n, got, len(words), plainSimhash(words))
					}
				}
			}
		}
	}
}

func spaces(n int) string { return "                                "[:n] }
