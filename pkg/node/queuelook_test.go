package node

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// askedLooks are the looks of one audit, and what a node answers.
type askedLooks struct {
	mu      sync.Mutex
	asked   []crawl.QueueLook
	taken   bool // a former frontier of the node had begun
	held    map[weburl.Key]crawl.Holding
	answers []crawl.LookAnswer
}

func (a *askedLooks) Asked(context.Context) ([]crawl.QueueLook, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]crawl.QueueLook(nil), a.asked...), nil
}

func (a *askedLooks) set(q ...crawl.QueueLook) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = q
}

func (a *askedLooks) Begin(context.Context, int64, string) (bool, error) {
	return !a.taken, a.Answer(context.Background(), 0, crawl.LookAnswer{Step: crawl.LookBegun})
}

func (a *askedLooks) Hold(_ context.Context, _ int64, _ string, held ...crawl.HeldURL) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range held {
		a.held[h.Key] = h.How
	}
	return nil
}

func (a *askedLooks) Answer(_ context.Context, _ int64, w crawl.LookAnswer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers = append(a.answers, w)
	return nil
}

func (a *askedLooks) last() crawl.LookAnswer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.answers) == 0 {
		return crawl.LookAnswer{}
	}
	return a.answers[len(a.answers)-1]
}

// fullQueues have tasks that are never pulled.
type fullQueues struct{ tasks []crawl.Task }

func (fullQueues) Push(context.Context, ...crawl.Queued) error                 { return nil }
func (fullQueues) Pull(context.Context, string, int) ([]crawl.Delivery, error) { return nil, nil }
func (fullQueues) Settle(context.Context, ...crawl.Delivery) error             { return nil }
func (q fullQueues) Lengths(context.Context) (map[string]int64, error) {
	return map[string]int64{"front.2": int64(len(q.tasks)), "front.3.other": 7}, nil
}

func (q fullQueues) Look(_ context.Context, _ string, _ int, each func(*crawl.Task)) (int64, error) {
	for i := range q.tasks {
		each(&q.tasks[i])
	}
	return 3, nil
}

// A frontier answers an audit: it says what lies in its queues, goes on noting until the audit has seen enough, and
// answers the next audit too. One whose predecessor had begun says that it cannot.
func TestAFrontierAnswersAudits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		defer wg.Wait()
		defer stop()
		q := fullQueues{}
		for i := range 50_000 {
			u, err := weburl.Parse(fmt.Sprintf("http://h%d.test/", i))
			if err != nil {
				t.Fatal(err)
			}
			q.tasks = append(q.tasks, crawl.Task{Job: "a", URL: u})
		}
		log := slog.New(slog.DiscardHandler)
		f, err := frontier.New(frontier.Default(), frontier.Deps{Queues: q, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		f.Pause(true)
		wg.Go(func() { _ = f.Run(ctx) })
		looks := &askedLooks{held: map[weburl.Key]crawl.Holding{}}
		w := &lookWatch{looks: looks, frontier: f, node: "n", log: log}
		wg.Go(func() { w.run(ctx) })
		for id := range int64(2) {
			looks.set(crawl.QueueLook{ID: id, Job: "a"})
			time.Sleep(10 * time.Second)
			if got := looks.last(); got.Step != crawl.LookRead || got.Unread != 3 || len(looks.held) != len(q.tasks) {
				t.Fatalf("look %d: %+v, %d URLs are held", id, got, len(looks.held))
			}
			looks.set(crawl.QueueLook{ID: id, Job: "a", Closing: true})
			time.Sleep(time.Second)
			if got := looks.last(); got.Step != crawl.LookClosed {
				t.Fatalf("look %d: %+v", id, got)
			}
		}
		looks.taken = true
		looks.set(crawl.QueueLook{ID: 7, Job: "a"})
		time.Sleep(5 * time.Second)
		if got := looks.last(); got.Step != crawl.LookFailed || !strings.Contains(got.Fault, "began anew") {
			t.Errorf("of a frontier that began anew: %+v", got)
		}
		looks.taken = false
		looks.set(crawl.QueueLook{ID: 8, Job: "a"})
		time.Sleep(5 * time.Second)
		looks.set() // the audit was killed
		time.Sleep(5 * time.Second)
		if l, err := f.BeginLook(ctx, "a"); err != nil {
			t.Errorf("after an audit that was killed: %v", err)
		} else {
			l.End()
		}
	})
}
