package memcached

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

const benchBatch = 40 // links of a page

func benchTasks(b *testing.B) []crawl.Task {
	list := make([]crawl.Task, benchBatch)
	for i := range list {
		list[i].URL = mustURL(b, fmt.Sprintf("http://host%d.test/page/%d", i%7, i))
	}
	return list
}

// everything is a URL set that answers at once.
type everything struct{ answer crawl.Claimed }

func (e everything) Claim(_ context.Context, _ crawl.JobID, _ crawl.MessageID,
	list []crawl.Task) ([]crawl.Claimed, error) {
	out := make([]crawl.Claimed, len(list))
	for i := range out {
		out[i] = e.answer
	}
	return out, nil
}

func (e everything) Exclude(context.Context, crawl.JobID, crawl.MessageID, []crawl.Exclusion) ([]crawl.Claimed, error) {
	return nil, nil
}

// BenchmarkClaim claims the 40 links of a page: all in the cache, all new and then cached, all unknown to the cache.
func BenchmarkClaim(b *testing.B) {
	for _, bc := range []struct {
		name string
		next crawl.URLSet
		warm bool
	}{{"known", everything{crawl.Known}, true}, {"new", everything{crawl.New}, false},
		{"uncached", everything{crawl.Known}, false}} {
		b.Run(bc.name, func(b *testing.B) {
			c, ctx, list := open(b), context.Background(), benchTasks(b)
			if bc.warm {
				if _, err := c.URLs(everything{crawl.New}, epoch).Claim(ctx, "job", id("one"), list); err != nil {
					b.Fatal(err)
				}
				settle(b, c)
			}
			s := c.URLs(bc.next, epoch)
			b.ReportAllocs()
			before := cpu(b)
			for b.Loop() {
				if _, err := s.Claim(ctx, "job", id("two"), list); err != nil {
					b.Fatal(err)
				}
			}
			settle(b, c)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchBatch, "ns/url")
			b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N)/benchBatch, "cpu-ns/url")
		})
	}
}

// everything but the first URL of a page was claimed before, as in the steady state of a crawl.
func BenchmarkPage(b *testing.B) {
	c, ctx, list := open(b), context.Background(), benchTasks(b)
	if _, err := c.URLs(everything{crawl.New}, epoch).Claim(ctx, "job", id("one"), list[1:]); err != nil {
		b.Fatal(err)
	}
	settle(b, c)
	s, n := c.URLs(everything{crawl.New}, epoch), 0
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		n++
		list[0].URL = mustURL(b, fmt.Sprintf("http://new.test/%d", n))
		if _, err := s.Claim(ctx, "job", id("two"), list); err != nil {
			b.Fatal(err)
		}
	}
	settle(b, c)
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-µs/page")
}

// cpu is the processor time that this process has taken.
func cpu(b *testing.B) time.Duration {
	used, ok := system.ProcessorTime()
	if !ok {
		b.Fatal("the processor time is not known")
	}
	return used
}

func BenchmarkRobots(b *testing.B) {
	c, ctx := open(b), context.Background()
	s := c.Robots(newStore())
	r := crawl.Robots{Origin: "http://a.test", Status: 200, Body: make([]byte, 2_000), Expires: time.Now().Add(time.Hour)}
	if err := s.PutRobots(ctx, r); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, found, err := s.Robots(ctx, r.Origin); !found || err != nil {
			b.Fatal(err)
		}
	}
}
