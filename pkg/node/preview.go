package node

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A preview walks what the job knows: the queues, what was left out, and the log of what was fetched. It judges each
// URL as the frontier and the sweep would after the edit. It writes nothing, and keeps nothing but counts.

// Bounds of a preview.
const (
	previewSample  = 100_000                // URLs of the first answer
	previewFirst   = 800 * time.Millisecond // the longest that a sample takes
	previewTold    = 500 * time.Millisecond // how often a longer walk tells how far it is
	previewChunk   = 1000                   // lines of crawl.log read at once
	previewPatient = 64                     // URLs between two looks at the clock
	previewPlaces  = 64                     // of crawl.log that a sample looks at
	previewLines   = 32                     // at each
)

// errEnough ends the walk of a sample.
var errEnough = errors.New("the sample is large enough")

func previewOf(ctx context.Context, s *surveyed, next *crawl.Job, flying []crawl.Task,
	tell func(*preview.Answer)) error {
	p, err := newSurvey(ctx, s, next, flying)
	if err != nil {
		return err
	}
	return p.run(ctx, tell)
}

func (p *survey) run(ctx context.Context, tell func(*preview.Answer)) error {
	if p.total > p.enough {
		if err := p.sample(ctx, tell); err != nil {
			return err
		}
	}
	return p.exact(ctx, tell)
}

// Preview is Preview of a job of the engine.
func (e *Engine) Preview(ctx context.Context, next *crawl.Job, tell func(*preview.Answer)) error {
	if e.job(next.ID) == nil {
		return unknownJob(next.ID)
	}
	return Preview(ctx, e.store, next, e.frontier.Leased(next.ID), tell)
}

// survey is a preview under way.
type survey struct {
	of            *surveyed
	now, next     *crawl.Job
	judge         *urlfilter.Judge
	sweeps        bool // the edit has what was left out judged again
	flying        map[weburl.Key]bool
	began         time.Time
	enough        int64         // URLs above which a sample is told first
	first         time.Duration // after which the sample ends, whatever it has
	total         int64         // about
	open, leftOut int64
	pages         int64
	answer        preview.Answer
	tally         preview.Tally
	told          time.Time
}

func newSurvey(ctx context.Context, s *surveyed, edited *crawl.Job, flying []crawl.Task) (*survey, error) {
	now, err := s.jobs.Job(ctx, edited.ID)
	if err != nil {
		return nil, err
	}
	next, err := withBlacklist(edited)
	if err != nil {
		return nil, err
	}
	if err := crawl.CheckChange(now, next); err != nil {
		return nil, err
	}
	next.Epoch = crawl.EpochOf(now.Epoch) + 1
	sweep, err := s.jobs.Sweep(ctx, now.ID)
	if err != nil {
		return nil, err
	}
	tally, err := s.tally(ctx, now.ID)
	if err != nil {
		return nil, err
	}
	p := &survey{of: s, now: now, next: next, judge: urlfilter.NewJudge(s.jobs), flying: map[weburl.Key]bool{},
		began:  time.Now(),
		enough: previewSample, first: previewFirst, sweeps: sweep.Next(now, next, next.Epoch).Due()}
	p.count(&tally)
	for i := range flying {
		p.flying[flying[i].URL.Key()] = true
	}
	p.answer = preview.Answer{Job: now.ID, Epoch: crawl.EpochOf(now.Epoch), Changes: crawl.Changes(now, next), Of: p.total,
		InFlight: int64(len(p.flying)), NewSeeds: len(now.NewSeeds(next.Seeds))}
	if p.answer.Changes == nil {
		p.answer.Changes = []crawl.Change{}
	}
	return p, nil
}

// count notes about how many URLs there are.
func (p *survey) count(t *crawl.Tally) {
	p.open = t.Claimed
	for _, n := range t.Verdicts {
		p.open -= n
	}
	p.open = max(p.open, 0)
	for _, n := range t.Excluded {
		p.leftOut += n
	}
	p.pages = t.Pages
	p.total = p.open + p.leftOut + p.pages
}

// withBlacklist is a job of which the lines of its blacklist are part.
func withBlacklist(job *crawl.Job) (*crawl.Job, error) {
	next := *job
	if next.Blacklist != "" && next.BlacklistEntries == nil {
		var err error
		if next.BlacklistEntries, err = urlrules.BlacklistLines(next.Blacklist); err != nil {
			return nil, err
		}
	}
	return &next, nil
}

