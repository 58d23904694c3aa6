package crawltest

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/appweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// ServeApp serves an application of so many pages at an address until the test ends.
func ServeApp(t *testing.T, address string, pages int) *appweb.Web {
	t.Helper()
	w, err := appweb.Serve(t.Context(), address, pages)
	harness.Check(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// AppAlone has one machine crawl an application of so many pages, and returns what it found: all.
func AppAlone(t *testing.T, exe, address string, pages int) appweb.Pages {
	t.Helper()
	dir, w := t.TempDir(), ServeApp(t, address, pages)
	out := filepath.Join(dir, "crawl")
	c := &Cluster{T: t, Dir: dir}
	c.Must(os.Environ(), exe, "crawl", "-c", WriteJob(t, dir, w.Job(0)), "-o", out, "--allow-private", "--quiet")
	found, err := w.Read(out)
	harness.Check(t, err)
	harness.Report(t, "pages of one machine", w.Lacks(found))
	return found
}

// TroubleApp acts so many times while an application of so many pages is crawled, until over says that the job has
// ended or cannot go on. Each act has an equal part of the crawl for itself, and comes at a random point of it: the
// first never waits for the end.
func TroubleApp(t *testing.T, w *appweb.Web, pages, times int, over func() bool, act func(i int)) {
	t.Helper()
	for i := range times {
		target := 1 + int((float64(i)+rand.Float64())*float64(appweb.StepsOf(pages)-1)/float64(times))
		harness.Until(t, Patience, "steps of the application", func() bool { return w.Steps() >= target || over() })
		if t.Failed() || over() {
			return
		}
		<-time.After(rand.N(100 * time.Millisecond)) // off the beat of the server's log
		act(i)
	}
}

// AppPages reads what a job of an application left.
func (c *Cluster) AppPages(w *appweb.Web, job crawl.JobID) appweb.Pages {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	pages := appweb.Pages{}
	harness.Check(c.T, c.Mongo.Job(job).Each(ctx, func(r *crawl.Record) error {
		if !pages.Add(w, r) {
			c.T.Errorf("two records of %s", r.URL)
		}
		return nil
	}))
	return pages
}
