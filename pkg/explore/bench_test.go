package explore

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// large is the size that the studio is built for.
const (
	largeURLs    = 1_000_000
	largeRecords = 100_000
	largeHosts   = 5_000
	largeQueued  = 300_000
)

// vocabulary has words of which some are frequent, as in texts.
var vocabulary = func() []string {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 20_000)
	for i := range words {
		b := make([]byte, 3+r.IntN(8))
		for j := range b {
			b[j] = byte('a' + r.IntN(26))
		}
		words[i] = string(b)
	}
	return words
}()

func text(r *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(vocabulary[int(float64(len(vocabulary))*r.Float64()*r.Float64()*r.Float64())])
		b.WriteByte(' ')
	}
	return b.String()
}

func (w *world) file(id, name string, fill func(*bufio.Writer)) {
	dir := filepath.Join(w.dir, "executions", id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	defer out.Flush()
	fill(out)
}

// large writes an execution of many URLs. Hosts are as unequal as those of the web.
func (w *world) large(id string, urls, records, hosts int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	host := func() int { return int(float64(hosts) * r.Float64() * r.Float64() * r.Float64()) }
	name := func(h, n int) string {
		return fmt.Sprintf("https://host%d.test/path/section/page-%d.html?id=%d", h, n, n%97)
	}
	var pages []string
	w.file(id, "crawl.log", func(out *bufio.Writer) {
		var b []byte
		for n := range urls {
			url := name(host(), n)
			l := line(url, crawl.VerdictDone, 200, func(l *crawl.LogLine) {
				l.At, l.Depth, l.Duration = began.Add(time.Duration(n)*10*time.Millisecond), 1+n%7,
					time.Duration(20+r.IntN(400))*time.Millisecond
				l.ContentType = "text/html"
				if len(pages) > 0 {
					l.Referrer = u(pages[r.IntN(len(pages))])
				}
			})
			switch k := r.IntN(20); {
			case k < 8:
				l.Verdict, l.Status, l.Reason, l.Duration, l.Attempt = crawl.VerdictExcluded, 0,
					[]string{"scope", "exclude", "depth"}[k%3], 0, 0
			case k < 10:
				l.Verdict, l.Status, l.Reason = crawl.VerdictGone, 404, "status"
			case k < 11:
				l.Verdict, l.Status, l.Reason = crawl.VerdictFailed, 0, "timeout"
			case len(pages) < records:
				pages = append(pages, url)
			}
			b = jsonl.AppendLogLine(b[:0], &l)
			_, _ = out.Write(b)
		}
	})
	w.file(id, "pages.jsonl", func(out *bufio.Writer) {
		var b []byte
		for n, url := range pages {
			rec := record(url, text(r, 6), text(r, 400), func(rec *crawl.Record) {
				rec.Depth, rec.Simhash = 1+n%7, r.Uint64()
				rec.Lang, rec.ContentType = []string{"en", "de", "fr", "es"}[n%4],
					[]string{"text/html", "application/xhtml+xml"}[n%2]
				if n%5 == 0 {
					rec.Fields = []crawl.Field{{Name: "price", Value: float64(n % 50)},
						{Name: "brand", Value: fmt.Sprint("brand", n%30)}}
				}
				for range 30 {
					rec.Links = append(rec.Links, crawl.Link{URL: u(pages[r.IntN(len(pages))]), Text: "a link"})
				}
				if n%10 == 9 {
					rec.DuplicateOf, rec.Similarity, rec.Text = u(pages[n/100]), []string{"exact", "near"}[n/10%2], ""
				}
			})
			b = jsonl.AppendRecord(b[:0], rec)
			_, _ = out.Write(b)
		}
	})
}

// BenchmarkPages prints what each page of the studio costs with an execution of a million URLs, beside nothing else.
func BenchmarkPages(b *testing.B) {
	w := newWorld(b)
	w.large("big-1", largeURLs, largeRecords, largeHosts, 1)
	w.large("big-2", largeURLs/10, largeRecords, largeHosts, 1)
	live := liveOf("https://host1.test/", 3, largeQueued)
	w.live["big-1"] = live
	x := Open(Options{Dir: filepath.Join(w.dir, "search"), Source: w.source, Eager: true})
	w.run(x)
	for _, id := range []crawl.JobID{"big-1", "big-2"} {
		start := time.Now()
		caughtUp(b, x, id)
		ix := check1(b)(x.index(b.Context(), id))
		fmt.Printf("indexed %s in %v: %+v; the index has %d MB\n", id, time.Since(start).Round(time.Millisecond), *ix.Index(),
			sizeOf(ix.name)>>20)
	}
	for _, q := range benchQueries(b, x) {
		b.Run(q.name, func(b *testing.B) { q.bench(b) })
	}
}

type benchQuery struct {
	name string
	ask  func(ctx context.Context) error
}

// bench asks until b has enough, forty times at least, and tells the slowest of twenty.
func (q *benchQuery) bench(b *testing.B) {
	var took []time.Duration
	for n := 0; n < 40; n++ {
		start := time.Now()
		if err := q.ask(b.Context()); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/2]), "ms-p50")
	b.ReportMetric(ms(took[len(took)*19/20]), "ms-p95")
	b.ReportMetric(0, "ns/op")
}

