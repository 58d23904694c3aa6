package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"
)

// plugged is a pipeline whose cost is measured.
type plugged struct {
	name, nodes string // nodes as YAML; empty: no pipeline
	flags       []string
}

func benchPlugins() *cobra.Command {
	b := &pluginsBench{}
	cmd := &cobra.Command{
		Use:   "plugins",
		Short: "CPU time a page that a plug-in of each kind adds",
		Long: `Crawls the synthetic web of "whirlpool bench crawl" (pages of 30 KB) with one plug-in in the pipeline: built-in
nodes with an expression, a module of each kit that searches the text of the page, a program in Python that is given the
text; and without one, twice: the second shows what is chance. In turn, as often as --runs says. The figures are medians
of the CPU time that the operating system counts for the process of the crawl and the programs that it starts, a page.
The ratio is that to the crawl without a plug-in of the same turn. Go, Node.js and Python must be there: without one of
them its plug-in is left out.`,
	}
	b.accept(cmd, 5_000, func(ctx context.Context) error {
		all, err := b.plugged(ctx)
		if err != nil {
			return err
		}
		return b.compare(ctx, all)
	})
	cmd.Flags().IntVar(&b.runs, "runs", 5, "turns")
	return cmd
}

type pluginsBench struct{ outputsBench }

// plugged are the pipelines, whose plug-ins are made for it.
func (b *pluginsBench) plugged(ctx context.Context) (all []output, err error) {
	repository := filepath.Join(b.dir, "plugins")
	list := []plugged{
		{"none", "", nil},
		{"none, again", "", nil},
		{"filter", `{id: n, at: document, use: builtin/filter@1, with: {keep: 'len(doc.text) > 100 && doc.lang != "xx"'}}`,
			nil},
		{"map", `{id: n, at: document, use: builtin/map@1, with: {set: {words: 'len(split(doc.text, " "))'}}}`, nil},
		{"redact", `{id: n, at: document, use: builtin/redact@1}`, nil},
	}
	for _, kit := range []struct{ name, kit, needs string }{{"module (Go)", "go", "go"},
		{"module (AssemblyScript)", "as", "npm"}} {
		if _, err := exec.LookPath(kit.needs); err != nil {
			continue
		}
		dir, name := filepath.Join(b.dir, "price-"+kit.kit), "bench/price-"+kit.kit
		for _, args := range [][]string{{"init", "--kit", kit.kit, name, dir}, {"build", dir}, {"push", dir},
			{"approve", name + "@1.0.0"}} {
			if err := b.plugin(ctx, repository, args...); err != nil {
				return nil, err
			}
		}
		list = append(list, plugged{kit.name, `{id: n, at: document, use: ` + name + `@1.0.0, with: {currency: EUR}}`,
			[]string{"--plugins", repository}})
	}
	if python, err := exec.LookPath("python3"); err == nil {
		if err := b.pythonPlugin(ctx, repository, python); err != nil {
			return nil, err
		}
		list = append(list, plugged{"program (Python)", `{id: n, at: document, use: bench/words@1.0.0}`,
			[]string{"--plugins", repository, "--plugin-processes"}})
	}
	for i, p := range list {
		o := output{name: p.name, flags: p.flags}
		if p.nodes != "" {
			file := filepath.Join(b.dir, fmt.Sprintf("job-%d.yml", i))
			if err := os.WriteFile(file, []byte("pipeline:\n  nodes:\n    - "+p.nodes+"\n"), 0o600); err != nil {
				return nil, err
			}
			o.flags = append(o.flags, "-c", file)
		}
		all = append(all, o)
	}
	return all, nil
}

// plugin runs a command of whirlpool plugin.
func (b *pluginsBench) plugin(ctx context.Context, repository string, args ...string) error {
	args = append([]string{"plugin"}, args...)
	if args[1] == "push" || args[1] == "approve" {
		args = append(args, "--plugins", repository)
	}
	if out, err := exec.CommandContext(ctx, b.exe, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("whirlpool %q: %w\n%s", args, err, out)
	}
	return nil
}

// pythonPlugin makes a program that counts the words of a page's text.
func (b *pluginsBench) pythonPlugin(ctx context.Context, repository, python string) error {
	dir := filepath.Join(b.dir, "words")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	for name, text := range map[string]string{"plugin.toml": pythonDescriptor, "words.py": "#!" + python + pythonWords} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil { //nolint:gosec // one of them is a program
			return err
		}
	}
	if err := b.plugin(ctx, repository, "push", "--untested", dir); err != nil {
		return err
	}
	return b.plugin(ctx, repository, "approve", "bench/words@1.0.0")
}

const pythonDescriptor = `name = "bench/words"
version = "1.0.0"
abi = "whirlpool:1"
tier = "process"
entry = "words.py"
summary = "Counts the words of a page"

[[serves]]
point = "document"
needs = ["text"]
adds = { words = "number" }
`

// pythonWords reads frames: their length, that of their JSON, the JSON, the text of the page.
const pythonWords = `
import json, struct, sys

def say(answer):
    data = json.dumps(answer).encode()
    sys.stdout.buffer.write(struct.pack("<I", len(data)) + data)
    sys.stdout.buffer.flush()

while True:
    size = sys.stdin.buffer.read(4)
    if len(size) < 4:
        break
    frame = sys.stdin.buffer.read(struct.unpack("<I", size)[0])
    length = struct.unpack("<I", frame[:4])[0]
    call = json.loads(frame[4:4 + length])
    if call["do"] == "configure":
        say({})
    else:
        say({"action": "patch", "patch": {"fields": {"words": len(frame[4 + length:4 + length + call.get("text", 0)].split())}}})
`
