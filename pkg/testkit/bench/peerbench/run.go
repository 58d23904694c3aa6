package peerbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// Config says what is compared.
type Config struct {
	Paths
	Names string   // file that is /etc/hosts here: see deploy/peers/inside
	Only  []string // names of crawlers; empty: all that are there
	Pages int      // of the synthetic web
	Hosts int
	Docs  string // a directory of real documents; empty: none
	First string // path in it to begin with
	Limit time.Duration
	Show  int // print so many of the pages that each missed
	Out   io.Writer
	// Pictures is a directory for a CSV file and a picture of each table; empty: none.
	Pictures string
}

// Row is what one crawl of one crawler came to.
type Row struct {
	Name, Version string
	CPU           time.Duration
	RSS           int64 // bytes
	Verdict
	Fault string // why it did not end by itself
	urls  map[string]bool
}

// Run compares and prints a table a web.
func Run(ctx context.Context, c Config) error {
	cfg := fakeweb.Plain(c.Hosts, c.Pages)
	cfg.Robots, cfg.Redirects, cfg.Errors404 = true, .03, .02
	if err := c.table(ctx, "peers-synthetic", fmt.Sprintf("synthetic web: %d pages of 30 KB with 40 links on %d hosts",
		c.Pages, c.Hosts), synthetic{cfg, c.Names}); err != nil {
		return err
	}
	if c.Docs == "" {
		return nil
	}
	return c.table(ctx, "peers-documents", "real documents: "+c.Docs+", one host", files{c.Docs, c.Names, c.First})
}

func (c Config) table(ctx context.Context, name, about string, w web) error {
	var rows []Row
	known := map[string]bool{} // what any of them found, where nobody knows what is there
	for _, p := range Peers(c.Paths) {
		if len(c.Only) > 0 && !contains(c.Only, p.Name) {
			continue
		}
		r, err := c.crawl(ctx, p, w)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		for url := range r.urls {
			known[url] = true
		}
		rows = append(rows, r)
	}
	for i := range rows {
		rows[i].compare(known)
	}
	fmt.Fprintf(c.Out, "\n%s\n%-10s %-9s %7s %7s %6s %9s %8s %8s %8s %7s\n", about, "", "version", "pages", "missed",
		"again", "forbidden", "at once", "CPU ms/p", "pages/s", "RSS MB")
	for _, r := range rows {
		fmt.Fprintf(c.Out, "%-10s %-9s %7d %7d %6d %9d %8d %8.2f %8.0f %7.0f%s\n", r.Name, r.Version, r.Pages, r.Missed,
			r.Again, r.Forbidden, r.AtOnce, r.CPU.Seconds()*1000/float64(max(r.Pages, 1)), r.rate(), float64(r.RSS)/1e6, r.Fault)
	}
	for _, r := range rows {
		for _, url := range r.Lost[:min(len(r.Lost), c.Show)] {
			fmt.Fprintf(c.Out, "%s missed http://%s\n", r.Name, url)
		}
	}
	return c.keep(name, about, rows)
}

// rate is pages a second, from the first request to the last new page.
func (r *Row) rate() float64 { return float64(r.Pages) / max(r.Took.Seconds(), 1e-9) }

// compare notes what the others found and this crawl did not.
func (r *Row) compare(known map[string]bool) {
	if r.urls == nil {
		return
	}
	for url := range known {
		if !r.urls[url] {
			r.Lost = append(r.Lost, fileHost+url)
		}
	}
	slices.Sort(r.Lost)
	r.Missed = len(r.Lost)
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// crawl lets one crawler crawl the web.
func (c Config) crawl(ctx context.Context, p Peer, w web) (r Row, err error) {
	at, err := w.serve(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, at.close()) }()
	if at.task.Dir, err = os.MkdirTemp("", "whirlpool-peer-"); err != nil {
		return r, err
	}
	defer os.RemoveAll(at.task.Dir)
	r = Row{Name: p.Name, Version: p.version()}
	if err := r.run(ctx, p.Command(at.task), at.task.Dir, c.Limit); err != nil {
		return r, err
	}
	log := at.log()
	r.Verdict = judge(log, at.wanted, at.allowed)
	if len(at.wanted) == 0 {
		r.urls = map[string]bool{}
		for _, e := range log {
			if e.Status == http.StatusOK && isPage(e.Path, nil, e.Host) {
				r.urls[e.Path] = true
			}
		}
	}
	return r, nil
}

// run runs a command to its end, or its limit, and notes what it took.
func (r *Row) run(ctx context.Context, command []string, dir string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	cmd.Env = append(os.Environ(), "HOME="+dir)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	over, most := make(chan struct{}), make(chan int64)
	go func() { most <- mostMemory(cmd.Process.Pid, over) }()
	err := cmd.Wait()
	close(over)
	r.RSS = <-most
	r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch {
	case ctx.Err() != nil:
		r.Fault = fmt.Sprintf("   ended after %v", limit)
	case err != nil && cmd.ProcessState.ExitCode() < 0:
		r.Fault = "   " + err.Error()
	}
	return nil
}
