package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A trial of a page says what a crawl would, and leaves nothing behind.
func TestTryTellsWithoutStoring(t *testing.T) {
	if err := serveOnce(); err != nil {
		t.Fatal(err)
	}
	seed := web.Web().Seeds()[0]
	here := t.TempDir()
	t.Chdir(here)
	args := []string{"try", seed, "--dns", web.DNSAddr(), "--allow-private", "--delay", "1ms", "--json", "--open"}
	var got struct {
		Robots struct{ Allowed bool }
		Fetch  struct{ Status int }
		Links  []struct {
			URL      string
			Followed bool
			Reason   string
		}
		File string `json:"body_file"`
	}
	if err := json.Unmarshal([]byte(must(t, args...)), &got); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(got.File)
	body, err := os.ReadFile(got.File)
	if err != nil || len(body) == 0 || !got.Robots.Allowed || got.Fetch.Status != 200 || len(got.Links) == 0 {
		t.Errorf("%+v; body of %d bytes, %v", got, len(body), err)
	}
	if files, err := filepath.Glob(filepath.Join(here, "*")); err != nil || len(files) > 0 {
		t.Errorf("it left %v, %v", files, err)
	}
	if r := whirlpool(t, "try", seed, "--dns", web.DNSAddr()); r.exit != exitOK ||
		!strings.Contains(r.stdout, "[private-address]") {
		t.Errorf("without --allow-private: exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
	if r := whirlpool(t, "try", "ftp://a.test/"); r.exit != exitUsage {
		t.Errorf("a URL of another scheme: exit status %d, %s", r.exit, r.stderr)
	}
}
