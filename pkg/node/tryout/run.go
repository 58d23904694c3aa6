package tryout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/cookies"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// run is a trial under way.
type run struct {
	opt     Options
	job     *crawl.Job
	rules   *urlrules.Rules
	memory  *memory
	robots  *robotscache.Cache
	fetcher *fetcher.Handler
	task    crawl.Task
	trial   *trial.Trial
	contact time.Time // end of the last request
	plugins *plugins
	body    []byte // that was parsed
	lines   *lines
	log     *slog.Logger
}

// told is the revision under which a trial runs: the rules of later revisions than the first tell which of them it was
// that left a URL out.
const told = 2

// Run tries a URL. An error is a fault of the call, or of ours; what the site does is told in the trial.
func Run(ctx context.Context, opt Options) (_ *trial.Trial, err error) {
	started := time.Now()
	r, u, err := newRun(opt)
	if err != nil {
		return nil, err
	}
	ctx, err = r.usePlugins(ctx)
	defer func() { err = errors.Join(err, r.closePlugins()) }()
	if err != nil {
		return nil, err
	}
	if err := r.useFetcher(); err != nil {
		return nil, err
	}
	defer r.fetcher.Close()
	s := r.begin(trial.StepURL, object{"url": opt.URL})
	s.started = started
	r.trial.URL = r.rules.Canonical(u)
	if changed := r.trial.URL.String(); changed != opt.URL {
		s.end(trial.OK, object{"url": changed}, "a crawl knows it as %s", changed)
	} else {
		s.end(trial.OK, object{"url": changed}, "it is in its canonical form")
	}
	if err := r.all(ctx); err != nil && !errors.Is(err, errStopped) {
		return nil, fmt.Errorf("try %s: %w", r.trial.URL, err)
	}
	r.trial.Took = trial.InSeconds(time.Since(started))
	r.trial.Answer = r.trial.Sentence()
	return r.trial, nil
}

// newRun makes what a trial needs.
func newRun(opt Options) (*run, weburl.URL, error) {
	job := *opt.Job
	job.Epoch = told
	r := &run{opt: opt, job: &job, memory: &memory{stored: opt.Stored},
		trial: &trial.Trial{Given: opt.URL, Steps: []trial.Step{}}, lines: newLines(opt.Log)}
	r.log = slog.New(r.lines)
	var none weburl.URL
	var err error
	if r.rules, err = urlrules.Compile(&job); err != nil {
		return nil, none, err
	}
	raw := opt.URL
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := weburl.Parse(raw)
	if err != nil {
		return nil, none, err
	}
	if r.robots, err = robotscache.New(r.memory, robotscache.Default()); err != nil {
		return nil, none, err
	}
	return r, u, nil
}

// useFetcher makes the fetcher.
func (r *run) useFetcher() (err error) {
	if r.opt.Resolver == nil {
		if r.opt.Resolver, err = dnscache.New(r.opt.DNS, nil); err != nil {
			return err
		}
	}
	deps := fetcher.Deps{Jobs: r.jobs(), Bodies: r.memory, Robots: r.robots, DNS: r.opt.Resolver, Archive: r.memory,
		Jars: r.memory, OwnJars: true}
	if r.plugins != nil {
		deps.Plugins = r.plugins
	}
	r.fetcher, err = fetcher.New(r.opt.Fetch, deps)
	return err
}

func (r *run) jobs() crawl.Jobs { return crawl.StaticJobs{r.job.ID: r.job} }

// all goes through the stages, as far as the URL comes.
func (r *run) all(ctx context.Context) error {
	r.judge()
	page, links, err := r.page(ctx)
	if err != nil {
		return err
	}
	var d *crawl.Document
	if page != nil {
		if d, err = r.parse(ctx, page); err != nil || d == nil {
			return err
		}
		if err := r.sites(d); err != nil {
			return err
		}
		links = &crawl.Links{Task: page.Task, Links: d.Links}
	}
	if err := r.filter(ctx, links, d); err != nil || d == nil {
		return err
	}
	return r.content(ctx, d)
}

// page gets the page: what was given, or what the URL answers.
func (r *run) page(ctx context.Context) (page *crawl.Page, links *crawl.Links, err error) {
	if g := r.opt.Given; g != nil {
		page, err = r.given(ctx, g)
		return page, nil, err
	}
	if err := r.session(ctx); err != nil {
		return nil, nil, err
	}
	turn, err := r.askRobots(ctx)
	if err != nil || turn != nil {
		return nil, nil, err
	}
	return r.fetch(ctx)
}

// session keeps a trial from logging in: a log-in is requests of its own. Where the crawl is logged in, the trial is.
func (r *run) session(ctx context.Context) error {
	if r.job.Login.URL == "" {
		return nil
	}
	form, err := weburl.Parse(r.job.Login.URL)
	if err != nil {
		return err
	}
	jar, err := r.memory.Jar(ctx, r.job.ID, cookies.Site(form.Hostname()))
	if err == nil && (jar.Login.Number == 0 || jar.Login.Out) {
		r.job.Login = crawl.Login{}
		r.trial.Notes = append(r.trial.Notes,
			"the job logs in, and the dry run does not: the page is that of somebody who is not logged in")
	}
	return err
}

// judge asks the job's rules about the URL itself. It goes on whatever they say: the user asked for this URL.
func (r *run) judge() {
	t := r.trial
	in := object{"url": t.URL.String(), "depth": r.opt.Depth}
	s := r.begin(trial.StepScope, in)
	r.task = crawl.Task{Job: r.job.ID, URL: t.URL, Priority: crawl.DefaultPriority, Depth: r.opt.Depth, Epoch: told}
	r.task.Seed = r.rules.IsSeed(t.URL)
	t.Rules = trial.Rules{Seed: r.task.Seed, Allowed: true, Depth: r.opt.Depth}
	if !r.task.Seed {
		t.Rules.Reason, t.Rules.Rule = r.rules.Judge(&r.task, s.started)
		t.Rules.Allowed = t.Rules.Reason == ""
	}
	t.Rules.Took = trial.InSeconds(time.Since(s.started))
	out := with(in, "allowed", t.Rules.Allowed, "seed", t.Rules.Seed, "reason", t.Rules.Reason, "rule", t.Rules.Rule)
	switch {
	case t.Rules.Seed:
		s.end(trial.OK, out, "it is a seed: scope and patterns do not bind it")
	case t.Rules.Allowed:
		s.end(trial.OK, out, "the job's rules let it in")
	default:
		s.end(trial.Against, out, "a crawl leaves it out: %s; the dry run continues",
			cmp.Or(strings.TrimSpace(t.Rules.Reason+" "+t.Rules.Rule), "?"))
	}
}
