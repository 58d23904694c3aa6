package mongo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ofJob names the job of records that do not.
type ofJob struct {
	crawl.Pages
	job crawl.JobID
}

func (p ofJob) Put(ctx context.Context, r *crawl.Record) error {
	named := *r
	named.Job = p.job
	return p.Pages.Put(ctx, &named)
}

func (p ofJob) Replace(ctx context.Context, r *crawl.Record) error {
	named := *r
	named.Job = p.job
	return p.Pages.Replace(ctx, &named)
}

func (p ofJob) Amend(ctx context.Context, _ crawl.JobID, u weburl.URL, visit int,
	change func(*crawl.Record)) (bool, error) {
	return p.Pages.Amend(ctx, p.job, u, visit, change)
}

func (p ofJob) Mark(ctx context.Context, _ crawl.JobID, u weburl.URL, visit int,
	change func(*crawl.Record)) (bool, error) {
	return p.Pages.Mark(ctx, p.job, u, visit, change)
}

func TestPages(t *testing.T) {
	storetest.Pages(t, func(t *testing.T) (crawl.Pages, func(weburl.URL) []string) {
		s := open(t)
		return ofJob{s.Pages(), "suite"}, func(u weburl.URL) (titles []string) {
			err := s.Job("suite").Each(context.Background(), func(r *crawl.Record) error {
				if r.URL == u {
					titles = append(titles, r.Title)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			return titles
		}
	})
}

func TestRecordList(t *testing.T) {
	storetest.RecordList(t, func(t *testing.T) (crawl.Pages, crawl.RecordList) {
		s := open(t)
		return ofJob{s.Pages(), "suite"}, s.Job("suite")
	})
}

// everyField is a record with all there is, and much that servers have stumbled over.
func everyField(t *testing.T) *crawl.Record {
	u := mustURL(t, "https://www.example.co.uk:8443/a?b=%2E")
	return &crawl.Record{Job: "every", URL: u, FinalURL: u, Canonical: "https://example.co.uk/a", Status: 203,
		FetchedAt: time.Date(2026, 11, 21, 10, 0, 0, 123e6, time.UTC), Depth: 7, Referrer: mustURL(t, "http://r.test/"),
		ContentType: "text/html", Charset: "windows-1252", Bytes: 5 << 32, Digest: crawl.Digest{0xab, 31: 1},
		Simhash: 1<<63 | 5, Title: "a\x00b \u2028 😀", Lang: "zh-hant", Text: "line\nline \"quoted\" \\",
		Assets: []string{"http://a.test/1.png", "2"},
		Links:  []crawl.Link{{URL: mustURL(t, "http://l.test/"), Rel: "nofollow", Text: "x", Weight: 9}, {Raw: "mailto:a@b"}},
		Fields: []crawl.Field{{Name: "salary.min", Value: 1.5}, {Name: "$ref", Value: "x"}, {Name: "", Value: true},
			{Name: "100%", Value: nil}, {Name: "%2E", Value: "escaped"}, {Name: "nul\x00", Value: []any{"a", 2.0, false, nil}},
			{Name: "größe", Value: -3.0}, {Name: "offers",
				Value: []any{map[string]any{"a.b": "x", "$n": 1.5, "list": []any{"a", 2.0}}, map[string]any{"ok": true}}}},
		DuplicateOf: mustURL(t, "http://d.test/"), Similarity: "near", Truncated: "max-body", Cut: []string{"title", "links"},
		Epoch: 3, Visit: 2, Insecure: true,
		Plugged: crawl.Plugged{Plugins: []string{"a=x/y@1.0.0"}, PluginErrors: []string{"b"}},
		Judged:  crawl.Judged{Relevance: 835, Classes: []string{"news", "shop"}},
		Extracted: crawl.Extracted{Markdown: "# t", Structured: `{"meta":{"author":"A"}}`, Author: "A, B",
			Published: time.UnixMilli(1_700_000_000_123).UTC(), Modified: time.UnixMilli(1_700_000_001_000).UTC()}}
}

func TestARecordComesBackWhole(t *testing.T) {
	s, want := open(t), everyField(t)
	put(t, s, want)
	got, found, err := s.Job("every").Record(context.Background(), want.URL.Key())
	if err != nil || !found {
		t.Fatalf("found %v, error %v", found, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	line, _, err := s.Job("every").PageLine(context.Background(), want.URL.Key())
	if wantLine := jsonl.AppendRecord(nil, want); err != nil || string(line)+"\n" != string(wantLine) {
		t.Errorf("line %s, error %v\nwant %s", line, err, wantLine)
	}
	for name, read := range map[string]func(context.Context, []weburl.Key, func(weburl.Key, []byte) error) error{
		"as the server has it": s.Job("every").PageLines, "with one question": s.Job("every").pageLinesAtOnce,
	} {
		n := 0
		err := read(context.Background(), []weburl.Key{want.Referrer.Key(), want.URL.Key()},
			func(k weburl.Key, l []byte) error {
				if n++; k != want.URL.Key() || !bytes.Equal(l, line) {
					t.Errorf("%s: line of %s: %s", name, k, l)
				}
				return nil
			})
		if n != 1 || err != nil {
			t.Errorf("%s: %d lines, error %v", name, n, err)
		}
	}
	if _, found, err := s.Job("every").Record(context.Background(), want.Referrer.Key()); found || err != nil {
		t.Errorf("a URL never put: found %v, error %v", found, err)
	}
	if _, found, err := s.Job("another").Record(context.Background(), want.URL.Key()); found || err != nil {
		t.Errorf("another job's record: found %v, error %v", found, err)
	}
}

func TestWhatServersRefuseIsStoredAllTheSame(t *testing.T) {
	s := open(t)
	r := everyField(t)
	r.Title, r.Links = "bad \xff\xfe bytes", []crawl.Link{{Raw: "\x80", Text: "\xc0"}}
	r.Fields = []crawl.Field{{Name: "nan", Value: math.NaN()}, {Name: "inf", Value: []float64{1, math.Inf(-1)}},
		{Name: "\xff", Value: "\xff"}, {Name: "nested", Value: []any{[]any{1.0, "x"}, map[string]any{"a.b": 1.0}}},
		{Name: "nan", Value: "second"}, {Name: "big", Value: uint64(1 << 63)}}
	put(t, s, r)
	got, _, err := s.Job("every").Record(context.Background(), r.URL.Key())
	if err != nil {
		t.Fatal(err)
	}
	want := []crawl.Field{{Name: "nan"}, {Name: "inf", Value: []any{1.0, nil}}, {Name: "\ufffd", Value: "\ufffd"},
		{Name: "nested", Value: []any{`[1,"x"]`, map[string]any{"a.b": 1.0}}}, {Name: "big", Value: float64(1 << 63)}}
	if got.Title != "bad \ufffd\ufffd bytes" || got.Links[0].Raw != "\ufffd" || !reflect.DeepEqual(got.Fields, want) {
		t.Errorf("got %q, %+v, %+v", got.Title, got.Links, got.Fields)
	}
}

func TestPeopleCanQuery(t *testing.T) {
	s, ctx := open(t), context.Background()
	put(t, s, everyField(t), func() *crawl.Record { r := page(t, 1); r.Job = "every"; return r }())
	for _, filter := range []bson.D{
		{{Key: "domain", Value: "example.co.uk"}},
		{{Key: "fields.salary%2Emin", Value: bson.D{{Key: "$gt", Value: 1}}}},
		{{Key: "fetched_at", Value: bson.D{{Key: "$lt", Value: time.Date(2026, 11, 21, 10, 0, 1, 0, time.UTC)}}},
			{Key: "depth", Value: 7}},
		{{Key: "links.url", Value: "mailto:a@b"}},
	} {
		if n, err := s.collection(life{job: "every"}).CountDocuments(ctx, filter); n != 1 || err != nil {
			t.Errorf("%v found %d documents, error %v; want the one", filter, n, err)
		}
	}
	cur, err := s.collection(life{job: "every"}).Indexes().List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var indexes []bson.M
	if err := cur.All(ctx, &indexes); err != nil || len(indexes) != 3 {
		t.Errorf("indexes %v, error %v; want those of _id, domain and fetched_at", indexes, err)
	}
}

func TestADocumentTooLargeIsCutAndSaysSo(t *testing.T) {
	const limit = 100_000
	long := strings.Repeat("wörd ", 200)
	var many []crawl.Link
	for i := range 200 {
		many = append(many, crawl.Link{Raw: fmt.Sprint(i, long)})
	}
	for _, tc := range []struct {
		name  string
		r     crawl.Record
		cut   []string
		least int // bytes that must be left
	}{
		{"text", crawl.Record{Text: strings.Repeat("é", limit), Links: many[:3]}, []string{"text"}, limit - 200},
		{"text of bad bytes, which grow", crawl.Record{Text: strings.Repeat("\xff", limit/2)}, []string{"text"}, limit - 200},
		{"links", crawl.Record{Text: "short", Links: many}, []string{"text", "links"}, limit - 3_000},
		{"fields", crawl.Record{Assets: []string{"a"}, Fields: []crawl.Field{{Name: "a", Value: 1.0},
			{Name: "b", Value: slices.Repeat([]any{long}, 200)}}, Cut: []string{"fields"}}, []string{"fields", "assets"}, 100},
		{"nothing", crawl.Record{Text: "short"}, nil, 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.r.URL = mustURL(t, "http://a.test/")
			doc := document(&tc.r, time.Now(), limit)
			got, err := record(doc)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Cut, tc.cut) || len(doc) > limit || len(doc) < tc.least {
				t.Errorf("cut %q, want %q; %d bytes, want %d to %d", got.Cut, tc.cut, len(doc), tc.least, limit)
			}
		})
	}
}

func TestTheServerTakesTheLargestDocument(t *testing.T) {
	s, r := open(t), page(t, 1)
	r.Text = strings.Repeat("x", 17<<20)
	put(t, s, r)
	got, found, err := s.Job("job").Record(context.Background(), r.URL.Key())
	if err != nil || !found || len(got.Text) < 16_500_000 || !slices.Equal(got.Cut, []string{"text"}) {
		t.Fatalf("found %v, error %v, %d bytes of text, cut %q", found, err, len(got.Text), got.Cut)
	}
}

func TestADocumentThatIsRefusedFailsAlone(t *testing.T) {
	s := open(t)
	good := func(i int) bson.Raw { return encode(page(t, i), time.Now()) }
	bad := &builder{}
	bad.start()
	bad.text("_id", "bad")
	bad.startIn(bson.TypeEmbeddedDocument, "f")
	bad.text("$set", "x")
	bad.end()
	bad.end()
	each, err := s.insert(life{job: "job"}, []bson.Raw{good(1), bad.b, good(2), good(1)})
	if err != nil || len(each) != 1 || !crawl.IsPermanent(each[1]) {
		t.Errorf("errors %v, %v; want a permanent one of the second document alone", each, err)
	}
	if n, err := countOf(t, s, "job"); n != 2 || err != nil {
		t.Errorf("%d records, error %v; want 2", n, err)
	}
}

func TestRecordsAreReadInOrderAndExported(t *testing.T) {
	s, ctx := open(t), context.Background()
	const n = 2*cursorBatch + 7
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { put(t, s, page(t, i)) })
	}
	wg.Wait()
	var keys []weburl.Key
	if err := s.Job("job").Keys(ctx, func(k weburl.Key) error { keys = append(keys, k); return nil }); err != nil {
		t.Fatal(err)
	}
	ordered := slices.IsSortedFunc(keys, func(a, b weburl.Key) int { return bytes.Compare(a[:], b[:]) })
	if len(keys) != n || !ordered {
		t.Errorf("%d keys, in order: %v; want %d", len(keys), ordered, n)
	}
	var i int
	err := s.Job("job").Each(ctx, func(r *crawl.Record) error {
		if r.URL.Key() != keys[i] || r.Job != "job" {
			return fmt.Errorf("record %d is %s of job %q", i, r.URL, r.Job)
		}
		i++
		return nil
	})
	if err != nil || i != n {
		t.Errorf("%d records, error %v", i, err)
	}
	in := s.Job("job").Lines(ctx)
	rows, err := export.Run(ctx, in, new(bytes.Buffer), export.Options{Format: export.CSV, Fields: []string{"company"}})
	if err = errors.Join(err, in.Close()); err != nil || rows != n {
		t.Errorf("%d rows, error %v", rows, err)
	}
	stop := errors.New("enough")
	if err := s.Job("job").Each(ctx, func(*crawl.Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v, want yield's", err)
	}
}

func TestJobsAreApartAndCanBeDropped(t *testing.T) {
	s, ctx := open(t), context.Background()
	r := page(t, 1)
	put(t, s, r)
	r.Job = "other"
	put(t, s, r)
	for range 2 {
		if err := s.Job("job").Drop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for job, want := range map[crawl.JobID]int64{"job": 0, "other": 1} {
		if n, err := countOf(t, s, job); n != want || err != nil {
			t.Errorf("job %s has %d records, error %v; want %d", job, n, err, want)
		}
	}
	r.Job = ""
	if err := s.Pages().Put(ctx, r); !crawl.IsPermanent(err) {
		t.Errorf("a record without a job: error %v, want a permanent one", err)
	}
}

// throughProxy returns a store whose way to the server can be cut.
func throughProxy(t *testing.T, timeout time.Duration) (*Store, *proxy) {
	var p *proxy
	s := open(t, func(c *Config) {
		u, err := url.Parse(c.URL)
		if err != nil {
			t.Fatal(err)
		}
		p = newProxy(t, u.Host)
		u.Host = p.Addr().String()
		c.URL, c.Timeout = u.String(), timeout
	})
	return s, p
}

func TestAServerThatDiesIsReportedAndNothingIsLost(t *testing.T) {
	s, p := throughProxy(t, 5*time.Second)
	ctx := context.Background()
	const n = 60
	var wg sync.WaitGroup
	var failed atomic.Int64
	for i := range n {
		if i == n/2 {
			p.cut(true)
		}
		r := page(t, i)
		wg.Go(func() {
			start := time.Now()
			for {
				err := s.Pages().Put(ctx, r)
				if err == nil {
					return
				}
				failed.Add(1)
				if took := time.Since(start); !bus.IsAway(err) || took > 5*time.Minute {
					t.Errorf("error %v after %v; want a *bus.AwayError until the server is back", err, took)
					return
				}
				p.back()
			}
		})
	}
	wg.Wait()
	if failed.Load() == 0 {
		t.Error("no Put failed though the server was away: the test shows nothing")
	}
	seen := 0
	if err := s.Job("job").Each(ctx, func(*crawl.Record) error { seen++; return nil }); err != nil || seen != n {
		t.Errorf("%d records, error %v; want %d", seen, err, n)
	}
}

func TestReadingGoesOnAfterALostConnection(t *testing.T) {
	s, p := throughProxy(t, 30*time.Second)
	const n = 3 * cursorBatch
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { put(t, s, page(t, i)) })
	}
	wg.Wait()
	seen := map[weburl.URL]bool{}
	err := s.Job("job").Each(context.Background(), func(r *crawl.Record) error {
		if seen[r.URL] = true; len(seen)%cursorBatch == 50 {
			p.cut(false)
		}
		return nil
	})
	if err != nil || len(seen) != n {
		t.Errorf("%d records, error %v; want %d", len(seen), err, n)
	}
}

func TestAPutWaitsNoLongerThanItsContext(t *testing.T) {
	const timeout = time.Minute
	s, p := throughProxy(t, timeout)
	put(t, s, page(t, 0))
	p.cut(true)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := s.Pages().Put(ctx, page(t, 1)); err == nil || time.Since(start) > timeout/2 {
		t.Errorf("error %v after %v", err, time.Since(start))
	}
	p.back()
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	cfg := Default()
	cfg.URL, cfg.Timeout = "mongodb://user:secret@127.0.0.1:1/", 200*time.Millisecond
	_, err := Open(context.Background(), cfg)
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("error %v; want one that names the server and not the password", err)
	}
	cfg = Config{URL: "http://x", Database: "a.b"}
	for _, part := range []string{"url", "database", "writers", "timeout", "logger"} {
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v; want one that names the %s", err, part)
		}
	}
}

