package pkg_test

import (
	"bytes"
	"encoding/json"
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

// tree is a copy of this module, to be changed and tried. What is tried is built where the module lies, with the
// changed files in place of its own: the rest of it is built already.
type tree struct {
	t       *testing.T
	root    string
	module  string
	changed map[string]string // file of the module to file of the copy
}

// copyTree copies what the module is made of.
func copyTree(t *testing.T) tree {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the module anew")
	}
	module, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	c := tree{t, t.TempDir(), module, map[string]string{}}
	for _, name := range []string{"go.mod", "go.sum", "Makefile", "docker-compose.yml", "docker-compose.dev.yml", "pkg",
		"services", "deploy", "docs"} {
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
		c.write(ch.file, text)
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

// write writes a file of the tree.
func (c tree) write(file, content string) {
	c.t.Helper()
	name := filepath.Join(c.root, file)
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		c.t.Fatal(err)
	}
	c.changed[filepath.Join(c.module, file)] = name
}

// build runs a command of go that builds, with the changes.
func (c tree) build(args ...string) {
	c.t.Helper()
	changes, err := json.Marshal(map[string]any{"Replace": c.changed})
	if err != nil {
		c.t.Fatal(err)
	}
	overlay := filepath.Join(c.t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, changes, 0o600); err != nil {
		c.t.Fatal(err)
	}
	// flags as the Makefile has them
	c.out(c.module, []string{"GOFLAGS=" + os.Getenv("GOFLAGS") + " -ldflags=-w -overlay=" + overlay},
		append([]string{"go"}, args...)...)
}

// test runs tests of a package in the tree, which must succeed.
func (c tree) test(pattern, pkg string) {
	c.t.Helper()
	program := filepath.Join(c.t.TempDir(), "test")
	c.build("test", "-vet=off", "-c", "-o", program, "./"+pkg)
	c.out(filepath.Join(c.root, pkg), nil, program, "-test.run", pattern, "-test.timeout", "10m")
}

// program builds a program of the tree.
func (c tree) program(pkg string) string {
	c.t.Helper()
	name := filepath.Join(c.t.TempDir(), filepath.Base(pkg))
	c.build("build", "-o", name, "./"+pkg)
	return name
}

// out runs a command in a directory, which must succeed, and returns what it wrote.
func (c tree) out(dir string, env []string, args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
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
	c.test("TestWriteDefinitions", "pkg/bus/rabbit")
	c.build("build", "./services/language", "./services/whirlpool") // of two programs it links neither
	c.test("Pipeline|Topic", "pkg/crawl")
	c.test("Deployed|Table|Compose|Import", "pkg")
	c.test("Deployed|Table|Compose|Import", "pkg/process")
	if settings := c.out(c.root, nil, c.program("services/language"), "--print-config"); !strings.Contains(settings,
		"language: 8 #") ||
		!strings.Contains(settings, "language: 10m0s #") {
		t.Errorf("the stage has no settings:\n%s", settings)
	}
	c.write("pkg/node/language_test.go", languageCrawl)
	c.test("TestLanguage|Maker", "pkg/node")
}

// A format of exports: a file of its own and a row.
func TestAddingAnExportFormat(t *testing.T) {
	c := copyTree(t)
	c.apply("an export format", textFormat)
	c.write("pkg/records/export/urls_test.go", urlsExport)
	c.test("TestURLs", "pkg/records/export")
	whirlpool := c.program("services/whirlpool")
	for args, want := range map[string]string{"export --help": "csv, jsonl, parquet or urls",
		"__complete export --format u": "urls"} {
		if out := c.out(c.root, nil, append([]string{whirlpool}, strings.Fields(args)...)...); !strings.Contains(out, want) {
			t.Errorf("%s does not name the format:\n%s", args, out)
		}
	}
}
