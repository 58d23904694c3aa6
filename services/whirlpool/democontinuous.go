package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/livingweb"
)

// livingDemo is `whirlpool demo --continuous`.
type livingDemo struct {
	on          bool
	days        float64
	day         time.Duration
	pages, host int
	perDay      float64
	habit       string
	picture     string
}

func (d *livingDemo) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&d.on, "continuous", false,
		"crawl a web whose pages change, and visit them again; print how fresh they are kept")
	fl.Float64Var(&d.days, "days", 60, "days of that web, of which the second half counts")
	fl.DurationVar(&d.day, "day", 2*time.Second, "how long a day of that web takes")
	fl.IntVar(&d.pages, "pages", 500, "pages of that web")
	fl.IntVar(&d.host, "hosts", 10, "hosts of that web")
	fl.Float64Var(&d.perDay, "visits", .2, "visits a page and day")
	fl.StringVar(&d.picture, "picture", "", "file for a picture (SVG) of the freshness of each day")
	fl.StringVar(&d.habit, "habit", "poisson", "how pages change: poisson, bursty or daily")
}

// web makes the web that is crawled.
func (d *livingDemo) web() (*livingweb.Web, error) {
	habit, ok := map[string]livingweb.Habit{"poisson": livingweb.Poisson, "bursty": livingweb.Bursty,
		"daily": livingweb.Daily}[d.habit]
	if !ok {
		return nil, usage("--habit %q: want poisson, bursty or daily", d.habit)
	}
	if d.days <= 0 || d.day < time.Millisecond || d.pages < 1 || d.host < 1 || d.perDay <= 0 {
		return nil, usage("--days, --day, --pages, --hosts and --visits: want more than 0")
	}
	calendar := revisit.Calendar{Start: time.Now(), Speed: float64(24*time.Hour) / float64(d.day)}
	return livingweb.New(livingweb.Config{Seed: 1, Hosts: d.host, Pages: d.pages, Habit: habit, Days: d.days + 1,
		Median: 20, Spread: 1.6, Calendar: calendar}), nil
}

// run crawls the web for its days, and prints how fresh its pages were kept.
func (d *livingDemo) run(ctx context.Context, dir string, out, progress io.Writer) (err error) {
	web, err := d.web()
	if err != nil {
		return err
	}
	srv, err := livingweb.Serve(web)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	if dir == "" {
		tmp, err := os.MkdirTemp("", "whirlpool-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = filepath.Join(tmp, "crawl")
	}
	job := crawl.DefaultJob()
	job.ID, job.Mode, job.Seeds, job.Scope, job.MaxPages = "demo", crawl.ModeContinuous, srv.Seeds(), crawl.ScopeHost, 0
	job.Politeness.Delay, job.Politeness.IPDelay, job.Sitemaps, job.Contact = 0, 0, false, "demo@whirlpool.invalid"
	job.Revisit = crawl.Revisiting{Budget: max(int(d.perDay*float64(d.pages)), 1),
		MinInterval: crawl.Duration(10 * time.Minute)}
	opt := node.DefaultLocal(dir, &job,
		slog.New(slog.NewTextHandler(progress, &slog.HandlerOptions{Level: slog.LevelError})))
	opt.Node.Fetch.AllowPrivate, opt.Node.Frontier.Calendar = true, srv.Calendar()
	l, err := node.OpenLocal(ctx, opt)
	if err != nil {
		return err
	}
	total := time.Duration(d.days * float64(d.day))
	fmt.Fprintf(progress, "%d pages on %d hosts that change, %d revisits a day, %.0f days in %v\n", d.pages, d.host,
		job.Revisit.Budget, d.days, total)
	ctx, stop := context.WithTimeout(ctx, total)
	defer stop()
	_, err = l.Crawl(ctx)
	day := srv.Day()
	status, _ := l.Frontier().Freshness(job.ID)
	if err = errors.Join(err, l.Close()); err != nil {
		return err
	}
	end := min(d.days, day)
	d.print(out, srv.Figures(end/2, end), &status)
	return d.draw(srv, end)
}

// draw writes the picture of the days until one, where it is wanted.
func (d *livingDemo) draw(srv *livingweb.Server, end float64) error {
	if d.picture == "" {
		return nil
	}
	series := srv.Series(end/2, end)
	if len(series) == 0 {
		return errors.New("--picture: not a day is over")
	}
	title := fmt.Sprintf("%d pages on %d hosts, %.0f visits a day for each schedule", d.pages, d.host, series[0].PerDay)
	return os.WriteFile(d.picture, livingweb.Picture(series, title), 0o600)
}

func (d *livingDemo) print(out io.Writer, f livingweb.Figures, s *crawl.Freshness) {
	fmt.Fprintf(out, "freshness of %d pages, days %.0f to %.0f, %.0f visits a day, by the web's own account\n", d.pages,
		d.days/2, d.days, f.PerDay)
	for _, line := range []struct {
		name string
		v    float64
	}{{"whirlpool", f.Fresh}, {"uniform visits", f.Uniform}, {"Nutch's interval", f.Nutch}, {"bound", f.Bound}} {
		fmt.Fprintf(out, "  %-17s %.4f  %.3f of the bound\n", line.name, line.v, line.v/f.Bound)
	}
	fmt.Fprintf(out, "  expected by the crawl itself: %.4f; %.1f %% of its revisits found a change\n", s.Fresh,
		100*s.ChangedPart())
}
