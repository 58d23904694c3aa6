package peerbench

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPicturesNameEveryCrawler(t *testing.T) {
	c := Config{Pictures: filepath.Join(t.TempDir(), "new"), Out: io.Discard}
	rows := []Row{{Name: "whirlpool", CPU: time.Second, RSS: 5e7, Verdict: Verdict{Pages: 100, Took: 2 * time.Second}},
		{Name: "other"}}
	if err := c.keep("peers", "a web", rows); err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{".csv", ".svg"} {
		data, err := os.ReadFile(filepath.Join(c.Pictures, "peers"+ending))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"whirlpool", "other", "10.00", "50"} {
			if !strings.Contains(string(data), want) {
				t.Errorf("peers%s does not say %q:\n%s", ending, want, data)
			}
		}
	}
}
