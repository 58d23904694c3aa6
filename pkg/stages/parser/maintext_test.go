package parser

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/textpages"
)

// mainTextPages is how many pages of each family are scored; mainTextWorst names a directory for the worst page of each
// training family, to look at.
var (
	mainTextPages = flag.Uint64("maintext.pages", 24, "pages of each family")
	mainTextWorst = flag.String("maintext.worst", "", "write the worst page of each training family to this directory")
	mainTextTest  = flag.Bool("maintext.test", true, "score the families for testing, too")
)

// bound is the least that the main text of all pages of a set must reach, by words and by runs of four words.
type bound struct{ precision, recall, f1, shingleF1 float64 }

var mainTextBounds = map[bool]bound{false: {0.975, 0.975, 0.975, 0.97}, true: {0.95, 0.98, 0.965, 0.955}}

// worstFamily is the least F1 of a family's average. The teasers of a category are told from those beside an article by
// their number only.
const (
	worstFamily   = 0.88
	worstCategory = 0.80
)

// The table of families: go test -run TestMainTextOfFamilies -v ./pkg/stages/parser.
func TestMainTextOfFamilies(t *testing.T) {
	all := map[bool][]textpages.Score{}
	for _, f := range textpages.Families() {
		if f.Test && !*mainTextTest {
			continue
		}
		scores := scoreFamily(t, f)
		all[f.Test] = append(all[f.Test], scores...)
		m, least := textpages.Mean(scores), worstFamily
		t.Log(scoreLine(f.Name, f.Test, m))
		if f.Name == "category" {
			least = worstCategory
		}
		if m.F1 < least {
			t.Errorf("F1 of %s is below %.2f", f.Name, least)
		}
	}
	for test, scores := range all {
		m, least := textpages.Mean(scores), mainTextBounds[test]
		t.Log(scoreLine("all", test, m))
		if m.Precision < least.precision || m.Recall < least.recall || m.F1 < least.f1 || m.ShingleF1 < least.shingleF1 {
			t.Errorf("want at least %+v", least)
		}
	}
}

func scoreLine(name string, test bool, m textpages.Score) string {
	set := "training"
	if test {
		set = "test"
	}
	return fmt.Sprintf("%-9s %-24s words: P %.3f R %.3f F1 %.3f  shingles: P %.3f R %.3f F1 %.3f", set, name, m.Precision,
		m.Recall, m.F1, m.ShinglePrecision, m.ShingleRecall, m.ShingleF1)
}

func scoreFamily(t *testing.T, f textpages.Family) (scores []textpages.Score) {
	t.Helper()
	worst, at, missed := 2.0, 0, ""
	for seed := range *mainTextPages {
		page := f.Page(seed)
		text := parseHTML(t, string(page.HTML)).Text
		s := page.Score(text)
		scores = append(scores, s)
		if s.F1 < worst {
			worst, at, missed = s.F1, int(seed), text
		}
	}
	if *mainTextWorst != "" && !f.Test {
		page := f.Page(uint64(at))
		base := filepath.Join(*mainTextWorst, strings.ReplaceAll(f.Name, " ", "_"))
		for name, data := range map[string]string{".html": string(page.HTML), ".want": page.Main, ".got": missed} {
			if err := os.WriteFile(base+name, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("worst of %s: seed %d, F1 %.3f", f.Name, at, worst)
	}
	return scores
}
