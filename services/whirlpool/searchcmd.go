package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/textsearch"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
)

// searchFlags say what is searched for, and how it is printed.
type searchFlags struct {
	host, lang   string
	since, until moment
	limit        int
	cursor       string
	newest, json bool
	patience     time.Duration // with which what is new is indexed first
}

func newSearch() *cobra.Command {
	f := &searchFlags{}
	cmd := &cobra.Command{
		Use:   "search WORDS",
		Short: "Find pages by the words of title, text and URL, the best first",
		Long: `Search finds pages of a crawl by their words, while it runs and afterwards. What it was given is read so:

  rivers lakes          both words
  "fountain of whirls"  the words side by side
  whirl*                words that begin so
  -lakes                pages without it
  rivers OR lakes       one of them
  title:rivers          in the title; so text: and url:

Put the whole search into quotation marks of the shell, or -- before it, so that -lakes is no flag.

Case and accents do not count. Words are not stemmed: search for river* to find rivers, too. Of a page that was visited
again the newest version is found; copies of other pages are not searched.

In a directory it first indexes what is new into search.db beside the records, for ten seconds at most: "whirlpool
index" does so by itself. Over --cluster it searches the jobs that have "search: true". docs/search.md tells more.`,
		Example: `  whirlpool search -o crawl-example.com 'vacuum "a phrase" -title:draft'
  whirlpool search --lang en --since 7d --json rivers | jq -r .items[].url
  whirlpool search --cluster --job example-com url:blog whirl*`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	ref := refFlags(cmd)
	f.add(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := textsearch.Parse(strings.Join(args, " ")); err != nil {
			return exitStatus{exitUsage, err}
		}
		if f.limit < 1 || f.limit > 200 {
			return usage("--limit %d: want 1 to 200", f.limit)
		}
		return ref.overServer(f.server, f.here(ref))(cmd, args)
	}
	return cmd
}

// add declares the flags.
func (f *searchFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.host, "host", "", "only pages of this host, with its port where it has one")
	fl.StringVar(&f.lang, "lang", "", "only pages in this language, such as en")
	fl.Var(&f.since, "since", "only pages fetched then or later: a `time`, a date, or an age such as 36h or 7d")
	fl.Var(&f.until, "until", "only pages fetched before then")
	fl.IntVar(&f.limit, "limit", 10, "pages to print, 1 to 200")
	fl.StringVar(&f.cursor, "cursor", "", "start where another search with the same words ended: it printed the value")
	fl.BoolVar(&f.newest, "newest", false, "list the pages that were stored last first, not the best")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.DurationVar(&f.patience, "index-for", 10*time.Second,
		"how long to index what is new first, in a directory; 0: not at all")
}

// here searches a directory or a cluster.
func (f *searchFlags) here(ref *crawlRef) command {
	return failing(func(cmd *cobra.Command, args []string) error {
		return ref.choose(cmd.Context(), func() error { return f.directory(cmd, ref.out, args) },
			func(c *cluster.Cluster) error {
				return f.cluster(cmd, args, c, crawl.JobID(ref.job))
			})
	})
}

func (f *searchFlags) filter(args []string) (explore.RecordFilter, explore.Page) {
	r := explore.RecordFilter{Query: strings.Join(args, " "), Host: strings.ToLower(f.host), Lang: f.lang,
		Since: f.since.Time, Until: f.until.Time}
	if f.newest {
		r.Sort = explore.Newest
	}
	return r, explore.Page{Limit: f.limit, Cursor: f.cursor}
}

func (f *searchFlags) directory(cmd *cobra.Command, named string, args []string) (err error) {
	d, dir, err := openDirIndex(cmd, named, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := f.catchUp(cmd.Context(), d); err != nil {
		return err
	}
	r, p := f.filter(args)
	out, err := d.Records(cmd.Context(), r, p)
	if err != nil {
		return searchError(err)
	}
	if behind, all := d.Behind(); behind > 0 {
		cmd.PrintErrf("%d %% of the records are not indexed yet, and were not searched: `whirlpool index -o %s` does so\n",
			max(1, behind*100/max(all, 1)), dir)
	}
	return f.print(cmd, out)
}

// catchUp indexes what is new while patience lasts.
func (f *searchFlags) catchUp(ctx context.Context, d *explore.DirIndex) error {
	for began := time.Now(); time.Since(began) < f.patience; {
		more, err := d.Step(ctx)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// searchError is the error of a search: what cannot be asked is bad usage.
func searchError(err error) error {
	if errors.Is(err, explore.ErrInvalid) || errors.Is(err, explore.ErrCursor) {
		return exitStatus{exitUsage, err}
	}
	return err
}

func (f *searchFlags) server(cmd *cobra.Command, args []string, c *client.Client, id crawl.JobID) error {
	r, _ := f.filter(args)
	q := url.Values{"q": {r.Query}, "limit": {strconv.Itoa(f.limit)}}
	for name, v := range map[string]string{"sort": r.Sort, "host": r.Host, "lang": r.Lang, "cursor": f.cursor,
		"since": f.since.query(), "until": f.until.query()} {
		if v != "" {
			q.Set(name, v)
		}
	}
	out, err := c.Records(cmd.Context(), id, q)
	if err != nil {
		return err
	}
	if ix := out.Index; ix != nil && ix.Share < 0.995 {
		cmd.PrintErrf("the server has indexed %.0f %% of the execution so far\n", ix.Share*100)
	}
	return f.print(cmd, out)
}

// moment is a flag's point in time: a time, a date, or how long ago it was.
type moment struct{ time.Time }

// String implements pflag.Value.
func (m *moment) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (*moment) Type() string { return "time" }

// Set implements pflag.Value.
func (m *moment) Set(s string) error {
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02 15:04", time.DateTime} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			m.Time = t
			return nil
		}
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 1e5 {
			m.Time = time.Now().Add(-time.Duration(n * 24 * float64(time.Hour)))
			return nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		m.Time = time.Now().Add(-d)
		return nil
	}
	return fmt.Errorf("%q is no time: give one as 2026-11-24, 2026-11-24T08:00:00Z, 36h or 7d", s)
}

// query is the time as a server reads it.
func (m *moment) query() string {
	if m.IsZero() {
		return ""
	}
	return m.UTC().Format(time.RFC3339Nano)
}
