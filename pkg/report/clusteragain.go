package report

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// countAgain counts the pages that are visited again, and those whose next visit is queued or made.
func (a *clusterAudit) countAgain(ctx context.Context) error {
	if a.j.src.Revisits == nil || !a.j.Info.Job.Revisits() {
		return nil
	}
	return a.j.src.Revisits.Each(ctx, a.job, func(k weburl.Key, s revisit.State) error {
		a.Again++
		if s.Due.IsZero() && !s.Gone {
			a.Visiting++
			a.Example("page under visit", k.String())
		}
		return nil
	})
}

// judgeAgain finds the pages that are neither due nor queued nor under way. A broker does not tell whose the tasks and
// messages are that it holds, so it goes by their number: where nothing moves, as many pages are forgotten at least as
// there are more of them than of those.
func (a *clusterAudit) judgeAgain(l look) {
	held := l.pipeline.Frontier.Tasks() + l.pipeline.UnderWay() + l.pipeline.DeadLetters
	if over := a.Visiting - held; over > 0 {
		if a.Still {
			a.Forgotten = over
		} else {
			a.unproven("the next visits of %d pages are queued or under way; messages moved meanwhile", a.Visiting)
		}
	}
	if a.Forgotten == 0 {
		delete(a.Examples, "page under visit")
	}
}
