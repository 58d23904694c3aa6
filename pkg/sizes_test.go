package pkg_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The limits of CONTRIBUTING.md, in lines. Test files are printed, not limited.
const (
	maxFile     = 400
	maxFunction = 45
)

// measured is a file or a function and its number of lines.
type measured struct {
	name  string
	lines int
}

// Small files and functions are easier to read. `go test -v -run TestSizes ./pkg` prints the distribution.
func TestSizes(t *testing.T) {
	files, functions := sizes(t, "..")
	printSizes(t, "files", files)
	printSizes(t, "functions", functions)
	for _, bad := range slices.Concat(longer(files, maxFile), longer(functions, maxFunction)) {
		t.Errorf("%s has %d lines: files may have %d and functions %d, outside tests", bad.name, bad.lines, maxFile,
			maxFunction)
	}
}

// The check finds what is too long.
func TestNegativeControlSizes(t *testing.T) {
	got := longer([]measured{{"a.go", 45}, {"b.go", 46}, {"b_test.go", 460}, {"c_test.go f", 460}}, 45)
	if len(got) != 1 || got[0].name != "b.go" {
		t.Errorf("found %v, want b.go alone", got)
	}
}

func longer(all []measured, limit int) (bad []measured) {
	for _, m := range all {
		if m.lines > limit && !strings.Contains(m.name, "_test.go") {
			bad = append(bad, m)
		}
	}
	return bad
}

func printSizes(t *testing.T, what string, all []measured) {
	t.Helper()
	var lines []int
	for _, m := range all {
		if !strings.Contains(m.name, "_test.go") {
			lines = append(lines, m.lines)
		}
	}
	slices.Sort(lines)
	n := len(lines)
	t.Logf("%d %s outside tests: median %d lines, 90th percentile %d, longest %d", n, what, lines[n/2], lines[n*9/10],
		lines[n-1])
}

// sizes measures the Go files below root and their functions.
func sizes(t *testing.T, root string) (files, functions []measured) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, measured{path, set.File(file.FileStart).LineCount()})
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				functions = append(functions, measured{path + " " + f.Name.Name,
					set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, functions
}
