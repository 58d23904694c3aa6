package parser

import (
	"errors"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// site is a parser made of functions.
type site struct {
	match   func(u weburl.URL) bool
	extract func(p *crawl.SitePage) ([]crawl.Field, []crawl.Link, error)
}

func (s site) Match(u weburl.URL) bool { return s.match == nil || s.match(u) }

func (s site) Extract(p *crawl.SitePage) ([]crawl.Field, []crawl.Link, error) { return s.extract(p) }

func gives(name string, v any) site {
	return site{extract: func(*crawl.SitePage) ([]crawl.Field, []crawl.Link, error) {
		return []crawl.Field{{Name: name, Value: v}}, nil, nil
	}}
}

func runOn(t *testing.T, sites ...crawl.SiteParser) *crawl.Document {
	t.Helper()
	job := crawl.DefaultJob()
	job.Limits.LinksPerPage = 3
	h := NewHandler(crawl.StaticJobs{}, nil, slog.New(slog.DiscardHandler))
	h.UseSites(sites...)
	u := mustURL(t, "http://a.test/p")
	d := &crawl.Document{Page: crawl.Page{Task: crawl.Task{URL: u}}, Title: "T",
		Fields: []crawl.Field{{Name: "rule", Value: "r"}}, Links: []crawl.Link{{URL: u}}}
	h.runSites(d, []byte("body"), &job)
	return d
}

func TestSiteParsersGiveFieldsAndLinks(t *testing.T) {
	long := strings.Repeat("x", 2*maxValue)
	for _, tt := range []struct {
		name  string
		value any
		want  any // nil: none
		cut   []string
	}{
		{"string", "v", "v", nil},
		{"number", 3, 3.0, nil},
		{"time", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "2026-01-02T03:04:05Z", nil},
		{"list", []string{"a", "b"}, []any{"a", "b"}, nil},
		{"long", long, long[:maxValue], []string{CutFields}},
		{"not a number", math.NaN(), nil, []string{CutFields}},
		{"map", map[string]int{}, nil, []string{CutFields}},
		{"list of lists", []any{[]any{1}}, nil, []string{CutFields}},
		{"rule", "other", "r", nil},
	} {
		d := runOn(t, gives(tt.name, tt.value))
		var got any
		for _, f := range d.Fields {
			if f.Name == tt.name {
				got = f.Value
			}
		}
		if !reflect.DeepEqual(got, tt.want) || !slices.Equal(d.Cut, tt.cut) {
			t.Errorf("%s: %.40v, cut %v; want %.40v, %v", tt.name, got, d.Cut, tt.want, tt.cut)
		}
	}
	many := site{extract: func(p *crawl.SitePage) ([]crawl.Field, []crawl.Link, error) {
		if p.Title != "T" || string(p.Body) != "body" {
			t.Errorf("it got %+v", p)
		}
		return nil, slices.Repeat(p.Links, 10), nil
	}}
	if d := runOn(t, many); len(d.Links) != 3 || d.More == 0 || !slices.Equal(d.Cut, []string{CutLinks}) {
		t.Errorf("%d links, cut %v; want 3", len(d.Links), d.Cut)
	}
}

func TestASiteParserThatFailsCostsItsOwnFieldsOnly(t *testing.T) {
	for name, bad := range map[string]site{
		"panic": {extract: func(*crawl.SitePage) ([]crawl.Field, []crawl.Link, error) { panic("broken") }},
		"panic of Match": {match: func(weburl.URL) bool { panic("broken") },
			extract: func(*crawl.SitePage) ([]crawl.Field, []crawl.Link, error) { return nil, nil, nil }},
		"error": {extract: func(*crawl.SitePage) ([]crawl.Field, []crawl.Link, error) {
			return []crawl.Field{{Name: "half", Value: "x"}}, nil, errors.New("broken")
		}},
	} {
		d := runOn(t, bad, gives("good", "v"))
		if len(d.Fields) != 2 || d.Fields[1].Name != "good" || !slices.Equal(d.Cut, []string{CutSite}) {
			t.Errorf("%s: fields %v, cut %v", name, d.Fields, d.Cut)
		}
	}
	none := gives("elsewhere", "v")
	none.match = func(u weburl.URL) bool { return u.Hostname() == "b.test" }
	if d := runOn(t, none); len(d.Fields) != 1 || len(d.Cut) > 0 {
		t.Errorf("a parser for other pages: fields %v, cut %v", d.Fields, d.Cut)
	}
}
