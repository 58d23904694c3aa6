package node

import (
	"errors"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/hostsplitter"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Messages wait for a ring without nodes, and for a ring that is not there, however often they were tried: they are
// not put into the dead letters.
func TestMessagesWaitForANodeOfTheRing(t *testing.T) {
	u, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	empty, err := ring.Create(8, ring.ByHost, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, table := range map[string]*ring.Table{"no table": nil, "no node": empty} {
		h := hostsplitter.New(owners{ring.Router{Self: "n1", Current: func() *ring.Table { return table }}}, nil)
		batch := &crawl.Filtered{Batch: crawl.Batch{Job: "job", Tasks: []crawl.Task{{Job: "job", URL: u}}}}
		_, err := h.Handle(t.Context(), batch)
		if retry, _ := bus.Disposition(err, 10*bus.MaxAttempts); !errors.Is(err, ring.ErrEmpty) || !bus.IsExpected(err) ||
			!retry {
			t.Errorf("%s: %v", name, err)
		}
	}
}
