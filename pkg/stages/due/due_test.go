package due_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/due"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// memory is the stores that a DUE works with. asked counts the URLs it was asked about.
type memory struct {
	crawl.Ledger
	claims map[weburl.Key]crawl.MessageID
	out    map[weburl.Key]crawl.MessageID
	spent  map[string]int
	done   []crawl.Entry
	lines  []crawl.LogLine
	asked  int
	err    error
	broken bool // the log fails
}

func newMemory() *memory {
	return &memory{claims: map[weburl.Key]crawl.MessageID{}, out: map[weburl.Key]crawl.MessageID{},
		spent: map[string]int{}}
}

func (m *memory) Claim(_ context.Context, _ crawl.JobID, by crawl.MessageID,
	tasks []crawl.Task) ([]crawl.Claimed, error) {
	urls := make([]weburl.URL, len(tasks))
	for i := range tasks {
		urls[i] = tasks[i].URL
	}
	return m.answer(m.claims, by, urls)
}

func (m *memory) Exclude(_ context.Context, _ crawl.JobID, by crawl.MessageID,
	excl []crawl.Exclusion) ([]crawl.Claimed, error) {
	urls := make([]weburl.URL, len(excl))
	for i := range excl {
		urls[i] = excl[i].URL
	}
	return m.answer(m.out, by, urls)
}

func (m *memory) answer(by map[weburl.Key]crawl.MessageID, id crawl.MessageID,
	urls []weburl.URL) ([]crawl.Claimed, error) {
	if m.err != nil {
		return nil, m.err
	}
	out := make([]crawl.Claimed, len(urls))
	m.asked += len(urls)
	for i, u := range urls {
		switch first, known := by[u.Key()]; {
		case !known:
			by[u.Key()], out[i] = id, crawl.New
		case first == id:
			out[i] = crawl.Repeat
		}
	}
	return out, nil
}

func (m *memory) Finish(_ context.Context, _ crawl.JobID, entries ...crawl.Entry) error {
	m.done = append(m.done, entries...)
	return nil
}

func (m *memory) Spend(_ context.Context, _ crawl.JobID, key string, n, limit int) (int, error) {
	granted := max(min(n, limit-m.spent[key]), 0)
	m.spent[key] += granted
	return granted, nil
}

func (m *memory) Append(_ context.Context, lines ...crawl.LogLine) error {
	if m.broken {
		return errors.New("no log")
	}
	m.lines = append(m.lines, lines...)
	return nil
}

func (m *memory) due(job *crawl.Job) *due.Handler {
	return due.New(due.Deps{URLs: m, Ledger: m, Budgets: m, Attempts: m, Jobs: crawl.StaticJobs{job.ID: job}})
}

func aJob() *crawl.Job {
	j := crawl.DefaultJob()
	j.ID, j.QueryVariants = "j", 0
	return &j
}

func claim(t *testing.T, raw ...string) *crawl.Claim {
	t.Helper()
	c := &crawl.Claim{Batch: crawl.Batch{Job: "j"}}
	for i, r := range raw {
		u, err := weburl.Parse(r)
		if err != nil {
			t.Fatal(err)
		}
		c.Tasks = append(c.Tasks, crawl.Task{Job: "j", URL: u, Depth: i % 2})
	}
	return c
}

// handle lets h handle c as the message with the name, and returns the URLs of the fresh tasks; those of repeats with a
// +.
func handle(t *testing.T, h *due.Handler, name string, repeat bool, c *crawl.Claim) []string {
	t.Helper()
	ctx := pipeline.WithDelivery(context.Background(),
		pipeline.Delivery{ID: crawl.MessageID{}.Child(name, 0), Repeat: repeat})
	events, err := h.Handle(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range events {
		for _, task := range e.(*crawl.Fresh).Tasks {
			s := task.URL.String()
			if task.Repeat {
				s += "+"
			}
			out = append(out, s)
		}
	}
	return out
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("fresh are %q, want %q", got, want)
	}
}

