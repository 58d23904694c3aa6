package traps

import "strings"

// maxUnit is the longest sequence of segments that is looked for in a row. A relative link that lacks its slash
// appends the directories of one page over and over, which are few.
const maxUnit = 4

// depth is the number of segments of a path; empty ones count, for "//////…" grows without end too, but not the one
// behind a slash at the end.
func depth(path string) int {
	return strings.Count(strings.TrimSuffix(path, "/"), "/")
}

// appendSegments appends the segments of a path that are not empty.
func appendSegments(list []string, path string) []string {
	for path != "" {
		var segment string
		segment, path, _ = strings.Cut(path, "/")
		if segment != "" {
			list = append(list, segment)
		}
	}
	return list
}

// repeats reports whether a sequence of up to maxUnit segments stands more than most times in a row, or one segment
// more than twice that often anywhere.
//
// Segments of one character or of digits only do not make a sequence suspicious: dates, map tiles (/7/7/7.png) and
// sharded stores (/0/0/0/, /a/a/a/) repeat them. They count for the second rule, which no such scheme reaches.
func repeats(segments []string, most int) bool {
	if len(segments) <= most {
		return false
	}
	for unit := 1; unit <= maxUnit; unit++ {
		if inRow(segments, unit, most) {
			return true
		}
	}
	return moreThan(segments, 2*most)
}

// inRow reports whether some sequence of unit segments with a telling one among them stands more than most times in a
// row. That is so where most×unit segments running equal those that stand unit before them.
func inRow(segments []string, unit, most int) bool {
	equal, telling := 0, 0 // of the current run: its length, and the last place in it of a telling segment
	for i := unit; i < len(segments); i++ {
		if segments[i] != segments[i-unit] {
			equal, telling = 0, 0
			continue
		}
		equal++
		if isTelling(segments[i]) {
			telling = equal
		}
		if equal >= most*unit && equal-telling < unit && telling > 0 {
			return true
		}
	}
	return false
}

// isTelling reports whether a segment is more than a letter or a number.
func isTelling(segment string) bool {
	if len(segment) < 2 {
		return false
	}
	_, digits := number(segment)
	return digits < len(segment)
}

// moreThan reports whether one segment occurs more than most times. Comparing each with each beats counting in a map
// for usual paths; beyond maxCompared segments, which only a Config without a depth allows, the rest is left alone.
func moreThan(segments []string, most int) bool {
	const maxCompared = 256
	segments = segments[:min(len(segments), maxCompared)]
	for i := 0; i+most < len(segments); i++ {
		count := 1
		for _, s := range segments[i+1:] {
			if s == segments[i] {
				count++
			}
		}
		if count > most {
			return true
		}
	}
	return false
}

// number reads the digits at the start of s: their value, bounded, and how many they are.
func number(s string) (value, digits int) {
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		value = min(value*10+int(s[digits]-'0'), 1<<30)
		digits++
	}
	return value, digits
}
