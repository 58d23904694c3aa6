package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
)

// A server tries a URL with a definition of its own, of a workflow, and of an execution, whose stores it looks into.
func TestTryOnAServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	s := startServe(t)
	file, page := filepath.Join(t.TempDir(), "job.yml"), filepath.Join(t.TempDir(), "page.html")
	job := fmt.Sprintf("id: fruit\nseeds: [%q]\npoliteness: {delay: 1ms}\nexclude: [/b]\n", s.site.URL+"/")
	for name, text := range map[string]string{file: job, page: `<title>A</title><p>apple</p><a href="/b">b</a>`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string { t.Helper(); return must(t, append(args, "--dir", s.dir)...) }
	run("apply", "-f", file)
	run("workflow", "run", "fruit", "--watch")
	viewer := strings.TrimSpace(run("key", "create", "viewer", "--role", "viewer"))
	t.Setenv("WHIRLPOOL_API_KEY", strings.TrimSpace(run("key", "create", "user", "--role", "user")))
	try := func(args ...string) (got trial.Trial) {
		t.Helper()
		text := must(t, append([]string{"try", s.site.URL + "/a", "--server", s.url, "--json"}, args...)...)
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		return got
	}
	if got := try("--workflow", "fruit"); got.Links[0].Reason != "exclude" || got.Content.Judged ||
		got.Links[0].State != "" {
		t.Errorf("with the workflow's definition: %+v", got)
	}
	if got := try(); !got.Links[0].Followed || got.Content.Judged {
		t.Errorf("without a definition: %+v", got)
	}
	got := try("--job", "fruit-1", "--body", page)
	if got.Links[0].Reason != "exclude" || !got.Content.Judged || got.Robots != nil || len(got.Record) == 0 {
		t.Errorf("with that of an execution: %+v", got)
	}
	if text := must(t, "try", s.site.URL+"/other", "--server", s.url, "--job", "fruit-1", "--body",
		page); !strings.Contains(text, "as a copy (exact) of "+s.site.URL+"/a") {
		t.Errorf("the page of another URL:\n%s", text)
	}
	if text := must(t, "try", s.site.URL+"/a", "--server", s.url, "--steps"); strings.Count(text, "\n") < 9 ||
		!strings.Contains(text, `"id":"robots"`) {
		t.Errorf("the steps are\n%s", text)
	}
	for args, want := range map[string]string{"--workflow nosuch": "not found", "--job nosuch": "not found",
		"--workflow fruit -c " + file: "give one of them", "--open": "on this machine",
		"--body " + filepath.Join(s.dir, "nosuch"): "--body"} {
		r := whirlpool(t, append([]string{"try", s.site.URL + "/a", "--server", s.url}, strings.Fields(args)...)...)
		if r.exit == exitOK || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit status %d, %s", args, r.exit, r.stderr)
		}
	}
	t.Setenv("WHIRLPOOL_API_KEY", viewer)
	if r := whirlpool(t, "try", s.site.URL+"/a", "--server", s.url); r.exit == exitOK ||
		!strings.Contains(r.stderr, "role user") {
		t.Errorf("a viewer: exit status %d, %s", r.exit, r.stderr)
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
}

// A plug-in that nobody vouches for may be tried, and not crawled with. One that was disabled may not.
func TestUnsignedPluginsServeDryRunsOnly(t *testing.T) {
	must(t, "plugin", "push", "--untested", aPlugin(t))
	p := &pluginFlags{}
	trusted, err := p.open()
	if err != nil {
		t.Fatal(err)
	}
	defer trusted.Close()
	dry, err := p.openDry(trusted)
	if err != nil {
		t.Fatal(err)
	}
	defer dry.all.Close()
	const use = "shop/price@1.0.0"
	if _, err := trusted.Plugin(t.Context(), use, ""); err == nil || !strings.Contains(err.Error(), "nobody has signed") {
		t.Errorf("a crawl: %v", err)
	}
	if _, err := dry.Plugin(t.Context(), use, ""); err != nil && strings.Contains(err.Error(), "nobody has signed") {
		if _, loaded := dry.all.Plugin(t.Context(), use, ""); loaded == nil ||
			strings.Contains(loaded.Error(), "nobody has signed") {
			t.Errorf("a dry run: %v, %v", err, loaded)
		}
	}
	must(t, "plugin", "disable", "--why", "bad", use)
	again, err := p.openDry(trusted)
	if err != nil {
		t.Fatal(err)
	}
	defer again.all.Close()
	if _, err := again.all.Plugin(t.Context(), use, ""); err == nil || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("one that was disabled: %v", err)
	}
}
