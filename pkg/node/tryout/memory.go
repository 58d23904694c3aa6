package tryout

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// memory is what the stages store during a trial. It goes with the trial.
type memory struct{ crawl.Memory }

// Release is that of crawl.Bodies. The body stays: who tries a URL may want to see it.
func (m *memory) Release(context.Context, crawl.BodyRef) error { return nil }

// known answers the URL filter from the robots.txt files that the trial has asked for.
type known struct{ rules *robotscache.Cache }

// Allowed implements urlfilter.Robots.
func (k known) Allowed(ctx context.Context, agent string, u weburl.URL) (allowed, found bool, err error) {
	rules, rec, found, err := k.rules.Rules(ctx, u.Origin(), agent)
	if err != nil || !found || rec.State == crawl.RobotsDisallowAll {
		return false, false, err
	}
	return rules.Allowed(u.RequestURI()), true, nil
}
