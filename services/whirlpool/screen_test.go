package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

var sequences = regexp.MustCompile(`\x1b\[[?0-9]*[a-zA-Z]`)

// shownAt is what a live screen of a width shows.
func shownAt(columns int, lines ...func(int) string) string {
	var out bytes.Buffer
	s := &screen{w: &out, live: true, width: func() int { return columns }}
	for _, l := range lines {
		s.renew(l)
	}
	return sequences.ReplaceAllString(out.String(), "")
}

func busy() *progress {
	return &progress{Pages: 12345678, Rate: 1234.5, Queued: 9876543, InFlight: 256, Hosts: 65536, Failed: 12, Gone: 345,
		Blocked: 67, Refused: 89, Waiting: 10, ETASeconds: 123456}
}

func TestTheProgressLineFitsAnyWidth(t *testing.T) {
	wide := func(columns int) string {
		return fit([]part{{0, "  7 頁"}, {1, "目錄/ひらがな"}, {2, strings.Repeat("界", 300)}}, columns)
	}
	for columns := 2; columns < 300; columns++ {
		for name, line := range map[string]func(int) string{"busy": func(n int) string { return fit(busy().parts(), n) },
			"wide": wide} {
			shown := strings.TrimPrefix(shownAt(columns, line), "\r")
			if n := textColumns(shown); n >= columns || strings.ContainsAny(shown, "\r\n") {
				t.Errorf("%s at %d columns takes %d: %q", name, columns, n, shown)
			}
		}
	}
}

func TestTheProgressLineDropsTheLeastImportantFirst(t *testing.T) {
	for columns, want := range map[int]string{
		8:  "1234567",
		16: "12345678 pages",
		40: "12345678 pages  9876543 queued",
		60: "12345678 pages  1234.5/s  9876543 queued  12 failed",
		80: "12345678 pages  1234.5/s  9876543 queued  12 failed  67 blocked  345 gone",
		200: "12345678 pages  1234.5/s  9876543 queued  256 in flight  65536 hosts  12 failed  67 blocked  89 refused  345 " +
			"gone  10 to retry  ~34h18m to go",
		0: "12345678 pages  1234.5/s  9876543 queued  12 failed  67 blocked  345 gone", // unknown: 80
	} {
		if got := strings.TrimSpace(shownAt(columns, func(n int) string { return fit(busy().parts(), n) })); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}

func TestMessagesAppearAboveTheProgressLine(t *testing.T) {
	var out bytes.Buffer
	s := &screen{w: &out, live: true, width: func() int { return 80 }}
	s.renew(func(int) string { return "1 page" })
	fmt.Fprintln(s, "level=ERROR")
	s.renew(func(int) string { return "2 pages\x1b[2J" })
	s.clear()
	got := sequences.ReplaceAllString(strings.ReplaceAll(out.String(), "\r\x1b[K", "<"), "")
	if want := "<1 page<level=ERROR\n<2 pages?[2J<"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestAFileHasAllOfEachLine(t *testing.T) {
	var out bytes.Buffer
	v := &view{screen: newScreen(&out)}
	v.show(*busy())
	if line := out.String(); !strings.Contains(line, "~34h18m to go\n") || strings.ContainsAny(line, "\r\x1b") {
		t.Errorf("wrote %q", line)
	}
}

// The end tells failed, refused, gone and blocked apart, counts records as pages, and accounts for every URL.
func TestTheEndAccountsForEveryURL(t *testing.T) {
	e := crawlEnd{finished: true, records: 7,
		tally: crawl.Tally{Claimed: 30, Pages: 9, Excluded: map[string]int64{"scope": 5, "host-budget": 2},
			Verdicts: map[string]int64{"done": 12, "gone": 4, "blocked": 3, "refused": 2, "failed": 1, "excluded": 2}}}
	var out bytes.Buffer
	v := &view{screen: newScreen(&out), started: time.Now(), dir: "d"}
	v.end(e)
	for _, want := range []string{"done: 7 pages", "30 URLs",
		"12 answered, 4 gone, 3 blocked, 2 refused, 1 failed, 2 over a budget, 6 open; 7 left out",
		"2 pages are not stored"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the end lacks %q: %s", want, out.String())
		}
	}
}

// A line of progress names some of the jobs that run, however many there are.
func TestALineOfProgressNamesSomeJobs(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	if got := someOf(names); got != "a, b, c, d, e, f" {
		t.Errorf("six jobs are %q", got)
	}
	if got := someOf(append(names, "g")); got != "a, b, c, d, e and 2 more" {
		t.Errorf("seven jobs are %q", got)
	}
}
