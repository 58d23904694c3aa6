package harness

import (
	"os"
	"path/filepath"
	"testing"
)

// Programs that were built before are taken, and what a test does to its own copy harms no other package.
func TestProgramsAreBuiltOnce(t *testing.T) {
	built, dir := t.TempDir(), filepath.Join(t.TempDir(), "bin")
	names := append([]string{"whirlpool", "api"}, Names...)
	for _, name := range names {
		Check(t, os.WriteFile(filepath.Join(built, name), []byte("program "+name), 0o755))
	}
	t.Setenv(Programs, built)
	Check(t, Build(dir, "no such directory"))
	one := filepath.Join(dir, "one")
	Check(t, BuildOne(one, "no/such/whirlpool"))
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if Check(t, err); string(data) != "program "+name {
			t.Errorf("%s is %q", name, data)
		}
	}
	if data, err := os.ReadFile(one); err != nil || string(data) != "program whirlpool" {
		t.Errorf("the one program is %q, %v", data, err)
	}
	Check(t, os.RemoveAll(dir))
	if _, err := os.Stat(filepath.Join(built, "whirlpool")); err != nil {
		t.Errorf("it was removed with a test's directory: %v", err)
	}
	Check(t, os.Remove(filepath.Join(built, "whirlpool")))
	if BuildOne(filepath.Join(t.TempDir(), "one"), "no/such/whirlpool") == nil {
		t.Error("a program that nobody built is no error")
	}
}

// The control: without the variable the programs are built, and a directory that is none is an error.
func TestProgramsAreBuiltAnew(t *testing.T) {
	t.Setenv(Programs, "")
	if err := Build(t.TempDir(), filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("programs are built out of nothing")
	}
}
