package simhashtool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
)

var prose = strings.Repeat("A crawler that meets the same text twice should notice, whatever the markup around it "+
	"says. ", 5)

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func lines(t *testing.T, out string) (list []Simhash) {
	t.Helper()
	for line := range strings.Lines(out) {
		var s Simhash
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		list = append(list, s)
	}
	return list
}

func TestMarkupDoesNotChangeTheSimhash(t *testing.T) {
	page := "<!DOCTYPE html><html><body><main><p>" + prose + "</p></main></body></html>"
	files := []string{
		write(t, "a.txt", prose), write(t, "a.html", page), write(t, "sniffed", page), write(t, "bom", "\ufeff"+page),
		write(t, "xml", `<?xml version="1.0"?>`+page), write(t, "plain", prose),
		write(t, "fragment.htm", "<p>"+prose+"</p>"),
	}
	var out strings.Builder
	if err := RunSimhash(files, &out); err != nil {
		t.Fatal(err)
	}
	got := lines(t, out.String())
	if len(got) != len(files) {
		t.Fatalf("%d lines for %d files: %s", len(got), len(files), out.String())
	}
	for i, g := range got {
		if g.File != files[i] || g.Simhash != got[0].Simhash || len(g.Simhash) != 16 ||
			g.Features != len(strings.Fields(prose)) {
			t.Errorf("line %d: %+v, want %s of %s", i, g, got[0].Simhash, files[i])
		}
	}
}

func TestMarkupInPlainTextIsText(t *testing.T) {
	text, err := Text(write(t, "a.txt", "<p>kept</p>"))
	if err != nil || text != "<p>kept</p>" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestAMissingFileIsNamedAndFilesBeforeItAreNotLost(t *testing.T) {
	var out strings.Builder
	file := write(t, "a.txt", prose)
	err := RunSimhash([]string{file, "no-such-file", file}, &out)
	if err == nil || !strings.Contains(err.Error(), "no-such-file") {
		t.Errorf("error %v, want one that names the file", err)
	}
	if got := lines(t, out.String()); len(got) != 1 {
		t.Errorf("%d lines, want the one before the missing file", len(got))
	}
}

func TestStandardInput(t *testing.T) {
	stdin, err := os.Open(write(t, "stdin", prose))
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	defer func(f *os.File) { os.Stdin = f }(os.Stdin)
	os.Stdin = stdin
	text, err := Text("-")
	want, _, _ := contentseen.Fingerprint(prose)
	if got, _, _ := contentseen.Fingerprint(text); err != nil || got != want {
		t.Errorf("simhash %016x, %v; want %016x", got, err, want)
	}
}
