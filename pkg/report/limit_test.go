package report

import (
	"strings"
	"testing"
)

func TestOpenURLsOfAFinishedCrawlHaveTheirReason(t *testing.T) {
	for name, tc := range map[string]struct {
		state       State
		open, pages int64
		limit       int
		want        string
	}{
		"limit met":      {StateFinished, 352, 100, 100, "max_pages 100) is met, so 352 URLs that wait are not fetched"},
		"limit passed":   {StateFinished, 1, 102, 100, "1 URL that waits is not fetched"},
		"nothing open":   {StateFinished, 0, 100, 100, ""},
		"no limit":       {StateFinished, 3, 100, 0, ""},
		"limit not met":  {StateFinished, 3, 99, 100, ""},
		"still running":  {StateRunning, 3, 100, 100, ""},
		"stopped by one": {StateStopped, 3, 100, 100, ""},
	} {
		got := limitText(tc.state, tc.open, tc.pages, tc.limit)
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		s := Status{State: tc.state, Open: tc.open, Pages: tc.pages, MaxPages: tc.limit}
		if !strings.Contains(s.stateText(), got) {
			t.Errorf("%s: the state is told as %q", name, s.stateText())
		}
	}
}

// What paused a crawl is told where it was nobody's wish, and is gone with the pause.
func TestWhatPausedACrawlIsTold(t *testing.T) {
	s := Status{}
	s.live(Moment{Paused: true, Why: "the disk\x1b[2J\nis nearly full"})
	if got := s.stateText(); !strings.HasPrefix(got, "paused for ") ||
		!strings.HasSuffix(got, ": the disk [2J is nearly full") {
		t.Errorf("the state is told as %q", got)
	}
	s = Status{}
	s.live(Moment{Why: "the disk is nearly full"})
	if s.PausedFor != "" {
		t.Errorf("a crawl that runs is paused for %q", s.PausedFor)
	}
}
