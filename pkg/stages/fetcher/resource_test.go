package fetcher

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// shelf is a store that has the last resource.
type shelf struct {
	crawl.Resources
	last *crawl.Resource
}

func (s *shelf) PutResource(_ context.Context, _ crawl.JobID, r crawl.Resource) error {
	s.last = &r
	return nil
}

// A page waits for all that it asked for: each answer that is final for the fetcher is kept, also one without a body.
// Of others the frontier keeps that they are not to be had.
func TestEachAnswerForAPageIsKept(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	})
	for _, status := range []int{200, 201, 204, 205, 302, 307} {
		kept := &shelf{}
		b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) { d.Resources = kept })
		r := b.get(fmt.Sprintf("%s/%d", url, status), func(f *crawl.Fetch) { f.Task.Kind = crawl.KindResource })
		r.want(t, crawl.VerdictDone, "")
		if kept.last == nil || kept.last.Status != status || len(kept.last.Body) != 0 {
			t.Errorf("%d: kept %+v", status, kept.last)
		}
	}
}

// A program says by an error what is amiss: final ones are kept with their bodies.
func TestErrorsForAPageAreKeptWithTheirBodies(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Cache-Control", "max-age=99999999")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"why":%d}`, status)
	})
	for status, verdict := range map[int]crawl.Verdict{401: crawl.VerdictBlocked, 403: crawl.VerdictBlocked,
		404: crawl.VerdictGone, 410: crawl.VerdictGone, 422: crawl.VerdictGone, 501: crawl.VerdictGone,
		500: crawl.VerdictRetry} {
		kept := &shelf{}
		b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) { d.Resources = kept })
		b.get(fmt.Sprintf("%s/%d", url, status), func(f *crawl.Fetch) { f.Task.Kind = crawl.KindResource }).
			want(t, verdict, crawl.ReasonStatus)
		switch {
		case verdict == crawl.VerdictRetry:
			if kept.last != nil {
				t.Errorf("%d: kept %+v", status, kept.last)
			}
		case kept.last == nil || kept.last.Status != status || kept.last.Refused != "" ||
			string(kept.last.Body) != fmt.Sprintf(`{"why":%d}`, status) ||
			kept.last.Header["Content-Type"][0] != "application/problem+json" || time.Until(kept.last.Expires) > dataHolds:
			t.Errorf("%d: kept %+v", status, kept.last)
		}
	}
}

// A script reads a stream of data as it comes. What has come of one that is left open is kept at the second attempt;
// half a program is not.
func TestStreamsForAPageAreKeptAsFarAsTheyCame(t *testing.T) {
	const line = `{"title":"the first"}` + "\n"
	for name, c := range map[string]struct {
		media   string
		attempt int
		verdict crawl.Verdict
	}{
		"data, at first":    {"application/x-ndjson", 0, crawl.VerdictRetry},
		"data, again":       {"application/x-ndjson", 1, crawl.VerdictDone},
		"a program":         {"text/javascript", 1, crawl.VerdictRetry},
		"nothing that came": {"", 1, crawl.VerdictRetry},
	} {
		t.Run(name, func(t *testing.T) {
			kept := &shelf{}
			inBubble(t, func(*crawl.Job) {}, func(w http.ResponseWriter, r *http.Request) {
				if c.media != "" {
					w.Header().Set("Content-Type", c.media)
					_, _ = io.WriteString(w, line)
				}
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}, func(b *bench, url string) {
				b.h.deps.Resources = kept
				r := b.get(url, func(f *crawl.Fetch) { f.Task.Kind, f.Task.Attempt = crawl.KindResource, c.attempt })
				if r.Verdict != c.verdict {
					t.Errorf("verdict %v (%s), want %v", r.Verdict, r.Detail, c.verdict)
				}
			})
			if (kept.last != nil) != (c.verdict == crawl.VerdictDone) || kept.last != nil && string(kept.last.Body) != line {
				t.Errorf("kept %+v", kept.last)
			}
		})
	}
}
