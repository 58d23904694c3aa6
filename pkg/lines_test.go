package pkg_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxLine is how long a line of a comment or of prose may be, in characters.
const maxLine = 120

// Comments and prose are read beside other text, in windows of maxLine characters. Tables and what cannot be broken,
// such as a link or a directive of the compiler, may be longer.
func TestNoLongLinesInCommentsAndProse(t *testing.T) {
	for _, bad := range longLines(t, "..") {
		t.Error(bad)
	}
}

// The check finds what it is for, and nothing else.
func TestLongLinesAreFound(t *testing.T) {
	dir, word := t.TempDir(), strings.Repeat("word ", 30)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", "//go:build "+word+"\n\nvar x = 1 // "+word+"\n\t// "+word+"\n// https://a.test/"+strings.Repeat("x", 130)+"\n")
	write("a.md", "# A\n\n| "+word+" |\n\n```\n"+word+"\n```\n\n"+word+"\n\n- ["+word+"](b.md)\n\n\t"+word+"\n")
	got := longLines(t, dir)
	if len(got) != 2 || !strings.Contains(got[0], "a.go:4:") || !strings.Contains(got[1], "a.md:9:") {
		t.Errorf("found %q, want line 4 of a.go and line 9 of a.md", got)
	}
}

func longLines(t *testing.T, root string) (bad []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		counts := map[string]func() func(string) bool{".go": isComment, ".md": isProse}[filepath.Ext(path)]
		if d.IsDir() || counts == nil {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		is := counts()
		for i, line := range strings.Split(string(text), "\n") {
			if n := utf8.RuneCountInString(line); is(line) && n > maxLine && breakable(line) {
				bad = append(bad, fmt.Sprintf("%s:%d: %d characters, %d are allowed: break the line", path, i+1, n, maxLine))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return bad
}

var comment = regexp.MustCompile(`^\s*// ?`)

func isComment() func(line string) bool {
	directive := regexp.MustCompile(`^\s*//[a-z]+:`)
	return func(line string) bool { return comment.MatchString(line) && !directive.MatchString(line) }
}

// isProse knows fenced code by its fences, indented code, tables and lines that are a link.
func isProse() func(line string) bool {
	fenced, other := false, regexp.MustCompile(`^(\s*\||\t|    |[-* ]*!?\[)`)
	return func(line string) bool {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		return !fenced && !other.MatchString(line)
	}
}

// breakable reports whether a line has two words, of which the first could stand alone.
func breakable(line string) bool {
	text := strings.TrimSpace(comment.ReplaceAllString(line, ""))
	return strings.ContainsAny(text, " \t")
}