func TestAURLIsFreshOnce(t *testing.T) {
	m := newMemory()
	h := m.due(aJob())
	want(t, handle(t, h, "one", false, claim(t, "http://a.test/", "http://a.test/x")), "http://a.test/", "http://a.test/x")
	want(t, handle(t, h, "two", false, claim(t, "http://a.test/x", "http://a.test/y")), "http://a.test/y")
	if m.asked != 3 {
		t.Errorf("the store was asked about %d URLs, want 3: the cache knew one", m.asked)
	}
}

// A crash between the claim and the publication of what was claimed loses nothing, with a cold cache and with a warm
// one.
func TestWhatAMessageClaimedIsFreshForItAgain(t *testing.T) {
	m := newMemory()
	h := m.due(aJob())
	c := claim(t, "http://a.test/", "http://b.test/")
	handle(t, h, "one", false, c)
	for _, again := range []*due.Handler{h, m.due(aJob())} {
		want(t, handle(t, again, "one", true, c), "http://a.test/+", "http://b.test/+")
		want(t, handle(t, again, "two", true, c))
	}
}

func TestTheCacheHoldsOnlyWhatIsStored(t *testing.T) {
	m := newMemory()
	h := m.due(aJob())
	c := claim(t, "http://a.test/")
	c.Exclusions = []crawl.Exclusion{{URL: claim(t, "http://x.test/").Tasks[0].URL, Reason: crawl.ReasonScope}}
	m.err = errors.New("no store")
	ctx := pipeline.WithDelivery(context.Background(), pipeline.Delivery{ID: crawl.MessageID{}.Child("one", 0)})
	if _, err := h.Handle(ctx, c); !errors.Is(err, m.err) {
		t.Fatalf("error %v, want the store's", err)
	}
	only := &crawl.Claim{Batch: crawl.Batch{Job: "j", Exclusions: c.Exclusions}}
	if _, err := h.Handle(ctx, only); !errors.Is(err, m.err) {
		t.Fatalf("error %v, want the store's", err)
	}
	m.err = nil
	want(t, handle(t, h, "two", false, c), "http://a.test/")
	if len(m.lines) != 1 {
		t.Errorf("%d exclusions logged, want 1: the one that could not be stored before", len(m.lines))
	}
}

func TestBudgetsBoundAHostALevelAndTheVariantsOfAQuery(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		set          func(*crawl.Job)
		urls         []string
		fresh        int
	}{
		{"host", crawl.ReasonHostBudget, func(j *crawl.Job) { j.PagesPerHost = 2 },
			[]string{"http://a.test/1", "http://a.test/2", "http://a.test/3", "http://b.test/1"}, 3},
		{"domain", crawl.ReasonDomainBudget, func(j *crawl.Job) { j.PagesPerDomain = 2 },
			[]string{"http://a.a.test/1", "http://b.a.test/1", "http://c.a.test/1", "http://b.test/1"}, 3},
		{"level", crawl.ReasonLevelBudget, func(j *crawl.Job) { j.PagesPerLevel = 1 },
			[]string{"http://a.test/1", "http://a.test/2", "http://a.test/3", "http://b.test/1"}, 2},
		{"variants", crawl.ReasonVariantBudget, func(j *crawl.Job) { j.QueryVariants = 2 },
			[]string{"http://a.test/?q=1", "http://a.test/?q=2", "http://a.test/?q=3", "http://a.test/?r=1", "http://a.test/"},
			4},
		{"none", "", func(*crawl.Job) {}, []string{"http://a.test/?q=1", "http://a.test/?q=2", "http://a.test/?q=3"}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, job := newMemory(), aJob()
			tc.set(job)
			c := claim(t, tc.urls...)
			got := handle(t, m.due(job), "one", false, c)
			over := len(tc.urls) - tc.fresh
			if len(got) != tc.fresh || len(m.done) != over || len(m.lines) != over {
				t.Fatalf("%d fresh, %d excluded, %d lines; want %d, %d, %d", len(got), len(m.done), len(m.lines), tc.fresh, over,
					over)
			}
			for i := range m.done {
				if m.done[i].Reason != tc.reason || m.lines[i].Verdict != crawl.VerdictExcluded || m.lines[i].Reason != tc.reason {
					t.Errorf("excluded as %+v, line %+v, want reason %s", m.done[i], m.lines[i], tc.reason)
				}
			}
			spent := fmt.Sprint(m.spent)
			handle(t, m.due(job), "one", true, c)
			if fmt.Sprint(m.spent) != spent {
				t.Errorf("a repeat paid again: %v, before %s", m.spent, spent)
			}
		})
	}
}

