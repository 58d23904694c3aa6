package memcached

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ways are clients in good and in bad order: with each, all answers must be right.
func ways(t *testing.T, run func(t *testing.T, client func(t *testing.T) *Client)) {
	for _, w := range []struct {
		name   string
		client func(t *testing.T) *Client
	}{
		{"a server", func(t *testing.T) *Client { return open(t) }},
		{"nobody listens", func(t *testing.T) *Client { return openAt(t, deadAddr(t)) }},
		{"a server that never answers", func(t *testing.T) *Client { return openAt(t, listen(t, silent)) }},
		{"a server that is none", func(t *testing.T) *Client {
			return openAt(t,
				listen(t, saying("HTTP/1.1 400 Bad Request\r\n\r\n")))
		}},
		{"one server of two is dead", func(t *testing.T) *Client {
			return open(t, func(c *Config) { c.Addrs, c.Timeout = append(c.Addrs, deadAddr(t)), time.Second })
		}},
	} {
		t.Run(w.name, func(t *testing.T) { run(t, w.client) })
	}
}

func TestURLSet(t *testing.T) {
	ways(t, func(t *testing.T, client func(t *testing.T) *Client) {
		storetest.URLSet(t, func(t *testing.T) crawl.URLSet { return client(t).URLs(newStore(), epoch) })
	})
}

func TestRobots(t *testing.T) {
	ways(t, func(t *testing.T, client func(t *testing.T) *Client) {
		storetest.Robots(t, func(t *testing.T) crawl.RobotsStore { return client(t).Robots(newStore()) })
	})
}

func claim(t *testing.T, s crawl.URLSet, by string, list ...weburl.URL) []crawl.Claimed {
	t.Helper()
	got, err := s.Claim(context.Background(), "job", id(by), storetest.Tasks("job", list...))
	if err != nil {
		t.Fatal(err)
	}
	if u, ok := s.(urls); ok {
		settle(t, u.c)
	}
	return got
}

func want(t *testing.T, got []crawl.Claimed, want ...crawl.Claimed) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAClaimOfAnotherMessageNeedsNoStore(t *testing.T) {
	c, next := open(t), newStore()
	s := c.URLs(next, epoch)
	a, b := mustURL(t, "http://a.test/"), mustURL(t, "http://b.test/")
	want(t, claim(t, s, "one", a), crawl.New)
	next.asked = 0
	want(t, claim(t, s, "two", a), crawl.Known)
	excluded, err := s.Exclude(context.Background(), "job", id("two"), []crawl.Exclusion{{URL: a}, {URL: a}})
	if want(t, excluded, crawl.Known, crawl.Known); err != nil || next.asked != 0 {
		t.Errorf("error %v; the store was asked about %d URLs, want 0", err, next.asked)
	}
	want(t, claim(t, s, "one", a), crawl.Repeat) // only the store can know that
	want(t, claim(t, s, "two", b, a, b), crawl.New, crawl.Known, crawl.Known)
	if next.asked != 3 {
		t.Errorf("the store was asked about %d URLs, want 3", next.asked)
	}
}

// The answer Known does not say who claimed: were it cached, the claimer, delivered again, would lose its URLs.
func TestTheClaimerGetsARepeatWhoeverAskedBefore(t *testing.T) {
	c, next := open(t), newStore()
	a := mustURL(t, "http://a.test/")
	want(t, claim(t, crawl.URLSet(next), "one", a), crawl.New) // past the cache
	want(t, claim(t, c.URLs(next, epoch), "two", a), crawl.Known)
	want(t, claim(t, c.URLs(next, epoch), "one", a), crawl.Repeat)
}

func TestAnExcludedURLCanBeClaimedWithAWarmCache(t *testing.T) {
	s, a := open(t).URLs(newStore(), epoch), mustURL(t, "http://a.test/")
	ctx := context.Background()
	for _, by := range []string{"one", "two"} {
		if _, err := s.Exclude(ctx, "job", id(by), []crawl.Exclusion{{URL: a}}); err != nil {
			t.Fatal(err)
		}
	}
	want(t, claim(t, s, "three", a), crawl.New)
}

func TestAJobThatIsBegunAgainKnowsNothingOfItsFormerLife(t *testing.T) {
	c, a := open(t), mustURL(t, "http://a.test/")
	life := "1"
	of := func(context.Context, crawl.JobID) (string, error) { return life, nil }
	want(t, claim(t, c.URLs(newStore(), of), "one", a), crawl.New)
	life = "2"
	want(t, claim(t, c.URLs(newStore(), of), "one", a), crawl.New)
	want(t, claim(t, c.URLs(newStore(), of), "two", a), crawl.Known) // the cache is at work
}

func TestWithoutEpochTheCacheIsNotUsed(t *testing.T) {
	c, a := open(t), mustURL(t, "http://a.test/")
	for _, of := range []Epoch{
		func(context.Context, crawl.JobID) (string, error) { return "", nil },
		func(context.Context, crawl.JobID) (string, error) { return "1", errors.New("no jobs") },
	} {
		for range 2 {
			want(t, claim(t, c.URLs(newStore(), of), "one", a), crawl.New)
		}
	}
}

