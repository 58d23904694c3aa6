package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// policyEvery is how often the broker is asked which policies apply to its queues: it has to look at each.
const policyEvery = time.Minute

// policyWatch says in the log when somebody sets a policy on the node's broker by which it drops messages. What is lost
// that way is noticed late, and looks as if somebody had purged a queue.
type policyWatch struct {
	broker interface {
		Policies(ctx context.Context) ([]bus.QueuePolicy, error)
	}
	log   *slog.Logger
	known map[bus.QueuePolicy]bool
}

// watchBroker tells of the broker's alarms and policies until ctx is done.
func watchBroker(ctx context.Context, b *rabbit.Bus, p *process.Program) {
	var alarms sync.WaitGroup
	alarms.Go(func() { newAlarmWatch(b, p.Log, p.Registry).run(ctx) })
	(&policyWatch{broker: b, log: p.Log}).run(ctx)
	alarms.Wait()
}

// run looks until ctx is done.
func (w *policyWatch) run(ctx context.Context) { eachPause(ctx, policyEvery, w.look) }

// look tells what is new. A broker that does not answer keeps what it had.
func (w *policyWatch) look(ctx context.Context) {
	policies, err := w.broker.Policies(ctx)
	if err != nil {
		return
	}
	now := map[bus.QueuePolicy]bool{}
	for _, p := range policies {
		if now[p] = true; !w.known[p] {
			w.log.Error("a policy of the broker lets it drop or refuse messages of the crawl: remove it; what is lost is "+
				"fetched again", "policy", p.Name, "vhost", p.Vhost, "limits", p.Limits)
		}
	}
	w.known = now
}
