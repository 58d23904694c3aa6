package jobfile_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/jobfile"
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
		p.Include, p.Exclude = nil, nil
		for i := range p.Rules {
			p.Rules[i].Links = nil
		}
	}
	if !reflect.DeepEqual(job, back) {
		t.Errorf("wrote %+v\nread  %+v", job, back)
	}
}
