package parse

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMainTextOfPages(t *testing.T) {
	pages, err := filepath.Glob("testdata/text/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, name := range pages {
		t.Run(filepath.Base(name), func(t *testing.T) {
			doc, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := parseHTML(t, string(doc)).Text + "\n"
			golden := strings.TrimSuffix(name, ".html") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestLanguageIsDeclaredOrGuessed(t *testing.T) {
	german := "<p>Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller staatlichen Gewalt."
	for doc, want := range map[string]string{
		"<html lang=de-AT>" + german: "de-at", "<html xml:lang=fr>": "fr", "<html lang='{{lang}}'>" + german: "de", german: "de",
		"<meta http-equiv=content-language content='en, de'>" + german: "en", "<p>short": "",
		"<p>Съешь же ещё этих мягких французских булок, да выпей чаю, а потом ложись спать в тёплую постель.": "ru",
	} {
		if got := parseHTML(t, doc).Lang; got != want {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
}
