package wasmtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Plugin writes a plug-in of the point document, of a name OWNER/NAME@VERSION, whose answer is always the same.
// `whirlpool plugin push --untested` takes the directory.
func Plugin(t testing.TB, use, answer string) (dir string) {
	t.Helper()
	return Write(t, use, Module{Answer: answer})
}

// Write writes a plug-in of the point document whose module does what m says.
func Write(t testing.TB, use string, m Module) (dir string) {
	t.Helper()
	dir = t.TempDir()
	name, version, _ := strings.Cut(use, "@")
	toml := "name = \"" + name + "\"\nversion = \"" + version +
		"\"\nabi = \"whirlpool:1\"\ntier = \"wasm\"\nentry = \"plugin.wasm\"\n" +
		"summary = \"Of a test\"\n[[serves]]\npoint = \"document\"\n"
	for file, data := range map[string][]byte{"plugin.toml": []byte(toml), "plugin.wasm": m.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Version is a plug-in as Plugin writes it that gives each page the field v.
func Version(t testing.TB, use, v string) (dir string) {
	t.Helper()
	return Plugin(t, use, `{"action":"patch","patch":{"fields":{"v":"`+v+`"}}}`)
}
