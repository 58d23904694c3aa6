package crawl_test

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func mustURL(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// samples is one event of each topic with its fields set.
func samples(t testing.TB) []crawl.Event {
	u, v := mustURL(t, "https://a.example/x?y=1"), mustURL(t, "https://b.example/")
	at := time.Date(2026, 11, 21, 8, 0, 0, 123_456_789, time.UTC)
	task := crawl.Task{Job: "j", URL: u, Kind: crawl.KindSitemap, Priority: 3, Depth: 2, Redirects: 1, Referrer: v,
		Attempt: 1, NotBefore: at, Visit: 4, For: "https://a.example", Repeat: true, Seed: true, ETag: `"e"`,
		LastModified: "x", Lease: 9, Tracked: true, Epoch: 2, Feed: true, Paid: true, Finds: 16, HostLinks: 7, Sum: 1 << 63,
		Restore: true, Asked: true, Copy: true, Relevance: 834, Promise: 901, Text: "sockets",
		Fields: "accept: application/json",
		Told:   at, Repeated: "two sums of eight"}
	before, mark := crawl.Before{Text: 5, Links: []uint64{1, 1 << 63}},
		&crawl.RenderMark{Host: "a.example", Template: 9, By: 7}
	page := crawl.Page{Task: task, Status: 200, FetchedAt: at, ContentType: "text/html", Body: "m1", Bytes: 12,
		Digest: crawl.Digest{1, 2}, Truncated: "max-body", LinkHeaders: []string{"l"}, RobotsTags: []string{"noindex"},
		Capture: []byte("0123456789abcdef"), LastModified: "then", Refresh: "1; url=/x", Insecure: true,
		Plugged: crawl.Plugged{Plugins: []string{"a=x/y@1.0.0"}, PluginErrors: []string{"b"}},
		Rendered: &crawl.Rendered{Digest: crawl.Digest{3}, At: at, Wall: 1e9, CPU: 2e9, Settled: "virtual", Final: v,
			Requests: 4, Refused: 1, Missing: 2, Template: 9, Shape: "/*", Why: crawl.WhyAlways, Before: before,
			Links: []string{"https://c.example/"}, Unfollowed: []string{"https://d.example/"}}}
	links := []crawl.Link{{URL: v, Rel: "nofollow", Text: "t", Tag: "a", Weight: 9, Told: at}, {Raw: "mailto:x"},
		{URL: v, Told: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}, {URL: v,
			Told: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)}}
	batch := crawl.Batch{Job: "j", Tasks: []crawl.Task{task},
		Exclusions: []crawl.Exclusion{{URL: v, Reason: "scope", Referrer: u, Depth: 1, Rule: "host", Epoch: 2, Relevance: 7}},
		Page:       u, Again: true, Epoch: 2, Render: mark, Of: &crawl.PageVisit{URL: u, Kind: crawl.KindSitemap, Visit: 2}}
	for _, raw := range []string{"mailto:a@b.example", "mailto:a@c.example", "tel:1"} {
		x, ok := weburl.ParseForeign(raw)
		if !ok {
			t.Fatal(raw)
		}
		batch.Foreign = append(batch.Foreign, crawl.Exclusion{URL: x, Reason: "scheme", Referrer: u, Depth: 2})
	}
	return []crawl.Event{
		&crawl.Fetch{Task: task, Addr: netip.MustParseAddr("192.0.2.1"), Tenure: 5, FirstWait: 3e9, Bandwidth: 7},
		&page,
		&crawl.Document{Page: page, Title: "t", Text: "x", Lang: "en", Charset: "utf-8", ContentType: "text/html",
			Canonical: "c", Fields: []crawl.Field{{Name: "n", Value: "v"}}, Links: links, NoIndex: true, NoFollow: true,
			Cut: []string{"text"}, Assets: []string{"i.png"}, Unkept: "document-broken", Why: "no PDF",
			Requisites: crawl.LinkList{{URL: u, Tag: crawl.TagAsset}},
			Beyond:     crawl.Beyond{More: 2, Over: crawl.LinkList{{URL: u, Beyond: 2}}},
			Extracted: crawl.Extracted{Markdown: "# t", Structured: `{"meta":{"author":"A"}}`, Author: "A, B", Published: at,
				Modified: at.Add(time.Hour)},
			Mark:      &crawl.RecordMark{GoneAt: at, WithdrawnAt: at, MovedTo: &v},
			Candidate: &crawl.Candidate{Score: 4, Marks: []string{"thin"}, Template: 9, Shape: "/*"},
			Judged:    crawl.Judged{Relevance: 501, Classes: []string{"news"}}},
		&crawl.Render{Page: page, HTML: []byte{1}, Template: 9, Shape: "/*", Why: crawl.WhySample, Before: before, Round: 2,
			Wants: []string{"https://a.example/a.js"}, Until: at, Charset: "utf-8"},
		&crawl.Links{Task: task, Links: links, Render: mark, Relevance: 99},
		&crawl.Filtered{Batch: batch},
		&crawl.Claim{Batch: batch, Share: &crawl.Share{Epoch: 3, Index: 1, Of: 2}},
		&crawl.Fresh{Tasks: []crawl.Task{task}},
		&crawl.Outcome{Task: task, Verdict: crawl.VerdictRetry, Status: 503, Reason: "status", Detail: "d", Started: at,
			Ended: at, FirstByte: time.Second, Slow: true, CrawlDelay: time.Second, RetryAfter: time.Minute,
			Addr: netip.MustParseAddr("::1"), Location: v, Bytes: 3, ContentType: "text/html", Digest: crawl.Digest{9},
			Follows: true, ETag: `W/"1"`, LastModified: "then", Wire: 8, Insecure: true,
			Observed: &crawl.Observed{What: crawl.ObservedContent, At: at, Result: revisit.Forbidden, Sum: 7, Near: true,
				Copy: true,
				Told: []crawl.PageTold{{URL: v, At: at}}, Modified: at, Date: crawl.DateMoved, Lists: 3},
			Robots: &crawl.RobotsOutcome{Origin: "o", Expires: at, CrawlDelay: time.Second, Sitemaps: []string{"s"},
				Redirect: v}},
	}
}