// sample gives the first answer: what is chosen by hash, and of what was fetched places all over the log. Each kind has
// a part of the time.
func (p *survey) sample(ctx context.Context, tell func(*preview.Answer)) error {
	scale := [3]float64{1, 1, 1}
	for kind, walk := range []func(context.Context, func(uint64) bool, func() error) error{p.queued, p.left} {
		of := []int64{p.open, p.leftOut}[kind]
		until := p.began.Add(time.Duration(kind+1) * p.first / 3)
		before := p.tally.N()
		pick, seen, enough := picker(of), int64(0), false
		counting := func(hash uint64) bool { seen++; return pick(hash) }
		err := walk(ctx, counting, func() error {
			if n := p.tally.N(); n%previewPatient == 0 && time.Now().After(until) {
				enough = true
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if n := p.tally.N() - before; n > 0 && (enough || seen > n) {
			scale[kind] = float64(max(of, 1)) / float64(n)
		}
	}
	n, err := p.someFetched(ctx)
	if err != nil {
		return err
	}
	scale[preview.Fetched] = float64(p.pages) / float64(max(n, 1))
	p.answer.Sampled = p.tally.N()
	p.tally.Fill(&p.answer, scale)
	p.say(tell)
	p.tally = preview.Tally{}
	return nil
}

// someFetched judges pages at places all over the log, and returns how many.
func (p *survey) someFetched(ctx context.Context) (n int64, err error) {
	log, err := p.log(ctx)
	if err != nil {
		return 0, err
	}
	end, err := endOf(ctx, log, p.now.ID)
	if err != nil {
		return 0, err
	}
	before := p.tally.N()
	last := int64(0) // a short log is read once
	for place := range int64(previewPlaces) {
		lines, next, err := log.LinesFrom(ctx, p.now.ID, max(end/previewPlaces*place, last), previewLines)
		if err != nil {
			return 0, err
		}
		for i := range lines {
			if err := p.page(&lines[i], func() error { return nil }); err != nil {
				return 0, err
			}
		}
		if last = next; time.Since(p.began) > p.first {
			break
		}
	}
	return p.tally.N() - before, nil
}

// picker chooses about so many URLs of so many, uniformly.
func picker(of int64) func(uint64) bool {
	const most = previewSample / 2 // of two places
	if of <= most {
		return func(uint64) bool { return true }
	}
	limit := uint64(float64(most) / float64(of) * float64(1<<53))
	return func(hash uint64) bool { return hash>>11 < limit }
}

// exact judges all.
func (p *survey) exact(ctx context.Context, tell func(*preview.Answer)) error {
	p.told = time.Now()
	note := func() error {
		p.answer.Looked = p.tally.N()
		if p.answer.Looked%previewPatient == 0 && time.Since(p.told) >= previewTold {
			p.told = time.Now()
			p.say(tell) // the counts of the sample, and how far this is
		}
		return nil
	}
	err := p.queued(ctx, nil, note)
	if err == nil {
		err = p.left(ctx, nil, note)
	}
	if err == nil {
		err = p.fetched(ctx, note)
	}
	if err != nil {
		return err
	}
	p.answer.Exact, p.answer.Sampled, p.answer.Looked, p.answer.Of = true, 0, p.tally.N(), p.tally.N()
	p.tally.Fill(&p.answer, [3]float64{1, 1, 1})
	p.say(tell)
	return nil
}

func (p *survey) say(tell func(*preview.Answer)) {
	a := p.answer
	a.Took(time.Since(p.began))
	if a.Warnings == nil { // nothing was counted yet
		(&preview.Tally{}).Fill(&a, [3]float64{1, 1, 1})
	}
	tell(&a)
}

// queued judges what waits, as the frontier does at its turn.
func (p *survey) queued(ctx context.Context, pick func(uint64) bool, note func() error) error {
	return p.of.queued(ctx, p.now.ID, pick, func(t *crawl.Task) error {
		if p.flying[t.URL.Key()] {
			return nil
		}
		return p.judged(preview.Queued, t, note)
	})
}

// judged counts whether the edit would keep a task.
func (p *survey) judged(place preview.Place, t *crawl.Task, note func() error) error {
	reason, rule, err := p.judge.Task(p.next, t)
	if err != nil {
		return err
	}
	fate := preview.Stays
	if reason != "" {
		fate = preview.Drops
	}
	p.tally.Add(place, fate, t.URL.HostKey(), t.URL.String(), decides(reason, rule))
	return note()
}

// left judges what was left out, as the sweep does.
func (p *survey) left(ctx context.Context, pick func(uint64) bool, note func() error) error {
	return p.of.leftOut(ctx, p.now.ID, pick, func(l *crawl.LeftOut) error {
		fate := preview.Stays
		if p.sweeps {
			_, in, err := p.judge.LetIn(ctx, p.of.jobs, p.next, l)
			if err != nil {
				return err
			}
			if in {
				fate = preview.Admits
			}
		}
		p.tally.Add(preview.LeftOut, fate, l.Task.URL.HostKey(), l.Task.URL.String(), decides(l.Reason, l.Rule))
		return note()
	})
}

// fetched judges the pages that were fetched. They are kept, whatever the edit says.
func (p *survey) fetched(ctx context.Context, note func() error) error {
	log, err := p.log(ctx)
	if err != nil {
		return err
	}
	for from := int64(0); ; {
		lines, next, err := log.LinesFrom(ctx, p.now.ID, from, previewChunk)
		if err != nil {
			return err
		}
		for i := range lines {
			if err := p.page(&lines[i], note); err != nil {
				return err
			}
		}
		if from = next; len(lines) < previewChunk {
			return context.Cause(ctx)
		}
	}
}

func (p *survey) log(ctx context.Context) (crawl.LogList, error) { return p.of.log(ctx, p.now.ID) }

func (p *survey) page(l *crawl.LogLine, note func() error) error {
	if l.Kind != crawl.KindPage || l.Verdict != crawl.VerdictDone {
		return nil
	}
	t := crawl.Task{Job: p.now.ID, URL: l.URL, Kind: l.Kind, Depth: l.Depth, Seed: l.Depth == 0 && l.Referrer.IsZero()}
	return p.judged(preview.Fetched, &t, note)
}

// decides names what decided about a URL.
func decides(reason, rule string) string { return strings.TrimSpace(reason + " " + rule) }
