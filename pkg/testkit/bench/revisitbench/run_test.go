package revisitbench

import (
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	for _, p := range []string{Uniform, Nutch, True, TrueInOrder, TrueIdle, AtMeanIdle, AtMeanInOrder, AtMeanFade, Expected, Whirlpool, InOrder, ByHost} {
		b := time.Now()
		r, err := Run(Capped("B", 2000, 200), p)
		t.Logf("%-32s %.4f %.3f of %.4f, %.1f a day, most %.3f %v %v", p, r.Fresh, r.Fresh/r.Bound, r.Bound, r.PerDay, r.Most, err, time.Since(b))
	}
}
