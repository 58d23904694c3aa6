package revisit_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// page is a state that was last visited on day 0.
func page(r revisit.Rate, weight float64) revisit.State {
	return revisit.State{Visits: 5, Last: days(0), Rate: r, Weight: revisit.WeightOctet(weight), Sum: 1}
}

func wait(s revisit.State, p revisit.Policy) time.Duration {
	due, _ := revisit.Next(s, p, days(0))
	return due.Sub(days(0))
}

// A page that weighs more, and a lower threshold, make a page due sooner, and never later; bounds hold.
func TestMoreWeightIsDueSooner(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		rate := revisit.Rate{A: math.Exp(r.NormFloat64()), B: math.Exp(3 * r.NormFloat64())}
		p := revisit.Default()
		p.Tau = math.Exp(2 * r.NormFloat64())
		s := page(rate, math.Exp(r.NormFloat64()))
		before := wait(s, p)
		s.Weight += 8
		heavier := wait(s, p)
		p.Tau *= .7
		lower := wait(s, p)
		if heavier > before || lower > heavier || lower < p.Least || before > p.Most {
			t.Fatalf("%+v: %v, heavier %v, lower threshold %v", rate, before, heavier, lower)
		}
	}
}

// Faster pages are due sooner until they are so fast that a visit is wasted; then later. There is one turning point.
func TestFasterIsDueSoonerUntilItIsHopeless(t *testing.T) {
	for _, a := range []float64{.5, 1, 3, 30} {
		p := revisit.Default()
		p.Tau, p.Most, p.Least = 1, 1e5*time.Hour, 0
		last, turned := time.Duration(math.MaxInt64), false
		for b := 1e3; b > .01; b /= 1.1 {
			now := wait(page(revisit.Rate{A: a, B: b}, 1), p)
			if now > last && !turned {
				turned = true
			} else if now < last && turned {
				t.Fatalf("shape %v: at %v days a change it becomes sooner again", a, b/a)
			}
			last = now
		}
		if !turned {
			t.Errorf("shape %v: the fastest page is due soonest", a)
		}
	}
}

// demandOf counts pages like those of the simulation.
func demandOf(seed uint64, pages int) (d revisit.Demand, rates []revisit.Rate, weights []float64) {
	r := rand.New(rand.NewPCG(seed, 5))
	for range pages {
		rate := revisit.Rate{A: .3 + 5*r.Float64(), B: math.Exp(4 + 2*r.NormFloat64())}
		rates, weights = append(rates, rate), append(weights, math.Exp(r.NormFloat64()))
		d.Add(rate, weights[len(weights)-1], 1)
	}
	return d, rates, weights
}

// The histogram stands for its pages: what it says they want is what they want.
func TestDemandIsThatOfThePages(t *testing.T) {
	d, rates, weights := demandOf(1, 20_000)
	for _, perDay := range []float64{200, 2000, 20_000} {
		tau := d.Solve(perDay, 1000, 0)
		sum := 0.
		for i, r := range rates {
			sum += 1 / math.Min(r.Interval(weights[i], tau), 1000)
		}
		near(t, "visits a day", sum, perDay, .02)
		near(t, "threshold from another start", d.Solve(perDay, 1000, 17), tau, .01)
	}
	for i, r := range rates {
		d.Add(r, weights[i], -1)
	}
	if d.Pages() != 0 || d.PerDay(1, 120) != 0 {
		t.Errorf("%d pages are left", d.Pages())
	}
}

// The threshold of a crawl and those of capped hosts use the day up, and no host wants more than it may.
func TestLevelKeepsCapsAndUsesTheDay(t *testing.T) {
	rest, _, _ := demandOf(1, 4000)
	var hosts []*revisit.Host
	for seed := range uint64(5) {
		d, _, _ := demandOf(seed+2, 1000)
		hosts = append(hosts, &revisit.Host{Demand: d, PerDay: []float64{20, 50, 100, 400, math.Inf(1)}[seed]})
	}
	plan := revisit.Plan{PerDay: 1000, Most: 1000 * aDay}
	plan.Level(&rest, hosts)
	sum := rest.PerDay(plan.Tau(), 1000)
	for i, h := range hosts {
		wants := h.Demand.PerDay(h.Tau(), 1000)
		sum += wants
		if wants > h.PerDay*1.01 || h.Tau() < plan.Tau() || h.Capped() != (i < 3) {
			t.Errorf("host %d: %v visits, %v allowed, threshold %v of %v, capped %v", i, wants, h.PerDay, h.Tau(), plan.Tau(),
				h.Capped())
		}
	}
	near(t, "visits a day", sum, 1000, .01)
}

