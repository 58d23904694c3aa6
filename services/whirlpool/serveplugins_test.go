package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wasmtest"
)

// digestIn returns the digest that a text has.
func digestIn(t *testing.T, text string) string {
	t.Helper()
	at := strings.Index(text, "sha256:")
	if at < 0 {
		t.Fatalf("there is no digest in %q", text)
	}
	return text[at : at+len("sha256:")+64]
}

// A version of a workflow names the bytes of its plug-ins: where others lie under the name later, it is refused, and it
// runs again when the first ones are back.
func TestAWorkflowRunsThePluginsItWasSavedWith(t *testing.T) {
	s := startServe(t) // with a repository of its own: its settings are in a new directory
	run := func(args ...string) result { t.Helper(); return whirlpool(t, append(args, "--dir", s.dir)...) }
	repo := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "whirlpool", "plugins")
	first := digestIn(t, must(t, "plugin", "push", "--untested", wasmtest.Version(t, "shop/price@1.0.0", "first")))
	must(t, "plugin", "approve", "shop/price@1.0.0")
	file := filepath.Join(t.TempDir(), "job.yml")
	text := "id: fruit\nseeds: [\"" + s.site.URL + "/\"]\nallow_private: true\npoliteness: {delay: 0s}\n" +
		"pipeline:\n  nodes:\n    - {id: price, at: document, use: shop/price@1.0.0}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run("apply", "-f", file); r.exit != exitOK {
		t.Fatalf("%+v", r)
	}
	if r := run("workflow", "run", "fruit", "--watch"); r.exit != exitOK || !strings.Contains(r.stdout, "succeeded, 3 pages") {
		t.Fatalf("%+v", r)
	}
	name := filepath.Join(repo, "names", "shop", "price", "1.0.0")
	had, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	second := digestIn(t, must(t, "plugin", "push", "--untested", wasmtest.Version(t, "shop/price@1.0.0", "second")))
	must(t, "plugin", "approve", "shop/price@1.0.0")
	r := run("workflow", "run", "fruit", "--watch")
	if all := r.stdout + r.stderr; r.exit == exitOK || !strings.Contains(all, "shop/price@1.0.0 has "+second) {
		t.Errorf("with other bytes under the name: %+v", r)
	}
	if err := os.WriteFile(name, had, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := run("workflow", "run", "fruit", "--watch"); r.exit != exitOK || !strings.Contains(r.stdout, "succeeded, 3 pages") {
		t.Errorf("with the bytes that it was saved with (%s): %+v", first, r)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
}
