package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A client tells of another revision only where there was one: it knows which applies from the answer, and says
// nothing where a server of an earlier version left that out.
func TestAClientTellsOfRevisionsAsTheServerDoes(t *testing.T) {
	for name, tt := range map[string]struct {
		decided, now uint32
		want         string
	}{
		"the same":        {1, 1, ""},
		"an older one":    {1, 3, "; by revision 1, the job is at 3 now"},
		"an older server": {2, 0, ""},
	} {
		for _, state := range []string{crawl.StateDone.String(), crawl.StateExcluded.String()} {
			sent, err := json.Marshal(&Explanation{Epoch: tt.now, Ledger: LedgerEntry{State: state, Revision: tt.decided}})
			if err != nil {
				t.Fatal(err)
			}
			var e Explanation
			if err := json.Unmarshal(sent, &e); err != nil {
				t.Fatal(err)
			}
			if got := e.ledgerText(); !strings.HasSuffix(got, tt.want) || tt.want == "" && strings.Contains(got, "revision") {
				t.Errorf("%s, %s: %q, want the end %q", name, state, got, tt.want)
			}
		}
	}
}