// Where even the longest interval wants more visits than there are, it is stretched.
func TestTheLongestIntervalStretches(t *testing.T) {
	d, _, _ := demandOf(1, 10_000)
	plan := revisit.Plan{PerDay: 10, Most: 120 * aDay}
	plan.Level(&d, nil)
	near(t, "days", plan.Longest().Hours()/24, 2000, 1e-9)
	near(t, "visits a day", d.PerDay(plan.Tau(), 2000), 10, .01)
}

// A day has its ration, in whatever steps it is asked for, and a jump of the clock is worth a bucket.
func TestRationHoldsWhateverTheClockDoes(t *testing.T) {
	const perDay, burst = 1000, 10
	r := rand.New(rand.NewPCG(8, 9))
	for _, jump := range []time.Duration{0, aDay, -aDay, 400 * aDay} {
		ration := revisit.NewRation(perDay, burst)
		now, taken := days(0), 0
		for elapsed, jumped := time.Duration(0), false; elapsed < 10*aDay; {
			step := time.Duration(r.Int64N(int64(2 * time.Minute)))
			elapsed += step
			if now = now.Add(step); elapsed > 5*aDay && !jumped {
				now, jumped = now.Add(jump), true
			}
			for ration.Take(now) {
				taken++
			}
		}
		if taken < 10*perDay-burst || taken > 10*perDay+2*burst {
			t.Errorf("a jump by %v: %d visits in ten days, want %d", jump, taken, 10*perDay)
		}
	}
}

func TestHostPerDay(t *testing.T) {
	near(t, "by its delay", revisit.HostPerDay(time.Second, 0, 0, .8), 69_120, 1e-12)
	near(t, "by robots.txt", revisit.HostPerDay(time.Second, 10*time.Second, 0, .8), 6_912, 1e-12)
	near(t, "by its answers", revisit.HostPerDay(time.Second, 0, 4*time.Second, .8), 3_456, 1e-12)
}

func TestSharesAreKeptAndGivenAway(t *testing.T) {
	for _, c := range []struct{ share, want float64 }{{.3, .3}, {0, .1}, {1, .9}, {.5, .5}} {
		s, n := revisit.NewShares(c.share), 0.
		for range 1000 {
			if s.Discover(true, true) {
				n++
			}
		}
		near(t, "share of discovery", n/1000, c.want, .01)
		for range 100 {
			if s.Discover(true, false) || !s.Discover(false, true) {
				t.Fatal("a turn was lost, or given to who has nothing to do")
			}
		}
		if s.Discover(true, true) && s.Discover(true, true) && s.Discover(true, true) && c.share < .9 { //nolint:staticcheck // twice the same call on purpose
			t.Error("turns that were given away are claimed back")
		}
	}
}

func TestSignalsAreLearned(t *testing.T) {
	var g revisit.Signals
	if g.Recall() != 0 {
		t.Error("a host that never gave a signal is trusted to")
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		switch x := r.Float64(); {
		case x < .1:
			g = g.Observe(true, false)
		case x < .4:
			g = g.Observe(true, true)
		case x < .6:
			g = g.Observe(false, true)
		default:
			g = g.Observe(false, false)
		}
	}
	near(t, "precision", g.Precision(), .75, .08)
	near(t, "recall", g.Recall(), .6, .08)
}

