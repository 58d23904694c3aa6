package crawl

import (
	"os"
	"strings"
	"testing"
)

// The page on revisions names every setting that cannot change, with the reason, and every one that lets URLs in.
func TestTheDocumentOfRevisionsIsTrue(t *testing.T) {
	data, err := os.ReadFile("../../docs/revisions.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for key, why := range fixed {
		if !strings.Contains(text, "| `"+key+"` | "+why+" |\n") {
			t.Errorf("docs/revisions.md has no row of %s: %s", key, why)
		}
	}
	_, table, _ := strings.Cut(text, "| key | why |")
	table, _, _ = strings.Cut(table, "\n\n")
	if rows := strings.Count(table, "\n| `"); rows != len(fixed) {
		t.Errorf("docs/revisions.md has %d settings that cannot change, there are %d", rows, len(fixed))
	}
	for _, key := range widening {
		if section, _, _ := strings.Cut(key, "."); key != "blacklist_entries" && !strings.Contains(text, "`"+section+"`") {
			t.Errorf("docs/revisions.md does not name %s", key)
		}
	}
}
