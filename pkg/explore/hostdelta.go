package explore

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// hostDelta is what a batch of lines adds to a host.
type hostDelta struct {
	requests, pages, bytes int64
	classes                [6]int64 // 2 to 5: answers of that class; 0: none
	states                 [len(stateNames)]int64
	done                   int64 // pages that are done or have failed
	depth                  int
	last                   int64
	hist                   histogram
}

func (h *hostDelta) add(l *crawl.LogLine) {
	h.requests++
	h.bytes += l.Bytes
	h.classes[classOf(l.Status)]++
	if l.Kind == crawl.KindPage && l.Status/100 == 2 && l.Verdict == crawl.VerdictDone {
		h.pages++
	}
	h.last = max(h.last, l.At.UnixMilli())
	if l.Duration > 0 {
		h.hist[bucketOf(l.Duration)]++
	}
}

// classOf is the class of a status; 0: there was no answer.
func classOf(status int) int {
	if c := status / 100; c >= 2 && c <= 5 {
		return c
	}
	return 0
}

var classNames = [...]string{"none", "", "2xx", "3xx", "4xx", "5xx"}

// histogram counts durations: four buckets a doubling, from a sixteenth of a millisecond on.
type histogram [80]int64

func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds()/64, 1))
	high := bits.Len64(us) - 1
	part := int(us<<2>>high) & 3
	return min(high*4+part, len(histogram{})-1)
}

// bound is the upper end of a bucket in milliseconds.
func bucketBound(i int) float64 {
	return float64(5+i%4) / 4 * math.Exp2(float64(i/4)) * 64 / 1000
}

// quantile is the duration in milliseconds that a share of all does not exceed.
func (h *histogram) quantile(share float64) float64 {
	total := int64(0)
	for _, n := range h {
		total += n
	}
	seen, want := int64(0), int64(math.Ceil(share*float64(total)))
	for i, n := range h {
		if seen += n; n > 0 && seen >= want {
			return math.Round(bucketBound(i)*100) / 100
		}
	}
	return 0
}

func (h *histogram) encode() (b []byte) {
	for _, n := range h {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func (h *histogram) merge(b []byte) {
	for i := range h {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return
		}
		h[i] += int64(n)
		b = b[size:]
	}
}

// writeHosts adds the deltas to their hosts.
func (b *logBatchState) writeHosts(ctx context.Context) error {
	update, err := b.tx.PrepareContext(ctx,
		"UPDATE hosts SET requests = requests + ?, pages = pages + ?, bytes = bytes + ?, c2 = c2 + ?, "+
			"c3 = c3 + ?, c4 = c4 + ?, c5 = c5 + ?, none = none + ?, done = done + ?, failed = failed + ?, excluded = "+
			"excluded + ?, depth = max(depth, ?), last = max(last, ?), p50 = ?, p95 = ?, hist = ? WHERE id = ?")
	if err != nil {
		return err
	}
	defer update.Close() //nolint:errcheck // the transaction ends next
	for id, h := range b.hosts {
		var hist []byte
		if err := b.tx.QueryRowContext(ctx, "SELECT hist FROM hosts WHERE id = ?", id).Scan(&hist); err != nil {
			return err
		}
		h.hist.merge(hist)
		_, err := update.ExecContext(ctx, h.requests, h.pages, h.bytes, h.classes[2], h.classes[3], h.classes[4],
			h.classes[5], h.classes[0], h.done, h.states[stateFailed]+h.states[stateTimedOut],
			h.states[stateExcluded], h.depth, h.last, h.hist.quantile(0.5), h.hist.quantile(0.95), h.hist.encode(), id)
		if err != nil {
			return err
		}
	}
	return nil
}