// A signal that can be trusted makes a page due at once; of a host that tells of all, silence is news too.
func TestSignalsMovePages(t *testing.T) {
	var trusted, liar revisit.Signals
	for range 100 {
		trusted = trusted.Observe(true, true)
		liar = liar.Observe(true, false)
	}
	p := revisit.Default()
	p.Tau = 2
	s := page(revisit.Rate{A: 4, B: 80}, 1)
	plain := wait(s, p)
	p.Signals = &trusted
	if unlisted := wait(s, p); unlisted != plain {
		t.Errorf("%v for a page that nothing told of, want %v", unlisted, plain)
	}
	s.Signal = s.Last
	silent := wait(s, p)
	told := wait(s.Told(days(.5)), p)
	p.Signals = &liar
	lied := wait(s.Told(days(.5)), p)
	if silent < 2*plain || told > aDay/2 || lied < plain*9/10 || lied > plain {
		t.Errorf("%v without signals, %v in silence, %v told, %v by a liar", plain, silent, told, lied)
	}
	if s.Told(days(-1)) != s {
		t.Error("a signal from before the last visit is news")
	}
}

// Where pages change from nine to five, a visit belongs to the evening.
func TestCycleMovesVisitsBehindTheChanges(t *testing.T) {
	var c revisit.Cycle
	midnight := day0.Truncate(aDay)
	if c.Best(midnight, .5, aDay, 6*time.Hour).Sub(midnight).Abs() > 6*time.Hour {
		t.Error("a cycle that knows nothing moves a visit by more than it may")
	}
	for i := range 3000 {
		from := midnight.Add(time.Duration(i)*aDay + 9*time.Hour + time.Duration(i%8)*time.Hour)
		c.Observe(from, from.Add(time.Hour), true)
		c.Observe(from, from.Add(7*aDay), true) // says nothing of hours
	}
	p := revisit.Default()
	p.Tau = .2
	for hour := range 24 {
		s := page(revisit.Rate{A: 30, B: 30}, 1)
		s.Last = midnight.Add(time.Duration(hour) * time.Hour)
		p.Cycle = nil
		plain, _ := revisit.Next(s, p, s.Last)
		p.Cycle = &c
		best, _ := revisit.Next(s, p, s.Last)
		if off := best.Sub(plain).Abs(); off > 12*time.Hour || best.Before(s.Last) {
			t.Errorf("seen at %d h: moved by %v", hour, off)
		}
		at := c.Best(plain, 1, aDay, 12*time.Hour)
		if h := at.UTC().Hour(); h < 16 || h > 18 {
			t.Errorf("due at %d h, best at %d h, want 17 h or so", plain.UTC().Hour(), h)
		}
	}
}

func TestPoolBecomesThePriorOfItsPages(t *testing.T) {
	var p revisit.Pool
	if p.Prior(revisit.Rate{}) != revisit.Unknown() {
		t.Error("an empty pool knows something")
	}
	slow := revisit.Unknown()
	for range 50 {
		before, after := revisit.Rate{}, slow.Unchanged(100)
		p = p.Learn(before, after)
		p = p.Learn(after, after.Unchanged(300))
	}
	near(t, "pages", p.Pages, 50, 0)
	near(t, "prior", p.Prior(revisit.Rate{}).Mean(), slow.Unchanged(400).Mean(), .25)
}

func TestWeights(t *testing.T) {
	for w := .001; w < 1000; w *= 1.7 {
		near(t, "weight", revisit.OctetWeight(revisit.WeightOctet(w)), w, .045)
	}
	near(t, "depth 4 off topic", revisit.PageWeight(3, 4, 0), 3*.5*.2, 1e-12)
	if revisit.OctetWeight(revisit.WeightOctet(math.NaN())) > 1e-4 {
		t.Error("no number is a weight")
	}
}

func TestBuckets(t *testing.T) {
	for _, at := range []time.Time{days(0), days(.3), revisit.BucketStart(0),
		time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)} {
		b := revisit.Bucket(at)
		if begin := revisit.BucketStart(b); at.Before(begin) || !at.Before(begin.Add(revisit.BucketSpan)) {
			t.Errorf("%v lies in the bucket from %v", at, begin)
		}
	}
	if revisit.Bucket(time.Time{}) != 0 || revisit.Bucket(time.Unix(1<<60, 0)) != math.MaxUint32 {
		t.Error("times beyond the ends are not in the last buckets")
	}
}
