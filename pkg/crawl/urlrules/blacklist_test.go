package urlrules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestBlacklistRefusesWhatItCannotRead(t *testing.T) {
	for text, says := range map[string]string{
		"a.test\nhttp://":           "line 2",
		"ftp://a.test/":             "line 1",
		"a.test/path":               "line 1",
		"\n\nnot a host":            "line 3",
		strings.Repeat("a", 70_000): "too long",
	} {
		if _, err := parseBlacklist(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: error %v, want one that says %q", text, err, says)
		}
	}
}

// What is in a list by itself is on the list.
func FuzzParseBlacklist(f *testing.F) {
	for _, s := range []string{"a.test", "# c\na.test # d", "http://a.test/x", "[::1]", "A.TEST.", "a.test:80",
		"bücher.test", "\x00", "a b", "://"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := parseBlacklist(strings.NewReader(text))
		if err != nil {
			return
		}
		for name := range b.names {
			u, err := weburl.Parse("http://" + name + "/any")
			if err == nil && !b.Has(u) {
				t.Errorf("%q is on the list and was not found", name)
			}
		}
		for _, p := range b.prefixes {
			u, err := weburl.Parse(p)
			if err != nil || !b.Has(u) {
				t.Errorf("%q is on the list and was not found (%v)", p, err)
			}
		}
		if _, err := weburl.Parse("http://surely-not-there.example/"); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAJobCarriesItsBlacklistToProgramsWithoutTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "blacklist")
	if err := os.WriteFile(file, []byte("# never\nBad.test  # all of it\n\nhttp://half.test/private/\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := BlacklistLines(file)
	if want := []string{"Bad.test", "http://half.test/private/"}; err != nil || !slices.Equal(lines, want) {
		t.Fatalf("BlacklistLines = %q, %v; want %q", lines, err, want)
	}
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope = "j", []string{"http://a.test/"}, crawl.ScopeAny
	for name, source := range map[string]crawl.Job{
		"the file":             {Blacklist: file},
		"entries win over it":  {Blacklist: "/not/on/this/machine", BlacklistEntries: lines},
		"entries without file": {BlacklistEntries: lines},
	} {
		job.Blacklist, job.BlacklistEntries = source.Blacklist, source.BlacklistEntries
		r, err := Compile(&job)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for raw, want := range map[string]string{"http://www.bad.test/": crawl.ReasonBlacklist, "http://half.test/": "",
			"http://half.test/private/x": crawl.ReasonBlacklist} {
			u, err := weburl.Parse(raw)
			if got, _ := r.Judge(&crawl.Task{URL: u}, time.Now()); err != nil || got != want {
				t.Errorf("%s: %s is judged %q, %v; want %q", name, raw, got, err, want)
			}
		}
	}
	job.Blacklist, job.BlacklistEntries = "/not/on/this/machine", []string{}
	if _, err := Compile(&job); err != nil {
		t.Errorf("an empty list that came with the job: %v", err)
	}
	job.BlacklistEntries = nil
	if _, err := Compile(&job); err == nil {
		t.Error("a file that is not there was read: the cases above prove nothing")
	}
	job.BlacklistEntries = []string{"a.test/path"}
	if _, err := Compile(&job); err == nil || !strings.Contains(err.Error(), "of job j") {
		t.Errorf("a bad entry: %v, want an error that names the job", err)
	}
}
