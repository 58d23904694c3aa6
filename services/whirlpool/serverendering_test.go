package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/engine"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/decide"
)

// putTemplates writes templates into the state of a server that does not run.
func putTemplates(t *testing.T, dir string, id crawl.JobID, all ...crawl.RenderTemplate) {
	t.Helper()
	e, err := engine.Open(t.Context(),
		node.DefaultEngine(filepath.Join(dir, "crawl"), filepath.Join(dir, "executions"), slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	for _, is := range all {
		_, err = e.Store().RenderStats().ChangeTemplate(t.Context(), id, is.Host, is.Template,
			func(t *crawl.RenderTemplate) bool { *t = is; return true })
		if err != nil {
			break
		}
	}
	if err := errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
}

// What renders brought is told by the API, status and explain; people switch templates, and events say who did.
func TestServeTellsOfRendersAndSwitchesThem(t *testing.T) {
	s := startServe(t)
	file := filepath.Join(t.TempDir(), "job.yml")
	if err := os.WriteFile(file, []byte("id: fruit\nseeds: [\""+s.site.URL+
		"/\"]\nallow_private: true\npoliteness: {delay: 0s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "apply", "-f", file, "--dir", s.dir)
	must(t, "workflow", "run", "fruit", "--watch", "--dir", s.dir)
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(s.site.URL, "http://")
	putTemplates(t, s.dir, "fruit-1",
		crawl.RenderTemplate{Host: host, Template: 1<<63 + 5, Shape: "/*", State: decide.Stop, Since: time.Now(), Sent: 10,
			Renders: 10, CPU: 3000}, crawl.RenderTemplate{Host: "b.test", Template: 6, Shape: "/react/*", State: decide.Keep,
			Since: time.Now(), Sent: 12, Renders: 12, Gained: 12, Links: 148, CPU: 7400})
	s.start(t)
	t.Setenv("WHIRLPOOL_API_KEY", strings.TrimSpace(must(t, "key", "create", "test", "--role", "user", "--dir", s.dir)))
	on := []string{"--server", s.url, "--job", "fruit-1"}
	for _, c := range []struct{ args, want string }{
		{"status", "RENDER"}, {"status", "/react/*"}, {"status --json", `"seconds_per_link": 0.05`},
		{"explain " + s.site.URL + "/a", "not rendered: template /* does not pay since"},
	} {
		if text := must(t, append(strings.Fields(c.args), on...)...); !strings.Contains(text, c.want) {
			t.Errorf("%s: %q is not in\n%s", c.args, c.want, text)
		}
	}
	c, err := client.New(s.url, os.Getenv("WHIRLPOOL_API_KEY"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Rendering(t.Context(), "fruit-1")
	if err != nil || len(r.Templates) != 2 || r.Renders != 22 || r.Pages != 3 || r.Templates[0].Host != "b.test" {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, to := range []string{"never", "never", "auto"} { // the same again changes nothing
		got, err := c.SwitchRendering(t.Context(), "fruit-1",
			api.RenderSwitch{Host: "b.test", Template: r.Templates[0].ID, Switch: to})
		if err != nil || got.Renders != 12 || got.Switch != strings.TrimPrefix(to, "auto") {
			t.Fatalf("%s: %+v, %v", to, got, err)
		}
	}
	if _, err := c.SwitchRendering(t.Context(), "fruit-1",
		api.RenderSwitch{Host: "c.test", Template: "6", Switch: "always"}); !client.IsNotFound(err) {
		t.Errorf("of a host that has none: %v", err)
	}
	text := must(t, "exec", "events", "fruit-1", "--dir", s.dir)
	if n := strings.Count(text, "execution.render_switched"); n != 2 || !strings.Contains(text, "key:test") {
		t.Errorf("%d events of switches in\n%s", n, text)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
}
