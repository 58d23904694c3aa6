package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/seedlist"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/expr"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Nodes at provider are lists of seeds, each in a way of its own: all of them become lines, so that each seed goes the
// way that those of a list go.

// seedFeeds are all that a job reads seeds from.
type seedFeeds []*seedFeed

// reading reports whether seeds are still to come.
func (all seedFeeds) reading() bool {
	return slices.ContainsFunc(all, func(f *seedFeed) bool { return f.reading() })
}

// end stops the reading, and waits until nothing more comes of it.
func (all seedFeeds) end() {
	for _, f := range all {
		f.end()
	}
}

// startFeeds begins to read what a job names, but for what is read already.
func (e *Engine) startFeeds(ctx context.Context, j *engineJob, job *crawl.Job,
	had seedFeeds) (all seedFeeds, err error) {
	var sources []seedSource
	if job.SeedList != "" {
		sources = append(sources, listSource(e.store, job, j.stdin))
	}
	provided, err := e.provided(job)
	if err != nil {
		return had, err
	}
	all = had
	for _, from := range append(sources, provided...) {
		if slices.ContainsFunc(had, func(f *seedFeed) bool { return f.from.note == from.note }) {
			continue
		}
		f := &seedFeed{bus: e.bus, store: e.store, job: job, from: from, bad: j.bad}
		if from.node != "" {
			f.bad = func(line int, err error) {
				e.log.Warn("what is no seed is left out", "job", job.ID, "node", from.node, "line", line, "error", err)
			}
			if e.store.Many() {
				f.again = e.feedFault(j, from.node)
			}
		}
		if err := startFeed(ctx, f); err != nil {
			return all, err
		}
		all = append(all, f)
	}
	return all, nil
}

// feedMore begins to read what a revision of a job that runs names besides.
func (e *Engine) feedMore(j *engineJob, job *crawl.Job) error {
	running := e.context()
	if running == nil || !job.Listed() {
		return nil
	}
	ctx, cancel := context.WithCancel(running)
	feeds, err := e.startFeeds(ctx, j, job, j.feeds())
	j.mu.Lock()
	defer j.mu.Unlock()
	j.feed = feeds
	if j.cancel == nil { // nobody ends it then
		cancel()
		return err
	}
	before := j.cancel
	j.cancel = func() { before(); cancel() }
	return err
}

// feedFault makes the job say that seeds cannot be read, for as long as that is so.
func (e *Engine) feedFault(j *engineJob, node string) func(error) {
	said := false
	return func(err error) {
		if err != nil && !said {
			e.log.Error("seeds cannot be read; it is tried again", "job", j.id, "node", node, "error", err)
		}
		if said || err != nil {
			j.setFault(err)
		}
		said = err != nil
	}
}

// provided are the sources of the nodes at provider, in their order.
func (e *Engine) provided(job *crawl.Job) (out []seedSource, err error) {
	pages := func(s *builtin.Seeds) string { return s.Dir }
	if e.store.Many() {
		pages = func(s *builtin.Seeds) string { return e.store.JobDir(s.Execution) }
	}
	for i := range job.Pipeline.Nodes {
		n := &job.Pipeline.Nodes[i]
		if n.At != crawl.AtProvider {
			continue
		}
		s, err := providerSource(n, pages)
		if err != nil {
			return nil, nodeFault(i, n, err)
		}
		s.note, err = noteOfProvider(job, n)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// ProvidedLists are what the nodes of a job give, as lists by their names, for a cluster: who submits the job reads
// them on this machine.
func ProvidedLists(job *crawl.Job) (map[string]*seedlist.List, error) {
	out := map[string]*seedlist.List{}
	for i := range job.Pipeline.Nodes {
		n := &job.Pipeline.Nodes[i]
		if n.At != crawl.AtProvider {
			continue
		}
		s, err := providerSource(n, func(s *builtin.Seeds) string { return s.Dir })
		if err == nil {
			_, _, err = s.stat()
		}
		if err != nil {
			return nil, nodeFault(i, n, err)
		}
		out[n.ID] = &s.List
	}
	return out, nil
}

// noteOfProvider is the name of the note of how far the seeds of a node were read: of its settings, and of this life of
// the job.
func noteOfProvider(job *crawl.Job, n *crawl.PluginNode) (string, error) {
	text, err := json.Marshal([]any{n.Use, n.With, n.When})
	return fmt.Sprintf("provider %s %d %s %016x", job.ID, job.First, n.ID, xxh3.Hash(text)), err
}

// providerSource is what a node at provider gives. pages is the directory of the crawl whose pages it gives.
func providerSource(n *crawl.PluginNode, pages func(*builtin.Seeds) string) (s seedSource, err error) {
	want, err := builtin.SeedsOf(n)
	if err != nil {
		return s, err
	}
	s = seedSource{node: n.ID, List: seedlist.List{Name: "node " + n.ID}, once: true,
		stat: func() (size int64, changed time.Time, err error) { return 0, time.Time{}, nil }}
	switch {
	case want.File != "":
		s.once, s.stat = false, func() (int64, time.Time, error) { return statRegular(want.File) }
		s.Open = func() (io.ReadCloser, error) { return os.Open(want.File) }
	case want.Sitemap != "":
		kind := crawl.KindSitemap
		s.Kind, s.Open = &kind, textOf(want.Sitemap)
	case len(want.URLs) > 0:
		s.Open = textOf(strings.Join(want.URLs, "\n"))
	default:
		s.anew = true // pages that were taken back and fetched again stand elsewhere then
		s.Open = func() (io.ReadCloser, error) { return openPages(pages(want), want) }
	}
	s.Keep, err = keepSeeds(n)
	return s, err
}

func textOf(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// statRegular is statFile of what must be a file: reading another thing might never end.
func statRegular(name string) (size int64, changed time.Time, err error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", name)
	}
	if err != nil {
		return 0, time.Time{}, err
	}
	return info.Size(), info.ModTime(), nil
}

// keepSeeds is the condition of a node; nil: it has none.
func keepSeeds(n *crawl.PluginNode) (func(weburl.URL) (bool, error), error) {
	if n.When == "" {
		return nil, nil
	}
	when, err := expr.Condition(n.At, n.When)
	if err != nil {
		return nil, &plugin.ConfigError{Path: "when", Text: err.Error()}
	}
	return func(u weburl.URL) (bool, error) {
		return when.BoolAt(&plugin.Seeds{Seeds: []plugin.Seed{{URL: u.String()}}}, 0)
	}, nil
}

// isCrawl reports whether a directory is one of a crawl.
func isCrawl(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "state")); err == nil {
		return nil
	}
	for _, name := range []string{"pages.jsonl", "pages.jsonl.zst"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("%s holds no crawl", dir)
}
