package node

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// known answers the URL filter from the robots.txt files that are known.
type known struct{ rules *robotscache.Cache }

// Allowed implements urlfilter.Robots.
func (k known) Allowed(ctx context.Context, job *crawl.Job, u weburl.URL) (allowed, found bool, err error) {
	rules, rec, found, err := k.rules.Rules(ctx, job.RulesOf(u), job.RobotsAgent())
	if err != nil || !found || rec.State == crawl.RobotsDisallowAll {
		return false, false, err // a robots.txt that cannot be had now may be had when the URL's turn comes
	}
	return rules.Allowed(u.RequestURI()), true, nil
}
