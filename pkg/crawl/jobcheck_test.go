package crawl_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func siteJob() crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds = "site", []string{"http://example.com/"}
	return job
}

// leaves calls yield for every number in v with its key.
func leaves(v reflect.Value, key string, yield func(key string, v reflect.Value)) {
	if v.Kind() != reflect.Struct {
		if _, ok := crawl.BoundOf(key, v.Type()); ok {
			yield(key, v)
		}
		return
	}
	for i := range v.NumField() {
		if name := crawl.KeyOf(v.Type().Field(i)); name != "" {
			leaves(v.Field(i), strings.TrimPrefix(key+"."+name, "."), yield)
		}
	}
}

// Every number of a job has a least and a largest value, also those that somebody adds tomorrow.
func TestEveryNumberOfAJobIsBounded(t *testing.T) {
	numbers := 0
	job := siteJob()
	leaves(reflect.ValueOf(&job).Elem(), "", func(key string, v reflect.Value) {
		numbers++
		b, _ := crawl.BoundOf(key, v.Type())
		for _, n := range []float64{b.Min - 1, 2*b.Max + 1, -1e15} {
			before := reflect.ValueOf(v.Interface())
			if v.CanFloat() {
				v.SetFloat(n)
			} else {
				v.SetInt(int64(n))
			}
			var fault *crawl.KeyError
			if err := job.Validate(); !errors.As(err, &fault) || fault.Key != key {
				t.Errorf("%s %v: Validate = %v, want an error of that key", key, v.Interface(), err)
			}
			v.Set(before)
		}
	})
	if numbers < 25 {
		t.Errorf("found %d numbers in a job", numbers)
	}
	if err := job.Validate(); err != nil {
		t.Error(err)
	}
}

func TestNonsenseIsNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(j *crawl.Job)
		want   string
	}{
		"not a number": {func(j *crawl.Job) { j.Politeness.DownloadFactor = math.NaN() },
			"politeness.download_factor NaN"},
		"infinite": {func(j *crawl.Job) { j.Politeness.DownloadFactor = math.Inf(1) },
			"politeness.download_factor +Inf"},
		"depth": {func(j *crawl.Job) { j.MaxDepth = -2 }, "max_depth -2: want -1 to 1e12 (-1: no limit)"},
		"a century": {func(j *crawl.Job) { j.Politeness.Delay = 1 << 62 },
			"politeness.delay 1281023h53m38.427387904s: want 0s to 8760h"},
		"weight": {func(j *crawl.Job) { j.Rules = []crawl.SiteRule{{}, {Links: []crawl.LinkWeight{{Weight: 10}}}} },
			"rules[1].links[0].weight 10: want 1 to 9"},
		"no media types": {func(j *crawl.Job) { j.MediaTypes = nil }, "media_types []"},
		"no media type": {func(j *crawl.Job) { j.MediaTypes = []string{"text/html", "nonsense"} },
			`media_types[1] "nonsense"`},
		"misspelt": {func(j *crawl.Job) { j.MediaTypes = []string{"txt/html"} }, "there is no media type txt/…"},
		"parameters": {func(j *crawl.Job) { j.MediaTypes = []string{"text/html; charset=utf-8"} },
			"without parameters"},
		"a star":           {func(j *crawl.Job) { j.MediaTypes = []string{"*"} }, `media_types[0] "*"`},
		"half a star":      {func(j *crawl.Job) { j.MediaTypes = []string{"text/h*ml"} }, "media_types[0]"},
		"empty media type": {func(j *crawl.Job) { j.MediaTypes = []string{""} }, "media_types[0]"},
		"empty pattern":    {func(j *crawl.Job) { j.Exclude = []string{"x", ""} }, `exclude[1] ""`},
		"broken pattern":   {func(j *crawl.Job) { j.Include = []string{"a(", ""} }, `include[0] pattern "a("`},
	} {
		t.Run(name, func(t *testing.T) {
			job := siteJob()
			tt.change(&job)
			if err := job.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Validate = %v, want an error with %q", err, tt.want)
			}
		})
	}
	job := siteJob()
	job.MediaTypes = []string{"*/*", "text/*", "application/rss+xml", "IMAGE/PNG", "x-world/x-vrml"}
	if err := job.Validate(); err != nil {
		t.Errorf("good media types: %v", err)
	}
}

// A password in a seed is refused, and no message repeats it.
func TestASeedWithAPasswordIsRefusedWithoutRepeatingIt(t *testing.T) {
	for _, seed := range []string{"http://me:secret@example.com/", "https://secret@example.com/x", "me:secret@example.com",
		"secret@example.com", "http://me:secret@example.com:99999/", "ftp://me:secret@example.com/",
		"http://a:b@c:secret@example.com/", `http:\\me:secret@example.com`} {
		job := siteJob()
		job.Seeds = []string{seed}
		err := job.Validate()
		if err == nil || !strings.Contains(err.Error(), "example.com") {
			t.Errorf("%s: %v, want an error that names the seed", seed, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the message repeats the password: %v", seed, err)
		}
	}
	for _, seed := range []string{"http://example.com/@me", "http://example.com/?q=a@b", "http://example.com/#a@b",
		"example.com/~me@x"} {
		job := siteJob()
		job.Seeds = []string{seed}
		if err := job.Validate(); err != nil {
			t.Errorf("%s: %v", seed, err)
		}
	}
}
