package wasmtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/sdk"
)

// ErrNoNode says that a module of the AssemblyScript kit cannot be built here: there is no npm.
var ErrNoNode = errors.New("no npm: Node.js is needed to build modules of AssemblyScript")

// GoModule builds the command in a directory of this module as one of the Go kit.
func GoModule(ctx context.Context, dir string) ([]byte, error) {
	to, err := os.MkdirTemp("", "whirlpool-wasm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(to) //nolint:errcheck // scratch
	file := filepath.Join(to, "plugin.wasm")
	build := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-o", file, dir) //nolint:gosec // tests name it
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(file) //nolint:gosec // ours
}

// ScriptModule builds a plug-in of the AssemblyScript kit whose assembly/index.ts is the one given; nil: the template.
func ScriptModule(ctx context.Context, index []byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "whirlpool-wasm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	files, err := sdk.Template("as", "x/y")
	if err != nil {
		return nil, err
	}
	err = os.CopyFS(dir, files)
	if err == nil && index != nil {
		err = os.WriteFile(filepath.Join(dir, "assembly", "index.ts"), index, 0o600)
	}
	if err == nil {
		err = UseCompiler(ctx, dir)
	}
	if err == nil {
		err = run(ctx, dir)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "plugin.wasm")) //nolint:gosec // ours
}

// run builds what lies in a directory, as whirlpool plugin build does.
func run(ctx context.Context, dir string) error {
	build, err := sdk.BuildOf(os.DirFS(dir))
	if err != nil {
		return err
	}
	for _, step := range build.Steps {
		cmd := exec.CommandContext(ctx, step[0], step[1:]...) //nolint:gosec // the kit says which
		cmd.Dir, cmd.Env = dir, append(os.Environ(), build.Env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%q: %w: %s", step, err, out)
		}
	}
	return nil
}

var (
	compilerMu sync.Mutex
	compiler   string // the node_modules that all share
)

// UseCompiler gives a directory with a plug-in of the AssemblyScript kit the compiler, which is fetched once a process.
// The test program removes what TMPDIR holds, or the system does. It returns ErrNoNode where there is no npm.
func UseCompiler(ctx context.Context, dir string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return ErrNoNode
	}
	compilerMu.Lock()
	defer compilerMu.Unlock()
	if compiler == "" {
		to, err := os.MkdirTemp("", "whirlpool-asc-")
		if err != nil {
			return err
		}
		for _, name := range []string{"package.json", "package-lock.json"} {
			data, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // of the template
			if err == nil {
				err = os.WriteFile(filepath.Join(to, name), data, 0o600)
			}
			if err != nil {
				return errors.Join(err, os.RemoveAll(to))
			}
		}
		fetch := exec.CommandContext(ctx, "npm", "ci", "--silent", "--no-audit", "--no-fund", "--prefer-offline")
		fetch.Dir = to
		if out, err := fetch.CombinedOutput(); err != nil {
			return errors.Join(fmt.Errorf("npm ci: %w: %s", err, out), os.RemoveAll(to))
		}
		compiler = to
	}
	return os.Symlink(filepath.Join(compiler, "node_modules"), filepath.Join(dir, "node_modules"))
}

// Forget removes the compiler of UseCompiler: for TestMain.
func Forget() error {
	compilerMu.Lock()
	defer compilerMu.Unlock()
	if compiler == "" {
		return nil
	}
	dir := compiler
	compiler = ""
	return os.RemoveAll(dir)
}
