package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// links notes which pages have links on their way.
type links interface {
	expect(ctx context.Context, outs []*crawl.Outcome) error
}

// newLinks returns the part that notes links in a store. A nil store: links are not followed.
func newLinks(store crawl.Following) links {
	if store == nil {
		return unfollowed{}
	}
	return followed{store}
}

// unfollowed is for a frontier of whose links nothing is lost with a node.
type unfollowed struct{}

func (unfollowed) expect(context.Context, []*crawl.Outcome) error { return nil }

// followed notes them in a store.
type followed struct{ store crawl.Following }

// expect notes the pages and robots.txt files whose links are on their way. A robots.txt that was queued because its
// links were lost is expected already: where it has none now it is forgotten.
func (l followed) expect(ctx context.Context, outs []*crawl.Outcome) error {
	var tasks []crawl.Task
	for _, out := range outs {
		t := &out.Task
		if t.Kind == crawl.KindRobots && t.Repeat && !out.Follows && out.Verdict != crawl.VerdictInterrupted {
			if err := l.store.Forget(ctx, t.Job, t.URL.Key()); err != nil {
				return fmt.Errorf("frontier: %s has no links any more: %w", t.URL, err)
			}
		}
		switch {
		case out.Follows && out.Verdict.Final():
			expected := *t
			expected.Lease, expected.Attempt, expected.NotBefore = 0, 0, time.Time{}
			tasks = append(tasks, expected)
		case t.Tracked && crawl.HasLinks(t.Kind, out.Verdict, out.Status): // the ledger will look as if they came
			if err := l.store.Claimed(ctx, t.Job, t.URL, crawl.Share{Of: 1}); err != nil {
				return fmt.Errorf("frontier: %s has no links: %w", t.URL, err)
			}
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	if err := l.store.Expect(ctx, tasks...); err != nil {
		return fmt.Errorf("frontier: expect the links of %d pages, the first %s: %w", len(tasks), tasks[0].URL, err)
	}
	return nil
}
