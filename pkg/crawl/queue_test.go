package crawl_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestQueueNames(t *testing.T) {
	for name, want := range map[string]crawl.QueueName{
		"front.0":             {Kind: crawl.QueueFront},
		"front.7":             {Kind: crawl.QueueFront, Number: 7},
		"front.3.docs-org":    {Kind: crawl.QueueFront, Number: 3, Job: "docs-org"},
		"back.12":             {Kind: crawl.QueueBack, Number: 12},
		"later.5000":          {Kind: crawl.QueueLater, Number: 5000},
		"later.1099511627776": {Kind: crawl.QueueLater, Number: crawl.ShutMark},
	} {
		got, err := crawl.ParseQueueName(name)
		if err != nil || got != want || got.String() != name || got.Shut() != (want.Number == crawl.ShutMark) {
			t.Errorf("%s is %+v (%s), shut %v, error %v", name, got, got, got.Shut(), err)
		}
	}
	for _, name := range []string{"", "front", "front.", "front.x", "front.-1", "back.1.job", "later.2.job", "dead",
		"parse.retry", "frontier.owner"} {
		if got, err := crawl.ParseQueueName(name); err == nil {
			t.Errorf("%q is taken for %+v", name, got)
		}
	}
}
