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
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// crawlEnd is what became of a crawl.
type crawlEnd struct {
	tally    crawl.Tally
	records  int64
	finished bool
	seeds    string // what was in the list of seeds; empty: there was none
	until    bool   // --until ended it
	bound    string // max_time or max_bytes, which ended the crawl before its URLs; empty: neither
	began    time.Time
	shut     int64  // URLs that are tried again later
	behind   string // outputs that have not all
}

func endOf(ctx context.Context, l *node.Local, v *view, finished bool) (end crawlEnd, err error) {
	end.finished, end.began, end.shut = finished, v.started, l.Frontier().Stats().Shut
	if end.tally, err = l.Store.URLs().Tally(ctx, l.Job.ID); err != nil {
		return end, err
	}
	if !finished {
		end.behind = delivering(l.Outputs(l.Job.ID))
	}
	s, some, errSeeds := l.Seeds()
	if some {
		end.seeds = countText(s.Name, &s.Count)
	}
	provided, errProvided := l.Provided()
	for i := range provided {
		end.seeds = strings.TrimPrefix(end.seeds+"; "+countText(provided[i].Name, &provided[i].Count), "; ")
	}
	errSeeds = errors.Join(errSeeds, errProvided)
	if finished && end.open() > 0 {
		if end.bound, err = boundOf(ctx, l); err != nil {
			return end, err
		}
	}
	end.records, err = v.pagesOf(ctx, l, end.tally)
	return end, errors.Join(err, errSeeds)
}

// boundOf is the bound that the crawl has met.
func boundOf(ctx context.Context, l *node.Local) (string, error) {
	job, err := l.Store.Jobs().Job(ctx, l.Job.ID)
	if err != nil || !job.Bounds.Counted() {
		return "", err
	}
	spent, err := l.Store.Spending().Spent(ctx, job.ID)
	return job.Bounds.Met(spent), err
}

// verdict is the error that the command ends with.
func (e *crawlEnd) verdict(dir string, stays bool) error {
	switch log := filepath.Join(dir, "crawl.log"); {
	case !e.finished && !e.until:
		return exitStatus{code: exitStopped}
	case e.bound != "":
		return exitStatus{code: exitBound}
	case e.tally.Pages > 0:
		return nil
	case e.tally.Claimed == 0 && excluded(e.tally) == 0:
		return errors.New(strings.TrimSuffix("there is no URL to start from; "+e.seeds, "; "))
	default:
		text := "no page could be fetched"
		why, last := whyNothing(log)
		if len(why) > 0 {
			text += ":\n  " + strings.Join(why, "\n  ")
		}
		if len(why) > 0 && last.Before(e.began) && e.shut == 0 {
			text += "\nThat was found by an earlier run. What ended so is not asked for again, also not with other settings: " +
				"--fresh starts over"
		}
		if stays {
			text += "\n" + log + " has a line for each URL"
		}
		return errors.New(text)
	}
}

// How much of crawl.log is read for the reasons why nothing was fetched, and how many are told.
const (
	maxLogRead = 4 << 20
	maxReasons = 5
)

// whyNothing reads from crawl.log why no page could be fetched, each reason once, with one of its URLs, and when the
// last attempt of all was.
func whyNothing(log string) (why []string, last time.Time) {
	f, err := os.Open(log)
	if err != nil {
		return nil, last // the error that is reported says where to look
	}
	defer f.Close()
	var told []string
	stray, at := weburl.URL{}, 0 // the URL out of scope that is told, and where
	leads := map[weburl.URL]weburl.URL{}
	for lines := bufio.NewScanner(io.LimitReader(f, maxLogRead)); lines.Scan(); {
		line, err := jsonl.ParseLogLine(lines.Bytes())
		if err != nil {
			continue
		}
		if line.At.After(last) {
			last = line.At
		}
		if line.Status/100 == 3 {
			leads[line.Location] = line.URL
		}
		if len(why) == maxReasons || slices.Contains(told, line.Reason) || !explains(line) {
			continue
		}
		if line.Reason == crawl.ReasonScope {
			stray, at = line.URL, len(why)
		}
		told = append(told, line.Reason)
		text := fmt.Sprintf("%s: %v, %s", line.URL, line.Verdict, line.Reason)
		if line.Status > 0 {
			text += fmt.Sprintf(" %d", line.Status)
		}
		if line.Detail != "" {
			text += ": " + line.Detail
		}
		why = append(why, text)
	}
	if from, ok := leads[stray]; ok && !stray.IsZero() {
		why[at] += fmt.Sprintf(": %s leads there, to another site: crawl that one", from)
	}
	return why, last
}

