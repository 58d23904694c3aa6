package contentseen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var _ pipeline.Handler[*crawl.Document] = (*Handler)(nil)

// stores are the handler's surroundings, which remember what was asked of them, in order.
type stores struct {
	did     []string
	verdict crawl.Seen
	claimed crawl.Fingerprint
	near    int
	confirm func(mine, theirs []byte) bool
	record  *crawl.Record
	former  *crawl.Record // of the visit before; nil: there is none
	putErr  error
	noteErr error
}

func (s *stores) Note(_ context.Context, job crawl.JobID, u weburl.URL, reason string) error {
	s.did = append(s.did, fmt.Sprintf("note %s %s %s", job, u, reason))
	return s.noteErr
}

func (s *stores) Reasons(context.Context, crawl.JobID, ...weburl.Key) ([]string, error) {
	return nil, nil
}

func (s *stores) Claim(_ context.Context, fp crawl.Fingerprint, near int,
	confirm func(_, _ []byte) bool) (crawl.Seen, error) {
	s.did = append(s.did, "claim")
	s.claimed, s.near, s.confirm = fp, near, confirm
	return s.verdict, nil
}

func (s *stores) Put(_ context.Context, r *crawl.Record) error {
	s.did = append(s.did, "put")
	s.record = r
	return s.putErr
}

func (s *stores) Replace(_ context.Context, r *crawl.Record) error {
	s.did = append(s.did, "replace")
	s.record = r
	return s.putErr
}

func (*stores) Amend(context.Context, crawl.JobID, weburl.URL, int, func(*crawl.Record)) (bool, error) {
	return false, errors.New("content-seen amends no record")
}

func (s *stores) Mark(_ context.Context, _ crawl.JobID, _ weburl.URL, _ int, change func(*crawl.Record)) (bool, error) {
	if s.former != nil {
		change(s.former)
	}
	return s.former != nil, nil
}

func (s *stores) handler(job crawl.Job) *Handler {
	jobs := crawl.StaticJobs{job.ID: &job}
	return New(Stores{Jobs: jobs, Content: s, Pages: s, Unkept: s}, slog.New(slog.DiscardHandler))
}

