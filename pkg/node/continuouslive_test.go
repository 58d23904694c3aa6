package node_test

import (
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/livingweb"
)

// liveDays is the variable with the days of the whole test; each takes two seconds.
const liveDays = "WHIRLPOOL_LIVE_DAYS"

// A crawl keeps pages about as fresh as one could that knows how often each changes, by the web's own account, and its
// ration is spent. The short form has fewer pages and days: too few to tell it from uniform visits, so it is only held
// against the bound.
func TestContinuousKeepsPagesFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute by the clock")
	}
	cfg := livingweb.Config{Seed: 1, Hosts: 5, Pages: 150, Days: 1000, Median: 20, Spread: 1.6}
	days, least, spent := 24., .9, .75
	if text := os.Getenv(liveDays); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", liveDays, err)
		}
		cfg.Hosts, cfg.Pages, days, least, spent = 10, 500, float64(n), .94, .95
	}
	slow := max(harness.Slowness(t), 1)
	day := time.Duration(slow * float64(time.Second))
	if cfg.Pages == 500 {
		day = 2 * time.Second
	}
	srv := living(t, cfg, 1/day.Seconds())
	job := againJob(srv.Seeds(), cfg.Pages/5)
	c := startCrawl(t, againOptions(slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		srv.Calendar(), job, t.TempDir()))
	untilAfter(t, time.Duration(days)*day, "the last day", func() bool { return srv.Day() >= days })
	c.end(t)
	f := srv.Figures(days/2, days)
	t.Logf("%.0f visits a day of %d: freshness %.4f; uniform %.4f, Nutch's interval %.4f, bound %.4f", f.PerDay,
		job.Revisit.Budget, f.Fresh, f.Uniform, f.Nutch, f.Bound)
	if f.Fresh < least*f.Bound {
		t.Errorf("%.3f of the bound, want %.2f at least", f.Fresh/f.Bound, least)
	}
	if budget := float64(job.Revisit.Budget); f.PerDay > 1.02*budget+1 || f.PerDay < spent*budget {
		t.Errorf("%.1f visits a day, of %.0f", f.PerDay, budget)
	}
	if days >= 60 && f.Fresh <= f.Uniform {
		t.Errorf("no fresher than uniform visits: %.4f, %.4f", f.Fresh, f.Uniform)
	}
}
