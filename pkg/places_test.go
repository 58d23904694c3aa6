package pkg_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The documents name functions as [package.Name](path/file.go), [package.Type.Method](…) or
// [package.(*Type).Method](…). These tests read every such link and look the name up in the file.

// declared are the names that a Go file declares, as a link would write them: "fetch.(*Handler).Handle".
type declared map[string]bool

// goFiles is the source of the module: for each Go file, by its path from the root, what it declares.
type goFiles map[string]declared

// readGoFiles parses every Go file under a root that is no test.
func readGoFiles(root string) (goFiles, error) {
	all := goFiles{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != root, d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		all[filepath.ToSlash(rel)] = declarations(f)
		return err
	})
	return all, err
}

func declarations(f *ast.File) declared {
	names := declared{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names[f.Name.Name+"."+receiver(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[f.Name.Name+"."+s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[f.Name.Name+"."+n.Name] = true
					}
				}
			}
		}
	}
	return names
}

// receiver is "(*T)." or "T." for a method, without type parameters; "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t, pointer := d.Recv.List[0].Type, false
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t, pointer = x.X, true
			continue
		case *ast.IndexExpr:
			t = x.X
			continue
		case *ast.IndexListExpr:
			t = x.X
			continue
		case *ast.Ident:
			if pointer {
				return "(*" + x.Name + ")."
			}
			return x.Name + "."
		}
		return ""
	}
}

// files returns the files that declare a name, in order.
func (t goFiles) files(match func(string) bool) (found []string) {
	for file, names := range t {
		for n := range names {
			if match(n) {
				found = append(found, n+" in "+file)
			}
		}
	}
	slices.Sort(found)
	return found
}

// place is a link to a Go file.
type place struct {
	page        string
	line        int
	label, file string // file is the path from the root
}

// The label ends at the first "](": labels have parentheses of their own.
var goLink = regexp.MustCompile(`\[([^\[\]]+)\]\(([^()\s]+\.go)\)`)

// places returns the links of a page to Go files. page is its path from the root.
func places(page, text string) (out []place) {
	for i, line := range strings.Split(text, "\n") {
		for _, m := range goLink.FindAllStringSubmatch(line, -1) {
			label := strings.Trim(m[1], "`")
			out = append(out, place{page: page, line: i + 1, label: label, file: path.Join(path.Dir(page), m[2])})
		}
	}
	return out
}

// fault says what is wrong with a link and how to mend it; "" where nothing is.
func (t goFiles) fault(p place) string {
	names, known := t[p.file]
	if known && names[p.label] {
		return ""
	}
	said := fmt.Sprintf("%s:%d: the link [%s] is stale: ", p.page, p.line, p.label)
	if known {
		said += p.file + " declares no such name."
	} else {
		said += "there is no file " + p.file + "."
	}
	if now := t.files(func(n string) bool { return n == p.label }); len(now) > 0 {
		return said + " It is " + strings.Join(now, ", ") + ": mend the path."
	}
	last := p.label[strings.LastIndex(p.label, ".")+1:]
	now := t.files(func(n string) bool { return strings.EqualFold(n[strings.LastIndex(n, ".")+1:], last) })
	if near := besideFile(now, p.file); len(near) > 0 {
		now = near
	}
	if len(now) > 0 && len(now) < 12 {
		return said + " Did it become one of these? " + strings.Join(now,
			", ") + ". Mend label and path, and read whether the sentence is still true."
	}
	return said + " Nothing is called so any more: find what does this step now, and mend label, path and sentence."
}

// besideFile returns those that lie in the file's folder.
func besideFile(found []string, file string) []string {
	return slices.DeleteFunc(slices.Clone(found),
		func(s string) bool { return path.Dir(s[strings.Index(s, " in ")+4:]) != path.Dir(file) })
}

// readPages returns the Markdown files of docs and of the root.
func readPages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../docs/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			pages[strings.TrimPrefix(filepath.ToSlash(name), "../")] = string(text)
		}
	}
	return pages
}

func source(t *testing.T) goFiles {
	t.Helper()
	all, err := readGoFiles("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 400 {
		t.Fatalf("%d Go files found: the test looks in the wrong place", len(all))
	}
	return all
}

// Every link of the documents to a Go file names something that the file declares.
func TestPlacesExist(t *testing.T) {
	all := source(t)
	counts := map[string]int{}
	for page, text := range readPages(t) {
		for _, p := range places(page, text) {
			counts[page]++
			if f := all.fault(p); f != "" {
				t.Error(f)
			}
		}
	}
	for page, least := range map[string]int{"docs/design/story.md": 30, "docs/design/where.md": 20} {
		if counts[page] < least {
			t.Errorf("%s has %d links to Go files, at least %d are wanted: were they written another way?", page, counts[page],
				least)
		}
	}
}

// A row of docs/design/where.md: question, first guess, place, verdict.
type row struct {
	line    int
	guess   string // a folder
	places  []place
	verdict string
}

