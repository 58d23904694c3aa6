package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
		Long: `Crawls a synthetic web whose every answer takes a while, with 1 to 48 requests at once, the number of agents of Web Hiker,
without delays. With --render it crawls with one to eight at once again, and every page goes through the browser.`,
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
	t = experiment.Table{Name: "agents", Label: "agents", Title: fmt.Sprintf("Speed by agents; each answer takes %v", a.answer),
		Columns: []experiment.Column{{Name: "pages"}, {Name: "rendered"}, {Name: "pages/s", Digits: 2, Drawn: true}, {Name: "CPU a page", Unit: "ms", Digits: 2, Drawn: true},
			{Name: "price of 10^6 pages", Unit: "EUR", Digits: 4}}}
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

func (a *agentsRun) crawl(ctx context.Context, b *crawlBench, t *experiment.Table, agents, pages int, render string) error {
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
		Long: `Crawls a synthetic web for a time, without delays, with 64 requests at once. Cassiopeia compared ten minutes (--time 10m).
How the same pages spread between 2 to 48 agents is computed with the table that nodes use.`,
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

func experimentPoliteness(show showing) *cobra.Command {
	var pages int
	cmd := &cobra.Command{
		Use:   "politeness",
		Short: "The preset mercator against the adaptive delay, on fast and slow servers",
		Long: `Crawls five hosts whose answers take 20 ms, and then 250 ms, once with the default politeness (a delay that grows with the time that
answers take) and once with the preset mercator (ten times what the last request took). The server's log says how long
it was left alone between two requests.`,
		Args:    cobra.NoArgs,
		PreRunE: counts("pages"),
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			var table experiment.Table
			err := experimentBench(cmd.Context(), io.Discard, func(ctx context.Context, b *crawlBench) (err error) {
				table, err = politeness(ctx, b, pages)
				return err
			})
			return show(cmd, []experiment.Table{table}, err)
		}),
	}
	cmd.Flags().IntVar(&pages, "pages", 12, "pages of each host")
	return cmd
}

const politeHosts = 5

func politeness(ctx context.Context, b *crawlBench, pages int) (t experiment.Table, err error) {
	t = experiment.Table{Name: "politeness", Label: "politeness, answer", Title: fmt.Sprintf("Politeness: %d hosts of %d pages", politeHosts, pages),
		Columns: []experiment.Column{{Name: "pages"}, {Name: "pages/s", Digits: 2, Drawn: true}, {Name: "left alone, least", Unit: "ms", Digits: 0, Drawn: true},
			{Name: "left alone, median", Unit: "ms", Digits: 0, Drawn: true}, {Name: "server busy", Unit: "% of the time", Digits: 1, Drawn: true}}}
	for _, answer := range []time.Duration{20 * time.Millisecond, 250 * time.Millisecond} {
		for _, preset := range []string{"", "mercator"} {
			if err := politeCrawl(ctx, b, &t, pages, answer, preset); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

func politeCrawl(ctx context.Context, b *crawlBench, t *experiment.Table, pages int, answer time.Duration, preset string) (err error) {
	cfg := fakeweb.Plain(politeHosts, pages*politeHosts)
	cfg.Delay, cfg.Links, cfg.CrossHost = answer, 20, 0
	dir := filepath.Join(b.dir, "crawl")
	defer os.RemoveAll(dir)
	log := filepath.Join(b.dir, "log")
	stop, err := b.serveConfig(ctx, cfg, "--log="+log)
	if err != nil {
		return err
	}
	args := []string{"crawl", "-o", dir, "--quiet", "--allow-private", "--dns", b.web.DNS, "--max-pages", "0", "--no-sitemaps", "--ip-delay", "0s", "--contact",
		"experiment@whirlpool.invalid"}
	label := fmt.Sprintf("adaptive, %v", answer)
	if preset != "" {
		args, label = append(args, "--politeness", preset), fmt.Sprintf("%s, %v", preset, answer)
	}
	u, err := b.measure(ctx, io.Discard, append(args, b.web.Seeds...)...)
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	found, _, err := fetched(dir)
	if err != nil {
		return err
	}
	u.pages = len(found)
	gaps, busy, err := gapsOf(log)
	if err != nil || len(gaps) == 0 {
		return errors.Join(err, errors.New("the server's log has no two requests to one host"))
	}
	slices.Sort(gaps)
	t.Add(label, float64(u.pages), u.rate(), gaps[0], gaps[len(gaps)/2], 100*busy/(u.wall.Seconds()*1000*politeHosts))
	return nil
}

// gapsOf reads a server's log: the milliseconds between the end of a request and the begin of the next to the same host,
// and those in which hosts were busy.
func gapsOf(log string) (gaps []float64, busy float64, err error) {
	f, err := os.Open(log)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	by := map[string][]fakeweb.Entry{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e fakeweb.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, 0, err
		}
		by[e.Host] = append(by[e.Host], e)
		busy += float64(e.End-e.Start) / 1e6
	}
	for _, requests := range by {
		slices.SortFunc(requests, func(a, b fakeweb.Entry) int { return int(a.Start - b.Start) })
		for i := range requests[1:] {
			gaps = append(gaps, float64(requests[i+1].Start-requests[i].End)/1e6)
		}
	}
	return gaps, busy, nil
}
