package revisitbench

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// TestLiveComparisons: on a web of the real servers the rules lie where the simulations of whole webs have them.
func TestLiveComparisons(t *testing.T) {
	c := fakeweb.Plain(10, 500)
	c.Changing, c.ChangeHabit, c.ChangeSpread = .6, fakeweb.Randomly, 2
	c.Day = 2 * time.Second
	c.ChangeEvery = 10 * c.Day
	l := Live{Web: fakeweb.New(c), Day: c.Day, From: 30 * c.Day, To: 60 * c.Day, PerDay: 50}
	bound, uniform, nutch := l.Bound(), l.Uniform(), l.Nutch()
	t.Logf("bound %.4f, uniform %.4f (%.3f), Nutch %.4f (%.3f)", bound, uniform, uniform/bound, nutch, nutch/bound)
	if uniform >= bound || nutch >= bound+.01 {
		t.Error("a rule is better than the bound")
	}
	if uniform < .7*bound || nutch < .7*bound {
		t.Error("a rule is far behind the bound")
	}
	l.HostMost = 6
	if capped := l.Bound(); capped > bound {
		t.Errorf("with caps the bound is %.4f, without %.4f", capped, bound)
	}
}
