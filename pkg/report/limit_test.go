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
