package dnscache

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// fakeSource answers after a second, with what reply says, and counts.
type fakeSource struct {
	asked atomic.Int64
	reply func(name string) ([]netip.Addr, time.Duration, error)
}

func (s *fakeSource) Resolve(ctx context.Context, name string) ([]netip.Addr, time.Duration, error) {
	s.asked.Add(1)
	select {
	case <-time.After(time.Second):
		return s.reply(name)
	case <-ctx.Done():
		return nil, 0, &Error{Host: name, Kind: ErrServer, Detail: ctx.Err().Error()}
	}
}

var one = []netip.Addr{netip.MustParseAddr("192.0.2.1")}

func withSource(t *testing.T, cfg Config,
	reply func(string) ([]netip.Addr, time.Duration, error)) (*Cache, *fakeSource) {
	t.Helper()
	cfg.HostsFile, cfg.Server = "", "127.0.0.1:1"
	c, err := New(cfg, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	src := &fakeSource{reply: reply}
	c.source = src
	return c, src
}

func TestAnswerIsKeptAsLongAsItIsGood(t *testing.T) {
	missing := &Error{Host: "a.test", Kind: ErrNoSuchHost}
	broken := &Error{Host: "a.test", Kind: ErrServer}
	for name, tc := range map[string]struct {
		addrs []netip.Addr
		ttl   time.Duration
		err   error
		keep  time.Duration
	}{
		"the record's time to live":             {addrs: one, ttl: 5 * time.Minute, keep: 5 * time.Minute},
		"at most an hour":                       {addrs: one, ttl: 48 * time.Hour, keep: time.Hour},
		"at least a second":                     {addrs: one, ttl: 0, keep: time.Second},
		"an hour where no time is known":        {addrs: one, ttl: -1, keep: time.Hour},
		"a minute for a name without addresses": {err: missing, keep: time.Minute},
		"a second for a failing server":         {err: broken, keep: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, src := withSource(t, Default(), func(string) ([]netip.Addr, time.Duration, error) {
					return tc.addrs, tc.ttl, tc.err
				})
				look := func(want int64) {
					t.Helper()
					addrs, err := c.Lookup(t.Context(), "a.test")
					if !slices.Equal(addrs, tc.addrs) || !errors.Is(err, tc.err) {
						t.Fatalf("Lookup = %v, %v, want %v, %v", addrs, err, tc.addrs, tc.err)
					}
					if got := src.asked.Load(); got != want {
						t.Fatalf("asked %d times, want %d", got, want)
					}
				}
				look(1)
				time.Sleep(tc.keep - time.Millisecond)
				look(1)
				time.Sleep(time.Millisecond)
				look(2)
			})
		})
	}
}

func TestManyCallersShareOneLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, src := withSource(t, Default(), func(string) ([]netip.Addr, time.Duration, error) { return one, time.Hour, nil })
		for range 50 {
			go func() {
				if _, err := c.Lookup(t.Context(), "A.test."); err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(2 * time.Second)
		if got := src.asked.Load(); got != 1 {
			t.Errorf("asked %d times, want once", got)
		}
	})
}

// A caller that gives up must neither fail the others nor leave its own cancellation in the cache.
func TestCallerWhoGivesUpSpoilsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, src := withSource(t, Default(), func(string) ([]netip.Addr, time.Duration, error) { return one, time.Hour, nil })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := c.Lookup(ctx, "a.test"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Lookup = %v, want the caller's own deadline", err)
		}
		if addrs, err := c.Lookup(t.Context(), "a.test"); err != nil || !slices.Equal(addrs, one) {
			t.Fatalf("Lookup = %v, %v", addrs, err)
		}
		if got := src.asked.Load(); got != 1 {
			t.Errorf("asked %d times, want once", got)
		}
	})
}

func TestMemoryIsBoundedByNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Default()
		cfg.MaxNames = 10
		c, _ := withSource(t, cfg, func(string) ([]netip.Addr, time.Duration, error) { return one, time.Hour, nil })
		for i := range 100 {
			if _, err := c.Lookup(t.Context(), fmt.Sprintf("h%d.test", i)); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.answers.Len(); got != 10 {
			t.Errorf("%d names kept, want 10", got)
		}
		if len(c.flights) != 0 {
			t.Errorf("%d lookups still under way", len(c.flights))
		}
	})
}

func TestAnsweredWithoutNameServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	hosts := "# ours\n::2 both.test\n10.1.2.3\tBoth.test alias # c\nnonsense here\n10.9.9.9\n1.2.3.4 alias\n"
	if err := os.WriteFile(path, []byte(hosts), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := Default()
	cfg.Server, cfg.HostsFile = "127.0.0.1:1", path // nobody answers there
	c, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"192.0.2.7": "[192.0.2.7]", "[2001:db8::1]": "[2001:db8::1]", "::1": "[::1]", "both.test": "[10.1.2.3 ::2]",
		"BOTH.TEST.": "[10.1.2.3 ::2]", "alias": "[10.1.2.3 1.2.3.4]", "localhost": "[127.0.0.1 ::1]",
		"x.localhost": "[127.0.0.1 ::1]",
	} {
		addrs, err := c.Lookup(t.Context(), host)
		if got := fmt.Sprint(addrs); err != nil || got != want {
			t.Errorf("Lookup(%q) = %s, %v, want %s", host, got, err, want)
		}
	}
	for _, host := range []string{"", ".", "a..b", string(make([]byte, 300)) + ".test"} {
		if _, err := c.Lookup(t.Context(), host); !errors.Is(err, ErrNoSuchHost) {
			t.Errorf("Lookup(%q) = %v, want ErrNoSuchHost", host, err)
		}
	}
}

func TestMetricsTellMemoryFromNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := withSource(t, Default(), func(string) ([]netip.Addr, time.Duration, error) { return one, time.Hour, nil })
		for range 3 {
			if _, err := c.Lookup(t.Context(), "a.test"); err != nil {
				t.Fatal(err)
			}
		}
		var found, cached dto.Metric
		if err := errors.Join(c.metrics.found.Write(&found),
			c.metrics.cached.(prometheus.Metric).Write(&cached)); err != nil {
			t.Fatal(err)
		}
		if out, in := found.Counter.GetValue(), cached.Histogram.GetSampleCount(); out != 1 || in != 2 {
			t.Errorf("%v lookups went out and %d were answered from memory, want 1 and 2", out, in)
		}
	})
}

func TestConfigThatMakesNoSenseIsRefused(t *testing.T) {
	for name, breakIt := range map[string]func(*Config){
		"server is a name": func(c *Config) { c.Server = "dns.example:53" },
		"no room":          func(c *Config) { c.MaxNames = 0 },
		"min over max":     func(c *Config) { c.MinTTL = 2 * c.MaxTTL },
		"no timeout":       func(c *Config) { c.Timeout = 0 },
	} {
		cfg := Default()
		breakIt(&cfg)
		if _, err := New(cfg, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzParseHosts(f *testing.F) {
	f.Add([]byte("127.0.0.1 localhost\n::1 ip6-localhost # x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, addrs := range parseHosts(data) {
			if len(addrs) == 0 {
				t.Errorf("%q has no address", name)
			}
		}
	})
}

func BenchmarkLookupCached(b *testing.B) {
	cfg := Default()
	cfg.Server, cfg.HostsFile = "127.0.0.1:1", ""
	c, err := New(cfg, nil)
	if err != nil {
		b.Fatal(err)
	}
	c.answers.Put("www.example.com", answer{addrs: one, expires: time.Now().Add(time.Hour)}, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Lookup(b.Context(), "www.example.com"); err != nil {
			b.Fatal(err)
		}
	}
}
