package contentseen

import (
	"math/rand/v2"
	"sync"
)

// MinFeatures is the least number of words (or character pairs, in scripts without spaces) of a text that takes part in
// the near-duplicate test. A change of one word moves the simhash of a shorter text too far to tell anything.
const MinFeatures = 200

// Fingerprint returns the simhash of text, the sketch of its shingles, and the number of its words. It is a function of
// the lower-cased sequence of words alone: white space, punctuation and case do not count. The sketch is nil when there
// are fewer than MinFeatures words; the simhash is 0 when there are none.
//
// It takes time linear in the text and memory linear in its vocabulary.
func Fingerprint(text string) (simhash uint64, sketch []byte, features int) {
	s := scanners.Get().(*scanner)
	defer s.release()
	s.reset(len(text))
	s.scan(text)
	s.count()
	if s.words == 0 {
		return 0, nil, 0
	}
	if s.words >= MinFeatures {
		sketch = s.mins.sketch()
	}
	return s.terms.simhash(), sketch, s.words
}

var scanners = sync.Pool{New: func() any { return &scanner{terms: terms{secret: rand.Uint64() | 1}} }}

// reset readies s for a text of n bytes.
func (s *scanner) reset(n int) {
	s.words, s.n = 0, shingleWords-1
	s.terms.reset(n)
	s.mins.reset()
}

// release hands s to the next text, unless a huge vocabulary has made it too big to keep.
func (s *scanner) release() {
	if len(s.terms.slots) <= maxPooledSlots && cap(s.terms.words) <= maxPooledSlots {
		scanners.Put(s)
	}
}