func TestEventsSurviveTheirEncoding(t *testing.T) {
	for _, e := range samples(t) {
		t.Run(e.Topic(), func(t *testing.T) {
			if zero := unset(reflect.ValueOf(e).Elem(), e.Topic()); len(zero) > 0 {
				t.Fatalf("the sample leaves out %q: set them, or the test proves nothing about them", zero)
			}
			data, err := crawl.EncodeEvent(e)
			if err != nil {
				t.Fatal(err)
			}
			back, err := crawl.DecodeEvent(e.Topic(), data)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(e, back) {
				t.Errorf("sent %+v\ngot  %+v", e, back)
			}
		})
	}
}

// unset names the zero fields of a struct of ours, so that a new field cannot be forgotten in the samples.
func unset(v reflect.Value, path string) (names []string) {
	for i := range v.NumField() {
		f, name := v.Field(i), path+"."+v.Type().Field(i).Name
		switch {
		case !v.Type().Field(i).IsExported():
		case name == "due.Node" || name == "frontier.in.Node" ||
			name == "frontier.outcome.Node": // they address the message and do not travel
		case f.IsZero():
			names = append(names, name)
		case f.Kind() == reflect.Struct && f.Type().PkgPath() == v.Type().PkgPath():
			names = append(names, unset(f, name)...)
		}
	}
	return names
}

func TestUndecodableEventsAreHopeless(t *testing.T) {
	good, err := crawl.EncodeEvent(&crawl.Fresh{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		topic string
		data  []byte
	}{
		"no bytes":        {crawl.TopicFetch, nil},
		"unknown topic":   {"nonsense", good},
		"another version": {crawl.TopicFrontierIn, append([]byte{99}, good[1:]...)},
		"cut short":       {crawl.TopicFetch, []byte{1, 0xa2, 1}},
		"bad URL inside":  {crawl.TopicFetch, []byte{1, 0xa1, 1, 0xa1, 2, 0x63, ':', ':', ':'}},
	} {
		t.Run(name, func(t *testing.T) {
			if e, err := crawl.DecodeEvent(tt.topic, tt.data); !crawl.IsPermanent(err) {
				t.Errorf("decoded %+v, %v; want a permanent error", e, err)
			}
		})
	}
}

func FuzzDecodeEvent(f *testing.F) {
	for _, e := range samples(f) {
		data, err := crawl.EncodeEvent(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(e.Topic(), data)
	}
	f.Fuzz(func(t *testing.T, topic string, data []byte) {
		e, err := crawl.DecodeEvent(topic, data)
		if err != nil {
			return
		}
		if e.Topic() != topic {
			t.Fatalf("topic %q gave an event of topic %q", topic, e.Topic())
		}
		_ = e.Key() // an event from anywhere must at least be routable
		if _, err := crawl.EncodeEvent(e); err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
	})
}

func TestIDsAreFunctionsOfTheirCauses(t *testing.T) {
	a, b := mustURL(t, "http://a.example/"), mustURL(t, "http://b.example/")
	base := crawl.VisitID("j", crawl.KindPage, a.Key(), 0)
	ids := map[crawl.MessageID]string{base: "base"}
	for name, id := range map[string]crawl.MessageID{
		"job": crawl.VisitID("k", crawl.KindPage, a.Key(), 0), "kind": crawl.VisitID("j", crawl.KindRobots, a.Key(), 0),
		"URL": crawl.VisitID("j", crawl.KindPage, b.Key(), 0), "visit": crawl.VisitID("j", crawl.KindPage, a.Key(), 1),
		"child": base.Child("parser", 0), "index": base.Child("parser", 1), "stage": base.Child("due", 0),
	} {
		if ids[id] != "" {
			t.Errorf("another %s gives the id of %s", name, ids[id])
		}
		ids[id] = name
	}
	if again := crawl.VisitID("j", crawl.KindPage, a.Key(), 0); again != base ||
		again.Child("parser", 1) != base.Child("parser", 1) {
		t.Error("the same cause gives another id")
	}
	text, _ := base.MarshalText()
	var back crawl.MessageID
	if err := back.UnmarshalText(text); err != nil || back != base {
		t.Errorf("%s reads back as %v, %v", text, back, err)
	}
}
