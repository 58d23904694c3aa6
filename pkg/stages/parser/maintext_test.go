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

// mainTextPages is how many pages of each family are scored; mainTextWorst names a directory for the worst pages of each
// training family, to look at.
var (
	mainTextPages = flag.Uint64("maintext.pages", 12, "pages of each family")
	mainTextWorst = flag.String("maintext.worst", "", "write the worst page of each training family to this directory")
	mainTextTest  = flag.Bool("maintext.test", true, "score the families for testing, too")
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
		t.Log(scoreLine(f.Name, f.Test, textpages.Mean(scores)))
	}
	for _, test := range []bool{false, true} {
		m := textpages.Mean(all[test])
		t.Log(scoreLine("all", test, m))
	}
}

func scoreLine(name string, test bool, m textpages.Score) string {
	set := "training"
	if test {
		set = "test"
	}
	return fmt.Sprintf("%-9s %-24s words: P %.3f R %.3f F1 %.3f  shingles: P %.3f R %.3f F1 %.3f", set, name, m.Precision, m.Recall, m.F1,
		m.ShinglePrecision, m.ShingleRecall, m.ShingleF1)
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
