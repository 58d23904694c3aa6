package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func TestFreshness(t *testing.T) {
	w := newWorld(t)
	got := w.ask(http.MethodGet, base+"/executions/w-1/freshness", "")
	var f report.Freshness
	if err := json.Unmarshal([]byte(got.body), &f); err != nil || got.status != 200 {
		t.Fatalf("%d %s: %v", got.status, got.body, err)
	}
	if !f.Continuous || f.Figures == nil || f.Figures.Fresh != .9 || len(f.Figures.Hosts) != 1 || len(f.Due) != 1 ||
		f.Due[0].Visits != 4 {
		t.Errorf("%s", got.body)
	}
	if got := w.ask(http.MethodGet, base+"/executions/no-1/freshness", ""); got.status != 404 {
		t.Errorf("of no execution: %d %s", got.status, got.body)
	}
}
