package tryout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Options say what is tried and how.
type Options struct {
	Job   *crawl.Job
	URL   string
	Depth int // hops from a seed at which the URL is said to be found; seeds are at 0
	Fetch fetcher.Config
	DNS   dnscache.Config
	Log   *slog.Logger
}

// run is a trial under way.
type run struct {
	opt     Options
	job     *crawl.Job
	rules   *urlrules.Rules
	memory  *memory
	robots  *robotscache.Cache
	fetcher *fetcher.Handler
	task    crawl.Task
	trial   *Trial
	contact time.Time // end of the last request
}

// told is the revision under which a trial runs: the rules of later revisions than the first tell which of them it was
// that left a URL out.
const told = 2

// Run tries a URL. An error is a fault of the call, or of ours; what the site does is told in the trial.
func Run(ctx context.Context, opt Options) (*Trial, error) {
	job := *opt.Job
	job.Epoch = told
	r := &run{opt: opt, job: &job, memory: &memory{}, trial: &Trial{Given: opt.URL}}
	var err error
	if r.rules, err = urlrules.Compile(&job); err != nil {
		return nil, err
	}
	raw := opt.URL
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := weburl.Parse(raw)
	if err != nil {
		return nil, err
	}
	if r.robots, err = robotscache.New(r.memory, robotscache.Default()); err != nil {
		return nil, err
	}
	dns, err := dnscache.New(opt.DNS, nil)
	if err != nil {
		return nil, err
	}
	r.fetcher, err = fetcher.New(opt.Fetch, fetcher.Deps{Jobs: r.jobs(), Bodies: r.memory, Robots: r.robots, DNS: dns})
	if err != nil {
		return nil, err
	}
	defer r.fetcher.Close()
	r.trial.URL = r.rules.Canonical(u)
	started := time.Now()
	if err := r.all(ctx); err != nil {
		return nil, fmt.Errorf("try %s: %w", r.trial.URL, err)
	}
	r.trial.Took = seconds(time.Since(started))
	r.trial.Answer = r.trial.answer()
	return r.trial, nil
}

func (r *run) jobs() crawl.Jobs { return crawl.StaticJobs{r.job.ID: r.job} }

// all goes through the stages, as far as the URL comes.
func (r *run) all(ctx context.Context) error {
	r.judge()
	if ok, err := r.askRobots(ctx); err != nil || !ok {
		return err
	}
	page, links, err := r.fetch(ctx)
	if err != nil {
		return err
	}
	if page != nil {
		if links, err = r.parse(ctx, page); err != nil {
			return err
		}
	}
	return r.filter(ctx, links)
}

// judge asks the job's rules about the URL itself. It goes on whatever they say: the user asked for this URL.
func (r *run) judge() {
	started, t := time.Now(), r.trial
	r.task = crawl.Task{Job: r.job.ID, URL: t.URL, Priority: crawl.DefaultPriority, Depth: r.opt.Depth, Epoch: told}
	seed := r.rules.IsSeed(t.URL)
	r.task.Seed = seed
	t.Rules = Rules{Seed: seed, Allowed: true, Depth: r.opt.Depth}
	if !seed {
		t.Rules.Reason, t.Rules.Rule = r.rules.Judge(&r.task, started)
		t.Rules.Allowed = t.Rules.Reason == ""
	}
	t.Rules.Took = seconds(time.Since(started))
}

// maxRobots is how many requests lead to a robots.txt: its redirects are followed five times (RFC 9309, 2.3.1.2).
const maxRobots = 6

