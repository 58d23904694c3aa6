package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/timetable"
)

// trouble is something that a rule holds of.
type trouble struct {
	subject   string
	text      string
	value     float64
	workflow  ID
	execution crawl.JobID
}

// watched is what can be watched, with the threshold where a rule has none.
var watched = map[string]struct {
	threshold float64
	find      func(*look, float64) []trouble
}{
	"failed":       {0, (*look).failed},
	"partial":      {0, (*look).partial},
	"slot":         {0, (*look).slot},
	"stalled":      {0, (*look).stalled},
	"dead-letters": {0, (*look).letters},
	"failures":     {0.2, (*look).failures},
	"blocked":      {0.5, (*look).blocked},
	"records":      {0.5, (*look).records},
	"budget":       {0.9, (*look).budget},
	"undelivered":  {0, (*look).undelivered},
	"tripped":      {0, (*look).tripped},
	"host-blocked": {0.5, (*look).hostBlocked},
	"disk":         {0.85, (*look).disk},
}

// running is an execution that has not ended, and how far it is.
type running struct {
	x *Execution
	p Progress
	// moved is when its number of pages last grew.
	moved    time.Time
	maxPages int
}

// look is what is known at one moment.
type look struct {
	now       time.Time
	of        string // slug of the workflow that is looked at; empty: all
	workflows []Workflow
	ended     map[ID][]Execution // by workflow, the newest first, at most six
	schedules []Schedule
	running   []running
	used      float64 // share of the disk
}

// each calls f with the last ended execution of each workflow.
func (l *look) each(f func(w *Workflow, x *Execution) (string, float64)) (out []trouble) {
	for i := range l.workflows {
		w := &l.workflows[i]
		if l.of != "" && l.of != w.Slug || len(l.ended[w.ID]) == 0 {
			continue
		}
		x := &l.ended[w.ID][0]
		if text, value := f(w, x); text != "" {
			out = append(out, trouble{subject: w.Slug, text: fmt.Sprintf("execution %s %s", x.ID, text), value: value,
				workflow: w.ID, execution: x.ID})
		}
	}
	return out
}

func (l *look) failed(float64) []trouble {
	return l.each(func(_ *Workflow, x *Execution) (string, float64) {
		if x.State != Failed {
			return "", 0
		}
		return "failed: " + x.Reason, 1
	})
}

func (l *look) partial(float64) []trouble {
	return l.each(func(_ *Workflow, x *Execution) (string, float64) {
		if x.State != Partial {
			return "", 0
		}
		return "lost some of its work: " + x.Reason, 1
	})
}

func (l *look) slot(float64) (out []trouble) {
	for i := range l.schedules {
		s := &l.schedules[i]
		if l.of != "" && l.of != s.Slug || s.Last == nil || s.Last.State != SlotSkipped && s.Last.State != SlotMissed {
			continue
		}
		out = append(out, trouble{subject: s.Slug + "/" + s.Name, value: 1, workflow: s.Workflow,
			text: fmt.Sprintf("slot %s was %s: %s", timetable.Wall(s.Last.Label), s.Last.State, s.Last.Reason)})
	}
	return out
}

// live calls f with each execution that has not ended.
func (l *look) live(f func(r *running) (string, float64)) (out []trouble) {
	for i := range l.running {
		r := &l.running[i]
		if l.of != "" && l.of != r.x.Slug {
			continue
		}
		if text, value := f(r); text != "" {
			out = append(out, trouble{subject: string(r.x.ID), text: "execution " + string(r.x.ID) + " " + text, value: value,
				workflow: r.x.Workflow, execution: r.x.ID})
		}
	}
	return out
}

// stalled holds at once: how long it has to is the rule's For.
func (l *look) stalled(float64) []trouble {
	return l.live(func(r *running) (string, float64) {
		still := l.now.Sub(r.moved)
		if r.x.State != Running || r.p.Queued == 0 || still < 20*time.Second {
			return "", 0
		}
		return fmt.Sprintf("has fetched no page for %s, and %d URLs are queued", still.Round(time.Second), r.p.Queued),
			still.Seconds()
	})
}

