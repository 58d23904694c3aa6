package jobfile_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestWhatTheFileLeavesOutKeepsItsDefault(t *testing.T) {
	job, err := jobfile.Parse([]byte("seeds: [http://example.com/]\npoliteness: {delay: 2s}\nlimits: {max_body: 1MiB}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := crawl.DefaultJob()
	want.Seeds = []string{"http://example.com/"}
	want.Politeness.Delay = crawl.Duration(2 * time.Second)
	want.Limits.MaxBody = 1 << 20
	if !reflect.DeepEqual(job, want) {
		t.Errorf("got  %+v\nwant %+v", job, want)
	}
}

func TestEmptyFileIsTheDefaults(t *testing.T) {
	if job, err := jobfile.Parse(nil); err != nil || !reflect.DeepEqual(job, crawl.DefaultJob()) {
		t.Errorf("Parse(nothing) = %+v, %v", job, err)
	}
}

func TestFaultsAreNamed(t *testing.T) {
	for name, tt := range map[string]struct{ file, want string }{
		"unknown key":      {"sseds: [a]", "sseds"},
		"key in a section": {"limits:\n  max_bodi: 3", "line 2"},
		"bad duration":     {"politeness: {delay: fast}", `duration "fast"`},
		"bad size":         {"limits: {max_body: huge}", `size "huge"`},
		"misspelt key":     {"id: a\nMax-Page: 3", "line 2: there is no key Max-Page; did you mean max_pages?"},
		"key from nowhere": {"politeness: {colour: red}",
			"line 1: there is no key politeness.colour; there are delay, download_factor"},
		"a short key":        {"x: [a]", "line 1: there is no key x; there are accept_language"},
		"a key that is none": {"id: a\n? [b]\n: c", "line 2: a key of the file is a word, not a list"},
		"no time":            {"politeness: {delay: [1s]}", "politeness.delay: want a time, as in 500ms, 1s or 2m, not a list"},
		"no size":            {"bounds: {max_bytes: {a: 1}}", "bounds.max_bytes: want a size, as in"},
		"days":               {"robots: {refresh: 1d}", `duration "1d": the largest unit is the hour: a day is 24h`},
		"merged": {"politeness: &p {delay: 1s}\n<<: *p",
			"line 1: there is no key delay; did you mean politeness.delay?"},
		"merged from a list":  {"politeness: &p {delay: 1s}\n<<: [*p]", "line 1: there is no key delay"},
		"key of a section":    {"delay: 3s", "line 1: there is no key delay; did you mean politeness.delay?"},
		"key of two sections": {"max: 3", "line 1: there is no key max; there are accept_language"},
		"key of another crawler": {"DEPTH_LIMIT: 3\nstart_urls: [a]",
			"DEPTH_LIMIT; did you mean max_depth?\nline 2: there is no key start_urls; did you mean seeds?"},
		"a flag's name": {"warc: true", "`whirlpool crawl` has a flag --warc for it"},
		"key twice":     {"id: a\nscope: any\nid: b", "line 3"},
		"no number":     {"id: a\nmax_pages: many", `line 2: max_pages: want a whole number, not "many"`},
		"octal number":  {"max_pages: 010", `max_pages: "010" would be an octal number: write it without its first 0`},
		"octal setting": {"pipeline: {nodes: [{id: a, at: record, use: a/b@1.0.0, with: {zip: [01234]}}]}",
			`pipeline.nodes[0].with.zip[0]: "01234" would be an octal number`},
		"half a page":     {"max_pages: 1.5", `max_pages: want a whole number, not "1.5"`},
		"too large":       {"max_pages: 99999999999999999999", "max_pages: want a whole number"},
		"no truth":        {"sitemaps: maybe", `sitemaps: want true or false, not "maybe"`},
		"no list":         {"seeds: http://a/", `seeds: want a list, as in [a, b], not "http://a/"`},
		"no section":      {"limits: 3", `limits: want keys with values, not "3"`},
		"list as a value": {"id: [a]", "id: want a text, not a list"},
		"in a rule": {"rules:\n  - links:\n    - {match: x, weight: top}",
			`line 3: rules[0].links[0].weight: want a whole number, not "top"`},
		"line of duration": {"id: a\nretry:\n  base: 5", `line 3: retry.base: duration "5": want a number with a unit`},
		"no YAML":          {"id: [a", "line 1"},
		"a list of jobs":   {"- id: a", "the file: want keys with values, not a list"},
		"several faults":   {"max_pages: x\nmax_depth: y", "line 2: max_depth"},
		"two documents":    {"id: a\n---\nid: b", "one job a file"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := jobfile.Parse([]byte(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestMarshalReadsBack(t *testing.T) {
	job := crawl.DefaultJob()
	job.ID, job.Seeds = "x", []string{"http://example.com/"}
	job.Rules = []crawl.SiteRule{{Name: "r", Host: "example.com", Fields: []crawl.FieldRule{{Name: "t", CSS: "h1"}}}}
	data, err := jobfile.Marshal(&job)
	if err != nil {
		t.Fatal(err)
	}
	back, err := jobfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*crawl.Job{&job, &back} { // nil and empty lists mean the same
		p.Include, p.Exclude, p.Continuous = nil, nil, nil
		for i := range p.Rules {
			p.Rules[i].Links = nil
		}
	}
	if !reflect.DeepEqual(job, back) {
		t.Errorf("wrote %+v\nread  %+v", job, back)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("id: a\nseeds: [http://a/]\npoliteness: {delay: 1s}\n")
	f.Add("x: &a [*a]\nrules: [{fields: [{name: 3}]}]\n")
	f.Add("limits: &l {max_body: 1k}\nretry:\n  <<: *l\n")
	f.Fuzz(func(t *testing.T, file string) {
		job, err := jobfile.Parse([]byte(file))
		if err != nil {
			return
		}
		if _, err := jobfile.Marshal(&job); err != nil {
			t.Errorf("%q was read, and cannot be written: %v", file, err)
		}
	})
}

// Figures that begin with a 0 are a text where a text is wanted, and 0 is a number.
func TestZerosThatAreNoOctalNumbers(t *testing.T) {
	job, err := jobfile.Parse([]byte("max_depth: 0\nmax_pages: 0x10\nuser_agent: 007\npipeline: {nodes: [" +
		"{id: a, at: record, use: a/b@1.0.0, with: {zip: '01234', n: 0, f: 0.5}}]}"))
	if err != nil || job.MaxPages != 16 || job.UserAgent != "007" {
		t.Errorf("%+v, %v", job, err)
	}
}