// askRobots asks for the robots.txt of the URL's origin, and reports whether the URL may be asked for.
func (r *run) askRobots(ctx context.Context) (bool, error) {
	origin := r.trial.URL.Origin()
	v := &Robots{URL: origin + "/robots.txt", Agent: r.job.RobotsAgent(), Ignored: r.job.IgnoreRobots, Allowed: true}
	r.trial.Robots = v
	if v.Ignored {
		return true, nil
	}
	started := time.Now()
	defer func() { v.Took = seconds(time.Since(started)) }()
	u, err := weburl.Parse(v.URL)
	if err != nil {
		return false, err
	}
	task := crawl.Task{Job: r.job.ID, URL: u, Kind: crawl.KindRobots, For: origin, Epoch: told}
	for v.Requests < maxRobots {
		v.Requests++
		out, _, err := r.request(ctx, &task)
		if err != nil {
			return false, err
		}
		v.Status, v.Bytes, v.Detail = out.Status, out.Bytes, out.Detail
		if out.Robots == nil || out.Robots.Redirect.IsZero() {
			break
		}
		task.URL, task.Redirects = out.Robots.Redirect, task.Redirects+1
		if err := r.wait(ctx, r.job.Politeness.Delay.D()); err != nil {
			return false, err
		}
	}
	return r.robotsVerdict(ctx, v, origin)
}

// robotsVerdict reads what the robots.txt that came says of the URL.
func (r *run) robotsVerdict(ctx context.Context, v *Robots, origin string) (bool, error) {
	rules, rec, found, err := r.robots.Rules(ctx, origin, v.Agent)
	switch {
	case err != nil:
		return false, err
	case !found || rec.State == crawl.RobotsDisallowAll:
		v.Allowed = false
		return true, nil // the fetcher says why, and asks for nothing
	}
	v.Allowed, v.Rule, v.Line = rules.Match(r.trial.URL.RequestURI())
	delay, _ := rules.CrawlDelay()
	v.CrawlDelay = seconds(delay)
	return true, nil
}

// request has one task fetched. What is fetched for robots.txt brings links to sitemaps, which are not wanted here.
func (r *run) request(ctx context.Context, task *crawl.Task) (*crawl.Outcome, []crawl.Event, error) {
	events, err := r.fetcher.Handle(ctx, &crawl.Fetch{Task: *task})
	if err != nil {
		return nil, nil, err
	}
	out, ok := events[len(events)-1].(*crawl.Outcome)
	if !ok {
		return nil, nil, errors.New("the fetcher reported no outcome")
	}
	if out.Contacted() {
		r.contact = out.Ended
	}
	return out, events[:len(events)-1], nil
}

