package decide_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/decide"
)

var now = time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)

// try sends pages of a template to the test until that has decided, or n have been tried. Every p-th part gains.
func try(t *crawl.RenderTemplate, n int, gains func(i int) bool) (renders int) {
	for i := range n {
		by := uint64(i)*decide.LookAgain + 1 // none that is looked at again by chance
		a, _ := decide.Ask(t, by, crawl.WhyCandidate, now)
		if a != decide.Render {
			continue
		}
		renders++
		decide.Add(t, decide.Ended{By: by, CPU: 300 * time.Millisecond}, 0, now)
		if gains(i) {
			decide.Links(t, by, 5, 0, now)
		}
	}
	return renders
}

func TestTenRendersWithoutGainEndATemplate(t *testing.T) {
	tm := &crawl.RenderTemplate{Shape: "/*"}
	if n := try(tm, 1_000, func(int) bool { return false }); n != 10 || tm.State != decide.Stop {
		t.Errorf("%d renders of 1,000 pages, state %q; want 10, %q", n, tm.State, decide.Stop)
	}
	if s := decide.Sentence(tm); !strings.Contains(s, "does not pay") || !strings.Contains(s, "0 of 10") {
		t.Errorf("the sentence says %q", s)
	}
}

// Within the hour none of a template's pages is looked at again, whatever its hash.
func TestTenRendersAreEnoughForAShortCrawl(t *testing.T) {
	tm, renders := &crawl.RenderTemplate{}, 0
	for by := range uint64(1_000) {
		if a, _ := decide.Ask(tm, by, crawl.WhyCandidate, now.Add(time.Duration(by)*time.Second)); a == decide.Render {
			renders++
			decide.Add(tm, decide.Ended{By: by}, 0, now.Add(time.Duration(by)*time.Second))
		}
	}
	if renders != 10 {
		t.Errorf("%d renders of a template that does not pay, want 10", renders)
	}
}

func TestTwoGainsKeepATemplate(t *testing.T) {
	tm := &crawl.RenderTemplate{}
	if try(tm, 2, func(int) bool { return true }); tm.State != decide.Keep {
		t.Fatalf("state %q after two gains, want %q", tm.State, decide.Keep)
	}
	if n := try(tm, 500, func(int) bool { return true }); n < 490 {
		t.Errorf("%d of 500 pages of a template that pays were rendered", n)
	}
}

// The error rates are those that the design names, by simulation of 4,000 templates each.
func TestErrorRates(t *testing.T) {
	for _, c := range []struct {
		p, least, most float64 // probability of a gain, and the bounds of the part that is kept
		renders        float64 // at most so many on average
	}{{0, 0, 0, 10.01}, {.05, .01, .06, 16}, {.30, .88, .97, 13}, {1, 1, 1, 2.01}} {
		r := rand.New(rand.NewPCG(1, 2))
		kept, renders := 0, 0
		const n = 4_000
		for range n {
			tm := &crawl.RenderTemplate{}
			for i := uint64(1); tm.State != decide.Keep && tm.State != decide.Stop; i++ {
				decide.Ask(tm, i*decide.LookAgain+1, crawl.WhyCandidate, now)
				decide.Add(tm, decide.Ended{By: i*decide.LookAgain + 1, Gained: r.Float64() < c.p}, 0, now)
				renders++
			}
			if tm.State == decide.Keep {
				kept++
			}
		}
		if part := float64(kept) / n; part < c.least || part > c.most || float64(renders)/n > c.renders {
			t.Errorf("p %.2f: kept %.3f after %.1f renders; want %.2f to %.2f after at most %.1f", c.p, part, float64(renders)/n,
				c.least, c.most, c.renders)
		}
	}
}

func TestATemplateThatPaysNoLongerIsGivenUp(t *testing.T) {
	tm := &crawl.RenderTemplate{}
	try(tm, 5, func(int) bool { return true })
	n := 0
	for i := uint64(1_000); tm.State == decide.Keep && n < 1_000; i++ {
		decide.Add(tm, decide.Ended{By: i}, 0, now)
		n++
	}
	if n > 40 {
		t.Errorf("a template that stopped to gain is still kept after %d renders", n)
	}
}

func TestAnswers(t *testing.T) {
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		t    crawl.RenderTemplate
		by   uint64
		why  string
		now  time.Time
		want decide.Answer
	}{
		"never, by people": {crawl.RenderTemplate{Switch: "never", State: decide.Keep}, 1, crawl.WhyAlways, now,
			decide.Leave},
		"always, by people": {crawl.RenderTemplate{Switch: "always", State: decide.Stop, Since: now}, 1,
			crawl.WhyCandidate, now, decide.Render},
		"the job insists": {crawl.RenderTemplate{State: decide.Stop, Since: now}, 1, crawl.WhyAlways, now,
			decide.Render},
		"given up": {crawl.RenderTemplate{State: decide.Stop, Since: now}, 1, crawl.WhyCandidate,
			now.Add(day), decide.Leave},
		"given up, not looked at yet": {crawl.RenderTemplate{State: decide.Stop, Since: now}, decide.LookAgain,
			crawl.WhyCandidate, now.Add(59 * time.Minute), decide.Leave},
		"given up, looked at again": {crawl.RenderTemplate{State: decide.Stop, Since: now}, decide.LookAgain,
			crawl.WhyCandidate, now.Add(decide.NoLook), decide.Render},
		"given up a week ago": {crawl.RenderTemplate{State: decide.Stop, Since: now}, 1, crawl.WhyCandidate,
			now.Add(8 * day), decide.Render},
		"samples are few": {crawl.RenderTemplate{State: decide.Sampling, Sent: decide.Samples}, 1,
			crawl.WhySample, now, decide.Leave},
		"others are being tried": {crawl.RenderTemplate{Asked: asked(now, 2, 3, 4)}, 1, crawl.WhyCandidate, now,
			decide.Wait},
		"others were lost": {crawl.RenderTemplate{Asked: asked(now, 2, 3, 4)}, 1, crawl.WhyCandidate,
			now.Add(time.Hour), decide.Render},
		"one more may be enough": {crawl.RenderTemplate{Evidence: -2.9, Asked: asked(now, 2)}, 1, crawl.WhyCandidate,
			now, decide.Wait},
		"the same page asks once again": {crawl.RenderTemplate{State: decide.Stop, Since: now, Asked: asked(now, 1)}, 1,
			crawl.WhyCandidate, now, decide.Render},
	} {
		if got, _ := decide.Ask(&c.t, c.by, c.why, c.now); got != c.want {
			t.Errorf("%s: answer %d, want %d", name, got, c.want)
		}
	}
}

