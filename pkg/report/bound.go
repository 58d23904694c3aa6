package report

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Spent is what a crawl has spent of its bounds (crawl.Bounds).
type Spent struct {
	Bytes    int64   `json:"bytes"`
	Seconds  float64 `json:"seconds"`
	MaxBytes int64   `json:"max_bytes,omitempty"`   // 0: no limit
	MaxTime  float64 `json:"max_seconds,omitempty"` // 0: no limit
	Met      string  `json:"met,omitempty"`         // the bound that ends the crawl, as in "max_bytes 1MiB"
}

// spentOf reads what a job has spent; nil if it has no bounds, or nothing counts them.
func spentOf(ctx context.Context, from crawl.Spending, job *crawl.Job) (*Spent, error) {
	b := &job.Bounds
	if from == nil || !b.Counted() {
		return nil, nil
	}
	s, err := from.Spent(ctx, job.ID)
	if err != nil {
		return nil, err
	}
	return &Spent{Bytes: s.Bytes, Seconds: s.Time.Seconds(), MaxBytes: int64(b.MaxBytes), MaxTime: b.MaxTime.D().Seconds(),
		Met: b.Met(s)}, nil
}

// met is the bound that is met; empty: none.
func (s *Spent) met() string {
	if s == nil {
		return ""
	}
	return s.Met
}

// text says what was spent.
func (s *Spent) text() string {
	text := ""
	if s.MaxBytes > 0 {
		text = fmt.Sprintf("%s of at most %s", bytesText(s.Bytes), bytesText(s.MaxBytes))
	}
	if s.MaxTime > 0 {
		if text != "" {
			text += ", "
		}
		second := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)).Round(time.Second) }
		text += fmt.Sprintf("%v of at most %v", second(s.Seconds), second(s.MaxTime))
	}
	return text
}

// boundText says why URLs of a crawl that has finished are open; empty where no bound is why.
func boundText(state State, open int64, met string) string {
	if state != StateFinished || open == 0 || met == "" {
		return ""
	}
	return fmt.Sprintf("its bound (%s) is met, so %s not fetched; raise it, and the crawl continues", met,
		are(open, "URL that waits", "URLs that wait"))
}
