package local

import (
	"context"
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func benchTask(t testing.TB, i int) crawl.Task {
	return crawl.Task{Job: testJob,
		URL:   mustURL(t, fmt.Sprintf("https://host%d.example.org/section/page-%d.html", i%1000, i)),
		Depth: 3, Priority: 2, Referrer: mustURL(t, fmt.Sprintf("https://host%d.example.org/section/", i%1000))}
}

func BenchmarkTaskCodec(b *testing.B) {
	items := []crawl.Queued{{Queue: "back.1", Task: benchTask(b, 1)}}
	values, err := encodeTasks(items)
	must(b, err)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = encodeTasks(items)
		}
		b.ReportMetric(float64(len(values[0])), "bytes")
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var t crawl.Task
			must(b, crawl.DecodeTask(values[0], &t))
		}
	})
}

var smallOperations = map[string]func(s *Store, t *crawl.Task) error{
	"claim": func(s *Store, t *crawl.Task) error {
		_, err := s.URLs().Claim(context.Background(), testJob, crawl.MessageID{1}, []crawl.Task{*t})
		return err
	},
	"finish": func(s *Store, t *crawl.Task) error {
		return s.URLs().Finish(context.Background(), testJob,
			crawl.Entry{Key: t.URL.Key(), Verdict: crawl.VerdictDone, Status: 200})
	},
	"push": func(s *Store, t *crawl.Task) error {
		return s.Queues().Push(context.Background(), crawl.Queued{Queue: t.URL.Hostname(), Task: *t})
	},
	"cycle": func(s *Store, t *crawl.Task) error { // push, pull and settle
		name := t.URL.Hostname()
		err := s.Queues().Push(context.Background(), crawl.Queued{Queue: name, Task: *t})
		if err != nil {
			return err
		}
		ds, err := s.Queues().Pull(context.Background(), name, 1)
		if err != nil {
			return err
		}
		return s.Queues().Settle(context.Background(), ds...)
	},
	"journal": func(s *Store, t *crawl.Task) error {
		seq, err := s.Journal().Append(context.Background(), bus.Message{Event: &crawl.Fetch{Task: *t}})
		if err != nil {
			return err
		}
		return s.Journal().Remove(context.Background(), seq)
	},
	"host": func(s *Store, t *crawl.Task) error {
		return s.Hosts().PutHosts(context.Background(), crawl.Host{Key: t.URL.HostKey(), Requests: int64(t.Depth)})
	},
}

// BenchmarkSmallOperations is one operation at a time, and many goroutines' at once.
func BenchmarkSmallOperations(b *testing.B) {
	for name, op := range smallOperations {
		b.Run(name+"/alone", func(b *testing.B) {
			s, i := openStore(b, b.TempDir()), 0
			b.ReportAllocs()
			for b.Loop() {
				t := benchTask(b, i)
				must(b, op(s, &t))
				i++
			}
		})
		b.Run(name+"/64 at once", func(b *testing.B) {
			s := openStore(b, b.TempDir())
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					t := benchTask(b, i)
					must(b, op(s, &t))
				}
			})
		})
	}
}

// BenchmarkReadEntries reads random entries from a database larger than the processor's caches.
func BenchmarkReadEntries(b *testing.B) {
	s := openStore(b, b.TempDir())
	for i := range 200 {
		var us []crawl.Task
		for j := range 500 {
			us = append(us, benchTask(b, i*500+j))
		}
		_, err := s.URLs().Claim(context.Background(), testJob, crawl.MessageID{}, us)
		must(b, err)
	}
	must(b, s.db.Flush())
	for _, n := range []int{1, 10, 100} {
		slots := makeSlots(0, n, func(i int) weburl.Key { return benchTask(b, i*997).URL.Key() })
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				must(b, s.urls.read(slots, nil))
			}
		})
	}
}
