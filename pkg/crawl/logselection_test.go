package crawl

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestLogSelection(t *testing.T) {
	u, err := weburl.Parse("https://a.test:8443/x?page=2")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	l := &LogLine{URL: u, At: at, Verdict: VerdictGone, Reason: ReasonTimeout, Status: 404}
	for _, c := range []struct {
		name string
		s    LogSelection
		want bool
	}{
		{"all", LogSelection{}, true},
		{"verdict", LogSelection{Verdicts: []Verdict{VerdictDone, VerdictGone}}, true},
		{"another verdict", LogSelection{Verdicts: []Verdict{VerdictDone}}, false},
		{"reason", LogSelection{Reasons: []string{ReasonTimeout}}, true},
		{"another reason", LogSelection{Reasons: []string{""}}, false},
		{"host with its port", LogSelection{Hosts: []string{"a.test:8443"}}, true},
		{"host without", LogSelection{Hosts: []string{"a.test"}}, false},
		{"status", LogSelection{Statuses: []int{200, 404}}, true},
		{"class", LogSelection{Statuses: []int{4}}, true},
		{"another class", LogSelection{Statuses: []int{5}}, false},
		{"since then", LogSelection{Since: at}, true},
		{"since later", LogSelection{Since: at.Add(1)}, false},
		{"until then", LogSelection{Until: at}, false},
		{"until later", LogSelection{Until: at.Add(1)}, true},
		{"a part of the URL", LogSelection{URL: "x?page"}, true},
		{"no part of it", LogSelection{URL: "y"}, false},
		{"all of them", LogSelection{Verdicts: []Verdict{VerdictGone}, Statuses: []int{4}, URL: "nothing"}, false},
	} {
		if got := c.s.Has(l); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
