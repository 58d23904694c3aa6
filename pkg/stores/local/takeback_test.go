package local

import (
	"context"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// The first visit of a page that was under way is taken back with its record and with what was remembered for the next
// visits. A page of which a later visit has its outcome keeps all that, and so does one of which nothing is under way.
func TestTakeBackForgetsWhatWasObserved(t *testing.T) {
	ctx, s := context.Background(), openStore(t, t.TempDir())
	us := claim(t, s, "by", "http://a.test/", "http://b.test/", "http://c.test/")
	for i, u := range us {
		visit := i % 2 // of the second page the next visit has its outcome already
		done := crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200, Visit: uint32(visit)}
		must(t, s.URLs().Finish(ctx, testJob, done))
		must(t, s.Pages().Put(ctx, &crawl.Record{URL: u, FinalURL: u, Text: "x"}))
		state := revisit.State{Visits: uint32(visit) + 1, Sum: 7, Last: time.Now()}
		must(t, s.Revisits().Put(ctx, testJob, crawl.Revisit{URL: u, State: state}))
	}
	for _, u := range us[:2] {
		task := crawl.Task{Job: testJob, URL: u, Kind: crawl.KindPage}
		_, err := s.Journal().Append(ctx, bus.Message{ID: task.ID(), Event: &crawl.Fetch{Task: task}})
		must(t, err)
	}
	must(t, s.TakeBack(ctx))
	states, err := s.Revisits().States(ctx, testJob, keysOf(us)...)
	must(t, err)
	entries, err := s.URLs().Lookup(ctx, testJob, keysOf(us)...)
	must(t, err)
	for i, u := range us {
		_, recorded, err := s.Pages().PageLine(ctx, u.Key())
		must(t, err)
		kept := i > 0
		done, remembered := entries[i].State == crawl.StateDone, states[i] != revisit.State{}
		if done != kept || recorded != kept || remembered != kept {
			t.Errorf("page %d: done %v, with a record %v, remembered %+v; want %v of each", i, done, recorded, states[i], kept)
		}
	}
	closeStore(t, s)
}