// explains reports whether a line says why a page was not fetched: not of one that was, and not of a robots.txt or
// sitemap that a site need not have.
func explains(l *crawl.LogLine) bool {
	return l.Reason != "" && l.Verdict.Final() && l.Kind != crawl.KindRender && l.Kind != crawl.KindResource &&
		(l.Kind == crawl.KindPage || l.Verdict != crawl.VerdictGone)
}

// end prints what became of the crawl.
func (v *view) end(e crawlEnd) {
	took := time.Since(v.started)
	if v.json {
		p := progressOf(e.tally, e.records, time.Now())
		p.Bound = e.bound
		p.Delivering = e.behind
		p.Rate, p.Done, p.Directory = v.rate.Overall(e.records, took), e.finished, v.dir
		_ = json.NewEncoder(v.out).Encode(p)
		return
	}
	if v.quiet {
		return
	}
	v.screen.clear()
	switch {
	case e.bound != "":
		fmt.Fprintf(v.screen, "ended by %s: %s in %v (%.1f/s); the same command with a greater bound resumes it\n",
			e.bound, plural(e.records, "page"), took.Round(time.Millisecond), v.rate.Overall(e.records, took))
	case e.finished:
		fmt.Fprintf(v.screen, "done: %s in %v (%.1f/s)\n", plural(e.records, "page"), took.Round(time.Millisecond),
			v.rate.Overall(e.records, took))
	case e.until:
		fmt.Fprintf(v.screen, "ended by --until, with %s; the same command resumes the crawl\n",
			plural(e.records, "page"))
	case v.stream || v.temporary:
		fmt.Fprintf(v.screen, "stopped at %s; nothing is kept, so it cannot be resumed\n",
			plural(e.records, "page"))
	default:
		fmt.Fprintf(v.screen, "stopped at %s; the same command resumes the crawl\n", plural(e.records, "page"))
	}
	fmt.Fprintf(v.screen, "  %s\n", e.urls())
	v.undelivered(e.behind)
	if e.seeds != "" {
		fmt.Fprintf(v.screen, "  %s\n", e.seeds)
	}
	if !v.stream && !v.temporary {
		if !v.unstored {
			fmt.Fprintf(v.screen, "  %s  the pages\n", v.pages)
		}
		fmt.Fprintf(v.screen, "  %s    every attempt and every skipped URL, with the reason\n",
			filepath.Join(v.dir, "crawl.log"))
	}
}

// open is how many URLs have no outcome.
func (e *crawlEnd) open() int64 {
	open := e.tally.Claimed
	for _, n := range e.tally.Verdicts {
		open -= n
	}
	return open
}

// urls says what became of the URLs. Those left out were not claimed, unless a budget left them out.
func (e *crawlEnd) urls() string {
	t := e.tally
	open := e.open()
	var parts []string
	count := func(n int64, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	count(t.Verdicts[crawl.VerdictDone.String()], "answered")
	for _, v := range []crawl.Verdict{crawl.VerdictGone, crawl.VerdictBlocked, crawl.VerdictRefused, crawl.VerdictFailed} {
		count(t.Verdicts[v.String()], v.String())
	}
	count(t.Verdicts[crawl.VerdictExcluded.String()], "over a budget")
	count(open, "open")
	if len(parts) == 0 {
		return fmt.Sprintf("0 URLs; %d left out", excluded(t))
	}
	text := fmt.Sprintf("%s, robots.txt and sitemaps among them: %s; %d left out", plural(t.Claimed, "URL"),
		strings.Join(parts, ", "), excluded(t))
	if unkept := t.Pages - e.records; unkept > 0 {
		is := "are not stored: they say"
		if unkept == 1 {
			is = "is not stored: it says"
		}
		text += fmt.Sprintf("; %s %s noindex, or crawl.log has the reason", plural(unkept, "page"), is)
	}
	return text
}
