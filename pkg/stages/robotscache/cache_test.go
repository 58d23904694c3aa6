package robotscache_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// store counts reads; it is used by one goroutine at a time.
type store struct {
	records map[string]crawl.Robots
	reads   int
	err     error
}

func (s *store) Robots(_ context.Context, origin string) (crawl.Robots, bool, error) {
	s.reads++
	r, ok := s.records[origin]
	return r, ok, s.err
}

func (s *store) PutRobots(_ context.Context, r crawl.Robots) error {
	if s.err == nil {
		s.records[r.Origin] = r
	}
	return s.err
}

const (
	origin = "https://a.test"
	agent  = "whirlpool"
)

func setup(t *testing.T, cfg robotscache.Config, records ...crawl.Robots) (*robotscache.Cache, *store) {
	t.Helper()
	s := &store{records: map[string]crawl.Robots{}}
	for _, r := range records {
		s.records[r.Origin] = r
	}
	c, err := robotscache.New(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// A file that is missing, or that cannot be had for now, forbids nothing: it is asked for at the URL's turn.
func TestAllowedGoesByWhatIsKnown(t *testing.T) {
	for state, want := range map[crawl.RobotsState][2]bool{
		crawl.RobotsRules: {false, true}, crawl.RobotsAllowAll: {true, true}, crawl.RobotsDisallowAll: {false, false},
	} {
		c, _ := setup(t, robotscache.Default(), crawl.Robots{Origin: origin, State: state,
			Body: []byte("User-agent: whirlpool\nDisallow: /no?\n"), Expires: time.Now().Add(time.Hour)})
		for url, want := range map[string][2]bool{origin + "/no?x": want, "https://b.test/no?x": {false, false}} {
			u, err := weburl.Parse(url)
			if err != nil {
				t.Fatal(err)
			}
			allowed, known, err := c.Allowed(t.Context(), &crawl.Job{UserAgent: agent}, u)
			if err != nil || [2]bool{allowed, known} != want {
				t.Errorf("state %v, %s: allowed %v, known %v, %v; want %v", state, url, allowed, known, err, want)
			}
		}
	}
}

func TestStatesOfARobotsTxt(t *testing.T) {
	for state, want := range map[crawl.RobotsState][2]bool{
		crawl.RobotsRules: {true, false}, crawl.RobotsAllowAll: {true, true}, crawl.RobotsDisallowAll: {false, false},
	} {
		c, _ := setup(t, robotscache.Default(), crawl.Robots{Origin: origin, State: state,
			Body: []byte("User-agent: whirlpool\nDisallow: /no\n"), Expires: time.Now().Add(time.Hour)})
		rules, rec, found, err := c.Rules(t.Context(), origin, agent)
		if err != nil || !found || rec.State != state || rec.Body != nil {
			t.Fatalf("Rules = %+v, %v, %v", rec, found, err)
		}
		if got := [2]bool{rules.Allowed("/yes"), rules.Allowed("/no")}; got != want {
			t.Errorf("state %d allows %v, want %v", state, got, want)
		}
	}
}

func TestRecordCountsUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := robotscache.Default()
		c, s := setup(t, cfg, crawl.Robots{Origin: origin, Expires: time.Now().Add(time.Hour)})
		for _, step := range []struct {
			wait  time.Duration
			found bool
			reads int
			about string
		}{
			{0, true, 1, "first"},
			{time.Hour - 1, true, 1, "still good"},
			{1, true, 2, "expired: the store may have a newer one"},
			{cfg.Grace - 1, true, 3, "in its grace"},
			{1, false, 4, "too old"},
		} {
			time.Sleep(step.wait)
			_, _, found, err := c.Rules(t.Context(), origin, agent)
			if err != nil || found != step.found || s.reads != step.reads {
				t.Errorf("%s: found %v, %v after %d reads, want %v after %d", step.about, found, err, s.reads, step.found,
					step.reads)
			}
		}
	})
}

func TestMissingOriginIsAskedForEachTime(t *testing.T) {
	c, s := setup(t, robotscache.Default())
	for range 2 {
		if _, _, found, err := c.Rules(t.Context(), origin, agent); found || err != nil {
			t.Fatalf("found %v, %v", found, err)
		}
	}
	s.records[origin] = crawl.Robots{Origin: origin, Expires: time.Now().Add(time.Hour)}
	if _, _, found, _ := c.Rules(t.Context(), origin, agent); !found {
		t.Error("a robots.txt that arrived is not seen")
	}
}

