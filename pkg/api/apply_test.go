package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// All that a file says is looked at before the first of it is applied; where a later part fails all the same, the
// problem says what was applied before it.
func TestApplyIsAllOrSaysWhatWasDone(t *testing.T) {
	const good, bad = `{"slug":"%s","source":"seeds: [http://a.test/]"}`, `{"slug":"bad","source":"x: 1"}`
	for name, tt := range map[string]struct {
		second  string
		refuse  error
		status  int
		created int
		says    string
		keeps   string // what the answer does not say
	}{
		"a fault": {second: bad, status: http.StatusUnprocessableEntity, says: "workflow bad: ", keeps: "applied"},
		"a failure": {second: fmt.Sprintf(good, "two"), refuse: workflow.ErrConflict, status: http.StatusConflict, created: 2,
			says: "before that was applied: one (create)"},
		"no fault": {second: fmt.Sprintf(good, "two"), status: http.StatusOK, created: 2, says: `"slug":"two"`},
	} {
		w := newWorld(t)
		w.service.refuseNew = tt.refuse
		g := w.ask("PUT", base+"/apply", `{"workflows":[`+fmt.Sprintf(good, "one")+`,`+tt.second+`]}`)
		if g.status != tt.status || w.service.created != tt.created || !strings.Contains(g.body, tt.says) ||
			tt.keeps != "" && strings.Contains(g.body, tt.keeps) {
			t.Errorf("%s: %d %s; %d were created", name, g.status, g.body, w.service.created)
		}
	}
}
