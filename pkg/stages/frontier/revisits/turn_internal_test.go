package revisits

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/revisitstest"
)

// visitDays visits pages as the frontier does, but for their tasks, for some days in steps of two minutes by a clock
// that jump may move. It returns the visits of each host.
func visitDays(t *testing.T, m *revisitstest.Memory, j *Job, days int,
	jump func(step int) time.Duration) map[string]int {
	t.Helper()
	const perDay = 720
	made, began, off := map[string]int{}, time.Now().UTC().Truncate(time.Second), time.Duration(0)
	for step := range days * perDay {
		off += jump(step)
		now := began.Add(time.Duration(step)*24*time.Hour/perDay + off)
		j.mu.Lock()
		left := j.ration.Left(now)
		full := float64(left) >= j.ration.Burst/2
		j.mu.Unlock()
		due, err := m.Due(t.Context(), "j", now, 2*left, nil)
		check(t, err)
		if j.looksAhead(now, full && len(due) < left) {
			due, err = j.ahead(t.Context(), due, nil)
			check(t, err)
		}
		chosen, put := j.choose(due, left, now, full)
		j.mu.Lock()
		for i := range chosen {
			p := &chosen[i]
			j.ration.Take(now)
			made[p.URL.Hostname()]++
			j.observe(p.URL.Key(), &p.State, revisit.Observation{Visit: p.Visits, At: now, Sum: uint64(step)}, now)
		}
		j.mu.Unlock()
		check(t, m.Put(t.Context(), "j", append(chosen, put...)...))
	}
	return made
}

func never(int) time.Duration { return 0 }

// cappedWorld has pages that all change at each look; a.test allows 24 visits a day, and all together have 240.
func cappedWorld(t *testing.T) (m *revisitstest.Memory, j *Job) {
	b, m, j := world(t, nil)
	job := *j.Revision()
	job.Revisit.Budget, job.Revisit.MinInterval = 240, crawl.Duration(10*time.Minute)
	job.Politeness.Delay = 0
	j, err := b.Job(&job)
	check(t, err)
	for _, p := range m.Sorted() {
		p.Rate = revisit.Rate{A: 4, B: 4}
		check(t, m.Put(t.Context(), "j", p))
		if p.URL.Hostname() == "a.test" {
			j.LearnCap(p.URL, "a.test", time.Duration(revisitShare*float64(time.Hour)), 0)
		}
	}
	j.census(t.Context())
	return m, j
}

// A host at its cap has every turn that it allows, and no more; and the ration is spent.
func TestHostsAtTheirCapsGoAhead(t *testing.T) {
	const days = 5
	m, j := cappedWorld(t)
	if len(j.hosts) != 1 {
		t.Fatalf("%d hosts are at their caps, want 1", len(j.hosts))
	}
	made := visitDays(t, m, j, days, never)
	if n := made["a.test"]; n > 24*days+1 || n < 23*days {
		t.Errorf("%d visits of the host at its cap in %d days, want 24 a day", n, days)
	}
	if n := made["a.test"] + made["b.test"]; n > 240*days+4 || n < 235*days {
		t.Errorf("%d visits in %d days, of 240 a day", n, days)
	}
}

// A page of a host at its cap is taken before one that has been due for longer, and before it is due itself; where its
// host has no turn it is put off to the next one. The control: of a host that is not at its cap it is not.
func TestTheOrderOfWhatIsDue(t *testing.T) {
	m, j := cappedWorld(t)
	var capped, other crawl.Revisit
	for _, p := range m.Sorted() {
		if p.URL.Hostname() == "a.test" {
			capped = p
		} else {
			other = p
		}
	}
	now := time.Now().UTC().Truncate(time.Second)
	at := func(p crawl.Revisit, due time.Duration) crawl.Revisit {
		p.Due, p.Last = now.Add(due), now.Add(-time.Hour)
		return p
	}
	hosts := j.hosts
	for name, c := range map[string]struct {
		due    []crawl.Revisit
		capped bool
		taken  string
		off    int
	}{
		"at its cap":                {[]crawl.Revisit{at(other, -5*time.Hour), at(capped, -time.Minute)}, true, "a.test", 0},
		"not at its cap":            {[]crawl.Revisit{at(other, -5*time.Hour), at(capped, -time.Minute)}, false, "b.test", 0},
		"at its cap, ahead of time": {[]crawl.Revisit{at(capped, time.Minute)}, true, "a.test", 0},
		"not, ahead of time":        {[]crawl.Revisit{at(capped, time.Minute)}, false, "", 0},
		"its turn is over":          {[]crawl.Revisit{at(capped, -time.Hour), at(other, -time.Minute)}, true, "b.test", 1},
	} {
		j.hosts = hosts
		if !c.capped {
			j.hosts = nil
		}
		delete(j.caps, hostOf(other.URL.Key()))
		j.caps[hostOf(capped.URL.Key())].Ration = revisit.NewRation(24, 1)
		if c.off > 0 {
			j.caps[hostOf(capped.URL.Key())].Take(now)
		}
		chosen, off := j.choose(c.due, 1, now, false)
		taken := ""
		for _, p := range chosen {
			taken += p.URL.Hostname()
		}
		if taken != c.taken || len(off) != c.off {
			t.Errorf("%s: took %q, want %q; %d are put off, want %d", name, taken, c.taken, len(off), c.off)
		}
		for _, p := range off {
			if d := p.Due.Sub(now); d < 59*time.Minute || d > 61*time.Minute {
				t.Errorf("%s: put off by %v, want an hour", name, d)
			}
		}
	}
}

// A clock that jumps a day forward, and one that jumps a day back, bring no more visits than a full bucket, and no host
// more than it allows; afterwards the ration is spent as before.
func TestClockJumpsKeepTheRation(t *testing.T) {
	const days = 5
	for name, jumps := range map[string]map[int]time.Duration{
		"a day forward": {1000: 24 * time.Hour}, "a day back": {1000: -24 * time.Hour},
		"there and back": {1000: 24 * time.Hour, 1400: -24 * time.Hour}, "back and there": {1000: -24 * time.Hour,
			1010: 24 * time.Hour},
		"each two minutes": {1000: 24 * time.Hour, 1001: -24 * time.Hour, 1002: 24 * time.Hour, 1003: -24 * time.Hour},
	} {
		m, j := cappedWorld(t)
		made := visitDays(t, m, j, days, func(step int) time.Duration { return jumps[step] })
		burst := j.ration.Burst
		if n := float64(made["a.test"] + made["b.test"]); n > 240*days+burst*float64(1+len(jumps)) || n < 225*days {
			t.Errorf("%s: %v visits in %d days, of 240 a day", name, n, days)
		}
		if n := made["a.test"]; n > 24*days+1+len(jumps) || n < 20*days-48 {
			t.Errorf("%s: %d visits of a host that allows 24 a day in %d days", name, n, days)
		}
	}
}