func TestAClaimThatFailedIsNotCached(t *testing.T) {
	c, next, a := open(t), newStore(), mustURL(t, "http://a.test/")
	next.err = errors.New("no store")
	if _, err := c.URLs(next, epoch).Claim(context.Background(), "job", id("one"),
		storetest.Tasks("job", a)); !errors.Is(err, next.err) {
		t.Fatalf("error %v, want the store's", err)
	}
	want(t, claim(t, c.URLs(newStore(), epoch), "two", a), crawl.New)
}

func TestLargeBatchesAndValuesComeBackWhole(t *testing.T) {
	for _, servers := range []int{1, 3} {
		c := open(t, func(c *Config) { c.Addrs = slices.Repeat(c.Addrs, servers) })
		shares := map[*server]int{}
		if servers > 1 { // one process, several names
			for i, name := range []string{"", "127.0.0.1:1", "127.0.0.1:2"} {
				c.servers[i] = renamed(c.servers[i], name)
			}
		}
		values := map[string][]byte{c.key("t1", "large"): bytes.Repeat([]byte("x"), maxRobots)}
		var keys []string
		for i := range 2_345 {
			values[c.key("t1", fmt.Sprint(i))] = bytes.Repeat([]byte{byte(i), '\r', '\n'}, i%400)
			keys = append(keys, c.key("t1", fmt.Sprint("missing ", i)))
		}
		for key, value := range values {
			c.store(context.Background(), "urls", (*memcache.Client).Set, key, value, time.Minute)
			keys = append(keys, key)
			shares[c.serverOf(key)]++
		}
		got := c.get(context.Background(), "urls", keys...)
		for key, value := range values {
			if it := got[key]; it == nil || !bytes.Equal(it.Value, value) {
				t.Fatalf("%d servers: %s came back as %.40v, want %d bytes", servers, key, it, len(value))
			}
		}
		if len(got) != len(values) || len(shares) != servers {
			t.Errorf("%d servers: %d values of %d servers, want %d", servers, len(got), len(shares), len(values))
		}
	}
}

// renamed is a server that is chosen by another name and reached where it was.
func renamed(s *server, name string) *server {
	at, dial := s.addr, s.client.DialContext
	s.addr = name
	s.client.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) { return dial(ctx, network, at) }
	return s
}

func TestNoCallWaitsLongerThanTheTimeout(t *testing.T) {
	for name, addr := range map[string]string{"silent": listen(t, silent), "trickling": listen(t, trickling)} {
		c := openAt(t, addr)
		for range 2 { // with a new connection, with one that was used
			start := time.Now()
			c.get(context.Background(), "urls", "a")
			// without the timeout it never ends
			if took := time.Since(start); took < c.cfg.Timeout || took > c.cfg.Timeout+time.Minute {
				t.Errorf("%s: a call took %v, want %v", name, took, c.cfg.Timeout)
			}
		}
	}
}

func TestACallerThatHasGivenUpIsNotMadeToWait(t *testing.T) {
	c := openAt(t, listen(t, silent))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	start := time.Now()
	for range 100 {
		c.get(ctx, "urls", "a")
		c.store(ctx, "urls", (*memcache.Client).Set, "a", nil, time.Minute)
	}
	if took := time.Since(start); took > c.cfg.Timeout*50 {
		t.Errorf("200 calls took %v", took)
	}
	if got := gets(t, c, "skipped"); got != 100 {
		t.Errorf("%v calls counted as skipped, want 100", got)
	}
}

// A server that is slow to store delays no claim; what is too much is dropped, and the answers are the same.
func TestClaimsDoNotWaitForTheirStoring(t *testing.T) {
	busy, release := make(chan struct{}, writers), make(chan struct{})
	c := open(t)
	for range writers {
		c.background <- func() { busy <- struct{}{}; <-release }
	}
	for range writers {
		<-busy
	}
	s := c.URLs(newStore(), epoch)
	const more = 7
	for i := range maxWaiting + more {
		got, err := s.Claim(context.Background(), "job", id("one"),
			storetest.Tasks("job", mustURL(t, fmt.Sprintf("http://h.test/%d", i))))
		if want(t, got, crawl.New); err != nil {
			t.Fatal(err)
		}
	}
	close(release)
	settle(t, c)
	if dropped, ok := stores(t, c, "dropped"), stores(t, c, "ok"); dropped != more || ok != maxWaiting {
		t.Errorf("%v values dropped, %v stored; want %d, %d", dropped, ok, more, maxWaiting)
	}
	want(t, claim(t, c.URLs(newStore(), epoch), "two", mustURL(t, "http://h.test/0"),
		mustURL(t, fmt.Sprintf("http://h.test/%d", maxWaiting))),
		crawl.Known, crawl.New)
}

