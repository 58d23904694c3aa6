package memcached

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawltest"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
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
		{"a server that is none", func(t *testing.T) *Client { return openAt(t, listen(t, saying("HTTP/1.1 400 Bad Request\r\n\r\n"))) }},
		{"one server of two is dead", func(t *testing.T) *Client {
			return open(t, func(c *Config) { c.Addrs, c.Timeout = append(c.Addrs, deadAddr(t)), time.Second })
		}},
	} {
		t.Run(w.name, func(t *testing.T) { run(t, w.client) })
	}
}

func TestURLSet(t *testing.T) {
	ways(t, func(t *testing.T, client func(t *testing.T) *Client) {
		crawltest.URLSet(t, func(t *testing.T) crawl.URLSet { return client(t).URLs(newStore(), epoch) })
	})
}

func TestRobots(t *testing.T) {
	ways(t, func(t *testing.T, client func(t *testing.T) *Client) {
		crawltest.Robots(t, func(t *testing.T) crawl.RobotsStore { return client(t).Robots(newStore()) })
	})
}

func claim(t *testing.T, s crawl.URLSet, by string, list ...weburl.URL) []crawl.Claimed {
	t.Helper()
	got, err := s.Claim(context.Background(), "job", id(by), list)
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
	if _, err := c.URLs(next, epoch).Claim(context.Background(), "job", id("one"), []weburl.URL{a}); !errors.Is(err, next.err) {
		t.Fatalf("error %v, want the store's", err)
	}
	want(t, claim(t, c.URLs(newStore(), epoch), "two", a), crawl.New)
}

