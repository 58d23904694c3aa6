package sdk

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Build is how a plug-in is built: commands that run one after the other in its directory.
type Build struct {
	Env   []string   // besides the environment, as NAME=VALUE
	Steps [][]string // programs with their arguments; none: there is nothing to build
}

// BuildOf says how the plug-in in a directory is built, by what lies there.
func BuildOf(dir fs.FS) (Build, error) {
	switch {
	case has(dir, "go.mod"):
		return Build{Env: []string{"GOOS=wasip1", "GOARCH=wasm"}, Steps: [][]string{
			{"go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", "plugin.wasm", "."},
		}}, nil
	case has(dir, "asconfig.json"):
		steps := [][]string{{"npm", "run", "--silent", "build"}}
		if !has(dir, "node_modules/assemblyscript/package.json") {
			steps = slices.Insert(steps, 0, []string{"npm", "install", "--silent", "--no-audit", "--no-fund"})
		}
		return Build{Steps: steps}, nil
	case has(dir, "plugin.py"):
		return Build{}, nil
	}
	return Build{}, fmt.Errorf("nothing here says how to build it: go.mod (Go), asconfig.json (AssemblyScript) or plugin.py (Python) is wanted")
}

func has(dir fs.FS, name string) bool {
	_, err := fs.Stat(dir, name)
	return err == nil
}

func known() string { return strings.Join(slices.Sorted(maps.Keys(templates)), ", ") }
