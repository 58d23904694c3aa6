package control

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func TestByID(t *testing.T) {
	all := []report.Letter{{ID: crawl.MessageID{0x3f, 0x2a}, Topic: "parse", Node: "a"},
		{ID: crawl.MessageID{0x3f, 0x2a}, Topic: "parse", Node: "b"}, {ID: crawl.MessageID{0x3f, 0x2b}, Topic: "due"}}
	for _, c := range []struct {
		topic string
		ids   []string
		want  int
		fault string
	}{
		{"", nil, 3, ""},
		{"due", nil, 1, ""},
		{"fetch", nil, 0, ""},
		{"", []string{"3F2A"}, 2, ""}, // nodes have one each
		{"", []string{"3f2a", "3f2a0"}, 2, ""},
		{"due", []string{"3f2a", "3f2b"}, 1, ""},
		{"", []string{"3f2"}, 0, "3 dead letters"},
		{"", []string{"4"}, 0, `"4"`},
		{"", []string{""}, 0, `""`},
	} {
		got, err := ByID(c.topic, c.ids...)(all)
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%q %q: %v, want %q", c.topic, c.ids, err, c.fault)
		}
		if misuse := (*Misuse)(nil); err != nil && !errors.As(err, &misuse) {
			t.Errorf("%q %q: %v is told as a fault of the program", c.topic, c.ids, err)
		}
		if len(got) != c.want {
			t.Errorf("%q %q: %d letters, want %d", c.topic, c.ids, len(got), c.want)
		}
	}
	if len(all) != 3 || all[2].Topic != "due" {
		t.Error("the letters that were given have changed")
	}
}

func TestParseRetry(t *testing.T) {
	for _, c := range []struct {
		words    string
		verdicts []crawl.Verdict
		reasons  []string
	}{
		{"refused gone", []crawl.Verdict{crawl.VerdictRefused, crawl.VerdictGone}, nil},
		{"failed timeout", []crawl.Verdict{crawl.VerdictFailed}, []string{"timeout"}},
		{"private-address", retryable, []string{"private-address"}},
		{"done", retryable, []string{"done"}}, // no failure: nothing has that reason
	} {
		if r := ParseRetry(strings.Fields(c.words)); !slices.Equal(r.Verdicts, c.verdicts) ||
			!slices.Equal(r.Reasons, c.reasons) {
			t.Errorf("%s: %v %q", c.words, r.Verdicts, r.Reasons)
		}
	}
}
