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
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/experiment"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

func experimentPoliteness(show showing) *cobra.Command {
	var pages int
	cmd := &cobra.Command{
		Use:   "politeness",
		Short: "The preset mercator against the adaptive delay, on fast and slow servers",
		Long: `Crawls five hosts whose answers take 20 ms, and then 250 ms, once with the default politeness (a delay that
grows with the time that answers take) and once with the preset mercator (ten times what the last request took). The
server's log says how long it was left alone between two requests.`,
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
	t = experiment.Table{Name: "politeness", Label: "politeness, answer",
		Title: fmt.Sprintf("Politeness: %d hosts of %d pages", politeHosts, pages),
		Columns: []experiment.Column{{Name: "pages"}, {Name: "pages/s", Digits: 2, Drawn: true},
			{Name: "left alone, least", Unit: "ms", Digits: 0, Drawn: true},
			{Name: "left alone, median", Unit: "ms", Digits: 0, Drawn: true},
			{Name: "server busy", Unit: "% of the time", Digits: 1, Drawn: true}}}
	for _, answer := range []time.Duration{20 * time.Millisecond, 250 * time.Millisecond} {
		for _, preset := range []string{"", "mercator"} {
			if err := politeCrawl(ctx, b, &t, pages, answer, preset); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

func politeCrawl(ctx context.Context, b *crawlBench, t *experiment.Table, pages int, answer time.Duration,
	preset string) (err error) {
	cfg := fakeweb.Plain(politeHosts, pages*politeHosts)
	cfg.Delay, cfg.Links, cfg.CrossHost = answer, 20, 0
	dir := filepath.Join(b.dir, "crawl")
	defer os.RemoveAll(dir)
	log := filepath.Join(b.dir, "log")
	stop, err := b.serveConfig(ctx, cfg, "--log="+log)
	if err != nil {
		return err
	}
	args := []string{"crawl", "-o", dir, "--quiet", "--allow-private", "--dns", b.web.DNS, "--max-pages", "0",
		"--no-sitemaps", "--ip-delay", "0s", "--contact", "experiment@whirlpool.invalid"}
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

// gapsOf reads a server's log: the milliseconds between the end of a request and the begin of the next to the same
// host, and those in which hosts were busy.
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
