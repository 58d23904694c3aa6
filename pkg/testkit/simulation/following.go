package simulation

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

// followed is how long a page is remembered whose links are claimed. PostgreSQL does so for minutes, which would be
// gigabytes for a thousand nodes; but who asks is an outcome that is handled again, and the next time is a second later
// here.
const followed = 2 * time.Second

// newFollowing follows the pages of all nodes; broken: nobody hears which were lost.
func newFollowing(broken bool) crawl.Following {
	f := storetest.NewFollowing()
	f.Keep = followed
	if broken {
		return forgetful{f}
	}
	return f
}

// forgetful knows of no page that is to be fetched again.
type forgetful struct{ crawl.Following }

// Unfollowed implements crawl.Following.
func (forgetful) Unfollowed(context.Context, time.Time, func(crawl.Task) error) error { return nil }