func (l *look) letters(most float64) []trouble {
	return append(l.live(func(r *running) (string, float64) {
		if float64(r.p.Letters) <= most {
			return "", 0
		}
		return fmt.Sprintf("has given up %d messages (dead letters)", r.p.Letters), float64(r.p.Letters)
	}), l.each(func(_ *Workflow, x *Execution) (string, float64) {
		if x.Stats == nil || float64(x.Stats.Letters) <= most {
			return "", 0
		}
		return fmt.Sprintf("gave up %d messages (dead letters)", x.Stats.Letters), float64(x.Stats.Letters)
	})...)
}

func (l *look) failures(most float64) []trouble {
	return l.each(func(_ *Workflow, x *Execution) (string, float64) {
		if x.Stats == nil {
			return "", 0
		}
		var all, bad int64
		for verdict, n := range x.Stats.Verdicts {
			if all += n; verdict == "failed" || verdict == "gone" || verdict == "refused" {
				bad += n
			}
		}
		return shareOver(bad, all, most, "of its URLs failed")
	})
}

func (l *look) blocked(most float64) []trouble {
	return l.each(func(_ *Workflow, x *Execution) (string, float64) {
		if x.Stats == nil {
			return "", 0
		}
		var all int64
		for _, n := range x.Stats.Statuses {
			all += n
		}
		return shareOver(x.Stats.Statuses[403]+x.Stats.Statuses[429], all, most, "of its answers were 403 or 429")
	})
}

// leastAnswers is of how many a share says something.
const leastAnswers = 20

func shareOver(part, whole int64, most float64, what string) (string, float64) {
	if whole < leastAnswers || float64(part) <= most*float64(whole) {
		return "", 0
	}
	value := float64(part) / float64(whole)
	return fmt.Sprintf("%.0f %% %s (%d of %d)", 100*value, what, part, whole), value
}

// records holds where an execution has less than a part of the median of the five before it: a site changed its pages.
func (l *look) records(part float64) []trouble {
	return l.each(func(w *Workflow, x *Execution) (string, float64) {
		var before []int64
		for _, e := range l.ended[w.ID][1:] {
			if e.Stats != nil && (e.State == Succeeded || e.State == Partial) {
				before = append(before, e.Stats.Records)
			}
		}
		if x.Stats == nil || x.State != Succeeded && x.State != Partial || len(before) < 5 {
			return "", 0
		}
		slices.Sort(before)
		median := before[len(before)/2]
		if float64(x.Stats.Records) >= part*float64(median) {
			return "", 0
		}
		return fmt.Sprintf("has %d records; the median of the five before it is %d", x.Stats.Records, median),
			float64(x.Stats.Records)
	})
}

func (l *look) budget(part float64) []trouble {
	return l.live(func(r *running) (string, float64) {
		if r.maxPages == 0 || float64(r.p.Pages) < part*float64(r.maxPages) {
			return "", 0
		}
		return fmt.Sprintf("has fetched %d of the %d pages that max_pages allows", r.p.Pages, r.maxPages),
			float64(r.p.Pages) / float64(r.maxPages)
	})
}

// troubles are those of one kind that executions have whose value is over a threshold.
func (l *look) troubles(kind string, most float64) (out []trouble) {
	for i := range l.running {
		r := &l.running[i]
		if l.of != "" && l.of != r.x.Slug {
			continue
		}
		for _, t := range r.p.Troubles {
			if t.Kind != kind || t.Value <= most {
				continue
			}
			out = append(out, trouble{subject: string(r.x.ID) + " " + t.Of, text: "execution " + string(r.x.ID) + ": " + t.Text,
				value: t.Value, workflow: r.x.Workflow, execution: r.x.ID})
		}
	}
	return out
}

func (l *look) undelivered(float64) []trouble { return l.troubles(TroubleUndelivered, 0) }

func (l *look) tripped(float64) []trouble { return l.troubles(TroubleTripped, 0) }

func (l *look) hostBlocked(most float64) []trouble { return l.troubles(TroubleBlocked, most) }

func (l *look) disk(most float64) []trouble {
	if l.used <= most {
		return nil
	}
	return []trouble{{subject: "server", value: l.used,
		text: fmt.Sprintf("the disk of the data is %.0f %% full", 100*l.used)}}
}