var folderLink = regexp.MustCompile("\\[`?([a-z0-9/]+)`?\\]\\(([^()\\s]+)\\)")

// rows reads the table of where.md.
func rows(page, text string) (out []row, faults []string) {
	for i, line := range strings.Split(text, "\n") {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) < 5 || strings.HasPrefix(cells[0], "--") ||
			strings.TrimSpace(cells[0]) == "#" {
			continue
		}
		guess := folderLink.FindStringSubmatch(cells[2])
		r := row{line: i + 1, places: places(page, cells[3]), verdict: strings.TrimSpace(cells[4])}
		if guess == nil || len(r.places) == 0 || r.verdict != "yes" && r.verdict != "no" {
			faults = append(faults, fmt.Sprintf("%s:%d: a row has a number, a question, a link to a folder, a link to a "+
				"function, and yes or no",
				page, i+1))
			continue
		}
		r.guess = path.Join(path.Dir(page), guess[2])
		out = append(out, r)
	}
	return out, faults
}

// honest says whether the row's verdict is what its guess and its place say: the first place counts.
func (r row) honest(page string) string {
	right := within(path.Dir(r.places[0].file), r.guess)
	if right == (r.verdict == "yes") {
		return ""
	}
	return fmt.Sprintf("%s:%d: the guess is %s, the place is in %s, and the table says %q", page, r.line, r.guess,
		path.Dir(r.places[0].file), r.verdict)
}

// The stranger's test: the guesses name folders that exist, and the verdicts are true.
func TestStrangersGuesses(t *testing.T) {
	const page = "docs/design/where.md"
	text := readPages(t)[page]
	all, faults := rows(page, text)
	for _, f := range faults {
		t.Error(f)
	}
	right := 0
	for _, r := range all {
		if st, err := os.Stat(filepath.Join("..", r.guess)); err != nil || !st.IsDir() {
			t.Errorf("%s:%d: there is no folder %s: guess again from the folders that there are", page, r.line, r.guess)
		}
		if f := r.honest(page); f != "" {
			t.Error(f)
		}
		if r.verdict == "yes" {
			right++
		}
	}
	if len(all) < 20 {
		t.Errorf("%s asks %d questions, 20 are wanted", page, len(all))
	}
	t.Logf("%d of %d first guesses are right", right, len(all))
	if said := fmt.Sprintf("**%d of %d**", right, len(all)); !strings.Contains(text, said) {
		t.Errorf("%s does not say how many guesses are right: write %s", page, said)
	}
}

// Links that are wrong in each way are noticed, and the message says what to mend.
func TestNegativeControlPlaces(t *testing.T) {
	all := goFiles{
		"pkg/a/a.go": {"a.Run": true, "a.(*T).Do": true, "a.T": true},
		"pkg/b/b.go": {"b.V.View": true},
	}
	page := "docs/design/x.md"
	for _, c := range []struct{ text, want string }{
		{"[a.Run](../../pkg/a/a.go)", ""},
		{"see [a.(*T).Do](../../pkg/a/a.go) and [`a.T`](../../pkg/a/a.go)", ""},
		{"[b.V.View](../../pkg/b/b.go)", ""},
		{"[a.Run](../../pkg/b/b.go)", "It is a.Run in pkg/a/a.go: mend the path"},
		{"[a.Run](../../pkg/gone/a.go)", "there is no file pkg/gone/a.go. It is a.Run in pkg/a/a.go"},
		{"[a.(*U).Do](../../pkg/a/a.go)", "Did it become one of these? a.(*T).Do in pkg/a/a.go"},
		{"[a.T.Do](../../pkg/a/a.go)", "Did it become one of these? a.(*T).Do in pkg/a/a.go"},
		{"[a.Walk](../../pkg/a/a.go)", "Nothing is called so any more"},
		{"[the runner](../../pkg/a/a.go)", "is stale"},
	} {
		got := ""
		for _, p := range places(page, c.text) {
			got += all.fault(p)
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: said %q, want %q", c.text, got, c.want)
		}
	}
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{"| 1 | q | [pkg/a](../../pkg/a) | [a.Run](../../pkg/a/a.go) | yes |", true},
		{"| 1 | q | [pkg/b](../../pkg/b) | [a.Run](../../pkg/a/a.go) | no |", true},
		{"| 1 | q | [pkg/b](../../pkg/b) | [a.Run](../../pkg/a/a.go) | yes |", false},
		{"| 1 | q | [pkg/a](../../pkg/a) | [a.Run](../../pkg/a/a.go) | no |", false},
		{"| 1 | q | pkg/a | [a.Run](../../pkg/a/a.go) | yes |", false},
	} {
		rs, faults := rows(page, c.text)
		for _, r := range rs {
			if f := r.honest(page); f != "" {
				faults = append(faults, f)
			}
		}
		if (len(faults) == 0) != c.ok {
			t.Errorf("%s: %q", c.text, faults)
		}
	}
}
