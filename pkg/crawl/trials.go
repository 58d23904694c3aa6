package crawl

import (
	"context"
	"fmt"
)

// HostTrial is what is known of a host that a topical job judges by its first pages.
type HostTrial struct {
	Pages   []TriedPage `cbor:"1,keyasint,omitempty"` // each once, until there is a verdict
	Verdict HostVerdict `cbor:"2,keyasint,omitempty"`
	Mean    Relevance   `cbor:"3,keyasint,omitempty"` // of the pages by which it was found
	Tried   int         `cbor:"4,keyasint,omitempty"` // how many these were
}

// TriedPage is a page by which a host is judged.
type TriedPage struct {
	// RenderKey of its task, so that a message that comes again is not counted again
	By        uint64    `cbor:"1,keyasint"`
	Relevance Relevance `cbor:"2,keyasint"`
}

// HostVerdict says whether a host is about the topic.
type HostVerdict uint8

// The verdicts. But for the first they do not change.
const (
	HostOpen HostVerdict = iota
	HostOn
	HostOff
)

// A host is about the topic once the mean of so many pages is above the limit; it is not where the mean of so many is
// low. Between these its trial decides.
const (
	leastOn  = 5
	leastOff = 10
)

// Add counts a page, and judges the host where it can be judged: by a trial of so many pages, with a limit above which
// the mean probability must be. It reports whether anything is new.
func (t *HostTrial) Add(p TriedPage, trial int, limit float64) bool {
	if t.Verdict != HostOpen || !p.Relevance.Known() {
		return false
	}
	sum := 0.0
	for _, known := range t.Pages {
		if known.By == p.By {
			return false
		}
		sum += known.Relevance.P()
	}
	t.Pages = append(t.Pages, p)
	n := len(t.Pages)
	mean := (sum + p.Relevance.P()) / float64(n)
	switch {
	case mean > limit && n >= min(leastOn, trial):
		t.Verdict = HostOn
	case n >= trial || mean < TopicLow && n >= leastOff:
		t.Verdict = HostOff
	}
	if t.Verdict != HostOpen {
		t.Mean, t.Tried, t.Pages = RelevanceOf(mean), n, nil
	}
	return true
}

// Why says by what the host was judged.
func (t *HostTrial) Why() string {
	return fmt.Sprintf("mean P %v of the first %d pages of its host", t.Mean, t.Tried)
}

// HostTrials keeps what is known of the hosts that topical jobs judge.
type HostTrials interface {
	// Trial returns what is stored of a host; zero where nothing is.
	Trial(ctx context.Context, job JobID, host string) (HostTrial, error)
	// ChangeTrial changes what is stored of a host in one step that no other change comes between. change may be called
	// more than once, each time with what is stored. If it returns false nothing is stored. It returns what is stored
	// afterwards.
	ChangeTrial(ctx context.Context, job JobID, host string, change func(*HostTrial) bool) (HostTrial, error)
}
