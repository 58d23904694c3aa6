package pkg_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// change is what somebody does to one file of the tree.
type change struct {
	file string
	// before and after are a text of the file and what it becomes; all its occurrences do.
	before, after string
	// content is that of a new file.
	content string
}

// tree is a copy of this module, to be changed and tried.
type tree struct {
	t    *testing.T
	root string
}

// copyTree copies what the module is made of.
func copyTree(t *testing.T) tree {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the module anew")
	}
	c := tree{t, t.TempDir()}
	for _, name := range []string{"go.mod", "go.sum", "Makefile", "docker-compose.yml", "docker-compose.dev.yml", "pkg", "services", "deploy", "docs"} {
		from := filepath.Join("..", name)
		info, err := os.Stat(from)
		if err == nil && info.IsDir() {
			err = os.CopyFS(filepath.Join(c.root, name), goAndText{os.DirFS(from)})
		} else if err == nil {
			var data []byte
			if data, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(filepath.Join(c.root, name), data, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// goAndText leaves out links and sockets, which a copy does not need.
type goAndText struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (g goAndText) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(g.FS, name)
	return slices.DeleteFunc(all, func(e fs.DirEntry) bool { return !e.IsDir() && !e.Type().IsRegular() }), err
}

// apply makes the changes and prints which files of the program, and which others, were touched.
func (c tree) apply(what string, changes []change) {
	c.t.Helper()
	files := map[string]bool{}
	for _, ch := range changes {
		files[ch.file] = true
		name := filepath.Join(c.root, ch.file)
		text := ch.content
		if text == "" {
			data, err := os.ReadFile(name)
			if err != nil || !bytes.Contains(data, []byte(ch.before)) {
				c.t.Fatalf("%s does not hold %q: %v", ch.file, ch.before, err)
			}
			text = strings.ReplaceAll(string(data), ch.before, ch.after)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	var program, rest []string
	for name := range files {
		if strings.HasSuffix(name, ".go") {
			program = append(program, name)
		} else {
			rest = append(rest, name)
		}
	}
	slices.Sort(program)
	slices.Sort(rest)
	c.t.Logf("%s touches %d Go files: %s", what, len(program), strings.Join(program, " "))
	c.t.Logf("%s touches %d files of deployment and documents: %s", what, len(rest), strings.Join(rest, " "))
}

// write writes a file that tries the change and is no part of it.
func (c tree) write(file, content string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.root, file), []byte(content), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// run runs a command in the tree, which must succeed, and returns what it wrote.
func (c tree) run(args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), args[0], args[1:]...)
	cmd.Dir = c.root
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -vet=off -ldflags=-w") // as the Makefile has it
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A stage between parser and content-seen: the parser and content-seen are not touched, for the table alone says where
// documents go. In the copied tree it is built, deployed and runs in a whole crawl.
func TestAddingAStage(t *testing.T) {
	c := copyTree(t)
	c.apply("a stage", languageStage)
	c.write("pkg/bus/rabbit/write_test.go", writeDefinitions)
	c.run("go", "test", "-count=1", "-run", "TestWriteDefinitions", "./pkg/bus/rabbit")
	c.run("go", "vet", "./services/language", "./services/whirlpool")
	c.run("go", "test", "-count=1", "-run", "Pipeline|Topic", "./pkg/crawl")
	c.run("go", "test", "-count=1", "-run", "Deployed|Table|Compose|Import", "./pkg", "./pkg/process")
	if settings := c.run("go", "run", "./services/language", "--print-config"); !strings.Contains(settings, "language: 8 #") ||
		!strings.Contains(settings, "language: 10m0s #") {
		t.Errorf("the stage has no settings:\n%s", settings)
	}
	c.write("pkg/node/language_test.go", languageCrawl)
	c.run("go", "test", "-count=1", "-run", "TestLanguage|Maker", "./pkg/node")
}

// A format of exports: a file of its own and a row.
func TestAddingAnExportFormat(t *testing.T) {
	c := copyTree(t)
	c.apply("an export format", textFormat)
	c.write("pkg/records/export/urls_test.go", urlsExport)
	c.run("go", "test", "-count=1", "-run", "TestURLs", "./pkg/records/export")
	for args, want := range map[string]string{"export --help": "csv, jsonl, parquet or urls", "__complete export --format u": "urls"} {
		if out := c.run(append([]string{"go", "run", "./services/whirlpool"}, strings.Fields(args)...)...); !strings.Contains(out, want) {
			t.Errorf("%s does not name the format:\n%s", args, out)
		}
	}
}
