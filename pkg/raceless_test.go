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

// set is the value of a variable of the Makefile.
func set(t *testing.T, name string) string {
	t.Helper()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + name + ` *:= (.*)$`).FindSubmatch(makefile)
	if found == nil {
		t.Fatalf("the Makefile has no %s", name)
	}
	return strings.ReplaceAll(string(found[1]), "$$", "$")
}

// Each test that the race detector leaves out, or that is smaller under it, is run without it, by RACELESS and ALONE of
// the Makefile.
func TestRacelessTestsRun(t *testing.T) {
	packages, alone := strings.Fields(set(t, "RACELESS")), regexp.MustCompile(set(t, "ALONE"))
	marked := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\) \{\n\tharness\.Raceless\(t\)`)
	smaller := regexp.MustCompile(`(?m)^func (\w+)\([^\n]*\{\n(?:(?:\t[^\n]*)?\n)*?\t[^\n]*harness\.Fewer\(`)
	found, fewer := 0, 0
	tree := os.DirFS("..")
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, "_test.go") || name == "pkg/raceless_test.go" {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		tests := marked.FindAllSubmatch(text, -1)
		found += len(tests)
		if n := bytes.Count(text, []byte("harness.Raceless(")); n != len(tests) {
			t.Errorf("%s: %d calls of harness.Raceless, %d of them first in a test", name, n, len(tests))
		}
		less := smaller.FindAllSubmatch(text, -1)
		fewer += len(less)
		if has := bytes.Contains(text, []byte("harness.Fewer(")); has && len(less) == 0 {
			t.Errorf("%s calls harness.Fewer in no function", name)
		}
		for _, m := range append(tests, less...) {
			if dir := "./" + path.Dir(name); !slices.Contains(packages, dir) || !alone.Match(m[1]) {
				t.Errorf("%s in %s is run nowhere: RACELESS has %v and ALONE %v", m[1], dir, packages, alone)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 5 || fewer < 5 {
		t.Errorf("found %d tests that are left out and %d that are smaller: want more", found, fewer)
	}
}

// Each name of DETECTED is that of a test: go test says ok of one that there is not.
func TestDetectedTestsAreThere(t *testing.T) {
	files, err := fs.Glob(os.DirFS("../services/whirlpool"), "*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range files {
		text, err := os.ReadFile(path.Join("../services/whirlpool", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	for _, name := range strings.Split(set(t, "DETECTED"), "|") {
		if !regexp.MustCompile(`(?m)^func Test\w*` + name).Match(all) {
			t.Errorf("DETECTED of the Makefile names %s, which is no test of services/whirlpool", name)
		}
	}
}