// lookAround gathers what rules are judged by.
func (c *conductor) lookAround(ctx context.Context) (*look, error) {
	l := &look{now: c.now(), ended: map[ID][]Execution{}}
	for page := (Page{Limit: 200}); ; {
		list, err := c.store.Workflows(ctx, Filter{}, page)
		if err != nil {
			return nil, err
		}
		l.workflows = append(l.workflows, list.Items...)
		if page.Cursor = list.Next; page.Cursor == "" {
			break
		}
	}
	for i := range l.workflows {
		w := &l.workflows[i]
		if w.Last == nil {
			continue
		}
		list, err := c.store.Executions(ctx,
			ExecutionFilter{Workflow: string(w.ID), States: []State{Succeeded, Partial, Stopped, Failed}}, Page{Limit: 6})
		if err != nil {
			return nil, err
		}
		l.ended[w.ID] = list.Items
	}
	for page := (Page{Limit: 200}); ; {
		list, err := c.store.Schedules(ctx, "", page)
		if err != nil {
			return nil, err
		}
		l.schedules = append(l.schedules, list.Items...)
		if page.Cursor = list.Next; page.Cursor == "" {
			break
		}
	}
	return l, c.lookAtRunning(ctx, l)
}

// lookAtRunning adds how far executions are, and how full the disk is.
func (c *conductor) lookAtRunning(ctx context.Context, l *look) error {
	all, err := c.store.Unsettled(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		x := &all[i]
		if x.State.Ended() || x.State == Pending || x.State == Starting {
			continue
		}
		p, err := c.engine.Progress(ctx, x.ID)
		if err != nil {
			continue // the conductor tells faults of the engine
		}
		was, known := c.pages[x.ID]
		if !known || was.n != p.Pages || x.State != Running {
			was = pagesAt{p.Pages, l.now}
			c.pages[x.ID] = was
		}
		r := running{x: x, p: p, moved: was.at}
		if job, err := c.store.Job(ctx, x.ID); err == nil {
			r.maxPages = job.MaxPages
		}
		l.running = append(l.running, r)
	}
	if len(c.pages) > 4*len(all)+100 {
		clear(c.pages)
	}
	if c.opt.DiskUsed != nil {
		if l.used, err = c.opt.DiskUsed(); err != nil {
			c.opt.Log.Warn("it is not known how full the disk is", "error", err)
		}
	}
	return nil
}

// pagesAt is how many pages an execution had, and since when.
type pagesAt struct {
	n  int64
	at time.Time
}

// checked reads a rule. Its error is an *Invalid.
func (r *AlertRule) checked() (hold, repeat time.Duration, err error) {
	kind, found := watched[r.On]
	if !found {
		return 0, 0, invalid("on", "on %q: want failed, partial, slot, stalled, dead-letters, failures, blocked, "+
			"host-blocked, records, budget, undelivered, tripped or disk", r.On)
	}
	if !slugRule.MatchString(r.Name) {
		return 0, 0, invalid("name", "name %q: want 1 to 48 of a-z, 0-9 and -", r.Name)
	}
	if r.Threshold < 0 || kind.threshold > 0 && kind.threshold < 1 && r.Threshold > 1 {
		return 0, 0, invalid("threshold", "threshold %v: of %s want a part from 0 to 1", r.Threshold, r.On)
	}
	if !one(r.Severity, "", "info", "warning", "critical") {
		return 0, 0, invalid("severity", "severity %q: want info, warning or critical", r.Severity)
	}
	otherwise := "0s"
	switch r.On {
	case "stalled":
		otherwise = "10m"
	case TroubleUndelivered:
		otherwise = "15m"
	}
	hold, err1 := time.ParseDuration(cmp.Or(r.For, otherwise))
	repeat, err2 := time.ParseDuration(cmp.Or(r.Repeat, "4h"))
	if errors.Join(err1, err2) != nil || hold < 0 || repeat < 0 {
		return 0, 0, invalid("for", "for %q, repeat %q: want durations, as in 10m and 4h", r.For, r.Repeat)
	}
	return hold, repeat, nil
}
