// Package nearest finds the name that was probably meant by one that nobody knows.
package nearest

// To returns the candidate that differs from name by the fewest letters; of several, the first. It returns "" if every
// candidate differs by more than most letters.
func To(name string, candidates []string, most int) (best string) {
	least := most + 1
	for _, c := range candidates {
		if d := distance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete or replace to make b of a (Levenshtein 1966).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