func TestAPutAfterCloseFails(t *testing.T) {
	s := open(t)
	s.writer.close()
	if err := s.Pages().Put(context.Background(), page(t, 1)); !errors.Is(err, errClosed) {
		t.Errorf("error %v, want %v", err, errClosed)
	}
}

// Documents may have been edited by people or written by another version. Reading them must never do worse than return
// an error.
func FuzzRecord(f *testing.F) {
	u, err := weburl.Parse("http://a.test/")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(encode(&crawl.Record{URL: u, Links: []crawl.Link{{URL: u}},
		Fields: []crawl.Field{{Name: "a", Value: []any{1.0, "x"}}}, Cut: []string{"text"}}, time.UnixMilli(1))))
	f.Add([]byte{5, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := record(data)
		if err != nil {
			return
		}
		again, err := record(encode(r, time.UnixMilli(1)))
		if err != nil || again.URL != r.URL || again.Text != valid(r.Text) {
			t.Errorf("%+v came back as %+v, error %v", r, again, err)
		}
	})
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"", "%", "%2E", ".", "$x", "%24", "a\x00b", "%%25"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		key := escapeName(name)
		if key == "" || key[0] == '$' || strings.ContainsAny(key, ".\x00") {
			t.Errorf("%q is stored as %q", name, key)
		}
		if got := unescapeName(key); got != valid(name) {
			t.Errorf("%q came back as %q", name, got)
		}
	})
}

func TestKeptBodies(t *testing.T) {
	storetest.KeptBodies(t, func(t *testing.T) crawl.KeptBodies { return open(t).Bodies() })
}