func TestRobotsAreBelievedUntilTheyExpire(t *testing.T) {
	c, next, ctx := open(t), newStore(), context.Background()
	s := c.Robots(next)
	ask := func(origin string, status, asked int) {
		t.Helper()
		next.asked = 0
		r, found, err := s.Robots(ctx, origin)
		if err != nil || found != (status != 0) || r.Status != status || next.asked != asked {
			t.Errorf("%s: status %d, found %v, error %v, store asked %d times; want %d, %d", origin, r.Status, found, err, next.asked, status, asked)
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
	if err := s.PutRobots(ctx, crawl.Robots{Origin: "http://none.test", Status: 500, Expires: soon}); !errors.Is(err, next.err) {
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

func TestAddressesAreSharedForTheirTimeToLive(t *testing.T) {
	public4, public6 := netip.MustParseAddr("198.41.0.4"), netip.MustParseAddr("2001:503:ba3e::2:30")
	for _, tc := range []struct {
		name, host string
		addrs      []netip.Addr
		ttl        time.Duration
		err        error
		asked      int // by two questions
	}{
		{"addresses", "A.test", []netip.Addr{public4, public6}, time.Minute, nil, 1},
		{"a long time to live", "a.test", []netip.Addr{public4}, 48 * time.Hour, nil, 1},
		{"a short one", "a.test", []netip.Addr{public4}, time.Second, nil, 2},
		{"one that is not known", "a.test", []netip.Addr{public4}, -1, nil, 2},
		{"a private address among them", "a.test", []netip.Addr{public4, netip.MustParseAddr("10.0.0.1")}, time.Minute, nil, 2},
		{"a single label", "intranet", []netip.Addr{public4}, time.Minute, nil, 2},
		{"a failure", "a.test", nil, time.Minute, errors.New("no such host"), 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			next := newStore()
			next.addrs, next.ttl, next.err = tc.addrs, tc.ttl, tc.err
			s := open(t).Source(next)
			for range 2 {
				addrs, ttl, err := s.Resolve(context.Background(), tc.host)
				if !slices.Equal(addrs, tc.addrs) || !errors.Is(err, tc.err) || ttl > tc.ttl || tc.ttl > 0 && ttl < min(tc.ttl, maxDNS)-30*time.Second {
					t.Errorf("got %v for %v, error %v", addrs, ttl, err)
				}
			}
			if next.asked != tc.asked {
				t.Errorf("the source was asked %d times, want %d", next.asked, tc.asked)
			}
		})
	}
}

func TestAPrivateAddressInTheCacheIsNotBelieved(t *testing.T) {
	c, next := open(t), newStore()
	next.addrs, next.ttl = []netip.Addr{netip.MustParseAddr("198.41.0.4")}, time.Minute
	evil := encodeAnswer([]netip.Addr{netip.MustParseAddr("169.254.169.254")}, time.Minute, time.Now())
	c.store(context.Background(), "dns", (*memcache.Client).Set, c.key(dnsKind, "a.test"), evil, time.Minute)
	addrs, _, err := c.Source(next).Resolve(context.Background(), "a.test")
	if err != nil || !slices.Equal(addrs, next.addrs) || next.asked != 1 {
		t.Errorf("got %v, error %v", addrs, err)
	}
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
			if took := time.Since(start); took < c.cfg.Timeout || took > c.cfg.Timeout+500*time.Millisecond {
				t.Errorf("%s: a call took %v, want %v", name, took, c.cfg.Timeout)
			}
		}
	}
}

func TestADeadServerIsLeftAloneAndSaidSoOnce(t *testing.T) {
	w := newBreakerWorld()
	for i := range 2 * maxFailures {
		if got := w.try(errRefused); got != (i < maxFailures) {
			t.Errorf("call %d was made: %v", i, got)
		}
	}
	for _, rest := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		w.now = w.now.Add(rest*time.Second - 1)
		if w.try(errRefused) {
			t.Errorf("a call was made before %d s were over", rest)
		}
		w.now = w.now.Add(1)
		a, ok := w.allow()
		if _, again := w.allow(); !ok || again {
			t.Errorf("after %d s: first call made %v, second %v; want one", rest, ok, again)
		}
		w.done(a, errRefused)
	}
	w.now = w.now.Add(time.Minute)
	for range 2 {
		if !w.try(nil) {
			t.Error("want calls to go through after a success")
		}
	}
	lines := strings.Split(strings.TrimSpace(w.out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "does not answer") || !strings.Contains(lines[1], "answers again") {
		t.Errorf("logged %q, want one line when it begins and one when it ends", lines)
	}
}

// On a busy machine calls time out now and then, all that are under way at once. That is no news of the server.
func TestAMomentsStallIsNotLogged(t *testing.T) {
	w := newBreakerWorld()
	for range 100 {
		var calls []attempt
		for range 4 * maxFailures {
			a, ok := w.allow()
			if !ok {
				t.Fatal("the server is left alone")
			}
			calls = append(calls, a)
		}
		for _, a := range calls {
			w.now = w.now.Add(time.Millisecond)
			w.done(a, errRefused)
		}
		w.now = w.now.Add(time.Millisecond)
		w.try(nil)
	}
	for range maxFailures { // a longer one: left alone for a second, and there again
		w.try(errRefused)
	}
	w.now = w.now.Add(minRest)
	if !w.try(nil) || w.out.Len() > 0 {
		t.Errorf("logged %q, want nothing", w.out.String())
	}
}

var errRefused = errors.New("refused")

// breakerWorld is a breaker with a clock and a log of its own.
type breakerWorld struct {
	*breaker
	now time.Time
	out bytes.Buffer
}

func newBreakerWorld() *breakerWorld {
	w := &breakerWorld{now: time.Unix(0, 0)}
	w.breaker = &breaker{server: "s", log: slog.New(slog.NewTextHandler(&w.out, nil)), now: func() time.Time { return w.now }}
	return w
}

// try makes a call, if it may be made, that ends at once.
func (w *breakerWorld) try(err error) (made bool) {
	a, ok := w.allow()
	if ok {
		w.done(a, err)
	}
	return ok
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
		got, err := s.Claim(context.Background(), "job", id("one"), []weburl.URL{mustURL(t, fmt.Sprintf("http://h.test/%d", i))})
		if want(t, got, crawl.New); err != nil {
			t.Fatal(err)
		}
	}
	close(release)
	settle(t, c)
	if dropped, ok := stores(t, c, "dropped"), stores(t, c, "ok"); dropped != more || ok != maxWaiting {
		t.Errorf("%v values dropped, %v stored; want %d, %d", dropped, ok, more, maxWaiting)
	}
	want(t, claim(t, c.URLs(newStore(), epoch), "two", mustURL(t, "http://h.test/0"), mustURL(t, fmt.Sprintf("http://h.test/%d", maxWaiting))),
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
		if got, err := s.Claim(context.Background(), "job", id(w.by), []weburl.URL{a}); err != nil || got[0] != w.want {
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
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 100 {
				if w == 0 && i%10 == 5 {
					p.cut(i%20 == 5)
				}
				u := mustURL(t, fmt.Sprintf("http://h.test/%d", i))
				got, err := s.Claim(context.Background(), "job", id(fmt.Sprint(w, i)), []weburl.URL{u})
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
	if hits == 0 || misses == 0 || failed == 0 || hits+misses+failed != 1600 {
		t.Errorf("%v hits, %v misses, %v failures counted; want some of each and 1600 in all", hits, misses, failed)
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

func TestAnAnswerComesBackAsItWas(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	addrs := []netip.Addr{netip.MustParseAddr("2001:503:ba3e::2:30"), netip.MustParseAddr("198.41.0.4")}
	for _, tc := range []struct {
		at, left time.Duration
	}{{0, time.Minute}, {20 * time.Second, 40 * time.Second}, {-time.Hour, time.Minute}, {time.Minute, 0}} {
		got, left := decodeAnswer(encodeAnswer(addrs, time.Minute, now), now.Add(tc.at))
		if left != tc.left || tc.left > 0 && !reflect.DeepEqual(got, addrs) || tc.left == 0 && got != nil {
			t.Errorf("after %v: %v for %v, want %v", tc.at, got, left, tc.left)
		}
	}
}
