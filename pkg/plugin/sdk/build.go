package sdk

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/manifest"
)

// Build is how a plug-in is built: commands that run one after the other in its directory.
type Build struct {
	Env   []string   // besides the environment, as NAME=VALUE
	Steps [][]string // programs with their arguments; none: there is nothing to build
	Needs string     // what to install where one of the programs is missing or fails
}

// BuildOf says how the plug-in in a directory is built, by what lies there.
func BuildOf(dir fs.FS) (Build, error) {
	switch {
	case has(dir, "go.mod"):
		return Build{Env: []string{"GOOS=wasip1", "GOARCH=wasm"}, Steps: [][]string{
			{"go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", "plugin.wasm", "."},
		}, Needs: "Go 1.24 or newer"}, nil
	case has(dir, "asconfig.json"):
		return assemblyScript(dir), nil
	}
	if entry, err := entryOf(dir); err != nil || has(dir, entry) {
		return Build{}, err
	}
	return Build{}, fmt.Errorf("nothing here says how to build it: go.mod (Go), asconfig.json (AssemblyScript), or the " +
		"entry that " + manifest.Name + " names is wanted")
}

// entryOf is the program or module that a descriptor names. Where it is there, and nothing that builds it, it is one
// that needs no building, or was built by other means.
func entryOf(dir fs.FS) (string, error) {
	text, err := fs.ReadFile(dir, manifest.Name)
	if err != nil {
		return "", nil //nolint:nilerr // nothing is named
	}
	d, err := manifest.Parse(text)
	if err != nil {
		return "", err
	}
	return d.Entry, nil
}

// assemblyScript says how npm fetches the compiler, where it is not there, and runs it.
func assemblyScript(dir fs.FS) Build {
	b := Build{Steps: [][]string{{"npm", "run", "--silent", "build"}},
		Needs: "Node.js 20 or newer with npm, which fetches the compiler (the package assemblyscript) once; without a " +
			"network copy node_modules here"}
	if has(dir, "node_modules/assemblyscript/package.json") {
		return b
	}
	fetch := []string{"npm", "install", "--silent", "--no-audit", "--no-fund"}
	if has(dir, "package-lock.json") {
		fetch[1] = "ci"
	}
	b.Steps = slices.Insert(b.Steps, 0, fetch)
	return b
}

func has(dir fs.FS, name string) bool {
	_, err := fs.Stat(dir, name)
	return err == nil
}

func known() string { return strings.Join(slices.Sorted(maps.Keys(templates)), ", ") }
