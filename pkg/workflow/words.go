package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Words says what a job will do, a sentence each: where it goes, how far, how politely, and what it leaves.
func Words(j *crawl.Job) []string {
	words := slices.Concat(wordsOfScope(j), wordsOfLimits(j), wordsOfPoliteness(j), wordsOfRecords(j), wordsOfLifecycle(j))
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}

// when is text where cond holds.
func when(cond bool, format string, args ...any) string {
	if !cond {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func wordsOfScope(j *crawl.Job) []string {
	return []string{
		fmt.Sprintf("It starts from %s.", seedsInWords(j)),
		linksInWords(j),
		when(len(j.Include) > 0, "Of these links only those are fetched that match %s.", oneOf(j.Include)),
		when(len(j.Exclude) > 0, "URLs that match %s are left out.", oneOf(j.Exclude)),
		when(len(j.SkipExt) > 0, "URLs that end in .%s are left out.", strings.Join(j.SkipExt, ", .")),
		when(len(j.Ext) > 0, "Of the URLs with an extension only those that end in .%s are fetched.",
			strings.Join(j.Ext, ", .")),
		when(j.Sitemaps && !j.SeedsOnly && !j.IgnoreRobots,
			"It reads the sitemaps that robots.txt names, and the feeds that pages name."),
		when(j.Login.URL != "", "It logs in at %s first.", j.Login.URL),
	}
}

func seedsInWords(j *crawl.Job) string {
	var parts []string
	none := *j
	none.Seeds = nil
	seeds := none.NewSeeds(j.Seeds) // spellings of one URL count once
	switch n := len(seeds); {
	case n > 3:
		parts = append(parts, fmt.Sprintf("%s and %s more URLs", strings.Join(seeds[:2], ", "), number(n-2)))
	case n > 0:
		parts = append(parts, strings.Join(seeds, ", "))
	}
	if j.SeedList != "" {
		parts = append(parts, "the URLs in "+j.SeedList)
	}
	for _, id := range j.Pipeline.Providers() {
		parts = append(parts, "what the node "+id+" provides")
	}
	return strings.Join(parts, " and ")
}

func linksInWords(j *crawl.Job) string {
	if j.SeedsOnly {
		return "It fetches these URLs only and follows no links."
	}
	if j.MaxDepth == 0 {
		return "It follows no links: the depth is 0."
	}
	hosts := hostsInWords(j.Seeds)
	switch j.Scope {
	case crawl.ScopeHost:
		return fmt.Sprintf("It follows links on %s, and on no other host.", hosts)
	case crawl.ScopeDomain:
		return fmt.Sprintf("It follows links on %s and on all other hosts of the same domain.", hosts)
	case crawl.ScopePrefix:
		return "It follows links that lie below the directories of the seeds."
	}
	return "It follows links to any site."
}

func hostsInWords(seeds []string) string {
	var hosts []string
	for _, s := range seeds {
		if h := hostOf(s); h != "" && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	switch n := len(hosts); {
	case n == 0:
		return "the hosts of the seeds"
	case n > 3:
		return fmt.Sprintf("%s and %d more hosts", strings.Join(hosts[:2], ", "), n-2)
	}
	return strings.Join(hosts, ", ")
}

func wordsOfLimits(j *crawl.Job) []string {
	end := "It has no bound of pages: it ends when no link is left."
	if j.MaxPages > 0 {
		end = fmt.Sprintf("It ends after %s pages, or when no link is left.", number(j.MaxPages))
	}
	var more []string
	add := func(n int, of string) {
		if n > 0 {
			more = append(more, number(n)+" URLs "+of)
		}
	}
	add(j.PagesPerHost, "of a host")
	add(j.PagesPerDomain, "of a domain")
	add(j.PagesPerLevel, "of a level")
	return []string{
		end,
		when(j.MaxDepth > 0 && !j.SeedsOnly, "It goes at most %s links away from where it started.", number(j.MaxDepth)),
		when(len(more) > 0, "It fetches at most %s.", strings.Join(more, ", ")),
		when(j.Bounds.MaxTime > 0, "It ends after %s of work.", duration(j.Bounds.MaxTime.D())),
		when(j.Bounds.MaxBytes > 0, "It ends after %s of downloads.", j.Bounds.MaxBytes),
		fmt.Sprintf("Of a page it reads at most %s.", j.Limits.MaxBody),
	}
}

func wordsOfPoliteness(j *crawl.Job) []string {
	p := j.Politeness
	wait := "It does not wait between two requests to a host"
	switch {
	case p.Delay > 0:
		wait = fmt.Sprintf("It waits at least %s between two requests to a host", duration(p.Delay.D()))
		wait += when(p.DownloadFactor > 0, ", and longer where the host is slow")
	case p.DownloadFactor > 0:
		wait = "It waits between two requests to a host only where the host is slow"
	}
	wait += when(p.HostConnections == 1, ", and sends it one at a time")
	wait += when(p.HostConnections > 1, ", and sends it up to %d at once", p.HostConnections)
	robots := "It obeys robots.txt, and leaves out what that forbids."
	if j.IgnoreRobots {
		robots = "It does not ask for robots.txt and fetches what that may forbid."
	}
	return []string{
		wait + ".", robots,
		when(!j.IgnoreMeta, "It does not store pages that ask not to be indexed, and does not follow links marked nofollow."),
		when(j.Bounds.Rate > 0, "It sends at most %s requests a second over all hosts.",
			strconv.FormatFloat(j.Bounds.Rate, 'f', -1, 64)),
		fmt.Sprintf("To sites it is %q.", j.Agent()),
		when(j.Retry.Max > 0, "What fails for a while is tried again, up to %d times.", j.Retry.Max),
	}
}

func wordsOfRecords(j *crawl.Job) []string {
	copies := "Exact copies of a page are stored once."
	if j.NearDuplicate >= 0 {
		copies = "Exact copies of a page are stored once; pages that are nearly the same are grouped."
	}
	rules := 0
	for _, r := range j.Rules {
		rules += len(r.Fields)
	}
	return []string{
		fmt.Sprintf("It stores a record of each page of type %s: title, main text, links and times.",
			strings.Join(j.MediaTypes, ", ")),
		when(rules > 0, "Its rules take %d fields from the pages that they match.", rules),
		when(j.Extract.Markdown, "Records have the main text as Markdown too."),
		when(j.Extract.Structured, "Records have the structured data of their pages too."),
		when(j.KeepBodies, "The pages themselves are kept too, compressed."),
		when(!j.KeepBodies, "The pages themselves are not kept."),
		when(j.Assets.Wanted(), "It fetches the style sheets, images, scripts and fonts of pages too, and keeps them and "+
			"the pages in WARC files."),
		copies,
	}
}

func wordsOfLifecycle(j *crawl.Job) []string {
	l := j.Lifecycle
	r := l.Retention
	var keep []string
	if r.Executions > 0 {
		keep = append(keep, fmt.Sprintf("the last %s executions", number(r.Executions)))
	}
	if r.Days > 0 {
		keep = append(keep, fmt.Sprintf("those that ended in the last %s days", number(r.Days)))
	}
	older := "of others its records, log and figures stay"
	if r.Records == crawl.RecordsDrop {
		older = "others are deleted with their records"
	}
	return []string{
		when(l.MaxDuration > 0, "It is stopped after %s.", duration(l.MaxDuration.D())),
		when(len(keep) == 1, "Kept whole are %s; %s.", strings.Join(keep, ""), older),
		when(len(keep) == 2, "Kept whole are, of %s, %s; %s.", first(keep), last(keep), older),
		when(l.Then != "", "When it has come to its end by itself, workflow %s starts.", l.Then),
	}
}

func first(list []string) string { return at(list, 0) }
func last(list []string) string  { return at(list, 1) }

func at(list []string, i int) string {
	if i >= len(list) {
		return ""
	}
	return list[i]
}

// oneOf lists patterns.
func oneOf(list []string) string {
	shown := list[:min(len(list), 3)]
	text := strings.Join(shown, " or ")
	if n := len(list) - len(shown); n > 0 {
		text += fmt.Sprintf(" or one of %d more patterns", n)
	}
	return text
}

// number writes 10000 as 10,000.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// duration writes 1s as 1 s and 6h0m0s as 6 h.
func duration(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "days"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if d >= 2*u.of && d%u.of == 0 || d == u.of && u.name != "days" {
			return fmt.Sprintf("%d %s", d/u.of, u.name)
		}
	}
	return d.String()
}
