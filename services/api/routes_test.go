package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/timetable"
)

// reads are the paths of the routes that read something, as api/openapi.yaml lists them.
func reads(t *testing.T) (paths []string) {
	t.Helper()
	data, err := os.ReadFile("../../api/openapi.yaml")
	harness.Check(t, err)
	path := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if m := regexp.MustCompile(`^  (/\S+):$`).FindStringSubmatch(line); m != nil {
			path = m[1]
		}
		if line == "    get:" {
			paths = append(paths, path)
		}
	}
	return paths
}

// Whatever the studio reads is there over a cluster as it is over one machine: no route says that this server has no
// such thing.
func TestEveryRouteReadsFromACluster(t *testing.T) {
	w := newWorld(t)
	w.start("node", "whirlpool", []string{"node"}, nil)
	_, c := w.copyOf("one")
	const pages = 13
	home := site(t, pages) + "/"
	source := fmt.Sprintf("{id: read, seeds: [%q], allow_private: true, ignore_robots: true, sitemaps: false, "+
		"politeness: {delay: 0s}}", home)
	_, err := c.CreateWorkflow(t.Context(), api.NewWorkflow{Source: source, Slug: "read"})
	harness.Check(t, err)
	schedule, err := c.AddSchedule(t.Context(), "read",
		api.NewSchedule{Name: "nightly", ScheduleRule: workflow.ScheduleRule{Spec: timetable.Spec{Cron: "0 3 * * *"}}})
	harness.Check(t, err)
	for range 2 {
		e, err := c.Run(t.Context(), "read", workflow.Overrides{})
		harness.Check(t, err)
		ends(t, c, *e, pages)
	}
	preview, err := c.Preview(t.Context(), "read-2", api.Edit{Patch: map[string]any{"exclude": []string{"/7$"}}})
	harness.Check(t, err)
	names := map[string]string{"ex": "read-2", "wf": "read", "n": "1", "id": string(schedule.ID), "key": home,
		"owner": "builtin", "name": "filter", "version": "1", "of": "role:user", "preview": preview.ID}
	both := "first=read-1&second=read-2"
	queries := map[string]string{"compare": both, "compare/changes": both,
		"compare/texts":           both + "&first_key=" + url.QueryEscape(home) + "&second_key=" + url.QueryEscape(home),
		"executions/{ex}/explain": "url=" + url.QueryEscape(home), "executions/{ex}/graph": "around=" + url.QueryEscape(home),
		"workflows/{wf}/versions/{n}/diff": "from=1"}
	of := map[string]string{"executions/{ex}/hosts/{key}": strings.TrimSuffix(strings.TrimPrefix(home, "http://"), "/"),
		"executions/{ex}/clusters/{id}": home}
	// These have nothing to show here, and say what is missing.
	absent := map[string]string{"executions/{ex}/records/{key}/screenshot": "render.screenshot",
		"executions/{ex}/records/{key}/versions/{visit}/diff": "revisit.history",
		"executions/{ex}/clusters/{id}":                       "not found: ",
		"executions/{ex}/files/{name}":                        "there is no file filter",
		"executions/{ex}/records/{key}/body":                  "keep_bodies",
		"executions/{ex}/records/{key}/rules":                 "keep_bodies",
		"logs/{id}":                                           "the program keeps its last 20000 lines"}
	names["visit"] = "1"
	param := regexp.MustCompile(`\{(\w+)\}`)
	for _, path := range reads(t) {
		short := strings.TrimPrefix(path, "/api/v1/")
		if short == "events" {
			continue // it never ends
		}
		at := param.ReplaceAllStringFunc(path, func(p string) string {
			name := strings.Trim(p, "{}")
			value, known := names[name]
			if own := of[short]; own != "" && (name == "key" || name == "id") {
				value = own
			}
			if !known {
				t.Errorf("%s: say in this test what %s is", path, p)
			}
			return url.PathEscape(value)
		})
		if q := queries[short]; q != "" {
			at += "?" + q
		}
		status, text := 0, ""
		want, mayLack := absent[short]
		read := func() bool {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Server()+at, http.NoBody)
			harness.Check(t, err)
			req.Header.Set("Authorization", "Bearer "+adminKey)
			resp, err := http.DefaultClient.Do(req)
			harness.Check(t, err)
			data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
			_ = resp.Body.Close()
			harness.Check(t, err)
			status, text = resp.StatusCode, string(data)
			return status == http.StatusOK || mayLack && status == http.StatusNotFound && strings.Contains(text, want)
		}
		if !harness.Within(20*time.Second, read) { // what is searched is copied and indexed first
			t.Errorf("GET %s: %d %.300s", at, status, text)
		}
	}
}
