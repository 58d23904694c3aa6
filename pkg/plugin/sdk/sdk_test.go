package sdk_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/sdk"
)

// What a new user gets is whole: descriptor, kit, a test, and nothing that names the example.
func TestTemplates(t *testing.T) {
	for lang := range sdk.Languages() {
		t.Run(lang, func(t *testing.T) {
			files, err := sdk.Template(lang, "shop/offers")
			if err != nil {
				t.Fatal(err)
			}
			if err := fstest.TestFS(files, "plugin.toml", "testdata/page.json", "testdata/want.json"); err != nil {
				t.Error(err)
			}
			err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				data, err := fs.ReadFile(files, name)
				if text := string(data); strings.Contains(text, "example/") || strings.Contains(text, "pkg/plugin/sdk") {
					t.Errorf("%s names the example", name)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			toml, _ := fs.ReadFile(files, "plugin.toml")
			if !strings.Contains(string(toml), `name = "shop/offers"`) {
				t.Errorf("the descriptor has another name:\n%s", toml)
			}
			if _, err := sdk.BuildOf(files); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBadTemplates(t *testing.T) {
	for _, c := range []struct{ lang, name, want string }{
		{"cobol", "shop/price", "choose one of"},
		{"go", "price", "OWNER/NAME"},
		{"go", "shop/Price", "OWNER/NAME"},
		{"go", "../price", "OWNER/NAME"},
		{"as", "price", "OWNER/NAME"},
	} {
		if _, err := sdk.Template(c.lang, c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.lang, c.name, err, c.want)
		}
	}
	if _, err := sdk.BuildOf(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("an empty directory is built: %v", err)
	}
}

// A program, and a module that something else built, are packed as they are.
func TestWhatIsThereNeedsNoBuilding(t *testing.T) {
	const toml = "name = \"shop/words\"\nversion = \"1.0.0\"\nabi = \"whirlpool:1\"\ntier = \"process\"\n" +
		"entry = \"words.sh\"\nsummary = \"Counts words\"\n[[serves]]\npoint = \"record\"\n"
	dir := fstest.MapFS{"plugin.toml": {Data: []byte(toml)}}
	if _, err := sdk.BuildOf(dir); err == nil || !strings.Contains(err.Error(), "the entry that plugin.toml names") {
		t.Errorf("a program that is not there is built: %v", err)
	}
	dir["words.sh"] = &fstest.MapFile{}
	if build, err := sdk.BuildOf(dir); err != nil || len(build.Steps) > 0 {
		t.Errorf("%+v, %v", build, err)
	}
}

// How a plug-in of AssemblyScript is built depends on what is there: the compiler of the lock file, or what npm finds.
func TestStepsOfAssemblyScript(t *testing.T) {
	for want, names := range map[string][]string{
		"[[npm install --silent --no-audit --no-fund] [npm run --silent build]]": {"asconfig.json"},
		"[[npm ci --silent --no-audit --no-fund] [npm run --silent build]]":      {"asconfig.json", "package-lock.json"},
		"[[npm run --silent build]]": {"asconfig.json", "package-lock.json",
			"node_modules/assemblyscript/package.json"},
	} {
		dir := fstest.MapFS{}
		for _, n := range names {
			dir[n] = &fstest.MapFile{}
		}
		build, err := sdk.BuildOf(dir)
		if got := fmt.Sprint(build.Steps); err != nil || got != want || !strings.Contains(build.Needs, "Node.js 20") {
			t.Errorf("%q: %s, %q, %v; want %s", names, got, build.Needs, err, want)
		}
	}
}

// A new plug-in in Go builds as it is, with Go alone: no network, no other module.
func TestAGoTemplateBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module")
	}
	files, err := sdk.Template("go", "shop/price")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	build, err := sdk.BuildOf(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range build.Steps {
		cmd := exec.CommandContext(t.Context(), step[0], step[1:]...)
		cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOPROXY=off", "GOFLAGS=-p=2", "GOWORK=off"), build.Env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", step, err, out)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "plugin.wasm")); err != nil || info.Size() < 1<<20 {
		t.Errorf("no module was built: %v", err)
	}
}
