package frontier_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// marked is a task as the DUE sends it once more, because its message was delivered again.
func marked(t crawl.Task) crawl.Task {
	t.Repeat = true
	return t
}

// troubled answers URLs by their names: /down… does not connect, /slow… takes three hours, and a first attempt at
// /later… or /marked… is asked to come again, with the copy that is not marked or the one that is.
func troubled(w *world, f *crawl.Fetch) reply {
	switch url := f.Task.URL.String(); {
	case strings.Contains(url, "/down"):
		return reply{took: time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonConnect}}
	case f.Task.Attempt == 0 && strings.Contains(url, map[bool]string{false: "/later", true: "/marked"}[f.Task.Repeat]):
		return reply{took: time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Status: 500}}
	case strings.Contains(url, "/slow"):
		return reply{took: 3 * time.Hour, outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}}
	}
	return fine(w, f)
}

// Of a URL that is queued twice one copy is marked. Whichever comes first, and whatever becomes of it, there is one
// story: one outcome, which the ledger counts once, and no request after it. That nothing is said to be the first that
// is not, newWorld sees to.
func TestATaskThatIsQueuedTwiceHasOneStory(t *testing.T) {
	for _, tc := range []struct {
		name        string
		url         string
		connections int
		queue       func(w *world, task crawl.Task)
	}{
		{"the marked copy comes second", "http://h0.test/", 1, func(w *world, task crawl.Task) { w.add(task, marked(task)) }},
		{"the marked copy comes first", "http://h0.test/", 1, func(w *world, task crawl.Task) { w.add(marked(task), task) }},
		{"the marked copy is done when the other comes", "http://h0.test/", 1, func(w *world, task crawl.Task) {
			w.add(marked(task))
			time.Sleep(time.Minute)
			w.add(task)
		}},
		{"one is put aside, the marked copy is fetched", "http://h0.test/later", 1, func(w *world, task crawl.Task) {
			w.add(task)
			time.Sleep(2 * time.Second)
			w.add(marked(task))
		}},
		{"the marked copy is put aside for a retry", "http://h0.test/marked", 1, func(w *world, task crawl.Task) {
			w.add(marked(task), task)
		}},
		{"the host is given up while one is under way", "http://h0.test/slow", 2, func(w *world, task crawl.Task) {
			w.add(task)
			time.Sleep(time.Second)
			for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				w.add(page(w.t, "a", "http://h0.test/down"+name))
			}
			time.Sleep(20 * time.Minute)
			w.add(marked(task))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.Politeness.HostConnections, job.Retry.Max = tc.connections, 1
				job.Politeness.Delay, job.Retry.Base = crawl.Duration(time.Second), crawl.Duration(time.Minute)
				w := newWorld(t, 1, job)
				w.answer = troubled
				w.begin()
				task := page(t, "a", tc.url)
				tc.queue(w, task)
				w.finish()
				w.stop()
				if e := w.disk.ledger[task.URL.Key()]; e.Verdict != crawl.VerdictDone || e.Status != 200 {
					t.Errorf("%s ended as %v %d, want done 200", task.URL, e.Verdict, e.Status)
				}
				if len(w.late) > 0 {
					t.Errorf("leased after they were done: %q", w.late)
				}
			})
		})
	}
}

// What ends the stories of a given up host's URLs is stored in two steps. Where the second fails both are made again,
// and the first has its outcome already.
func TestADismissalThatIsMadeAgainCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.Retry.Max = 0
		w := newWorld(t, 1, job)
		w.answer = troubled
		w.begin()
		fails := 3
		w.disk.mu.Lock()
		w.proc.appends = func(lines []crawl.LogLine) error {
			if lines[0].Reason != crawl.ReasonHostDown || fails == 0 {
				return nil
			}
			fails--
			return errFault
		}
		w.disk.mu.Unlock()
		for _, name := range []string{"down1", "down2", "given-up"} {
			w.add(page(t, "a", "http://h0.test/"+name))
		}
		w.finish()
		w.stop()
		if fails > 0 {
			t.Errorf("the log was asked too seldom: %d failures are left", fails)
		}
	})
}

// Beyond its size the memory asks too often, and never too seldom.
func TestNoDoubtIsForgotten(t *testing.T) {
	const many, others = 200_000, 20_000
	key := func(n int) (k weburl.Key) {
		u := page(t, "a", "http://h0.test/").URL.Key()
		copy(k[:8], u[:8])
		binary.BigEndian.PutUint64(k[8:], uint64(n)*0x9e3779b97f4a7c15)
		binary.BigEndian.PutUint64(k[16:], uint64(n)*0xbf58476d1ce4e5b9+0x94d049bb133111eb)
		return k
	}
	forgotten, wrong := frontier.Doubts(key, many, others)
	if forgotten > 0 || wrong > others/100 {
		t.Errorf("%d of %d are forgotten; %d of %d others are doubted", forgotten, many, wrong, others)
	}
}