func tasksAsked(x *Explorer, f TaskFilter) func(context.Context) error {
	return func(ctx context.Context) error { _, err := x.Tasks(ctx, "big-1", f, Page{}); return err }
}

func recordsAsked(x *Explorer, f RecordFilter) func(context.Context) error {
	return func(ctx context.Context) error { _, err := x.Records(ctx, "big-1", f, Page{}); return err }
}

func benchQueries(b *testing.B, x *Explorer) []benchQuery {
	three := 3
	some := must2(b)(x.Tasks(b.Context(), "big-1", TaskFilter{State: Done}, Page{Limit: 1})).Items[0].URL
	recs, err := x.Records(b.Context(), "big-1", RecordFilter{Duplicates: "none"}, Page{Limit: 2})
	if err != nil {
		b.Fatal(err)
	}
	one, two := recs.Items[0].Key, recs.Items[1].Key
	return []benchQuery{
		{"tasks", tasksAsked(x, TaskFilter{})},
		{"tasks/state", tasksAsked(x, TaskFilter{State: TimedOut})},
		{"tasks/scheduled", tasksAsked(x, TaskFilter{State: Scheduled})},
		{"tasks/host+state", tasksAsked(x, TaskFilter{Host: "host0.test", State: Failed})},
		{"tasks/host+status+depth", tasksAsked(x, TaskFilter{Host: "host3.test", Status: 404, Depth: &three})},
		{"tasks/q", tasksAsked(x, TaskFilter{Query: "page-7777"})},
		{"tasks/q-none", tasksAsked(x, TaskFilter{Query: "nowhere"})},
		{"tasks/q-prefix", tasksAsked(x, TaskFilter{Query: "https://host2.test/path/section/page-9"})},
		{"tasks/reason+depth", tasksAsked(x, TaskFilter{Reason: "scope", Depth: &three})},
		{"counts", func(ctx context.Context) error { _, err := x.TaskCounts(ctx, "big-1"); return err }},
		{"whirl", func(ctx context.Context) error { _, err := x.Whirl(ctx, "big-1"); return err }},
		{"hosts", func(ctx context.Context) error {
			_, err := x.Hosts(ctx, "big-1", HostFilter{Sort: "-p95"}, Page{})
			return err
		}},
		{"host", func(ctx context.Context) error { _, err := x.Host(ctx, "big-1", "host0.test"); return err }},
		{"records", recordsAsked(x, RecordFilter{})},
		{"records/facets", recordsAsked(x, RecordFilter{Facets: true})},
		{"records/rare-word", recordsAsked(x, RecordFilter{Query: vocabulary[19_000], Facets: true})},
		{"records/frequent-word", recordsAsked(x, RecordFilter{Query: vocabulary[0], Facets: true})},
		{"records/two-words+lang", recordsAsked(x,
			RecordFilter{Query: vocabulary[5] + " " + vocabulary[9], Lang: "de", Facets: true})},
		{"records/field", recordsAsked(x, RecordFilter{Fields: map[string]string{"brand": "brand5"}, Facets: true})},
		{"records/copies", recordsAsked(x, RecordFilter{Duplicates: "near"})},
		{"record", func(ctx context.Context) error { _, err := x.Record(ctx, "big-1", one); return err }},
		{"clusters", func(ctx context.Context) error {
			_, err := x.Clusters(ctx, "big-1", ClusterFilter{}, Page{})
			return err
		}},
		{"clusters/distance", func(ctx context.Context) error {
			_, err := x.Clusters(ctx, "big-1", ClusterFilter{Distance: 30}, Page{})
			return err
		}},
		{"diff", func(ctx context.Context) error { _, err := x.TextDiff(ctx, "big-1", one, "big-1", two); return err }},
		{"compare/first", func(ctx context.Context) error {
			x.comparisons.mu.Lock()
			x.comparisons.by = nil
			x.comparisons.mu.Unlock()
			_, err := x.Compare(ctx, "big-1", "big-2")
			return err
		}},
		{"compare/again", func(ctx context.Context) error { _, err := x.Compare(ctx, "big-1", "big-2"); return err }},
		{"changes", func(ctx context.Context) error { _, err := x.Changes(ctx, "big-1", "big-2", "", Page{}); return err }},
		{"changes/changed", func(ctx context.Context) error {
			_, err := x.Changes(ctx, "big-1", "big-2", Changed, Page{})
			return err
		}},
		{"chain", func(ctx context.Context) error { _, err := x.Chain(ctx, "big-1", some); return err }},
		{"crawl.log", func(ctx context.Context) error {
			_, err := x.Logs(ctx, LogFilter{Execution: "big-1", Host: "host9.test"}, Page{})
			return err
		}},
	}
}
