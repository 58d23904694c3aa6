package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/topical"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/hooks"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/due"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/hostsplitter"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/renderer"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
)

// service is what a program must have open for a stage, beside the broker.
type service uint

const (
	postgresService service = 1 << iota
	mongoService
	memcachedService
	resolverService
	spoolService
	archiveService
)

// maker says how a stage of the pipeline's table (crawl.Stages) is made.
type maker struct {
	// needs are the services that Deps must come from.
	needs service
	// make makes the stage and adds a handler for each topic that it takes.
	make func(*Node) error
}

// makers has an entry for each row of the table.
var makers = map[Role]maker{
	Fetcher:      {postgresService | memcachedService | resolverService | spoolService | archiveService, makeFetcher},
	Parser:       {postgresService | spoolService, makeParser},
	Renderer:     {postgresService | spoolService | archiveService, makeRenderer},
	ContentSeen:  {postgresService | mongoService | spoolService, makeContentSeen},
	URLFilter:    {postgresService | memcachedService, makeURLFilter},
	HostSplitter: {0, makeHostSplitter},
	DUE:          {postgresService | memcachedService, makeDUE},
	Frontier:     {postgresService | memcachedService | resolverService, makeFrontier},
}

// needing returns the roles that need a service.
func needing(s service) (out []Role) {
	for _, r := range Roles() {
		if makers[r].needs&s != 0 {
			out = append(out, r)
		}
	}
	return out
}

// add makes the stage of a role.
func (n *Node) add(r Role) error {
	m, ok := makers[r]
	if !ok {
		return fmt.Errorf("no such role; there are %v", Roles())
	}
	return m.make(n)
}

// handle lets a handler consume a topic. The stage is the one that takes the topic in the pipeline's table. In ids,
// logs and metrics it has its name, or the topic's where it takes several.
func handle[In crawl.Event](n *Node, topic string, h pipeline.Handler[In]) {
	i := slices.IndexFunc(crawl.Stages(), func(s crawl.Stage) bool {
		return slices.ContainsFunc(s.Takes, func(t crawl.Topic) bool { return t.Name == topic })
	})
	stage := crawl.Stages()[i]
	role, name := Role(stage.Name), stage.Name
	if len(stage.Takes) > 1 {
		name = topic
	}
	cfg := pipeline.Config{Name: name, Topic: topic, Routes: stage.Routes(), Workers: n.cfg.Workers[role],
		Limit: n.cfg.Limits[role], Held: n.deps.Held, Bodies: n.deps.Stores.Bodies, Log: n.log, Metrics: n.metrics}
	n.stages = append(n.stages, func(ctx context.Context) error { return pipeline.Run(ctx, n.deps.Bus, cfg, h) })
}

// robotsRules returns the cache of compiled robots.txt files that the stages of a node share.
func (n *Node) robotsRules() (_ *robotscache.Cache, err error) {
	if n.rules == nil {
		n.rules, err = robotscache.New(n.deps.Stores.Robots, robotscache.Default())
	}
	return n.rules, err
}

func makeFetcher(n *Node) error {
	rules, err := n.robotsRules()
	if err != nil {
		return err
	}
	d, s := &n.deps, &n.deps.Stores
	deps := fetcher.Deps{Jobs: d.Jobs, Robots: rules, Bodies: s.Bodies, Archive: s.Archive,
		Archived: s.Archived, DNS: d.Resolver, Metrics: d.Registry, Redirects: s.Redirects, Ledger: s.Ledger,
		Attempts: s.Attempts, Jars: s.Jars, OwnJars: s.OwnJars, Resources: s.Resources}
	if d.Plugins != nil {
		deps.Plugins = hooks.New(d.Plugins)
	}
	if n.fetcher, err = fetcher.New(n.cfg.Fetch, deps); err != nil {
		return err
	}
	var h pipeline.Handler[*crawl.Fetch] = n.fetcher
	if d.Fetching != nil {
		h = d.Fetching(h)
	}
	handle(n, crawl.TopicFetch, h)
	return nil
}