func TestSeedsAndSitemapsSpendNoPages(t *testing.T) {
	m, job := newMemory(), aJob()
	job.PagesPerHost = 1
	c := claim(t, "http://a.test/1", "http://a.test/2", "http://a.test/3")
	c.Tasks[0].Seed, c.Tasks[1].Kind = true, crawl.KindSitemap
	if got := handle(t, m.due(job), "one", false, c); len(got) != 3 {
		t.Errorf("fresh are %q, want all three", got)
	}
}

func TestABroadCrawlBoundsItsHosts(t *testing.T) {
	m, job := newMemory(), aJob()
	job.Scope = crawl.ScopeAny
	m.spent["ha.test"] = 9_999
	got := handle(t, m.due(job), "one", false, claim(t, "http://a.test/1", "http://a.test/2"))
	want(t, got, "http://a.test/1")
}

func TestAnExclusionIsLoggedOnce(t *testing.T) {
	m := newMemory()
	h := m.due(aJob())
	c := &crawl.Claim{Batch: crawl.Batch{Job: "j"}}
	for _, task := range claim(t, "http://x.test/1", "http://x.test/2").Tasks {
		c.Exclusions = append(c.Exclusions, crawl.Exclusion{URL: task.URL, Reason: crawl.ReasonScope})
	}
	handle(t, h, "one", false, c)
	handle(t, h, "two", false, c)
	handle(t, m.due(aJob()), "three", true, c)
	if len(m.lines) != 2 {
		t.Errorf("%d lines, want 2", len(m.lines))
	}
	// What was only excluded can still be claimed, cache or no cache.
	want(t, handle(t, h, "four", false, claim(t, "http://x.test/1")), "http://x.test/1")
}

// A line that could not be written is written by the repeat.
func TestNoExclusionGoesUnlogged(t *testing.T) {
	m := newMemory()
	h := m.due(aJob())
	c := &crawl.Claim{Batch: crawl.Batch{Job: "j",
		Exclusions: []crawl.Exclusion{{URL: claim(t, "http://x.test/").Tasks[0].URL}}}}
	m.broken = true
	ctx := pipeline.WithDelivery(context.Background(), pipeline.Delivery{ID: crawl.MessageID{}.Child("one", 0)})
	if _, err := h.Handle(ctx, c); err == nil {
		t.Fatal("no error")
	}
	m.broken = false
	handle(t, h, "one", true, c)
	if len(m.lines) != 1 {
		t.Errorf("%d lines, want 1", len(m.lines))
	}
}

// A job that was deleted and began anew finds again what its former life found: what is remembered of that one says
// nothing.
func TestTheNextLifeOfAJobFindsAllAnew(t *testing.T) {
	m, first := newMemory(), aJob()
	jobs := crawl.StaticJobs{first.ID: first}
	h := due.New(due.Deps{URLs: m, Ledger: m, Budgets: m, Attempts: m, Jobs: jobs})
	c := claim(t, "http://a.test/", "http://a.test/1")
	want := handle(t, h, "seeds", false, c)
	next := aJob()
	next.Epoch, next.First = 3, 3
	jobs[first.ID] = next
	clear(m.claims)
	c.Epoch = 3
	if got := handle(t, h, "the seeds of the next life", false, c); len(got) != 2 || !slices.Equal(got, want) {
		t.Errorf("fresh %v, want %v", got, want)
	}
}
