package memcached

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestRobotsAreBelievedUntilTheyExpire(t *testing.T) {
	c, next, ctx := open(t), newStore(), context.Background()
	s := c.Robots(next)
	ask := func(origin string, status, asked int) {
		t.Helper()
		next.asked = 0
		r, found, err := s.Robots(ctx, origin)
		if err != nil || found != (status != 0) || r.Status != status || next.asked != asked {
			t.Errorf("%s: status %d, found %v, error %v, store asked %d times; want %d, %d", origin, r.Status, found, err,
				next.asked, status, asked)
		}
	}
	put := func(r crawl.Robots) {
		t.Helper()
		if err := s.PutRobots(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	soon := time.Now().Add(time.Hour)
	put(crawl.Robots{Origin: "http://a.test", Status: 200, Body: []byte("x\r\n\x00"), Expires: soon})
	ask("http://a.test", 200, 0)
	put(crawl.Robots{Origin: "http://a.test", Status: 404, Expires: soon})
	ask("http://a.test", 404, 0)
	put(crawl.Robots{Origin: "http://a.test", Status: 503, Expires: time.Now().Add(-time.Second)})
	ask("http://a.test", 503, 1) // expired records are the store's affair
	put(crawl.Robots{Origin: "http://a.test", Status: 201, Body: make([]byte, maxRobots), Expires: soon})
	ask("http://a.test", 201, 1) // too large, but not hidden by the one before
	ask("http://none.test", 0, 1)
	next.robots["http://none.test"] = crawl.Robots{Origin: "http://none.test", Status: 200, Expires: soon}
	ask("http://none.test", 200, 1) // that there was none is not cached
	ask("http://none.test", 200, 0)
	next.err = errors.New("no store")
	if _, _, err := s.Robots(ctx, "http://c.test"); !errors.Is(err, next.err) {
		t.Errorf("error %v, want the store's", err)
	}
	if err := s.PutRobots(ctx, crawl.Robots{Origin: "http://none.test", Status: 500, Expires: soon}); !errors.Is(err,
		next.err) {
		t.Errorf("error %v, want the store's", err)
	}
	ask("http://none.test", 200, 0) // what was not stored is not cached
}

// A reader that read the old record before a writer replaced it must not put it back.
func TestAReaderThatWasOvertakenLeavesTheNewRecord(t *testing.T) {
	c, ctx, soon := open(t), context.Background(), time.Now().Add(time.Hour)
	next := &overtaken{store: newStore()}
	next.robots["o"] = crawl.Robots{Origin: "o", Status: 200, Expires: soon}
	next.meanwhile = func() {
		if err := c.Robots(next.store).PutRobots(ctx, crawl.Robots{Origin: "o", Status: 403, Expires: soon}); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := c.Robots(next).Robots(ctx, "o"); err != nil {
		t.Fatal(err)
	}
	if r, _, _ := c.Robots(next.store).Robots(ctx, "o"); r.Status != 403 {
		t.Errorf("status %d, want that of the last record put", r.Status)
	}
}

type overtaken struct {
	*store
	meanwhile func()
}

func (s *overtaken) Robots(ctx context.Context, origin string) (crawl.Robots, bool, error) {
	r, found, err := s.store.Robots(ctx, origin)
	s.meanwhile()
	return r, found, err
}
