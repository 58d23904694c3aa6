package crawl

import "fmt"

// MaxBeyond bounds the links of a page beyond limits.links_per_page that are told by name: the first of them.
const MaxBeyond = 1_000

// Beyond are the links of a page that are too many: not followed, but told.
type Beyond struct {
	// More is how many there are; 0: the page has no more than limits.links_per_page allows.
	More int `cbor:"66,keyasint,omitempty"`
	// Over are the first of them that lead anywhere.
	Over LinkList `cbor:"67,keyasint,omitempty"`
}

// Add notes a link that is one too many.
func (b *Beyond) Add(l *Link) {
	if b.More++; len(b.Over) < MaxBeyond && !l.URL.IsZero() {
		b.Over = append(b.Over, *l)
	}
}

// Told are the links as they go to the URL filter: each says how many there are.
func (b *Beyond) Told() LinkList {
	out := make(LinkList, len(b.Over))
	for i := range b.Over {
		out[i] = b.Over[i]
		out[i].Beyond = b.More
	}
	return out
}

// BeyondRule says by what a link was one too many.
func BeyondRule(limit, more int) string {
	return fmt.Sprintf("links_per_page %d; the page has %d links more", limit, more)
}
