package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// WriteText writes the status for people.
func (s *Status) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", name, fmt.Sprintf(format, args...))
	}
	if s.Cluster != "" {
		s.writeJob(&b, line)
		_, err := io.WriteString(w, b.String())
		return err
	}
	line("directory", "%s", s.Directory)
	line("job", "%s", s.jobText())
	line("state", "%s", s.stateText())
	if s.Revision != nil {
		s.Revision.writeText(line, s.Time)
	}
	line("pages", "%s", s.pagesText())
	if s.Spent != nil {
		line("spent", "%s", s.Spent.text())
	}
	line("queued", "%d, of them %d retries that wait", s.Queued, s.Waiting)
	line("in flight", "%s", s.flightText())
	if !s.NextDue.IsZero() {
		line("next host due", "%s", moment(s.NextDue, s.Time))
	}
	s.writeOutcomes(line)
	line("dead letters", "%s", deadText(s.DeadLetters, "whirlpool replay --list"))
	s.writeOutputs(line)
	for i, f := range s.Files {
		name := ""
		if i == 0 {
			name = "files"
		}
		line(name, "%10s  %s", bytesText(f.Bytes), f.Name)
	}
	if s.Render != nil {
		s.Render.writeText(&b)
	}
	if s.Freshness != nil {
		writeFreshness(line, s.Freshness)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeJob writes the status of a cluster's job.
func (s *Status) writeJob(b *strings.Builder, line func(name, format string, args ...any)) {
	line("cluster", "%s", s.Cluster)
	line("job", "%s", s.jobText())
	line("state", "%s", s.stateText())
	if s.Revision != nil {
		s.Revision.writeText(line, s.Time)
	}
	if s.RecordsUnknown == "" {
		line("pages", "%s, %d records stored", s.pagesText(), s.Records)
	} else {
		line("pages", "%s; the records were not counted: %s", s.pagesText(), s.RecordsUnknown)
	}
	if s.Spent != nil {
		line("spent", "%s", s.Spent.text())
	}
	line("open", "%d of %d URLs are queued or in flight", s.Open, s.Claimed)
	if s.Freshness != nil {
		writeFreshness(line, s.Freshness)
	}
	s.writeOutcomes(line)
	if s.Render != nil {
		s.Render.writeText(b)
	}
	if s.Pipeline != nil {
		b.WriteByte('\n')
		s.Pipeline.writeText(b, s.Time)
	}
}

func (s *Status) jobText() string {
	seeds := s.Seeds
	if s.SeedList != "" {
		seeds = append([]string{"the list " + s.SeedList}, seeds...)
	}
	return fmt.Sprintf("%s, from %s", s.Job, strings.Join(seeds[:min(3, len(seeds))], " ")+more(len(seeds)-3))
}

func (s *Status) writeOutcomes(line func(name, format string, args ...any)) {
	line("outcomes", "%s", countText(s.Verdicts))
	line("status codes", "%s", countText(statusNames(s.Statuses)))
	line("left out", "%s", countText(s.Excluded))
	for i, r := range s.Reasons {
		name := ""
		if i == 0 {
			name = "reasons"
		}
		line(name, "%8d %-8s %-20s %s", r.URLs, r.Verdict, r.Reason, reasonTexts[r.Reason])
	}
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func (s *Status) stateText() string {
	text := s.stateAlone()
	if s.PausedFor != "" {
		text += ": " + s.PausedFor
	}
	if why := limitText(s.State, s.Open, s.Pages, s.MaxPages); why != "" {
		text += ": " + why
	} else if why := boundText(s.State, s.Open, s.Spent.met()); why != "" {
		text += ": " + why
	}
	if s.State == StateFinished && s.shut > 0 {
		text += fmt.Sprintf("; %s not asked, because robots.txt or the host could not be had: `whirlpool crawl` with the "+
			"same -o asks again", were(s.shut, "URL", "URLs"))
	}
	return text
}

func were(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one + " was"
	}
	return fmt.Sprintf("%d %s were", n, many)
}

func (s *Status) stateAlone() string {
	switch {
	case s.Cluster != "" && s.Ended.IsZero():
		return fmt.Sprintf("%s, submitted %s", s.State, moment(s.Started, s.Time))
	case s.Cluster != "":
		return fmt.Sprintf("%s %s, submitted %s", s.State, moment(s.Ended, s.Time), moment(s.Started, s.Time))
	case s.State == StateRunning, s.State == StatePaused:
		return fmt.Sprintf("%s for %v", s.State, s.Time.Sub(s.Started).Round(time.Second))
	case s.State == StateStopped:
		return "stopped; `whirlpool crawl` with the same -o resumes it"
	}
	return string(s.State)
}

func (s *Status) pagesText() string {
	text := strconv.FormatInt(s.Pages, 10)
	if s.MaxPages > 0 {
		text += fmt.Sprintf(" of at most %d", s.MaxPages)
	}
	if s.State == StateRunning {
		text += fmt.Sprintf(", %.1f/s", s.Rate)
	}
	return text
}

func (s *Status) flightText() string {
	switch {
	case s.State == StateRunning || s.State == StatePaused:
		return fmt.Sprintf("%d, %d active hosts", s.InFlight, s.ActiveHosts)
	case s.InFlight > 0:
		return fmt.Sprintf("%d were, and will be fetched again", s.InFlight)
	}
	return "0"
}

func deadText(n int64, command string) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%d; `%s` shows them", n, command)
}

func statusNames(codes map[int]int64) map[string]int64 {
	names := map[string]int64{}
	for code, n := range codes {
		name := strconv.Itoa(code)
		if code == 0 {
			name = "none"
		}
		names[name] += n
	}
	return names
}

// countText lists counts, the largest first.
func countText(counts map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	parts := make([]string, 0, len(names))
	for _, n := range names {
		if counts[n] != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[n], n))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, names := float64(n)/unit, "KMGTP"
	for v >= unit && len(names) > 1 {
		v, names = v/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %ciB", v, names[0])
}

// moment tells a time relative to now and absolutely.
func moment(t, now time.Time) string {
	switch d := t.Sub(now).Round(time.Second); {
	case t.IsZero():
		return "never"
	case d > 0:
		return fmt.Sprintf("in %s (%s)", span(d), t.UTC().Format(time.RFC3339))
	case d == 0:
		return fmt.Sprintf("now (%s)", t.UTC().Format(time.RFC3339))
	default:
		return fmt.Sprintf("%s ago (%s)", span(-d), t.UTC().Format(time.RFC3339))
	}
}

// span is a duration with one unit, two below a day: the seconds of a week do not matter.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return d.String()
}
