package memstore_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/memstore"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/membertest"
)

const timeout = 10 * time.Second

func world() membertest.World {
	s := memstore.New(timeout)
	return membertest.World{Timeout: timeout, Client: func(testing.TB) membertest.Client { return s.Client() }}
}

func TestSuite(t *testing.T) {
	for _, c := range membertest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.Run(t, world()) })
		})
	}
}

// A member whose clock is slow believes for too long that it was heard of a moment ago.
func TestNegativeControlAMemberThatIsNotFencedInTimeIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		fenced, gone := membertest.FencedInTime(t, world(), func(c *member.Config) {
			c.Clock = func() time.Duration { return time.Since(began) / 2 }
		})
		if fenced.Before(gone) {
			t.Errorf("fenced %v before the others could take over", gone.Sub(fenced))
		}
	})
}
