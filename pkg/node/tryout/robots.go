package tryout

import (
	"context"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxRobots is how many requests lead to a robots.txt: its redirects are followed five times (RFC 9309, 2.3.1.2).
const maxRobots = 6

// askRobots finds out what the robots.txt of the URL's origin says. It asks for it where the crawler has none that is
// good. turn is why it could not be asked for.
func (r *run) askRobots(ctx context.Context) (turn *frontier.TurnError, err error) {
	name := r.job.RulesOf(r.trial.URL)
	v := &trial.Robots{URL: crawl.OriginOf(name) + "/robots.txt", Agent: r.job.RobotsAgent(), Ignored: r.job.IgnoreRobots,
		Allowed: true}
	r.trial.Robots = v
	in := object{"robots_txt": v.URL, "agent": v.Agent, "path": r.trial.URL.RequestURI()}
	s := r.begin(trial.StepRobots, in)
	if v.Ignored {
		s.end(trial.Skipped, in, "the job ignores robots.txt")
		return nil, nil
	}
	defer func() { v.Took = trial.InSeconds(time.Since(s.started)) }()
	_, _, v.Known, err = r.robots.Rules(ctx, name, v.Agent)
	if err == nil && !v.Known {
		err = r.requestRobots(ctx, s, v, name)
	}
	if errors.As(err, &turn) {
		v.Allowed, v.Detail = false, turn.Error()
		r.trial.Fetch = &trial.Fetch{Verdict: "waits", Reason: trial.NoTurn, Detail: turn.Error()}
		s.end(trial.Stopped, with(in, "detail", v.Detail), "%s", v.Detail)
		return turn, nil
	}
	if err == nil {
		err = r.robotsVerdict(ctx, v, name)
	}
	if err != nil {
		return nil, err
	}
	out := with(in, "allowed", v.Allowed, "rule", v.Rule, "line", v.Line, "status", v.Status, "bytes", v.Bytes, "detail",
		v.Detail, "crawl_delay_seconds", v.CrawlDelay, "requests", v.Requests, "known", v.Known)
	verdict := trial.OK
	if !v.Allowed {
		verdict = trial.Stopped
	}
	s.end(verdict, out, "%s", v.Words())
	return nil, nil
}

// requestRobots asks for a robots.txt (see crawl.Job.RulesOf), and follows its redirects.
func (r *run) requestRobots(ctx context.Context, s *step, v *trial.Robots, name string) error {
	u, err := weburl.Parse(v.URL)
	if err != nil {
		return err
	}
	task := crawl.Task{Job: r.job.ID, URL: u, Kind: crawl.KindRobots, For: name, Epoch: told}
	for v.Requests < maxRobots {
		out, _, err := r.request(ctx, s, &task, 0)
		if err != nil {
			return err
		}
		v.Requests++
		v.Status, v.Bytes, v.Detail = out.Status, out.Bytes, out.Detail
		if out.Robots == nil || out.Robots.Redirect.IsZero() {
			break
		}
		task.URL, task.Redirects = out.Robots.Redirect, task.Redirects+1
	}
	return nil
}

// robotsVerdict reads what the robots.txt that came says of the URL.
func (r *run) robotsVerdict(ctx context.Context, v *trial.Robots, name string) error {
	rules, rec, found, err := r.robots.Rules(ctx, name, v.Agent)
	if err != nil {
		return err
	}
	if !found || rec.State == crawl.RobotsDisallowAll {
		v.Allowed = false // the fetcher says why, and asks for nothing
		return nil
	}
	v.Allowed, v.Rule, v.Line = rules.Match(r.trial.URL.RequestURI())
	delay, _ := rules.CrawlDelay()
	v.CrawlDelay = trial.InSeconds(delay)
	return nil
}
