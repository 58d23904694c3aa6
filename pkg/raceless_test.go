package pkg_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each test that the race detector leaves out is run without it, by RACELESS and ALONE of the Makefile.
func TestRacelessTestsRun(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string) string {
		found := regexp.MustCompile(`(?m)^` + name + ` *:= (.*)$`).FindSubmatch(makefile)
		if found == nil {
			t.Fatalf("the Makefile has no %s", name)
		}
		return strings.ReplaceAll(string(found[1]), "$$", "$")
	}
	packages, alone := strings.Fields(set("RACELESS")), regexp.MustCompile(set("ALONE"))
	marked := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\) \{\n\tharness\.Raceless\(t\)`)
	found := 0
	tree := os.DirFS("..")
	err = fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, "_test.go") || name == "pkg/raceless_test.go" {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		tests := marked.FindAllSubmatch(text, -1)
		found += len(tests)
		if n := bytes.Count(text, []byte("harness.Raceless(")); n != len(tests) {
			t.Errorf("%s: %d calls of harness.Raceless, %d of them first in a test", name, n, len(tests))
		}
		for _, m := range tests {
			if dir := "./" + path.Dir(name); !slices.Contains(packages, dir) || !alone.Match(m[1]) {
				t.Errorf("%s in %s is run nowhere: RACELESS has %v and ALONE %v", m[1], dir, packages, alone)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 5 {
		t.Errorf("found %d tests: want more", found)
	}
}