// wait waits until the host may be asked again.
func (r *run) wait(ctx context.Context, delay time.Duration) error {
	if r.contact.IsZero() {
		return nil
	}
	timer := time.NewTimer(time.Until(r.contact.Add(delay)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fetch asks for the URL. Of a redirect it returns the link that it is.
func (r *run) fetch(ctx context.Context) (page *crawl.Page, links *crawl.Links, err error) {
	started := time.Now()
	if rb := r.trial.Robots; rb.Allowed && rb.CrawlDelay.D() <= r.job.Politeness.MaxCrawlDelay.D() {
		if err := r.wait(ctx, max(r.job.Politeness.Delay.D(), rb.CrawlDelay.D())); err != nil {
			return nil, nil, err
		}
	}
	waited := time.Since(started)
	out, before, err := r.request(ctx, &r.task)
	if err != nil {
		return nil, nil, err
	}
	f := &Fetch{Verdict: out.Verdict.String(), Status: out.Status, Reason: out.Reason, Detail: out.Detail, ContentType: out.ContentType,
		Bytes: out.Bytes, Location: out.Location, Waited: seconds(waited), FirstByte: seconds(out.FirstByte),
		Took: seconds(time.Since(started) - waited)}
	if out.Addr.IsValid() {
		f.Addr = out.Addr.String()
	}
	if !out.Digest.IsZero() {
		f.Digest = out.Digest.String()
	}
	r.trial.Fetch = f
	for _, e := range before {
		switch e := e.(type) {
		case *crawl.Page:
			page, f.Truncated = e, e.Truncated
			r.trial.body, _ = r.memory.Body(e.Body)
		case *crawl.Links:
			links = e
		}
	}
	return page, links, nil
}

// parse parses the page and says what each site rule made of it.
func (r *run) parse(ctx context.Context, page *crawl.Page) (*crawl.Links, error) {
	started := time.Now()
	opener := documents.New(documents.Default()) // it starts nothing where the page is no document
	h := parser.NewHandler(r.jobs(), r.memory, r.opt.Log)
	h.UseOpener(opener)
	events, err := h.Handle(ctx, page)
	if err = errors.Join(err, opener.Close()); err != nil {
		return nil, err
	}
	d, ok := events[0].(*crawl.Document)
	if !ok {
		return nil, errors.New("the parser made no document")
	}
	t := r.trial
	t.Parse = &Parse{Title: d.Title, Lang: d.Lang, Charset: d.Charset, ContentType: d.ContentType, Canonical: d.Canonical, Text: d.Text,
		Fields: d.Fields, Links: len(d.Links), Assets: len(d.Assets), NoIndex: d.NoIndex, NoFollow: d.NoFollow, Cut: d.Cut,
		Took: seconds(time.Since(started))}
	if err := r.sites(d); err != nil {
		return nil, err
	}
	started = time.Now()
	simhash, _, words := contentseen.Fingerprint(d.Text)
	t.Content = &Content{Simhash: fmt.Sprintf("%016x", simhash), Words: words, Took: seconds(time.Since(started))}
	if t.Kept, t.Why = d.Unkept, d.Why; d.NoIndex && !r.job.IgnoreMeta {
		t.Kept = crawl.ReasonNoIndex
	}
	if d.NoFollow && !r.job.IgnoreMeta {
		return nil, nil
	}
	return &crawl.Links{Task: page.Task, Links: d.Links}, nil
}

// sites says which site rules match the URL, and which of their fields found nothing.
func (r *run) sites(d *crawl.Document) error {
	for i := range r.job.Rules {
		rule := &r.job.Rules[i]
		compiled, err := parser.CompileRules(r.job.Rules[i : i+1])
		if err != nil {
			return err
		}
		s := Site{Name: rule.Name, Matches: compiled.Matches(r.trial.URL)}
		if s.Name == "" {
			s.Name = fmt.Sprintf("rule %d", i+1)
		}
		for _, f := range rule.Fields {
			found := slices.ContainsFunc(d.Fields, func(g crawl.Field) bool { return g.Name == f.Name })
			if s.Matches && !found {
				s.Missing = append(s.Missing, f.Name)
			}
		}
		r.trial.Sites = append(r.trial.Sites, s)
	}
	return nil
}

// filter has the URL filter judge the links.
func (r *run) filter(ctx context.Context, links *crawl.Links) error {
	if links == nil {
		return nil
	}
	events, err := urlfilter.New(r.jobs(), known{r.robots}).Handle(ctx, links)
	if err != nil || len(events) == 0 {
		return err
	}
	batch, ok := events[0].(*crawl.Filtered)
	if !ok {
		return errors.New("the URL filter answered with something else")
	}
	texts := map[weburl.URL]string{}
	for i := range links.Links {
		if l := &links.Links[i]; !l.URL.IsZero() {
			u := r.rules.Canonical(l.URL)
			if texts[u] == "" {
				texts[u] = l.Text
			}
		}
	}
	for i := range batch.Tasks {
		t := &batch.Tasks[i]
		r.trial.Links = append(r.trial.Links, Link{URL: t.URL, Followed: true, Kind: t.Kind.String(), Depth: t.Depth, Priority: t.Priority,
			Text: texts[t.URL]})
	}
	for _, list := range []crawl.ExclusionList{batch.Exclusions, batch.Foreign} {
		for i := range list {
			x := &list[i]
			r.trial.Links = append(r.trial.Links, Link{URL: x.URL, Reason: x.Reason, Rule: x.Rule, Kind: x.Kind.String(), Depth: x.Depth,
				Text: texts[x.URL]})
		}
	}
	return nil
}
