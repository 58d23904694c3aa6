package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// How often a crawl that is waited for is looked at, and how often a line says how far it is where none renews itself.
const (
	waitEvery = time.Second
	lineEvery = 10 * time.Second
)

// finalLooks is how many times in a row a job must be seen as ended: its frontier takes two seconds to notice that a
// seed has revived it.
const finalLooks = 3

// sighting is a crawl that is waited for, at a moment.
type sighting struct {
	pages, open, left int64
	running           []string // what has not ended, for people
	stopped           []string // by somebody: nothing will happen to it
}

// waitUntil looks again and again until nothing runs, and shows how far it is.
func waitUntil(cmd *cobra.Command, looksNeeded int, look func(ctx context.Context) (sighting, error)) error {
	ctx, p := cmd.Context(), newWaiting(cmd.ErrOrStderr())
	tick := time.NewTicker(waitEvery)
	defer tick.Stop()
	for over, looked := 0, false; ; {
		s, err := look(ctx)
		away := bus.IsAway(err) && looked // nothing ends while its store is away
		if err != nil && !away {
			return err
		}
		looked = true
		if over++; away || len(s.running) > 0 {
			over = 0
		}
		if away {
			p.away(err)
		} else {
			p.show(s, over >= looksNeeded)
		}
		if over >= looksNeeded {
			if len(s.stopped) > 0 {
				return exitStatus{exitStopped,
					fmt.Errorf("%s: stopped before the end; there is work left", someOf(s.stopped))}
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// someOf names the first of many jobs, and counts the others.
func someOf(names []string) string {
	const most = 5
	if len(names) <= most+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// waiting shows the progress: a line that renews itself on a terminal, lines now and then elsewhere.
type waiting struct {
	screen *screen
	rate   control.Rate
	shown  time.Time
	told   time.Time // that the store is away
}

func newWaiting(w io.Writer) *waiting { return &waiting{screen: newScreen(w)} }

// away says, once a minute, that it cannot be looked at the crawl.
func (p *waiting) away(err error) {
	if now := time.Now(); now.Sub(p.told) >= time.Minute {
		p.told = now
		fmt.Fprintf(p.screen, "whirlpool: waiting goes on: %v\n", err)
	}
}

func (p *waiting) show(s sighting, last bool) {
	now := time.Now()
	speed := p.rate.Add(now, s.pages)
	if !p.screen.live && !last && now.Sub(p.shown) < lineEvery {
		return
	}
	p.shown = now
	parts := []part{{0, fmt.Sprintf("%6d pages", s.pages)}, {2, fmt.Sprintf("%6.1f/s", speed)},
		{1, fmt.Sprintf("%d open", s.open)}, {3, fmt.Sprintf("%d left out", s.left)}}
	if len(s.running) > 0 {
		parts = append(parts, part{4, someOf(s.running)})
	}
	switch {
	case p.screen.live && last:
		p.screen.clear()
	case p.screen.live:
		p.screen.renew(func(columns int) string { return fit(parts, columns) })
	default:
		fmt.Fprintln(p.screen, fit(parts, math.MaxInt))
	}
}

// waitFirst makes a command wait, where its flag says so, before it does what it does.
func (r *crawlRef) waitFirst(wait *bool, run func(*cobra.Command, []string) error) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		if *wait {
			if err := r.wait(cmd); err != nil {
				return err
			}
		}
		return run(cmd, args)
	}
}

// wait waits until what a command is about has ended.
func (r *crawlRef) wait(cmd *cobra.Command) error {
	return r.choose(cmd.Context(), func() error { return waitForDirectory(cmd, r.out) },
		func(c *cluster.Cluster) error { return waitForJobs(cmd, c, crawl.JobID(r.job)) })
}

// waitForJobs waits until a job, or all of them where none is named, have ended.
func waitForJobs(cmd *cobra.Command, c *cluster.Cluster, id crawl.JobID) error {
	view, err := c.View()
	if err != nil {
		return err
	}
	if id != "" {
		if _, err := view.Job(cmd.Context(), id); err != nil {
			return err
		}
	}
	return waitUntil(cmd, finalLooks, func(ctx context.Context) (s sighting, err error) {
		lines, err := view.Lines(ctx)
		found := id == "" || err != nil
		for i := range lines {
			if l := &lines[i]; id == "" || l.Job == id {
				s.add(string(l.Job), l)
				found = true
			}
		}
		if !found {
			err = fmt.Errorf("job %s was deleted before it had ended", id)
		}
		return s, err
	})
}

func (s *sighting) add(name string, l *report.JobLine) {
	s.pages, s.open, s.left = s.pages+l.Pages, s.open+l.Open, s.left+l.Excluded
	switch l.State {
	case report.StateFinished:
	case report.StateStopped:
		s.stopped = append(s.stopped, name)
	case report.StatePaused:
		s.running = append(s.running, name+" (paused)")
	default:
		s.running = append(s.running, name)
	}
}

// waitForDirectory waits until the crawl in a directory has ended.
func waitForDirectory(cmd *cobra.Command, named string) error {
	return waitUntil(cmd, 1, func(ctx context.Context) (out sighting, err error) {
		d, err := directory.Open(ctx, named)
		if err != nil {
			return out, err
		}
		s, err := d.Status(ctx)
		if e := d.Close(); err == nil {
			err = e
		}
		if err != nil {
			return out, err
		}
		out.add(d.Dir, &report.JobLine{State: s.State, Pages: s.Pages, Open: s.Open, Excluded: excludedOf(s)})
		return out, nil
	})
}

func excludedOf(s *report.Status) int64 { return excluded(crawl.Tally{Excluded: s.Excluded}) }
