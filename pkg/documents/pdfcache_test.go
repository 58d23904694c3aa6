package documents

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// compiledTo copies the compiled PDFium to a directory of its own, and returns that and the file in it.
func compiledTo(t *testing.T) (dir, file string) {
	t.Helper()
	open(t, newCompiler(t, func(*Config) {}), request("application/pdf", pdfPages(1))) // it is compiled now
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(compiled)); err != nil {
		t.Fatal(err)
	}
	eachCached(dir, func(name string) { file = name })
	if file == "" {
		t.Fatal("the cache is empty")
	}
	return dir, file
}

// A cache that the disk, a kill or a person damaged costs compiling once more, and no PDF.
func TestADamagedCacheBreaksNoPDF(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("each case compiles PDFium, which takes seconds")
	}
	damage := map[string]func(t *testing.T, file string){
		"flipped code": func(t *testing.T, file string) {
			change(t, file, func(b []byte) []byte { b[len(b)/2] ^= 0x10; return b })
		},
		"flipped offsets": func(t *testing.T,
			file string) {
			change(t, file, func(b []byte) []byte { b[40] ^= 0x80; return b })
		},
		"cut":   func(t *testing.T, file string) { change(t, file, func(b []byte) []byte { return b[:len(b)/3] }) },
		"empty": func(t *testing.T, file string) { change(t, file, func([]byte) []byte { return nil }) },
		"cut with its digest": func(t *testing.T, file string) { // what the digest cannot tell, the cache says itself
			change(t, file, func(b []byte) []byte { return b[:len(b)/3] })
			sealCache(filepath.Dir(file))
		},
		"no file": func(t *testing.T, file string) {
			if err := os.RemoveAll(filepath.Dir(file)); err != nil {
				t.Fatal(err)
			}
			change(t, filepath.Dir(file), nil) // where the directory should be
		},
	}
	for name, breaks := range damage {
		t.Run(name, func(t *testing.T) {
			dir, file := compiledTo(t)
			breaks(t, file)
			for range 2 { // processes
				p := newCompiler(t, func(c *Config) { c.Cache = dir })
				if got := open(t, p, request("application/pdf", pdfPages(1))); got.Reason != "" || got.Pages != 1 {
					t.Fatalf("got %+v", got)
				}
			}
			if _, err := os.Stat(file + digestSuffix); err != nil && name != "no file" && name != "cut with its digest" {
				t.Errorf("the cache was not made anew: %v", err)
			}
		})
	}
}

// change writes a file anew; of none is one made.
func change(t *testing.T, file string, how func([]byte) []byte) {
	t.Helper()
	var data []byte
	var err error
	if how != nil {
		if data, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		data = how(data)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A directory in which nothing can be written is none, and a temporary one takes its place.
func TestACacheThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	change(t, file, nil)
	for _, dir := range []string{file, filepath.Join(file, "below"), "/proc/self"} {
		p := newPool(t, func(c *Config) { c.Cache = dir })
		if got := p.cacheDir(); got == dir || !writable(got) {
			t.Errorf("%s: the cache is in %q", dir, got)
		}
	}
}

// Files that agree with their digests stay; others go.
func TestSweepingACache(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	change(t, file("sealed"), nil)
	change(t, file("flipped"), nil)
	sealCache(dir)
	change(t, file("unsealed"), nil)
	change(t, file("half.tmp"), nil)
	change(t, file("flipped"), func([]byte) []byte { return []byte("x") })
	sweepCache(dir)
	for name, stays := range map[string]bool{"sealed": true, "flipped": false, "unsealed": false, "half.tmp": true} {
		if _, err := os.Stat(file(name)); (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", name, err, stays)
		}
	}
}
