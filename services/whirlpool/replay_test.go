package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func parseURL(t *testing.T, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// bury puts messages into the dead letters of a crawl that does not run.
func bury(t *testing.T, dir string, events ...crawl.Event) {
	t.Helper()
	st, err := local.Open(dir, local.Default())
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		l := bus.DeadLetter{Message: bus.Message{ID: crawl.MessageID{byte(i + 1)}, Event: e, Attempt: bus.MaxAttempts},
			Topic: e.Topic(), Reason: "the test says so", At: time.Now()}
		err = errors.Join(err, st.DeadLetters().Bury(t.Context(), l))
	}
	if err = errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
}

// Dead letters come from any stage, but only two topics are journaled when they are published.
func TestReplayedMessagesOfEveryTopicAreHandledWhenTheCrawlGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	tg := newTarget(t, func(j *crawl.Job) { j.Seeds, j.MaxDepth = j.Seeds[:1], 0 })
	must(t, tg.args...)
	seed := parseURL(t, web.Web().Seeds()[0])
	unseen := func(name string) crawl.Task {
		return crawl.Task{Job: "test", URL: parseURL(t, seed.String()+name), Referrer: seed}
	}
	page := crawl.Task{Job: "test", URL: seed, Seed: true}
	bury(t, tg.dir,
		&crawl.Filtered{Batch: crawl.Batch{Job: "test", Tasks: []crawl.Task{unseen("from-hostsplit")}}},
		&crawl.Claim{Batch: crawl.Batch{Job: "test", Tasks: []crawl.Task{unseen("from-due")}}},
		&crawl.Page{Task: page, Status: 200, ContentType: "text/html", Body: "m1"},
		&crawl.Fetch{Task: unseen("from-fetch")},
	)
	letters := decode[[]report.Letter](t, must(t, "replay", "--list", "--json", "-o", tg.dir))
	if len(letters) != 4 || letters[0].Reason != "the test says so" ||
		!strings.Contains(string(letters[0].Event), "from-hostsplit") {
		t.Fatalf("dead letters %+v", letters)
	}
	if text := must(t, "replay", "--list", "-o", tg.dir); strings.Count(text, "the test says so") != 4 {
		t.Errorf("list:\n%s", text)
	}
	if s := statusOf(t, tg.dir); s.DeadLetters != 4 || s.State != report.StateFinished {
		t.Errorf("status before the replay: %+v", s)
	}
	before := len(explain(t, tg.dir, seed.String()).Attempts)

	must(t, "replay", "-o", tg.dir, letters[0].ID.String()[:4])
	must(t, "replay", "-o", tg.dir)
	if s := statusOf(t, tg.dir); s.DeadLetters != 0 || s.State != report.StateStopped {
		t.Errorf("status after the replay: %d dead letters, %s; want none and work to do", s.DeadLetters, s.State)
	}
	must(t, tg.args...)
	for _, name := range []string{"from-hostsplit", "from-due", "from-fetch"} {
		if e := explain(t, tg.dir, seed.String()+name); e.Ledger.State != "done" || e.Ledger.Status != 404 {
			t.Errorf("%s was not handled: %+v", name, e.Ledger)
		}
	}
	if e := explain(t, tg.dir, seed.String()); len(e.Attempts) <= before || e.Ledger.State != "done" {
		t.Errorf("the page that was not parsed was not fetched again: %+v", e)
	}
	if s := statusOf(t, tg.dir); s.State != report.StateFinished || s.DeadLetters != 0 {
		t.Errorf("status at the end: %+v", s)
	}
	must(t, "audit", "-o", tg.dir)
}
