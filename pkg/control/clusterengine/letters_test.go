package clusterengine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// Dead letters are counted at most once in fifteen seconds, by one count at a time; who is in a hurry is told the last
// number, and an error is believed for no time.
func TestDeadLettersAreCounted(t *testing.T) {
	now := time.Unix(1000, 0)
	var asked int
	var failure error
	found := []report.Letter{{Job: "a"}, {Job: "b"}, {Job: "a"}}
	e := &Engine{now: func() time.Time { return now }, letters: map[crawl.JobID]*letters{}}
	e.list = func(context.Context, crawl.JobID) ([]report.Letter, error) { asked++; return found, failure }
	count := func(what string, want int64, times int, wrong error) {
		t.Helper()
		n, away, err := e.countLetters(t.Context(), "a", 0)
		if n != want || away != "" || !errors.Is(err, wrong) || asked != times {
			t.Errorf("%s: %d, %q, %v, asked %d times; want %d, %v, %d times", what, n, away, err, asked, want, wrong, times)
		}
	}
	count("first", 2, 1, nil)
	found = append(found, report.Letter{Job: "a"})
	now = now.Add(lettersTime - 1)
	count("soon after", 2, 1, nil)
	now = now.Add(1)
	count("later", 3, 2, nil)
	now, failure = now.Add(lettersTime), errors.New("the database does not answer")
	count("with an error", 3, 3, failure)
	count("again at once", 3, 4, failure)
	failure = nil
	count("after it", 3, 5, nil)

	now = now.Add(lettersTime)
	begun, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	e.list = func(context.Context, crawl.JobID) ([]report.Letter, error) {
		once.Do(func() { close(begun) })
		<-goOn
		return nil, nil
	}
	if n, _, err := e.countLetters(t.Context(), "a", time.Nanosecond); n != 3 || err != nil {
		t.Errorf("who is in a hurry is told %d, %v", n, err)
	}
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := e.countLetters(ctx, "a", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up is told %v", err)
	}
	got := make(chan int64)
	go func() { n, _, _ := e.countLetters(t.Context(), "a", 0); got <- n }() // 0 and no error
	close(goOn)
	if n := <-got; n != 0 {
		t.Errorf("who waited is told %d", n)
	}
}
