//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Export replaces files only: links stay, and what waits at the other end of a pipe gets the pages.
func TestExportReplacesFilesOnly(t *testing.T) {
	link := func(to string) func(*testing.T, string) {
		return func(t *testing.T, name string) {
			if err := os.Symlink(to, name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, name string)
		mode    os.FileMode // of what is there afterwards
		behind  string      // file with the pages, beside it
	}{
		"nothing":         {func(*testing.T, string) {}, 0, "out.csv"},
		"file":            {func(t *testing.T, name string) { writeText(t, name, "old") }, 0, "out.csv"},
		"link to nothing": {link("real.csv"), os.ModeSymlink, "real.csv"},
		"links": {func(t *testing.T, name string) {
			writeText(t, filepath.Join(filepath.Dir(name), "real.csv"), "old")
			link("second")(t, name)
			link("real.csv")(t, filepath.Join(filepath.Dir(name), "second"))
		}, os.ModeSymlink, "real.csv"},
		"pipe": {func(t *testing.T, name string) {
			if err := syscall.Mkfifo(name, 0o600); err != nil {
				t.Fatal(err)
			}
		}, os.ModeNamedPipe, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "out.csv")
			tt.prepare(t, file)
			got := make(chan string, 1)
			if tt.behind == "" {
				go func() { got <- firstLine(file) }() // both ends wait for each other
			}
			must(t, "export", "-o", crawled(t), "--columns", "url", file)
			if info, err := os.Lstat(file); err != nil || info.Mode().Type() != tt.mode {
				t.Fatalf("what was named is now %v, %v; want %v", info.Mode(), err, tt.mode)
			}
			if tt.behind != "" {
				got <- firstLine(filepath.Join(filepath.Dir(file), tt.behind))
			}
			if text := <-got; text != "url" {
				t.Errorf("it begins with %q", text)
			}
		})
	}
}

// firstLine reads a file, or a pipe, to its end.
func firstLine(name string) string {
	data, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	text, _, _ := strings.Cut(string(data), "\n")
	return strings.Trim(text, "\r\ufeff")
}

func TestExportIntoADirectorySaysSo(t *testing.T) {
	dir := t.TempDir()
	if r := whirlpool(t, "export", "-o", crawled(t), dir); r.exit != exitFailure ||
		!strings.Contains(r.stderr, dir+": it is a directory") {
		t.Errorf("exit status %d, %s", r.exit, r.stderr)
	}
}

// A directory that is missing is named, and not the temporary file in it.
func TestAnExportIntoNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	err := writeFile(filepath.Join(dir, "x.csv"), func(io.Writer) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "there is no directory "+dir) ||
		strings.Contains(err.Error(), ".part") {
		t.Errorf("error %v", err)
	}
}