func TestPutIsSeenAtOnce(t *testing.T) {
	c, s := setup(t, robotscache.Default(), crawl.Robots{Origin: origin, State: crawl.RobotsDisallowAll,
		Expires: time.Now().Add(time.Hour)})
	if rules, _, _, _ := c.Rules(t.Context(), origin, agent); rules.Allowed("/") {
		t.Fatal("allowed")
	}
	next := crawl.Robots{Origin: origin, State: crawl.RobotsAllowAll, Expires: time.Now().Add(time.Hour)}
	if err := c.Put(t.Context(), next, agent); err != nil {
		t.Fatal(err)
	}
	if rules, _, _, _ := c.Rules(t.Context(), origin, agent); !rules.Allowed("/") {
		t.Error("the old rules still apply")
	}
	if s.records[origin].State != crawl.RobotsAllowAll {
		t.Error("the record did not reach the store")
	}
}

func TestEachAgentHasItsRules(t *testing.T) {
	file := crawl.Robots{Origin: origin,
		Body:      []byte("User-agent: mybot\nDisallow: /mine\n\nUser-agent: *\nDisallow: /all\n"),
		FetchedAt: time.Now(), Expires: time.Now().Add(time.Hour)}
	c, s := setup(t, robotscache.Default(), file)
	allowed := func(agent, path string) bool {
		rules, _, found, err := c.Rules(t.Context(), origin, agent)
		if !found || err != nil {
			t.Fatal(found, err)
		}
		return rules.Allowed(path)
	}
	for range 3 {
		if allowed("mybot", "/mine") || !allowed("mybot", "/all") || !allowed("other", "/mine") || allowed("other", "/all") {
			t.Error("an agent got another one's rules")
		}
	}
	if s.reads != 2 {
		t.Errorf("%d reads, want one an agent", s.reads)
	}
	file.Body, file.FetchedAt = []byte("User-agent: *\nDisallow: /new\n"), file.FetchedAt.Add(time.Second)
	if err := c.Put(t.Context(), file, "mybot"); err != nil {
		t.Fatal(err)
	}
	if allowed("other", "/new") || !allowed("other", "/all") {
		t.Error("a new file counts for one agent only")
	}
}

func TestFaultOfTheStoreIsNoRule(t *testing.T) {
	c, s := setup(t, robotscache.Default())
	s.err = errors.New("disk is gone")
	if _, _, found, err := c.Rules(t.Context(), origin, agent); found || !errors.Is(err, s.err) ||
		!strings.Contains(err.Error(), origin) {
		t.Errorf("Rules = %v, %v, want the store's error with the origin", found, err)
	}
	if err := c.Put(t.Context(), crawl.Robots{Origin: origin}, agent); !errors.Is(err, s.err) {
		t.Errorf("Put = %v, want the store's error", err)
	}
}

func TestMemoryIsBoundedByBytes(t *testing.T) {
	cfg := robotscache.Default()
	cfg.MaxBytes = 64 << 10
	c, s := setup(t, cfg)
	for i := range 50 {
		err := c.Put(t.Context(), crawl.Robots{Origin: fmt.Sprintf("http://h%d.test", i), Body: make([]byte, 10<<10),
			Expires: time.Now().Add(time.Hour)}, agent)
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		if _, _, found, err := c.Rules(t.Context(), fmt.Sprintf("http://h%d.test", 49-i), agent); !found || err != nil {
			t.Fatal(found, err)
		}
	}
	if kept := 50 - s.reads; kept < 1 || kept > 6 {
		t.Errorf("%d bodies of 10 KiB were kept in 64 KiB", kept)
	}
}

func BenchmarkRules(b *testing.B) {
	s := &store{records: map[string]crawl.Robots{origin: {Origin: origin, Expires: time.Now().Add(time.Hour)}}}
	c, err := robotscache.New(s, robotscache.Default())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, found, _ := c.Rules(b.Context(), origin, agent); !found {
			b.Fatal("not found")
		}
	}
}