func makeParser(n *Node) error {
	h := parser.NewHandler(n.deps.Jobs, n.deps.Stores.Bodies, n.log)
	h.UseSites(n.deps.SiteParsers...)
	h.KeepBodiesIn(n.deps.Stores.Kept)
	if n.deps.Opener != nil {
		h.UseOpener(n.deps.Opener)
	}
	if store, ok := n.deps.Jobs.(crawl.JobStore); ok {
		h.UseLearner(topical.NewLearner(store, n.log))
	}
	if n.deps.Plugins != nil {
		h.UsePlugins(hooks.New(n.deps.Plugins))
	}
	handle(n, crawl.TopicParse, h)
	return nil
}

func makeContentSeen(n *Node) error {
	d, s := &n.deps, &n.deps.Stores
	h := contentseen.New(contentseen.Stores{Jobs: d.Jobs, Content: s.Content, Pages: s.Pages, Unkept: s.Unkept,
		Texts: s.Texts, Attempts: s.Attempts, Bodies: s.Bodies, Renders: s.Renders, Trials: s.Trials, Queue: d.RenderQueue,
		Metrics: d.Registry}, n.log)
	if d.Plugins != nil {
		h.UsePlugins(hooks.New(d.Plugins))
	}
	handle(n, crawl.TopicContentSeen, h)
	return nil
}

func makeRenderer(n *Node) error {
	d, s := &n.deps, &n.deps.Stores
	goes := d.Rendering
	if goes == nil && s.Spending != nil {
		goes = spending{d.Jobs, s.Spending}.goes
	}
	handle(n, crawl.TopicRender, renderer.New(renderer.Deps{Jobs: d.Jobs, Bodies: s.Bodies, Resources: s.Resources,
		Renders: s.Renders, Attempts: s.Attempts, Browser: d.Browser, Goes: goes, Archive: s.Archive, Archived: s.Archived,
		Pictures: d.Pictures, Log: n.log, Metrics: d.Registry}))
	return nil
}

func makeURLFilter(n *Node) error {
	rules, err := n.robotsRules()
	if err == nil {
		handle(n, crawl.TopicURLFilter, urlfilter.New(n.deps.Jobs, rules))
	}
	return err
}

func makeHostSplitter(n *Node) error {
	d := &n.deps
	var recent *hostsplitter.Recent
	if d.Splits != nil {
		recent = hostsplitter.NewRecent(hostsplitter.RecentConfig{Patience: d.Patience}, d.Jobs, d.Splits)
	}
	handle(n, crawl.TopicHostSplitter, hostsplitter.New(cmp.Or[hostsplitter.Owners](d.Owners, hostsplitter.OneNode{}),
		recent))
	return nil
}

func makeDUE(n *Node) error {
	d, s := &n.deps, &n.deps.Stores
	handle(n, crawl.TopicDUE, due.New(due.Deps{URLs: s.URLs, Ledger: s.Ledger, Budgets: s.Budgets, Attempts: s.Attempts,
		Jobs: d.Jobs, Owners: d.Owners, Following: s.Following, Resources: s.Resources, Renders: s.Renders,
		Revisits: s.Revisits}))
	return nil
}

func makeFrontier(n *Node) (err error) {
	d, s := &n.deps, &n.deps.Stores
	n.judge = urlfilter.NewJudge(d.Jobs)
	n.frontier, err = frontier.New(n.cfg.Frontier, frontier.Deps{Judge: n.judge.Task,
		Promise: topical.NewPromises(d.Jobs).Of, Queues: s.Queues, Ledger: s.Ledger, Hosts: s.Hosts,
		Jobs: d.Jobs, Attempts: s.Attempts, Bus: d.Bus, Resolver: d.Resolver, Log: d.Log, Ring: d.Ring,
		Following: s.Following, Places: s.Places, Quiet: d.Quiet, Spending: s.Spending, Nodes: d.Nodes,
		Resources: s.Resources, Trials: s.Trials, Revisits: s.Revisits})
	if err == nil {
		handle(n, crawl.TopicFrontierIn, n.frontier.In())
		handle(n, crawl.TopicOutcome, n.frontier.Outcomes())
	}
	return err
}