func asked(at time.Time, by ...uint64) (out []crawl.RenderAsked) {
	for _, b := range by {
		out = append(out, crawl.RenderAsked{By: b, At: at})
	}
	return out
}

func TestARenderIsCountedOnce(t *testing.T) {
	tm := &crawl.RenderTemplate{}
	if !decide.Add(tm, decide.Ended{By: 1}, 0, now) || decide.Add(tm, decide.Ended{By: 1, Gained: true}, 0, now) ||
		tm.Renders != 1 || tm.Gained != 0 {
		t.Errorf("counted twice: %+v", tm)
	}
	before := tm.Evidence
	decide.Links(tm, 1, 3, 0, now)
	decide.Links(tm, 1, 2, 0, now)
	if tm.Gained != 1 || tm.Links != 5 || tm.Evidence <= before {
		t.Errorf("two parts of one page's links: %+v", tm)
	}
}

func TestFailuresInARowGiveATemplateUp(t *testing.T) {
	tm := &crawl.RenderTemplate{}
	try(tm, 3, func(int) bool { return true })
	for i := range uint64(decide.Failures) {
		decide.Add(tm, decide.Ended{By: 100 + i, Failed: true}, 0, now)
	}
	if tm.State != decide.Stop || !strings.Contains(decide.Sentence(tm), "failed") {
		t.Errorf("after %d failures: %q, %s", decide.Failures, tm.State, decide.Sentence(tm))
	}
}

func TestATemplateThatCostsMoreThanItIsWorthIsGivenUp(t *testing.T) {
	for cpu, want := range map[time.Duration]string{time.Second: decide.Keep, 10 * time.Second: decide.Stop} {
		tm := &crawl.RenderTemplate{}
		for i := range uint64(20) { // one link each, worth 2 s
			decide.Add(tm, decide.Ended{By: i, CPU: cpu}, 2*time.Second, now)
			decide.Links(tm, i, 1, 2*time.Second, now)
		}
		if tm.State != want {
			t.Errorf("%v a link that is worth 2 s: %q, want %q", cpu, tm.State, want)
		}
	}
}

func TestTextLost(t *testing.T) {
	for name, c := range map[string]struct {
		before, after int
		want          bool
	}{
		"nothing":            {500, 500, false},
		"more":               {500, 900, false},
		"two hundred octets": {500, 300, false},
		"more than that":     {500, 299, true},
		"less than a fifth":  {5_000, 4_100, false},
		"a little text":      {100, 20, false},
		"all of it":          {10, 0, true},
		"there was none":     {0, 0, false},
	} {
		if got := decide.TextLost(c.before, c.after); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestTextGained(t *testing.T) {
	for name, c := range map[string]struct{ before, links, after, want int }{
		"nothing more":                        {500, 3, 500, 0},
		"less":                                {500, 3, 100, 0},
		"two hundred octets":                  {500, 3, 700, 0},
		"more than that":                      {500, 3, 701, 201},
		"less than a fifth":                   {5_000, 3, 5_900, 0},
		"a shell, and a sentence":             {0, 0, 45, 200},
		"a shell that says Loading":           {10, 0, 31, 200},
		"a shell, and a word":                 {0, 0, 5, 200},
		"a shell that stays empty":            {0, 0, 0, 0},
		"a shell that says Loaded instead":    {10, 0, 29, 0},
		"a shell that says as much as before": {40, 0, 70, 0},
		"a shell, and much":                   {0, 0, 900, 900},
		"a short page with a link":            {10, 1, 60, 0},
		"a short page that is none":           {60, 0, 130, 0},
		"a shell with links, and a sentence":  {62, 3, 165, 200},
		"a shell with links, doubled":         {120, 3, 240, 200},
		"a shell with links, not doubled":     {120, 3, 235, 0},
	} {
		if got := decide.TextGained(c.before, c.links, c.after); got != c.want {
			t.Errorf("%s: %d octets, want %d", name, got, c.want)
		}
	}
}

// The first renders of an application find what there is; the others must not stay as they were fetched for it. That
// is so in whatever order a kill leaves them.
func TestALongRunWithoutAGainDoesNotEndATemplateThatGainsOften(t *testing.T) {
	for gains := 20; gains <= 40; gains++ {
		tm := &crawl.RenderTemplate{}
		try(tm, gains, func(int) bool { return true })
		for i := range uint64(2 * gains) { // a third of all gained, all of them at first
			decide.Add(tm, decide.Ended{By: 1_000 + i}, 0, now)
			if len(tm.Recent) < 64 && tm.State != decide.Keep {
				t.Errorf("%d gains: given up after %d renders without", gains, i+1)
				break
			}
		}
	}
}