func mustURL(t *testing.T, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func testJob() crawl.Job {
	job := crawl.DefaultJob()
	job.ID = "test"
	return job
}

func document(t *testing.T) *crawl.Document {
	t.Helper()
	task := crawl.Task{Job: "test", URL: mustURL(t, "http://a.example/x"), Depth: 2,
		Referrer: mustURL(t, "http://a.example/")}
	return &crawl.Document{
		Page: crawl.Page{Task: task, Status: 200, FetchedAt: time.Unix(1, 0), Body: "body", Bytes: 12,
			Digest: crawl.Digest{1}, Truncated: "length"},
		Title: "Title", Text: strings.Repeat("some words that are the text ", 50), Lang: "en", Charset: "utf-8",
		ContentType: "text/html", Canonical: "http://a.example/c", Fields: []crawl.Field{{Name: "f", Value: "v"}},
		Links: []crawl.Link{{URL: mustURL(t, "http://a.example/y")}}, Assets: []string{"http://a.example/i.png"},
		Cut: []string{"links"},
	}
}

// A version is kept of what said something else, and not of a page in which only links were others.
func TestVersionsSaySomethingElse(t *testing.T) {
	job := testJob()
	job.Mode, job.Revisit.History = crawl.ModeContinuous, 3
	for _, c := range []struct {
		title string
		want  int
	}{{"Title", 0}, {"Former title", 1}} {
		d := document(t)
		d.Page.Task.Visit = 1
		s := &stores{former: &crawl.Record{Title: c.title, Text: d.Text, Digest: crawl.Digest{2}}}
		if _, err := s.handler(job).Handle(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if got := len(s.record.Versions); got != c.want {
			t.Errorf("former title %q: %d versions, want %d", c.title, got, c.want)
		}
	}
}

func TestHandlerStoresWhatIsNewAndPassesLinksOn(t *testing.T) {
	of := crawl.Seen{Of: mustURL(t, "http://b.example/")}
	exact, near := of, of
	exact.Sameness, near.Sameness = crawl.ExactCopy, crawl.NearCopy
	same := exact
	same.SameLinks = true
	page, dropped := []string{"claim", "put"}, []string{"note test http://a.example/x noindex"}
	for name, c := range map[string]struct {
		verdict crawl.Seen
		change  func(d *crawl.Document, j *crawl.Job)
		did     []string
		links   bool
		none    bool // of them is followed
		whole   bool
		similar string
	}{
		"original":                   {did: page, links: true, whole: true},
		"exact copy, the same links": {verdict: same, did: page, similar: "exact"},
		"exact copy, other links":    {verdict: exact, did: page, links: true, similar: "exact"},
		"near copy":                  {verdict: near, did: page, links: true, similar: "near"},
		"a later visit": {change: func(d *crawl.Document, _ *crawl.Job) { d.Page.Task.Visit = 3 },
			did: []string{"claim", "replace"}, links: true, whole: true},
		"no links": {change: func(d *crawl.Document, _ *crawl.Job) { d.Links = nil }, did: page,
			whole: true},
		"noindex": {change: func(d *crawl.Document, _ *crawl.Job) { d.NoIndex = true }, did: dropped,
			links: true},
		"nofollow": {change: func(d *crawl.Document, _ *crawl.Job) { d.NoFollow = true }, did: page,
			links: true, none: true, whole: true},
		"noindex and nofollow, ignored":  {change: robotsTags(true), did: page, links: true, whole: true},
		"noindex and nofollow, honoured": {change: robotsTags(false), did: dropped, links: true, none: true},
		"noindex of a sitemap": {change: func(d *crawl.Document, _ *crawl.Job) {
			d.Page.Task.Kind, d.NoIndex = crawl.KindSitemap, true
		}, did: page[2:], links: true},
		"sitemap": {change: func(d *crawl.Document, _ *crawl.Job) { d.Page.Task.Kind = crawl.KindSitemap }, did: page[2:],
			links: true},
	} {
		t.Run(name, func(t *testing.T) {
			d, job, s := document(t), testJob(), &stores{verdict: c.verdict}
			if c.change != nil {
				c.change(d, &job)
			}
			events, err := s.handler(job).Handle(context.Background(), d)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.did, c.did) {
				t.Errorf("did %v, want %v", s.did, c.did)
			}
			var want []crawl.Event
			if c.links {
				want = []crawl.Event{&crawl.Links{Task: d.Page.Task, Links: d.Links}}
			}
			if c.none {
				want = []crawl.Event{&crawl.Links{Task: d.Page.Task, Links: withRel(d.Links, "nofollow")}}
			}
			if !reflect.DeepEqual(events, want) {
				t.Errorf("events %v, want %v", events, want)
			}
			if len(c.did) == len(page) {
				checkRecord(t, d, s.record, c.whole, c.verdict.Of, c.similar)
			}
		})
	}
}

// Links that are too many go on after the others, each with their number.
func TestLinksThatAreTooManyGoOn(t *testing.T) {
	d, job := document(t), testJob()
	over := crawl.Link{URL: mustURL(t, "http://a.example/over"), Tag: "a"}
	d.Beyond = crawl.Beyond{More: 7, Over: crawl.LinkList{over}}
	events, err := (&stores{}).handler(job).Handle(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	over.Beyond = 7
	want := []crawl.Event{&crawl.Links{Task: d.Page.Task, Links: append(slices.Clone(d.Links), over)}}
	if !reflect.DeepEqual(events, want) {
		t.Errorf("events %v, want %v", events, want)
	}
}

// withRel are links with another rel; the document's own stay as they are, for its record.
func withRel(links []crawl.Link, rel string) []crawl.Link {
	out := slices.Clone(links)
	for i := range out {
		out[i].Rel = rel
	}
	return out
}

func robotsTags(ignored bool) func(*crawl.Document, *crawl.Job) {
	return func(d *crawl.Document, j *crawl.Job) { d.NoIndex, d.NoFollow, j.IgnoreMeta = true, true, ignored }
}

// What decides whether links are followed is part of what is known of them: a copy of a page whose links were not
// followed has its own followed.
func TestLinkSumTellsPlacesApart(t *testing.T) {
	page := func(url string, depth int, nofollow bool) *crawl.Document {
		d := &crawl.Document{Links: []crawl.Link{{URL: mustURL(t, "http://a/")}}, NoFollow: nofollow}
		d.Page.Task.URL, d.Page.Task.Depth = mustURL(t, url), depth
		return d
	}
	plain, deep, listed := testJob(), testJob(), testJob()
	deep.MaxDepth = 2
	listed.SeedList, listed.Scope = "list", crawl.ScopeHost
	for _, c := range []struct {
		job  *crawl.Job
		a, b *crawl.Document
		same bool
	}{
		{&plain, page("http://a/x", 0, false), page("http://b/y", 9, false), true},
		{&plain, page("http://a/x", 0, false), page("http://a/x", 0, true), false},
		{&deep, page("http://a/x", 0, false), page("http://a/y", 1, false), true},
		{&deep, page("http://a/x", 2, false), page("http://a/y", 1, false), false},
		{&listed, page("http://a/x", 0, false), page("http://a/y", 0, false), true},
		{&listed, page("http://a/x", 0, false), page("http://b/x", 0, false), false},
	} {
		if same := linkSum(c.job, c.a) == linkSum(c.job, c.b); same != c.same {
			t.Errorf("%s (depth %d, nofollow %v) and %s: same %v", c.a.Page.Task.URL, c.a.Page.Task.Depth, c.a.NoFollow,
				c.b.Page.Task.URL, same)
		}
	}
}

func checkRecord(t *testing.T, d *crawl.Document, got *crawl.Record, whole bool, of weburl.URL, similar string) {
	t.Helper()
	simhash, _, _ := Fingerprint(d.Text)
	want := &crawl.Record{Job: "test",
		URL: d.Page.Task.URL, FinalURL: d.Page.Task.URL, Canonical: d.Canonical, Status: 200, FetchedAt: time.Unix(1, 0),
		Depth: 2, Referrer: d.Page.Task.Referrer, ContentType: "text/html", Charset: "utf-8", Bytes: 12,
		Digest: crawl.Digest{1}, Simhash: simhash, Title: "Title", Lang: "en", DuplicateOf: of, Similarity: similar,
		Truncated: "length", Cut: d.Cut, Visit: d.Page.Task.Visit,
	}
	if whole {
		want.Text, want.Fields, want.Links, want.Assets = d.Text, d.Fields, d.Links, d.Assets
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("record\n%+v, want\n%+v", got, want)
	}
}

func TestHandlerClaimsWithTheJobsDistanceAndTheSketchesResemblance(t *testing.T) {
	job, s, d := testJob(), &stores{}, document(t)
	job.NearDuplicate = 5
	if _, err := s.handler(job).Handle(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	simhash, sketch, _ := Fingerprint(d.Text)
	want := crawl.Fingerprint{Job: "test", URL: d.Page.Task.URL, Digest: d.Page.Digest, LinkSum: linkSum(&job, d),
		Simhash: simhash, Sketch: sketch}
	if s.near != 5 || !reflect.DeepEqual(s.claimed, want) {
		t.Errorf("claimed %+v within %d, want %+v within 5", s.claimed, s.near, want)
	}
	_, other, _ := Fingerprint(randomText(1, 400, 300))
	if !s.confirm(sketch, sketch) || s.confirm(sketch, other) {
		t.Error("the sketches are not asked for their resemblance")
	}
}

// What fails is done again, wholly.
func TestHandlerRepeatsAFailedStore(t *testing.T) {
	s := &stores{putErr: errors.New("disk full")}
	h, d := s.handler(testJob()), document(t)
	if _, err := h.Handle(context.Background(), d); !errors.Is(err, s.putErr) ||
		!strings.Contains(err.Error(), d.Page.Task.URL.String()) {
		t.Errorf("error %v, want one that names the URL and wraps %v", err, s.putErr)
	}
	if got := strings.Join(s.did, " "); got != "claim put" {
		t.Errorf("did %s", got)
	}
	s.putErr = nil
	first, err := h.Handle(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.Handle(context.Background(), d); err != nil || !reflect.DeepEqual(again, first) || len(again) != 1 {
		t.Errorf("a repeated message got %v, %v; want %v", again, err, first)
	}
}

// Why a page has no record is noted before its body goes.
func TestHandlerKeepsTheBodyUntilTheReasonIsNoted(t *testing.T) {
	s := &stores{noteErr: errors.New("store away")}
	h, d := s.handler(testJob()), document(t)
	d.NoIndex = true
	if _, err := h.Handle(context.Background(), d); !errors.Is(err, s.noteErr) || len(s.did) != 1 {
		t.Errorf("did %q, error %v; want the note alone and its error", s.did, err)
	}
}

func TestHandlerRefusesAnUnknownJobForGood(t *testing.T) {
	d := document(t)
	d.Page.Task.Job = "unknown"
	if _, err := (&stores{}).handler(testJob()).Handle(context.Background(), d); !crawl.IsPermanent(err) {
		t.Errorf("error %v, want a permanent one", err)
	}
}

func TestLinkSumTellsLinksApart(t *testing.T) {
	link := func(urls ...string) (links []crawl.Link) {
		for _, u := range urls {
			links = append(links, crawl.Link{URL: mustURL(t, u)})
		}
		return links
	}
	sums := map[uint64]int{}
	for i, l := range [][]crawl.Link{
		nil, link("http://a/"), link("http://b/"), link("http://a/", "http://b/"), link("http://a/", "http://a/"),
		link("http://a/b"), link("http://a/", "http://b/", "http://c/"),
	} {
		job := testJob()
		sum := linkSum(&job, &crawl.Document{Links: l})
		if other, twice := sums[sum]; twice {
			t.Errorf("lists %d and %d have the sum %x", other, i, sum)
		}
		sums[sum] = i
	}
}
