package fetcher

import (
	"net/http"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A host that was hardly heard from has the time that its lease says, and never more than its job allows.
func TestAFirstWaitIsShorter(t *testing.T) {
	never := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	slowly := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, 5000))
			w.(http.Flusher).Flush()
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
			}
		}
	}
	for name, tc := range map[string]struct {
		handler     http.HandlerFunc
		wait, after time.Duration
	}{
		"no answer":             {never, 2 * time.Second, 2 * time.Second},
		"no answer, job's wait": {never, time.Hour, 30 * time.Second},
		"an endless answer":     {slowly, 2 * time.Second, 6 * time.Second},
		"endless, job's total":  {slowly, time.Hour, 180 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(*crawl.Job) {}, tc.handler, func(b *bench, url string) {
				start := time.Now()
				r := b.get(url, func(f *crawl.Fetch) { f.FirstWait = tc.wait })
				r.want(t, crawl.VerdictRetry, crawl.ReasonTimeout)
				if took := time.Since(start); took != tc.after {
					t.Errorf("took %v, want %v: %s", took, tc.after, r.Detail)
				}
			})
		})
	}
}
