package dates

import (
	"strings"
	"time"
)

// Bounds of a text in which a date is looked for, in words.
const (
	maxFindWords = 30
	maxDateWords = 9
)

// Find reads the first date in a line such as "Posted on 6 May 2024 by Ann". It takes none that may be two, and in
// "Vol. 12, May 2024" no day.
func Find(text string) (time.Time, bool) {
	words := strings.Fields(text)
	words = words[:min(len(words), maxFindWords)]
	for i := range words {
		for n := min(maxDateWords, len(words)-i); n > 0; n-- {
			if numbered(words[i : i+n]) {
				continue
			}
			line := strings.Trim(strings.Join(words[i:i+n], " "), ",;:|()[]\u00b7\u2022\u2013\u2014 ")
			t, d, ok := parse(line)
			if ok && !d.part && !d.unsure && strings.Trim(line, "0123456789") != "" {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// numbered reports whether a number with a comma behind it is no day, since no month is before it.
func numbered(words []string) bool {
	for i, word := range words {
		if len(word) > len("12,") || !strings.HasSuffix(word, ",") {
			continue
		}
		if i == 0 || months[strings.TrimSuffix(strings.ToLower(words[i-1]), ".")] == 0 {
			return true
		}
	}
	return false
}
