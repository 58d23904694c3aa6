package e2e_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// membersPassword stands nowhere but in the environment of the crawler.
const membersPassword = "Xq7-hunter&=%2+geheim"

// membersJob crawls a site for members.
func membersJob(url string) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope = "members", []string{url + "/"}, crawl.ScopeHost
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(2*time.Millisecond), crawl.Duration(time.Millisecond)
	job.Retry.Base, job.MaxDepth = crawl.Duration(time.Millisecond), -1
	job.Login = crawl.Login{URL: url + "/login",
		Fields: map[string]string{"name": "alice", "password": "${MEMBERS_PASSWORD}"},
		Check:  crawl.LoginCheck{CSS: "a.logout"}}
	job.Headers = []crawl.HeaderRule{{Name: "X-Api-Key", Value: "${MEMBERS_KEY}"}}
	return &job
}

const membersKey = "k-4711-secret-key"

// A crawl behind a log-in: a token in the form, a session that ends again and again, links that log out, kills.
func TestMembersOnly(t *testing.T) {
	long(t)
	t.Parallel()
	const pages, expire, kills = 150, 20, 6
	site := fakeweb.NewMembers("alice", membersPassword, pages, expire)
	srv := httptest.NewServer(site)
	t.Cleanup(srv.Close)
	c := crawlerOf(t, "127.0.0.1:9", membersJob(srv.URL), "--warc", "--verbose")
	c.env = []string{"MEMBERS_PASSWORD=" + membersPassword, "MEMBERS_KEY=" + membersKey}
	var said bytes.Buffer
	for i := range kills {
		p := c.start(t)
		p.poll(t, "requests", func() bool { return len(site.Seen()) >= (i+1)*20 })
		p.kill(t)
		said.WriteString(p.out.String())
	}
	p := c.start(t)
	p.wait(t)
	said.WriteString(p.out.String())

	wantMembersPages(t, c.dir, pages)
	logins, refused, logouts := site.Counts()
	if logins < pages/expire || logins > pages/expire+2*kills+5 || refused > 0 || logouts > 0 {
		t.Errorf("%d log-ins, %d refused, %d log-outs", logins, refused, logouts)
	}
	if r := audit(t, c.dir); len(r.Faults) > 0 {
		t.Errorf("audit: %q", r.Faults)
	}
	t.Logf("%d requests, %d log-ins, %d kills", len(site.Seen()), logins, kills)
	sessions := map[string]bool{}
	for _, r := range site.Seen() {
		if r.Header.Get("X-Api-Key") != membersKey {
			t.Errorf("%s %s without its key", r.Method, r.Path)
		}
		for _, pair := range strings.Split(r.Header.Get("Cookie"), "; ") {
			if _, value, ok := strings.Cut(pair, "="); ok {
				sessions[value] = true
			}
		}
	}
	nowhere(t, c.dir, said.String(), sessions)
}

// wantMembersPages wants each page once, as members see it.
func wantMembersPages(t *testing.T, dir string, pages int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(data)) {
		var rec struct{ URL, Title, Text string }
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		if rec.URL == "" {
			continue
		}
		seen[rec.URL[strings.LastIndexByte(rec.URL, '/')+1:]]++
		if strings.Contains(line, "log in") {
			t.Errorf("the answer for strangers is stored: %s", line)
		}
	}
	for i := range pages {
		if n := seen[fmt.Sprint(i)]; n != 1 {
			t.Errorf("page %d has %d records", i, n)
		}
	}
	log, err := os.ReadFile(filepath.Join(dir, "crawl.log"))
	if err != nil || !bytes.Contains(log, []byte(`"logout"`)) || !bytes.Contains(log, []byte(`"login"`)) {
		t.Errorf("crawl.log does not tell of log-in and log-out links: %v", err)
	}
}

// nowhere wants no secret in any file, and the site's sessions in the state alone.
func nowhere(t *testing.T, dir, said string, sessions map[string]bool) {
	t.Helper()
	secrets := []string{membersPassword, "Xq7-hunter%26%3D%252%2Bgeheim", "hunter&=", membersKey}
	check := func(name string, data []byte) {
		for _, s := range secrets {
			if bytes.Contains(data, []byte(s)) {
				t.Errorf("%s has the secret %q", name, s)
			}
		}
		for s := range sessions {
			if len(s) > 8 && bytes.Contains(data, []byte(s)) && !strings.Contains(name, "state") {
				t.Errorf("%s has the cookie %q", name, s)
			}
		}
	}
	check("output", []byte(said))
	files := 0
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		check(path, data)
		if strings.HasSuffix(path, ".gz") || strings.HasSuffix(path, ".gz.open") {
			check(path+" (decompressed)", plainOf(data))
		}
		return nil
	})
	if err != nil || files < 8 {
		t.Errorf("%d files were looked at: %v", files, err)
	}
}

// plainOf decompresses as far as it goes.
func plainOf(data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(z)
	return out
}
