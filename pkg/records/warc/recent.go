package warc

import (
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const (
	minRevisit = 512   // a revisit's headers take about as many bytes: smaller payloads are stored again
	maxURIKept = 1_000 // bytes of a URI; longer ones are not remembered, so that memory is bounded
)

// recent remembers the captures of the last payloads, between limit/2 and limit of them: when the younger generation is
// full, the older one is forgotten.
type recent struct {
	mu         sync.Mutex
	half       int
	young, old map[crawl.Digest]capture
}

func newRecent(limit int) *recent { return &recent{half: max(limit, 0) / 2} }

// lookup returns the capture that x may refer to instead of storing its body; nil: none.
func (m *recent) lookup(x *crawl.Exchange, d crawl.Digest) *capture {
	if len(x.Body) < minRevisit || x.Truncated != "" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.young[d]; ok {
		return &c
	}
	if c, ok := m.old[d]; ok {
		m.put(d, c)
		return &c
	}
	return nil
}

// remember notes a capture whose record is in a file, and not before: nothing may refer to a record that was never
// written.
func (m *recent) remember(x *crawl.Exchange, d crawl.Digest, c capture) {
	if len(x.Body) < minRevisit || x.Truncated != "" || len(c.uri) > maxURIKept {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(d, c)
}

func (m *recent) put(d crawl.Digest, c capture) {
	if m.half == 0 {
		return
	}
	if m.young == nil || len(m.young) >= m.half {
		m.young, m.old = make(map[crawl.Digest]capture), m.young
	}
	m.young[d] = c
}
