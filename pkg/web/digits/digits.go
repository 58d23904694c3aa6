// Package digits reads the decimal digits of all scripts.
package digits

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Value is what a decimal digit of any script stands for, 0 to 9; false: the character is none.
func Value(r rune) (int, bool) {
	if '0' <= r && r <= '9' {
		return int(r - '0'), true
	}
	i, found := slices.BinarySearchFunc(rows, r, func(row [2]rune, r rune) int {
		switch {
		case row[1] < r:
			return -1
		case row[0] > r:
			return 1
		}
		return 0
	})
	if !found {
		return 0, false
	}
	return int(r-rows[i][0]) % 10, true
}

// rows are the first and the last of digits in a row, in their order. Unicode has the ten of a script in a row, from 0
// on.
var rows = func() (all [][2]rune) {
	for _, r := range unicode.Nd.R16 {
		all = append(all, [2]rune{rune(r.Lo), rune(r.Hi)})
	}
	for _, r := range unicode.Nd.R32 {
		all = append(all, [2]rune{rune(r.Lo), rune(r.Hi)})
	}
	slices.SortFunc(all, func(a, b [2]rune) int { return cmp.Compare(a[0], b[0]) })
	return all
}()

// Plain is a text with the digits of any script, and the separators of Arabic numbers, as those of ASCII.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\u066b':
			return '.'
		case '\u066c':
			return ','
		}
		if n, ok := Value(r); ok {
			return '0' + rune(n)
		}
		return r
	}, s)
}
