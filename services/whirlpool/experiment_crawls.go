package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/experiment"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// agentsRun is a crawl by so many agents, which are requests at once.
type agentsRun struct {
	answer   time.Duration // what the server takes
	seconds  int           // about how long each crawl takes
	price    float64       // EUR an hour of a processor
	rendered bool
}

func experimentAgents(show showing) *cobra.Command {
	a := agentsRun{}
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Pages a second and their price by the number of agents (requests at once), with and without rendering",
		Long: `Crawls a synthetic web whose every answer takes a while, with 1 to 48 requests at once, the number of agents of
Web Hiker, without delays. With --render it crawls with one to eight at once again, and every page goes through the
browser.`,
		Args:    cobra.NoArgs,
		PreRunE: counts("seconds"),
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			var table experiment.Table
			err := experimentBench(cmd.Context(), io.Discard, func(ctx context.Context, b *crawlBench) (err error) {
				table, err = a.run(ctx, b)
				return err
			})
			return show(cmd, []experiment.Table{table}, err)
		}),
	}
	cmd.Flags().DurationVar(&a.answer, "answer", 200*time.Millisecond, "what the server takes to answer")
	cmd.Flags().IntVar(&a.seconds, "seconds", 8, "about how long each crawl takes")
	cmd.Flags().Float64Var(&a.price, "price", .02, "EUR an hour of a processor, for the price of a page")
	cmd.Flags().BoolVar(&a.rendered, "render", false, "render pages too; needs Chromium")
	return cmd
}

func (a *agentsRun) run(ctx context.Context, b *crawlBench) (t experiment.Table, err error) {
	t = experiment.Table{Name: "agents", Label: "agents",
		Title: fmt.Sprintf("Speed by agents; each answer takes %v", a.answer),
		Columns: []experiment.Column{{Name: "pages"}, {Name: "rendered"}, {Name: "pages/s", Digits: 2, Drawn: true},
			{Name: "CPU a page", Unit: "ms", Digits: 2, Drawn: true}, {Name: "price of 10^6 pages", Unit: "EUR", Digits: 4}}}
	cfg := fakeweb.Plain(100, 20_000)
	cfg.Delay = a.answer
	stop, err := b.serveConfig(ctx, cfg)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, n := range []int{1, 2, 4, 8, 16, 32, 48} {
		pages := max(10, int(float64(n*a.seconds)/a.answer.Seconds()))
		if err := a.crawl(ctx, b, &t, n, min(pages, 10_000), "never"); err != nil {
			return t, err
		}
	}
	for _, n := range []int{1, 4, 8} {
		if !a.rendered {
			break
		}
		if err := a.crawl(ctx, b, &t, n, 5*a.seconds, "always"); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (a *agentsRun) crawl(ctx context.Context, b *crawlBench, t *experiment.Table, agents, pages int,
	render string) error {
	b.concurrency = agents
	dir := filepath.Join(b.dir, "crawl")
	defer os.RemoveAll(dir)
	args := append(b.crawlArgs(dir), "--max-pages", strconv.Itoa(pages), "--render", render)
	u, err := b.measure(ctx, io.Discard, args...)
	if err != nil {
		return err
	}
	found, rendered, err := fetched(dir)
	if err != nil {
		return err
	}
	label := strconv.Itoa(agents)
	if render == "always" {
		label += ", rendered"
	}
	u.pages = len(found)
	t.Add(label, float64(u.pages), float64(rendered), u.rate(), u.cpuPerPage(), a.price*1e6*u.cpuPerPage()/1000/3600)
	return nil
}

func experimentHarvest(show showing) *cobra.Command {
	var took time.Duration
	cmd := &cobra.Command{
		Use:   "harvest",
		Short: "Pages and bytes of a crawl by its seconds, and how a ring spreads them between agents",
		Long: `Crawls a synthetic web for a time, without delays, with 64 requests at once. Cassiopeia compared ten minutes
(--time 10m). How the same pages spread between 2 to 48 agents is computed with the table that nodes use.`,
		Args: cobra.NoArgs,
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			var tables []experiment.Table
			err := experimentBench(cmd.Context(), io.Discard, func(ctx context.Context, b *crawlBench) (err error) {
				tables, err = harvest(ctx, b, took)
				return err
			})
			return show(cmd, tables, err)
		}),
	}
	cmd.Flags().DurationVar(&took, "time", 40*time.Second, "how long the crawl takes")
	return cmd
}

func harvest(ctx context.Context, b *crawlBench, took time.Duration) (_ []experiment.Table, err error) {
	stop, err := b.serveConfig(ctx, fakeweb.Plain(2000, 2_000_000))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	b.concurrency = 64
	dir := filepath.Join(b.dir, "crawl")
	_, err = b.measure(ctx, io.Discard, append(b.crawlArgs(dir), "--max-time", took.String())...)
	pages, _, readErr := fetched(dir)
	if readErr != nil {
		return nil, errors.Join(err, readErr)
	}
	if len(pages) == 0 {
		return nil, errors.Join(err, errors.New("the crawl fetched nothing"))
	}
	spread, err := experiment.Spread(pages, []int{2, 3, 6, 12, 24, 48})
	return []experiment.Table{experiment.Harvest(pages, took.Seconds(), 10), spread}, err
}
