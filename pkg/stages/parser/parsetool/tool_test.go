package parsetool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const doc = `<html lang=en><title>T &amp; t</title><base href=/b/><a href="x?a=1&amp;b=2#f" rel=nofollow> one
two </a><a href=mailto:m>m</a><link rel=next href="//h/ö"><p>text`

func write(t *testing.T, body string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLinksAreJSONLines(t *testing.T) {
	var out strings.Builder
	if err := RunLinks("http://example.com/d/p", write(t, doc), &out); err != nil {
		t.Fatal(err)
	}
	want := `{"url":"http://example.com/b/x?a=1&b=2#f","rel":"nofollow","text":"one two"}` + "\n" +
		`{"url":"http://h/%C3%B6","rel":"next","text":""}` + "\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestTextIsOneLine(t *testing.T) {
	var out strings.Builder
	if err := RunText(write(t, doc), &out); err != nil {
		t.Fatal(err)
	}
	if want := `{"title":"T & t","text":"one two m\ntext","lang":"en","charset":"utf-8"}` + "\n"; out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

func TestMistakesNameWhatIsWrong(t *testing.T) {
	var out strings.Builder
	if err := RunLinks("no base", write(t, doc), &out); err == nil ||
		!strings.Contains(err.Error(), `base URL "no base"`) {
		t.Errorf("error %v", err)
	}
	if err := RunText("/nowhere/page.html", &out); err == nil || !strings.Contains(err.Error(), "/nowhere/page.html") {
		t.Errorf("error %v", err)
	}
	if out.Len() != 0 {
		t.Errorf("wrote %q", out.String())
	}
}
