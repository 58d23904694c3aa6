package pkg_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Packages that `make test` runs without the race detector start no goroutines. What only tests use is let off, and so
// are the tests of other programs.
func TestSerialPackagesStartNoGoroutines(t *testing.T) {
	list := serialPackages(t)
	if len(list) < 10 {
		t.Fatalf("the Makefile names %q", list)
	}
	for _, dir := range list {
		for _, place := range goroutines(t, filepath.Join("..", dir)) {
			t.Errorf("%s starts a goroutine: take %s out of SERIAL in the Makefile, so that the race detector looks at it",
				place, dir)
		}
	}
	if places := goroutines(t, filepath.Join("bus", "membus")); len(places) == 0 { // the control
		t.Error("pkg/bus/membus starts goroutines, and none are found")
	}
}

// serialPackages are the folders of SERIAL but for those that hold only tests.
func serialPackages(t *testing.T) (dirs []string) {
	t.Helper()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^SERIAL := ((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no SERIAL")
	}
	for _, field := range strings.Fields(string(list[1])) {
		dir := strings.TrimPrefix(strings.TrimSuffix(field, "/..."), "./")
		if dir != "\\" && dir != "pkg" && dir != "cloudformation" && dir != "pkg/testkit" &&
			!strings.HasPrefix(dir, "services/") { // their tests run them as programs
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// goroutines are the places in a folder's code, and in that of the folders within it, that start one.
func goroutines(t *testing.T, root string) (places []string) {
	t.Helper()
	files, err := sourceFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, file := range files {
		f, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			started := false
			switch n := n.(type) {
			case *ast.GoStmt:
				started = true
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				started = ok && s.Sel.Name == "Go"
			}
			if started {
				places = append(places, set.Position(n.Pos()).String())
			}
			return true
		})
	}
	return places
}

func sourceFiles(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return err
	})
	return files, err
}
