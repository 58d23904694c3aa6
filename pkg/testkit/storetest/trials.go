package storetest

import (
	"context"
	"reflect"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// OpenTrials opens an empty store. again opens it once more, and may close the first.
type OpenTrials func(t *testing.T) (r crawl.HostTrials, again func() crawl.HostTrials)

// Trials checks the promises of crawl.HostTrials.
func Trials(t *testing.T, open OpenTrials) {
	for name, test := range map[string]func(*testing.T, OpenTrials){
		"stored": trialStored, "unchanged": trialUnchanged, "apart": trialsApart, "at once": trialAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

func changeTrial(t *testing.T, r crawl.HostTrials, job crawl.JobID, host string,
	change func(*crawl.HostTrial) bool) crawl.HostTrial {
	t.Helper()
	got, err := r.ChangeTrial(context.Background(), job, host, change)
	check(t, err)
	return got
}

func trialStored(t *testing.T, open OpenTrials) {
	r, again := open(t)
	job, ctx := resourceJob(), context.Background()
	if got, err := r.Trial(ctx, job, "a.test"); err != nil || !reflect.DeepEqual(got, crawl.HostTrial{}) {
		t.Errorf("never stored: %+v, %v", got, err)
	}
	want := crawl.HostTrial{Pages: []crawl.TriedPage{{By: 1 << 63, Relevance: 1001}, {By: 2, Relevance: 1}}}
	got := changeTrial(t, r, job, "a.test", func(now *crawl.HostTrial) bool { *now = want; return true })
	if !reflect.DeepEqual(got, want) {
		t.Errorf("changed: %+v, want %+v", got, want)
	}
	want = crawl.HostTrial{Verdict: crawl.HostOff, Mean: 34, Tried: 20}
	changeTrial(t, r, job, "a.test", func(now *crawl.HostTrial) bool { *now = want; return true })
	if got, err := again().Trial(ctx, job, "a.test"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("opened again: %+v, %v, want %+v", got, err, want)
	}
}

func trialUnchanged(t *testing.T, open OpenTrials) {
	r, _ := open(t)
	job, ctx := resourceJob(), context.Background()
	spoil := func(now *crawl.HostTrial) bool { now.Tried = 1000; return false }
	if got := changeTrial(t, r, job, "a.test", spoil); got.Tried != 0 {
		t.Errorf("%+v", got)
	}
	changeTrial(t, r, job, "a.test", func(now *crawl.HostTrial) bool { now.Tried = 3; return true })
	if got := changeTrial(t, r, job, "a.test", spoil); got.Tried != 3 {
		t.Errorf("%+v", got)
	}
	if got, err := r.Trial(ctx, job, "a.test"); err != nil || got.Tried != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

func trialsApart(t *testing.T, open OpenTrials) {
	r, _ := open(t)
	one, two, ctx := resourceJob(), resourceJob(), context.Background()
	hosts := []string{"a.test", "a.test:81", "a", "b.test"}
	for i, host := range hosts {
		changeTrial(t, r, one, host, func(now *crawl.HostTrial) bool { now.Tried = i + 1; return true })
	}
	for i, host := range hosts {
		if got, err := r.Trial(ctx, one, host); err != nil || got.Tried != i+1 {
			t.Errorf("%s: %+v, %v", host, got, err)
		}
		if got, err := r.Trial(ctx, two, host); err != nil || got.Tried != 0 {
			t.Errorf("%s of another job: %+v, %v", host, got, err)
		}
	}
}

func trialAtOnce(t *testing.T, open OpenTrials) {
	const writers, each = 8, 10
	r, _ := open(t)
	job := resourceJob()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				p := crawl.TriedPage{By: uint64(w*each + i), Relevance: 501}
				for range 2 { // delivered twice
					if _, err := r.ChangeTrial(context.Background(), job, "a.test",
						func(t *crawl.HostTrial) bool { return t.Add(p, 1000, 0.9) }); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if got, err := r.Trial(context.Background(), job, "a.test"); err != nil || len(got.Pages) != writers*each {
		t.Errorf("%d pages are left of %d, %v", len(got.Pages), writers*each, err)
	}
}
