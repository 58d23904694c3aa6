package node

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Every row of the pipeline's table can be made, and nothing else can.
func TestEveryStageHasAMaker(t *testing.T) {
	if len(makers) != len(crawl.Stages()) {
		t.Errorf("%d makers for %d stages", len(makers), len(crawl.Stages()))
	}
	for _, r := range Roles() {
		if makers[r].make == nil {
			t.Errorf("stage %s has no maker", r)
		}
	}
	if err := new(Node).add("nobody"); err == nil {
		t.Error("a role that is not in the table was made")
	}
}

// The fetcher's bound on one machine is the window, which is what the table says by default.
func TestTheTableKnowsTheWindow(t *testing.T) {
	s, _ := crawl.StageNamed(string(Fetcher))
	if c := Default(); c.Workers[Fetcher].Max != s.Workers.Max || c.Frontier.Window != s.Workers.Max {
		t.Errorf("the table says %+v, the window is %d", s.Workers, c.Frontier.Window)
	}
}
