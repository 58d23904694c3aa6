package postgres_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A look finds the URLs that were open at its begin, are open at its end, and are held by no frontier.
func TestLooksFindWhatNoFrontierHolds(t *testing.T) {
	s := openAt(t, newDatabase(t))
	ctx := t.Context()
	const job = crawl.JobID("looked")
	urls := make([]weburl.URL, 7)
	for i := range urls {
		u, err := weburl.Parse(fmt.Sprintf("http://h%d.test/", i))
		if err != nil {
			t.Fatal(err)
		}
		urls[i] = u
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	done := func(i int) {
		check(s.URLs().Finish(ctx, job,
			crawl.Entry{Key: urls[i].Key(), State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 200}))
	}
	_, err := s.URLs().Claim(ctx, job, crawl.MessageID{1}, storetest.Tasks(job, urls[:6]...))
	check(err)
	done(0)
	q := s.QueueLooks()
	id, err := q.Ask(ctx, job)
	check(err)
	asked, err := q.Asked(ctx)
	if want := []crawl.QueueLook{{ID: id, Job: job}}; err != nil || !slices.Equal(asked, want) {
		t.Errorf("asked %v, %v; want %v", asked, err, want)
	}
	for _, want := range []bool{true, false} {
		if first, err := q.Begin(ctx, id, "n1"); first != want || err != nil {
			t.Errorf("began %v, %v; want %v", first, err, want)
		}
	}
	noted, err := q.NoteOpen(ctx, id, job)
	if noted != 5 || err != nil {
		t.Fatalf("%d are open, %v; want 5", noted, err)
	}
	_, err = s.URLs().Claim(ctx, job, crawl.MessageID{2}, storetest.Tasks(job, urls[6]))
	check(err)
	check(q.Hold(ctx, id, "n1", crawl.HeldURL{Key: urls[1].Key()},
		crawl.HeldURL{Key: urls[2].Key(), How: crawl.HeldLeased}, crawl.HeldURL{Key: urls[3].Key(), How: crawl.HeldLeased}))
	check(q.Hold(ctx, id, "n1", crawl.HeldURL{Key: urls[2].Key()}))
	done(4)
	check(q.Answer(ctx, id, crawl.LookAnswer{Node: "n1", Step: crawl.LookClosed, Unread: 3}))
	answers, err := q.Answers(ctx, id)
	if want := []crawl.LookAnswer{{Node: "n1", Step: crawl.LookClosed, Unread: 3}}; err != nil ||
		!slices.Equal(answers, want) {
		t.Errorf("answers %v, %v; want %v", answers, err, want)
	}
	check(q.Close(ctx, id))
	if asked, err := q.Asked(ctx); err != nil || len(asked) != 1 || !asked[0].Closing {
		t.Errorf("asked %v, %v", asked, err)
	}
	got := map[string]crawl.Holding{}
	each := func(k weburl.Key, u weburl.URL, how crawl.Holding) error {
		if u.Key() != k {
			t.Errorf("%s has the key of another", u)
		}
		got[u.Hostname()] = how
		return nil
	}
	check(q.Unheld(ctx, id, job, noted, each))
	if len(got) != 2 || got["h3.test"] != crawl.HeldLeased || got["h5.test"] != crawl.HeldNowhere {
		t.Errorf("not held are %v", got)
	}
	if err := q.Unheld(ctx, id, job, noted+1, each); err == nil {
		t.Error("rows are gone, and nobody says so")
	}
	check(q.End(ctx, id))
	if asked, err := q.Asked(ctx); err != nil || len(asked) != 0 {
		t.Errorf("after its end: %v, %v", asked, err)
	}
}
