package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// contents are all files below a directory, by their names.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // it was the crawl's to delete
			return nil
		}
		out[path] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// differing are the names of the files that differ.
func differing(a, b map[string][]byte) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if was, is := a[name], b[name]; is == nil || !bytes.Equal(was, is) {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if _, was := a[name]; !was {
			names = append(names, name)
		}
	}
	return names
}

// settled waits until nothing below a directory changes any more, and returns it.
func settled(t *testing.T, dir string) (now map[string][]byte) {
	t.Helper()
	since, last := time.Now(), contents(t, dir)
	await(t, "the stores are still", func() bool {
		if now = contents(t, dir); len(differing(last, now)) > 0 {
			since, last = time.Now(), now
		}
		return time.Since(since) > 2500*time.Millisecond // commits are synced once a second
	})
	return now
}

// aPage is a page of the synthetic web that the job has a record of.
func aPage(t *testing.T, dir string, id crawl.JobID) string {
	t.Helper()
	for _, l := range lines(t, filepath.Join(dir, "executions", string(id), "pages.jsonl")) {
		if _, after, found := strings.Cut(string(l), `"url":"`); found && strings.Contains(string(l), `"status":200`) {
			u, _, _ := strings.Cut(after, `"`)
			return u
		}
	}
	t.Fatal("it has no page")
	return ""
}

func dry(t *testing.T, e *node.Engine, job *crawl.Job, url string, given *tryout.Given) *trial.Trial {
	t.Helper()
	got, err := e.DryRun(t.Context(), job, url, 1, given)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Dry runs leave the stores as they are, byte for byte.
func TestDryRunsStoreNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of waiting")
	}
	srv := serve(t, fakeweb.Plain(3, 40))
	dir := t.TempDir()
	e, _ := runEngine(t, srv, dir)
	job := jobFor(srv)
	job.ID = "crawl-1"
	job.Pipeline.Nodes = []crawl.PluginNode{outputNode("table.csv", "url", "title", "bytes")}
	submit(t, e, job)
	awaitEnd(t, e, job.ID)
	if why := faultyOutput(t, e.JobDir(job.ID)); why != "" {
		t.Error(why)
	}
	before := settled(t, dir)
	url := aPage(t, dir, job.ID)
	known := dry(t, e, job, url, nil)
	if known.Fetch == nil || known.Fetch.Status != 200 || known.Content == nil || !known.Content.Judged ||
		len(known.Record) == 0 || !known.Robots.Known {
		t.Errorf("a page that was crawled: %+v", known)
	}
	for _, l := range known.Links {
		if l.Followed && l.State != "done" {
			t.Errorf("link %s is %q", l.URL, l.State)
		}
	}
	other := *job
	other.ID = "dry-run"
	other.Pipeline.Nodes = []crawl.PluginNode{{ID: "half", At: crawl.AtRecord, Use: "builtin/map@1",
		With: map[string]any{"set": map[string]any{"twice": "record.bytes * 2"}}}}
	fresh := dry(t, e, &other, srv.Web().Seeds()[0], nil)
	if fresh.Content == nil || fresh.Content.Judged || len(fresh.Steps) < 8 {
		t.Errorf("a job that is not known: %+v", fresh)
	}
	if fresh.Content == nil || !strings.Contains(string(fresh.Record), `"twice":`) ||
		fresh.Steps[len(fresh.Steps)-2].ID != "half" {
		t.Errorf("a node of its pipeline: %s, %+v", fresh.Record, fresh.Steps)
	}
	body := known.Body()
	copied := dry(t, e, job, url+"?copy=1", &tryout.Given{Body: body})
	if copied.Content.Similarity != "exact" || copied.Content.CopyOf.String() != url {
		t.Errorf("the page given again under another URL: %+v, of %s", copied.Content, url)
	}
	if _, err := e.DryRun(t.Context(), job, "http://nosuch.invalid/", 0, nil); err != nil {
		t.Error("a host that is none:", err)
	}
	after := settled(t, dir)
	if names := differing(before, after); len(names) > 0 || len(after) < 5 {
		t.Errorf("of %d files, these changed: %v", len(after), names)
	}
	// Controls: one written byte, and one claim, are found.
	name := slices.Sorted(maps.Keys(after))[0]
	harmed := maps.Clone(after)
	harmed[name] = append(slices.Clone(after[name]), 0)
	if len(differing(before, harmed)) != 1 {
		t.Error("control: a byte that was written is not found")
	}
	if _, err := e.Store().ContentSet().Claim(t.Context(),
		crawl.Fingerprint{Job: job.ID, URL: copied.URL, Digest: crawl.Digest{1}}, -1, nil); err != nil {
		t.Fatal(err)
	}
	if len(differing(before, settled(t, dir))) == 0 {
		t.Error("control: a claim is not found")
	}
}

// Dry runs beside a crawl of their host keep its delay, and the crawl keeps it to them.
func TestDryRunsKeepTheDelayBesideACrawl(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of waiting")
	}
	const delay = 40 * time.Millisecond
	srv := serve(t, fakeweb.Plain(1, 60))
	e, _ := runEngine(t, srv, t.TempDir())
	job := jobFor(srv)
	job.ID, job.MaxPages = "job-1", 40
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(delay), crawl.Duration(delay)
	guest := *job
	guest.ID = "dry-run"
	submit(t, e, job)
	var wg sync.WaitGroup
	var mu sync.Mutex
	asked := 0
	for range 3 {
		wg.Go(func() {
			for n := range 4 {
				got, err := e.DryRun(t.Context(), &guest, fmt.Sprintf("%s?dry=%d", srv.Web().Seeds()[0], n), 0, nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if got.Fetch != nil && got.Fetch.FirstByte > 0 {
					asked++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	awaitEnd(t, e, job.ID)
	if asked != 12 || srv.Log().Count() < 40+asked {
		t.Errorf("%d of 12 dry runs asked, %d requests in all: the check proves little", asked, srv.Log().Count())
	}
	for _, v := range fakeweb.CheckPoliteness(srv.Log().Entries(), srv.Web().Rules(delay, delay, 3*time.Millisecond)) {
		t.Error(v)
	}
	if len(fakeweb.CheckPoliteness(srv.Log().Entries(), srv.Web().Rules(3*delay, 3*delay, 3*time.Millisecond))) == 0 {
		t.Error("control: the checker finds nothing against a delay that nobody kept")
	}
}

// So many dry runs are under way at once and no more; one whose caller has gone ends, and its host is free again.
func TestDryRunsAreBounded(t *testing.T) {
	srv := serve(t, fakeweb.Plain(1, 20))
	e, _ := runEngine(t, srv, t.TempDir())
	job := jobFor(srv)
	job.Politeness.Delay = crawl.Duration(time.Minute) // the second request of each waits
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 4 {
		go func() {
			_, err := e.DryRun(ctx, job, srv.Web().Seeds()[0], 0, nil)
			for errors.Is(err, trial.ErrBusy) { // the look below has its place
				_, err = e.DryRun(ctx, job, srv.Web().Seeds()[0], 0, nil)
			}
			ended <- err
		}()
	}
	given := &tryout.Given{Body: []byte("<title>x</title>")}
	await(t, "four are under way", func() bool {
		_, err := e.DryRun(t.Context(), job, srv.Web().Seeds()[0], 0, given)
		return errors.Is(err, trial.ErrBusy)
	})
	leave()
	for range 4 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who has left: %v", err)
		}
	}
	if got := dry(t, e, job, srv.Web().Seeds()[0], given); got.Parse.Title != "x" {
		t.Errorf("after they left: %+v", got)
	}
}