func TestAClosedClientStillAnswers(t *testing.T) {
	c := open(t)
	s, a := c.URLs(newStore(), epoch), mustURL(t, "http://a.test/")
	c.Close()
	for _, w := range []struct {
		by   string
		want crawl.Claimed
	}{{"one", crawl.New}, {"two", crawl.Known}, {"one", crawl.Repeat}} {
		if got, err := s.Claim(context.Background(), "job", id(w.by), storetest.Tasks("job", a)); err != nil ||
			got[0] != w.want {
			t.Errorf("%s: %v, error %v; want %v", w.by, got, err, w.want)
		}
	}
}

func TestAServerThatDiesMidwayAndComesBackLosesNothing(t *testing.T) {
	reg := prometheus.NewRegistry()
	p := newProxy(t)
	c := open(t, func(c *Config) { c.Addrs, c.Timeout, c.Metrics = []string{p.addr(c.Addrs[0])}, time.Second, reg })
	s := c.URLs(newStore(), epoch)
	var mu sync.Mutex
	news := map[weburl.URL]int{}
	first := mustURL(t, "http://h.test/0")
	for i := range 3 { // a miss, a hit, a failure: on a slow machine chance may bring none
		if i == 2 {
			p.cut(true)
		}
		got, err := s.Claim(t.Context(), "job", id(fmt.Sprint("first", i)), storetest.Tasks("job", first))
		if err != nil {
			t.Fatal(err)
		}
		if got[0] == crawl.New {
			news[first]++
		}
	}
	p.cut(false)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 100 {
				if w == 0 && i%10 == 5 {
					p.cut(i%20 == 5)
				}
				u := mustURL(t, fmt.Sprintf("http://h.test/%d", i))
				got, err := s.Claim(context.Background(), "job", id(fmt.Sprint(w, i)), storetest.Tasks("job", u))
				if err != nil {
					t.Error(err)
					return
				}
				if got[0] == crawl.New {
					mu.Lock()
					news[u]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for u, n := range news {
		if n != 1 {
			t.Errorf("%s was new %d times", u, n)
		}
	}
	if len(news) != 100 {
		t.Errorf("%d URLs were new, want 100", len(news))
	}
	hits, misses := gets(t, c, "hit"), gets(t, c, "miss")
	failed := gets(t, c, "error") + gets(t, c, "skipped")
	if hits == 0 || misses == 0 || failed == 0 || hits+misses+failed != 1603 {
		t.Errorf("%v hits, %v misses, %v failures counted; want some of each and 1603 in all", hits, misses, failed)
	}
	if m, err := reg.Gather(); len(m) != 2 || err != nil {
		t.Errorf("%d metrics, error %v", len(m), err)
	}
}

// gets and stores are the counts of a result among the URLs that were asked for and stored.
func gets(t *testing.T, c *Client, result string) float64 { return count(t, c.metrics.gets, result) }

func stores(t *testing.T, c *Client, result string) float64 {
	return count(t, c.metrics.stores, result)
}

func count(t *testing.T, of *prometheus.CounterVec, result string) float64 {
	t.Helper()
	var m dto.Metric
	if err := of.WithLabelValues("urls", result).Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

func TestKeysAreShortAndApart(t *testing.T) {
	c := openAt(t, deadAddr(t))
	c.cfg.Prefix = strings.Repeat("p", maxPrefix)
	long := mustURL(t, "http://a.test/"+strings.Repeat("x", 1900)+"?a=%20")
	s := urls{c: c, epoch: epoch}
	keys := s.keys(context.Background(), "job", 1, func(int) weburl.URL { return long })
	keys = append(keys, s.keys(context.Background(), "other", 1, func(int) weburl.URL { return long })...)
	keys = append(keys, c.key(robotsKind, "http://a.test"), c.key(dnsKind, "http://a.test"))
	seen := map[string]bool{}
	for _, k := range keys {
		if len(k) > 250 || strings.ContainsAny(k, " \r\n\x00") || seen[k] {
			t.Errorf("key %q", k)
		}
		seen[k] = true
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	cfg := Config{Prefix: "a b"}
	for _, part := range []string{"addrs", "timeout", "prefix", "idle", "logger"} {
		if _, err := Open(cfg); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v; want one that names %s", err, part)
		}
	}
	cfg.Addrs = []string{"nowhere"}
	if _, err := Open(cfg); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("error %v; want one that names the address", err)
	}
}

func TestProgramsAgreeOnTheServerOfAKey(t *testing.T) {
	one, two := openAt(t, "a:1", "b:1", "c:1"), openAt(t, "c:1", "a:1", "b:1")
	count := map[string]int{}
	for i := range 3000 {
		k := fmt.Sprint("key", i)
		a, b := one.serverOf(k).addr, two.serverOf(k).addr
		if a != b {
			t.Fatalf("%s lies at %s and at %s", k, a, b)
		}
		count[a]++
	}
	for addr, n := range count {
		if n < 800 || n > 1200 {
			t.Errorf("%s has %d keys of 3000", addr, n)
		}
	}
}
