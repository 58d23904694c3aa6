package revisit

import "time"

// Kind is what a page is to the crawl.
type Kind uint8

// The kinds of pages. A list tells of other pages: a sitemap or a feed.
const (
	Plain Kind = iota
	Seed
	List
	kinds
)

// State is what is remembered of a page between its visits. The zero value is that of a page that was never visited.
// [State.Append] writes it in [StateSize] octets.
type State struct {
	// Visits is how many visits were observed: the number of the last one, which the ledger counts from 0, plus 1. Changes
	// counts those that found the page changed, up to 65,535.
	Visits  uint32
	Changes uint16
	// Last is when the page was last seen as it is; a visit that failed does not count. Due is when it is visited again,
	// zero where it is not. Signal is the last word from elsewhere that it changed: it is news where it is after Last. One
	// that is Last says that there was such a word before it, and zero that there never was one. Of a page that is gone
	// Signal is when it was looked for last. All are whole seconds.
	Last, Due, Signal time.Time
	// Rate is how often it changes; as it is stored, to seven digits.
	Rate Rate
	// Weight is its weight as [WeightOctet] writes it; 0 in a State that was never visited stands for 1.
	Weight uint8
	Kind   Kind
	// Sum identifies the content that was last seen, 0 where that is not known.
	Sum uint64
	// Misses counts 404 (once) and 410 (twice) in a row.
	Misses uint8
	// Recent has one bit for each of the last eight visits that told something, the newest lowest: set where it brought
	// new links.
	Recent uint8
	Flags
}

// Flags are what is true or not of a page.
type Flags struct {
	Moved     bool // its last answer was a permanent redirect
	Withdrawn bool // it may not be kept: noindex, or robots.txt
	Soft      bool // almost each visit finds a small change: only great ones count
	Gone      bool // it was missing so often that it is not visited any more
	Copy      bool // its record names another page that has the content
}

// weight is the page's weight; a page that moved keeps an eighth of it.
func (s State) weight() float64 {
	w := 1.
	if s.Weight > 0 {
		w = OctetWeight(s.Weight)
	}
	if s.Moved {
		w /= 8
	}
	return w
}

// Listed reports whether something told of the page's changes before, so that it may be expected to tell of the next.
func (s State) Listed() bool { return !s.Signal.IsZero() }

// IsTold reports whether there is word that the page changed since it was seen.
func (s State) IsTold() bool { return s.Signal.After(s.Last) }

// Yields reports whether one of the last four visits brought new links.
func (s State) Yields() bool { return s.Recent&0xf != 0 }
