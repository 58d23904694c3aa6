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
// runs again when the first ones are back. So does a revision of an execution.
func TestAWorkflowRunsThePluginsItWasSavedWith(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of waiting")
	}
	s := startServe(t) // with a repository of its own: its settings are in a new directory
	run := func(args ...string) result { t.Helper(); return whirlpool(t, append(args, "--dir", s.dir)...) }
	first := pushed(t, "1.0.0", "first")
	file := filepath.Join(t.TempDir(), "job.yml")
	text := "id: fruit\nseeds: [\"" + s.site.URL + "/\"]\nallow_private: true\npoliteness: {delay: 0s}\n" +
		"pipeline:\n  nodes:\n    - {id: price, at: document, use: shop/price@1.0.0}\n"
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, text)
	if r := run("apply", "-f", file); r.exit != exitOK {
		t.Fatalf("%+v", r)
	}
	if r := run("workflow", "run", "fruit", "--watch"); r.exit != exitOK ||
		!strings.Contains(r.stdout, "succeeded, 3 pages") {
		t.Fatalf("%+v", r)
	}
	// The same definition again, which names no digest, changes nothing of the execution.
	if r := run("exec", "edit", "fruit-1", "-f", file); r.exit != exitOK ||
		strings.Contains(r.stdout+r.stderr, "pipeline") {
		t.Errorf("an edit that changes nothing: %+v", r)
	}
	pushed(t, "1.1.0", "third")
	write(file, strings.Replace(text, "1.0.0", "1.1.0", 1))
	if r := run("exec", "edit", "fruit-1", "-f", file); r.exit != exitOK || !strings.Contains(r.stdout, "price@1.1.0") {
		t.Errorf("an edit that goes over to another version: %+v", r)
	}
	_, other := replaced(t, "1.1.0")
	if r := run("exec", "edit", "fruit-1", "--set", "max_pages=77"); r.exit == exitOK ||
		!strings.Contains(r.stderr, "shop/price@1.1.0 has "+other) {
		t.Errorf("an edit with other bytes under the name: %+v", r)
	}
	write(file, strings.Replace(text, "1.0.0", "1.1.0", 1)+"max_pages: 78\n")
	if r := run("exec", "edit", "fruit-1", "-f", file); r.exit == exitOK ||
		!strings.Contains(r.stderr, "shop/price@1.1.0 has "+other) {
		t.Errorf("a whole definition, which names no digest, with other bytes under the name: %+v", r)
	}
	undo, second := replaced(t, "1.0.0")
	if r := run("workflow", "run", "fruit", "--watch"); r.exit == exitOK ||
		!strings.Contains(r.stdout+r.stderr, "shop/price@1.0.0 has "+second) {
		t.Errorf("with other bytes under the name: %+v", r)
	}
	undo()
	if r := run("workflow", "run", "fruit", "--watch"); r.exit != exitOK ||
		!strings.Contains(r.stdout, "succeeded, 3 pages") {
		t.Errorf("with the bytes that it was saved with (%s): %+v", first, r)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

// pushed pushes a version of a plug-in and approves it. It returns its digest.
func pushed(t *testing.T, version, v string) (digest string) {
	t.Helper()
	use := "shop/price@" + version
	digest = digestIn(t, must(t, "plugin", "push", "--untested", wasmtest.Version(t, use, v)))
	must(t, "plugin", "approve", use)
	return digest
}

// replaced puts other bytes under the name of a version, as nobody may, until undo is called.
func replaced(t *testing.T, version string) (undo func(), digest string) {
	t.Helper()
	name := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "whirlpool", "plugins", "names", "shop", "price", version)
	had, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	digest = pushed(t, version, "another")
	return func() {
		if err := os.WriteFile(name, had, 0o600); err != nil {
			t.Error(err)
		}
	}, digest
}
