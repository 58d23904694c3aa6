package main

import (
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestDamagedArchivesAreFoundAndRenamed(t *testing.T) {
	dir := t.TempDir()
	w, err := warc.Open(filepath.Join(dir, "warc"), warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	x := &crawl.Exchange{URL: u, Started: time.Now(), Addr: netip.MustParseAddr("192.0.2.1"), Method: "GET",
		RequestHeader: http.Header{"Host": {"a.test"}}, Proto: "HTTP/1.1", Status: "200 OK",
		ResponseHeader: http.Header{"Content-Length": {"4000"}}, Body: []byte(strings.Repeat("body", 1000))}
	if err := w.Write(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(found) != 1 {
		t.Fatalf("archives %q, error %v", found, err)
	}
	audit := func() *crawl.AuditReport {
		r := &crawl.AuditReport{Directory: &crawl.DirectoryAudit{}}
		if err := auditArchives(t.Context(), dir, r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := audit(); len(r.Faults) > 0 {
		t.Fatalf("faults %q, examples %q of a sound archive", r.Faults, r.Examples)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-20] ^= 4
	if err := os.WriteFile(found[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := audit(); len(r.Faults) != 1 || r.Directory.BadFiles != 1 ||
		!strings.Contains(strings.Join(r.Examples["damaged file"], ""), found[0]) {
		t.Errorf("faults %q, examples %q", r.Faults, r.Examples)
	}
	if n, err := setArchivesAside(dir); n != 1 || err != nil {
		t.Errorf("%d set aside, error %v", n, err)
	}
	if r := audit(); len(r.Faults) > 0 {
		t.Errorf("faults %q after the repair", r.Faults)
	}
}
