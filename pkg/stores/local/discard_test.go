package local_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

func TestDiscardLeavesNothingOfTheCrawlAndEverythingElse(t *testing.T) {
	dir := t.TempDir()
	s, err := local.Open(dir, local.Default())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Discard(dir); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, pattern := range []string{"*", "state/*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, found...)
	}
	if len(left) != 3 { // mine, state, state/lock
		t.Errorf("left: %q", left)
	}
	if s, err = local.Open(dir, local.Default()); err != nil {
		t.Fatalf("a discarded directory cannot be used again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Discard(filepath.Join(dir, "nothing")); err != nil {
		t.Errorf("nothing to discard: %v", err)
	}
}
