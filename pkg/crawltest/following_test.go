package crawltest_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawltest"
)

func TestFollowingInMemory(t *testing.T) {
	crawltest.Following(t, func(*testing.T) crawl.Following { return crawltest.NewFollowing() })
}
