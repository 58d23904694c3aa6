package worddiff

import (
	"strings"
	"unicode"
)

// maxEdits is how many words may go and come between two texts, beside their common start and end. Where there are
// more, all between these is told as one text that goes and one that comes. The memory grows with its square: 6 MB.
const maxEdits = 1_200

// Compare returns the pieces of a and b in their order: joined, those that are not + give a, those that are not - give
// b.
func Compare(a, b string) []Piece {
	x, y := split(a), split(b)
	start := 0
	for start < len(x) && start < len(y) && x[start] == y[start] {
		start++
	}
	end := 0
	for end < len(x)-start && end < len(y)-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	out := &pieces{list: []Piece{}} // a list also where both are empty
	out.add("=", x[:start])
	middle(x[start:len(x)-end], y[start:len(y)-end], out)
	out.add("=", x[len(x)-end:])
	return out.list
}

// split parts a text in words and what is between them.
func split(s string) (words []string) {
	from, space := 0, false
	for i, r := range s {
		if is := unicode.IsSpace(r); i > 0 && is != space {
			words = append(words, s[from:i])
			from, space = i, is
		} else if i == 0 {
			space = is
		}
	}
	if from < len(s) {
		words = append(words, s[from:])
	}
	return words
}

type pieces struct{ list []Piece }

func (p *pieces) add(op string, words []string) {
	if len(words) == 0 {
		return
	}
	text := strings.Join(words, "")
	if n := len(p.list); n > 0 && p.list[n-1].Op == op {
		p.list[n-1].Text += text
		return
	}
	p.list = append(p.list, Piece{op, text})
}

// middle compares by the greedy algorithm of Myers (1986).
func middle(x, y []string, out *pieces) {
	if len(x) == 0 || len(y) == 0 {
		out.add("-", x)
		out.add("+", y)
		return
	}
	trace, found := forward(x, y)
	if !found {
		out.add("-", x)
		out.add("+", y)
		return
	}
	for _, s := range back(x, y, trace) {
		switch s.op {
		case "=", "-":
			out.add(s.op, x[s.at:s.at+1])
		default:
			out.add(s.op, y[s.at:s.at+1])
		}
	}
}

// forward finds how many words must go or come; trace has the furthest ends of each number of them.
func forward(x, y []string) (trace [][]int32, found bool) {
	most := min(len(x)+len(y), maxEdits)
	ends := make([]int, 2*most+3) // by k + most + 1
	for d := 0; d <= most; d++ {
		row := make([]int32, 2*d+1)
		for k := -d; k <= d; k += 2 {
			at := k + most + 1
			i := ends[at-1] + 1
			if k == -d || k != d && ends[at-1] < ends[at+1] {
				i = ends[at+1]
			}
			for i < len(x) && i-k < len(y) && x[i] == y[i-k] {
				i++
			}
			ends[at], row[k+d] = i, int32(i)
			if i >= len(x) && i-k >= len(y) {
				return append(trace, row), true
			}
		}
		trace = append(trace, row)
	}
	return nil, false
}

// step is a word that stays, goes or comes.
type step struct {
	op string
	at int // in x; for + in y
}

// back follows the trace from the end to the start.
func back(x, y []string, trace [][]int32) (steps []step) {
	i, j := len(x), len(y)
	for d := len(trace) - 1; d > 0; d-- {
		row, k := trace[d-1], i-j
		end := func(k int) int {
			if k < -(d-1) || k > d-1 {
				return -1
			}
			return int(row[k+d-1])
		}
		from := k - 1
		if k == -d || k != d && end(k-1) < end(k+1) {
			from = k + 1
		}
		pi := end(from)
		pj := pi - from
		for i > pi && j > pj {
			i, j = i-1, j-1
			steps = append(steps, step{"=", i})
		}
		if from == k+1 {
			j--
			steps = append(steps, step{"+", j})
		} else {
			i--
			steps = append(steps, step{"-", i})
		}
	}
	for i > 0 && j > 0 {
		i, j = i-1, j-1
		steps = append(steps, step{"=", i})
	}
	for l, r := 0, len(steps)-1; l < r; l, r = l+1, r-1 {
		steps[l], steps[r] = steps[r], steps[l]
	}
	return steps
}
