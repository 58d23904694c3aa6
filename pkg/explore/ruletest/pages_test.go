package ruletest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fragile are words that no proposal goes by: of looks, of the moment, and made by programs.
var fragile = regexp.MustCompile(
	`\.(text-|font-|mx-|mt-|flex|block|grid|row|w-full|odd|even|active|is-|css-|post-1)|#post|__next`)

// Pages as sites have them: the selectors go by what an element is, and by its place only where nothing else is there.
func TestProposalsOfPages(t *testing.T) {
	for _, tt := range []struct{ page, at, name, want string }{
		{"products", "h1", "h1", "h1"},
		{"products", "h3", "product_title", ".product-title"},
		{"products", "li p", "price", "p.price"},
		{"products", "img", "img", "a.product-card img"},
		{"products", ".badge", "badge", "span.badge"},
		{"article", "h1", "headline", `[itemprop="headline"]`},
		{"article", "time", "entry_date", "time.entry-date"},
		{"article", "article p", "p", "div.entry-content p:nth-of-type(1)"},
		{"article", "a.active", "a", "nav.nav a:nth-of-type(2)"},
		{"table", "td:nth-child(2)", "people", `[data-label="People"]`},
		{"table", "tr.even td:nth-child(2)", "people", "table.wikitable td:nth-of-type(2)"},
		{"table", "tbody a", "a", "table.wikitable a"},
		{"table", ".infobox tr:nth-child(2) td", "founded", `th:containsOwn("Founded") + td`},
		{"forum", ".username", "username", "span.username"},
		{"forum", ".cooked p", "p", "div.cooked p"},
		{"forum", "#post_2", "topic_post", "div.topic-post"},
		{"divs", "div > div > div > div > div > div:nth-child(2)", "name", `div:containsOwn("Name") + div`},
		{"divs", "[data-testid] div:nth-child(2)", "stock", `[data-testid="stock"] div:nth-of-type(2)`},
	} {
		page, err := os.ReadFile("testdata/" + tt.page + ".html")
		if err != nil {
			t.Fatal(err)
		}
		got, err := Propose(page, indexOf(t, string(page), tt.at), goOn)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, p := range got.Proposals {
			if list = append(list, p.CSS); fragile.MatchString(p.CSS) {
				t.Errorf("%s, %s: %s is fragile", tt.page, tt.at, p.CSS)
			}
		}
		if got.Name != tt.name || !slices.Contains(list, tt.want) {
			t.Errorf("%s, %s: named %s, proposed\n\t%s\nwant %s, %s", tt.page, tt.at, got.Name, strings.Join(list, "\n\t"),
				tt.name, tt.want)
		}
	}
}
