package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func TestRendering(t *testing.T) {
	w := newWorld(t)
	got := w.ask(http.MethodGet, base+"/executions/w-1/rendering", "")
	var r report.Rendering
	if err := json.Unmarshal([]byte(got.body), &r); err != nil || got.status != 200 {
		t.Fatalf("%d %s: %v", got.status, got.body, err)
	}
	if r.Rendered != 12 || r.Pages != 24 || r.Links != 148 || r.Claimed != 296 || r.CPU != 7400 || len(r.Templates) != 1 {
		t.Errorf("%+v", r)
	}
	if one := r.Templates[0]; one.ID != "8000000000000001" || one.PerLink != 0.05 ||
		!strings.Contains(one.Words, "12 of 12 renders gained") {
		t.Errorf("%+v", one)
	}
	if got := w.ask(http.MethodGet, base+"/executions/no-1/rendering", ""); got.status != 404 {
		t.Errorf("of no execution: %d %s", got.status, got.body)
	}
}

func TestSwitchRendering(t *testing.T) {
	w := newWorld(t)
	user, err := w.s.NewKey(t.Context(), "u", User, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	const path = base + "/executions/w-1/rendering:switch"
	body := func(template, to string) string {
		return `{"host":"a.test","template":"` + template + `","switch":"` + to + `"}`
	}
	for _, tt := range []struct {
		body, want string
		status     int
	}{
		{body("8000000000000001", "never"), `"switch":"never"`, 200},
		{body("8000000000000001", "auto"), `"template":"8000000000000001"`, 200},
		{body("8000000000000001", "perhaps"), "switch", 422},
		{body("x", "never"), "template", 422},
		{body("7", "never"), "not found", 404},
		{`{"host":"a.test"}`, "missing", 422},
	} {
		got := w.ask(http.MethodPost, path, tt.body, "Authorization: Bearer "+user.Key)
		if got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s: %d %s, want %d with %s", tt.body, got.status, got.body, tt.status, tt.want)
		}
	}
	w.service.e.State = workflow.Cancelled
	if got := w.ask(http.MethodPost, path, body("8000000000000001", "never")); got.status != 409 {
		t.Errorf("of an execution that was cancelled: %d %s", got.status, got.body)
	}
}
