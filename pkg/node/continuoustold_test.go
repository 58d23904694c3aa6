package node_test

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/livingweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func (c *crawling) key(t *testing.T, url string) weburl.Key {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return u.Key()
}

func (c *crawling) state(t *testing.T, url string) revisit.State {
	t.Helper()
	s, err := c.Store.Revisits().States(context.Background(), "again", c.key(t, url))
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

// habits are what was learned of the host of a URL.
func (c *crawling) habits(t *testing.T, url string) revisit.Habits {
	t.Helper()
	k := c.key(t, url)
	h, err := c.Store.Revisits().Habits(context.Background(), "again", binary.BigEndian.Uint64(k[:]))
	if err != nil {
		t.Fatal(err)
	}
	return h[0]
}

// Sitemaps and Last-Modified tell when pages changed: the crawl learns that they can be trusted, and visits pages by
// them. A page that was gone (410) is back when the sitemap says so; one that moved is where it moved to.
func TestContinuousBelievesLists(t *testing.T) {
	cfg := smallWeb()
	cfg.Lists, cfg.Dated = true, true
	srv := living(t, cfg, 1)
	dir := t.TempDir()
	job := againJob(srv.Seeds(), 40)
	job.Sitemaps, job.IgnoreRobots = true, false
	opt := againOptions(slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		srv.Calendar(), job, dir)
	c := startCrawl(t, opt)
	u := srv.URLs()
	host := func(i int) string { return u[len(u)-1-i] } // home pages come last
	until(t, "the lists and dates of each host are trusted", func() bool {
		for i := range cfg.Hosts {
			if h := c.habits(t, host(i)); h.Signals.Right < 3 || h.Signals.Precision() < .6 || !h.Dates() {
				return false
			}
		}
		return true
	})
	gone, moved := u[0], u[1]
	srv.SetStatus(path(gone), http.StatusGone)
	srv.SetStatus(path(moved), http.StatusMovedPermanently)
	to := strings.TrimSuffix(moved, path(moved)) + livingweb.MovedTo(path(moved))
	until(t, "a page is gone", func() bool { return c.state(t, gone).Gone })
	until(t, "a page has moved", func() bool { return c.state(t, moved).Moved && c.state(t, to).Visits > 0 })
	if s := c.state(t, gone); s.Misses != 2 {
		t.Errorf("410 counts twice, and twice is enough: %+v", s)
	}
	srv.SetStatus(path(gone), 0)
	until(t, "a page is back", func() bool { s := c.state(t, gone); return !s.Gone && s.Misses == 0 })
	c.end(t)
	records := recordsOf(t, dir)
	if r := records[gone]; r == nil || !r.GoneAt.IsZero() || r.Text == "" {
		t.Errorf("the record of a page that is back: %+v", r)
	}
	if r := records[to]; r == nil || r.Text == "" && r.Similarity == "" { // as a copy of what it was
		t.Errorf("the record of where a page moved to: %+v", r)
	}
	checkVisits(t, dir)
}
