package simulation

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// followed is how long the simulation remembers a page whose links are claimed. PostgreSQL does so for minutes; for a
// thousand nodes that would be gigabytes. A second is enough here, because outcomes are handled again within it.
const followed = 2 * time.Second

// newFollowing follows the pages of all nodes; broken: nobody hears which were lost.
func newFollowing(broken bool) (crawl.Following, crawl.Splits) {
	f := storetest.NewFollowing()
	f.Keep = followed
	if broken {
		return forgetful{f}, f
	}
	return f, f
}

// forgetful knows of no page that is to be fetched again.
type forgetful struct{ crawl.Following }

// Unfollowed implements crawl.Following.
func (forgetful) Unfollowed(context.Context, []weburl.KeyRange, time.Time, func(crawl.Task) error) error {
	return nil
}
