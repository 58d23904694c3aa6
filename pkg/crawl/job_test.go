package crawl_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestDefaultJobIsValidOnceItHasSeeds(t *testing.T) {
	job := crawl.DefaultJob()
	job.ID, job.Seeds = "site", []string{"example.com", "https://b.example/x", "localhost:8080/y"}
	if err := job.Validate(); err != nil {
		t.Fatal(err)
	}
	urls, err := job.SeedURLs()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"http://example.com/", "https://b.example/x", "http://localhost:8080/y"} {
		if urls[i].String() != want {
			t.Errorf("seed %q is %s, want %s", job.Seeds[i], urls[i], want)
		}
	}
}

func TestEachFaultOfAJobIsNamed(t *testing.T) {
	for want, change := range map[string]func(*crawl.Job){
		"id ":              func(j *crawl.Job) { j.ID = "Not An ID" },
		"seeds":            func(j *crawl.Job) { j.Seeds = nil },
		`seed "ftp://x/"`:  func(j *crawl.Job) { j.Seeds = []string{"ftp://x/"} },
		`scope "world"`:    func(j *crawl.Job) { j.Scope = "world" },
		"max_pages":        func(j *crawl.Job) { j.MaxPages = -1 },
		"near_duplicate":   func(j *crawl.Job) { j.NearDuplicate = 8 },
		"host_connections": func(j *crawl.Job) { j.Politeness.HostConnections = 0 },
		"delay":            func(j *crawl.Job) { j.Politeness.Delay = -1 },
		"retry.max":        func(j *crawl.Job) { j.Retry.Max = -1 },
		"max_body":         func(j *crawl.Job) { j.Limits.MaxBody = 0 },
		`pattern "("`:      func(j *crawl.Job) { j.Exclude = []string{"("} },
		"user_agent":       func(j *crawl.Job) { j.UserAgent = "a\r\nX: y" },
		"contact":          func(j *crawl.Job) { j.Contact = "a\nb" },
	} {
		t.Run(want, func(t *testing.T) {
			job := crawl.DefaultJob()
			job.ID, job.Seeds = "site", []string{"http://example.com/"}
			change(&job)
			if err := job.Validate(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Validate = %v, want an error with %q", err, want)
			}
		})
	}
}

func TestAgentSaysWhoItIs(t *testing.T) {
	for want, job := range map[string]crawl.Job{
		"Whirlpool/" + crawl.Version:                  {},
		"Whirlpool/" + crawl.Version + " (+me@x.org)": {Contact: "me@x.org"},
		"Mine/1": {UserAgent: "Mine/1", Contact: "me@x.org"},
	} {
		if got := job.Agent(); got != want {
			t.Errorf("agent %q, want %q", got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]crawl.Size{"0": 0, "17": 17, "64k": 64 << 10, "10MiB": 10 << 20, "1.5 KiB": 1536,
		"2GB": 2e9} {
		var s crawl.Size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("size %q = %d, %v; want %d", text, s, err, want)
		}
		var back crawl.Size
		if err := back.Set(s.String()); err != nil || back != s {
			t.Errorf("size %d prints as %q, which reads as %d, %v", s, s, back, err)
		}
	}
	for _, text := range []string{"", "x", "-1", "1e300", "5 parsecs"} {
		if err := new(crawl.Size).Set(text); err == nil {
			t.Errorf("size %q was taken", text)
		}
	}
	var d crawl.Duration
	if err := d.Set("1m30s"); err != nil || d.D() != 90*time.Second {
		t.Errorf("duration = %v, %v", d, err)
	}
	if err := d.Set("90"); err == nil {
		t.Error("a duration without unit was taken")
	}
}

// A cluster keeps jobs as JSON, read over the defaults of the program that reads.
func TestAJobSurvivesJSON(t *testing.T) {
	odd := crawl.DefaultJob()
	odd.ID, odd.Seeds, odd.Scope, odd.Include = "odd", []string{"http://a.test/"}, crawl.ScopeAny, []string{`\x00|ü+`}
	odd.MaxPages, odd.MaxDepth, odd.NearDuplicate, odd.Sitemaps, odd.IgnoreRobots = 0, -1, -1, false, true
	odd.Blacklist, odd.BlacklistEntries = "/here/only", []string{"bad.test", "http://a.test/private/"}
	odd.Politeness = crawl.Politeness{Delay: crawl.Duration(1234567), IPDelay: 0, HostConnections: 3, DownloadFactor: 0.1,
		MaxAdaptive: crawl.Duration(90 * time.Minute), MaxCrawlDelay: -1}
	odd.Retry.SlowMax = crawl.Duration(1000*time.Hour + time.Nanosecond)
	odd.Limits.MaxBody, odd.Limits.MaxHeader, odd.Limits.MinRate, odd.Limits.MaxText = 1500, 3<<29, 0, 1<<53-1
	odd.MediaTypes = []string{"text/*"}
	odd.Rules = []crawl.SiteRule{{Name: "r", Fields: []crawl.FieldRule{{Name: "f", CSS: "h1", List: true}},
		Links: []crawl.LinkWeight{{Match: "x", Weight: 9}}}}
	empty := crawl.DefaultJob()
	empty.BlacklistEntries, empty.MediaTypes = []string{}, nil
	for name, want := range map[string]crawl.Job{"defaults": crawl.DefaultJob(), "odd": odd, "empty lists": empty} {
		data, err := json.Marshal(&want)
		if err != nil {
			t.Fatal(err)
		}
		got := crawl.DefaultJob()
		if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got  %+v, %v\nwant %+v", name, got, err, want)
		}
	}
}
