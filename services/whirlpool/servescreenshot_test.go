package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// asked sends a request of a person with a key, and reads the answer.
func asked(t *testing.T, at string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+os.Getenv("WHIRLPOOL_API_KEY"))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, data
}

// The picture of a rendered page is told with its record: of none, and of one that is gone, a sentence says why.
func TestServeShowsScreenshots(t *testing.T) {
	harness.NeedBrowser(t)
	s := startServe(t)
	file := filepath.Join(t.TempDir(), "job.yml")
	job := "id: shots\nseeds: [\"" + s.site.URL + "/\"]\nallow_private: true\npoliteness: {delay: 0s}\n" +
		"render: {mode: always, screenshot: true, rules: [{match: ^/b, mode: never}]}\n"
	if err := os.WriteFile(file, []byte(job), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "apply", "-f", file, "--dir", s.dir)
	must(t, "workflow", "run", "shots", "--watch", "--dir", s.dir)
	t.Setenv("WHIRLPOOL_API_KEY", strings.TrimSpace(must(t, "key", "create", "test", "--role", "viewer", "--dir", s.dir)))
	c, err := client.New(s.url, os.Getenv("WHIRLPOOL_API_KEY"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.Records(t.Context(), "shots-1", url.Values{})
	if err != nil || len(l.Items) != 3 {
		t.Fatalf("%+v, %v", l, err)
	}
	shown := 0
	for _, r := range l.Items {
		of := s.url + "/api/v1/executions/shots-1/records/" + r.Key
		res, data := asked(t, of+"/screenshot")
		if strings.HasSuffix(r.URL, "/b") {
			if res.StatusCode != http.StatusNotFound || !bytes.Contains(data, []byte("render.screenshot")) {
				t.Errorf("a page that no browser saw: %d %s", res.StatusCode, data)
			}
			continue
		}
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "image/webp" || !bytes.HasPrefix(data, []byte("RIFF")) {
			t.Errorf("%s: %d %v", r.URL, res.StatusCode, res.Header)
			continue
		}
		shown++
		_, whole := asked(t, of)
		var has struct {
			Record struct{ Rendered struct{ Screenshot string } }
		}
		if err := json.Unmarshal(whole, &has); err != nil {
			t.Fatal(err)
		}
		harness.Check(t, os.Remove(filepath.Join(s.dir, "executions", "shots-1", filepath.FromSlash(has.Record.Rendered.Screenshot))))
		if res, data := asked(t, of+"/screenshot"); res.StatusCode != http.StatusNotFound || !bytes.Contains(data, []byte(has.Record.Rendered.Screenshot)) {
			t.Errorf("one that is gone: %d %s", res.StatusCode, data)
		}
	}
	if shown != 2 {
		t.Errorf("%d screenshots of 2", shown)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
}
