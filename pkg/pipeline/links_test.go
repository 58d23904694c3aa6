package pipeline_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// stub is a stage that answers each event with the same.
type stub[In crawl.Event] struct {
	out []crawl.Event
	err error
}

func (s stub[In]) Handle(context.Context, In) ([]crawl.Event, error) { return s.out, s.err }

// A page whose links somebody waits for goes on to the DUE although a stage drops it, unless the stage goes on with it,
// reports what became of it, or has done so before.
func TestNoPageStallsItsJob(t *testing.T) {
	page, err := weburl.Parse("http://a.test/page")
	if err != nil {
		t.Fatal(err)
	}
	other, err := weburl.Parse("http://a.test/other")
	if err != nil {
		t.Fatal(err)
	}
	task := crawl.Task{Job: "j", URL: page, Tracked: true, Repeat: true, Epoch: 3}
	plain := task
	plain.Tracked = false
	links := &crawl.Links{Task: task, Links: []crawl.Link{{URL: other}}}
	ofOther := crawl.Task{Job: "j", URL: other, Tracked: true}
	for name, tt := range map[string]struct {
		in   crawl.Event
		out  []crawl.Event
		err  error
		want string // the last event that is published; empty: none but out
	}{
		"a page is dropped":     {in: &crawl.Page{Task: task}, want: crawl.TopicURLFilter},
		"a document is dropped": {in: &crawl.Document{Page: crawl.Page{Task: task}}, want: crawl.TopicURLFilter},
		"links are dropped":     {in: links, want: crawl.TopicHostSplitter},
		"it is about another page": {in: links, out: []crawl.Event{&crawl.Links{Task: ofOther}},
			want: crawl.TopicHostSplitter},
		"nobody waits": {in: &crawl.Page{Task: plain}},
		"it goes on":   {in: &crawl.Document{Page: crawl.Page{Task: task}}, out: []crawl.Event{links}},
		"it is observed, and has no links": {in: &crawl.Document{Page: crawl.Page{Task: task}},
			out: []crawl.Event{crawl.Observation(&task, crawl.Observed{})}, want: crawl.TopicURLFilter},
		"its content was lost": {in: &crawl.Page{Task: task},
			out: []crawl.Event{&crawl.Outcome{Task: task, Verdict: crawl.VerdictInterrupted}}},
		"it was handled before":                   {in: &crawl.Page{Task: task}, err: pipeline.ErrHandled},
		"it failed, and is tried again":           {in: &crawl.Page{Task: task}, err: context.DeadlineExceeded},
		"a lease ends with its outcome, not here": {in: &crawl.Fetch{Task: task}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{deliver: []bus.Message{{ID: task.ID(), Event: tt.in}}}
			cfg := pipeline.Config{Name: "test", Topic: tt.in.Topic(), Log: slog.New(slog.DiscardHandler)}
			if err := pipeline.Run(t.Context(), s, cfg, stub[crawl.Event]{tt.out, tt.err}); err != nil {
				t.Fatal(err)
			}
			got := ""
			if n := len(s.published); n > len(tt.out) {
				e := s.published[n-1].Event
				got = e.Topic()
				if _, p, ok := crawl.PageOf(e); !ok || p != page {
					t.Errorf("it goes on about %v", p)
				}
				if split, ok := e.(*crawl.Filtered); ok && (!split.Again || split.Epoch != task.Epoch) {
					t.Errorf("%+v", split.Batch)
				}
			}
			if got != tt.want {
				t.Errorf("goes on to %q, want %q", got, tt.want)
			}
			if want := tt.err != nil && !errors.Is(tt.err, pipeline.ErrHandled); (s.results[0] != nil) != want {
				t.Errorf("handled with %v", s.results[0])
			}
		})
	}
}
