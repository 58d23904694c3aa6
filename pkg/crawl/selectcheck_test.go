package crawl_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// faultsOf are the keys of what Validate finds.
func faultsOf(t *testing.T, job *crawl.Job) (keys []string) {
	t.Helper()
	err := job.Validate()
	list, ok := err.(interface{ Unwrap() []error })
	if err != nil && !ok {
		t.Fatal(err)
	}
	for err != nil && len(list.Unwrap()) > len(keys) {
		var fault *crawl.KeyError
		if e := list.Unwrap()[len(keys)]; !errors.As(e, &fault) || strings.TrimSpace(fault.Problem) == "" {
			t.Fatalf("%v names no key", e)
		}
		keys = append(keys, fault.Key)
	}
	return keys
}

func TestFaultsOfPolicies(t *testing.T) {
	field := func(f crawl.PolicyField) []crawl.PolicyField { return []crawl.PolicyField{f} }
	for name, tc := range map[string]struct {
		p    crawl.Policy
		want string
	}{
		"css": {crawl.Policy{Name: "a", CSS: ".b",
			Fields: field(crawl.PolicyField{Name: "c", CSS: "h2", Type: "number"})}, ""},
		"itself": {crawl.Policy{Name: "a", CSS: ".b", Fields: field(crawl.PolicyField{Name: "c", Attr: "id"})},
			""},
		"xpath":    {crawl.Policy{Name: "a", XPath: "//div"}, ""},
		"keywords": {crawl.Policy{Name: "a", Keywords: []string{"c++", "go developer", "日本"}, Window: 10}, ""},
		"json": {crawl.Policy{Name: "a", JSONPointer: "#",
			Fields: field(crawl.PolicyField{Name: "c", JSONPointer: "/x"})}, ""},
		"regex":             {crawl.Policy{Name: "a", Regex: `\d+`, List: true, Types: []string{"text/*"}, Match: "/x"}, ""},
		"no name":           {crawl.Policy{CSS: "a"}, "select[0].name"},
		"a name with a dot": {crawl.Policy{Name: "a.b", CSS: "a"}, "select[0].name"},
		"nothing":           {crawl.Policy{Name: "a"}, "select[0]"},
		"two things":        {crawl.Policy{Name: "a", CSS: "a", Regex: "b"}, "select[0]"},
		"no CSS":            {crawl.Policy{Name: "a", CSS: ">>"}, "select[0].css"},
		"no XPath":          {crawl.Policy{Name: "a", XPath: "//["}, "select[0].xpath"},
		"no pointer":        {crawl.Policy{Name: "a", JSONPointer: "items"}, "select[0].json_pointer"},
		"no pattern":        {crawl.Policy{Name: "a", Regex: "("}, "select[0].regex"},
		"no URL pattern":    {crawl.Policy{Name: "a", CSS: "a", Match: "("}, "select[0].match"},
		"no type":           {crawl.Policy{Name: "a", CSS: "a", Types: []string{"html"}}, "select[0].types[0]"},
		"no word":           {crawl.Policy{Name: "a", Keywords: []string{"go", "+++"}}, "select[0].keywords[1]"},
		"too long":          {crawl.Policy{Name: "a", Keywords: []string{strings.Repeat("a", 201)}}, "select[0].keywords[0]"},
		"a window of css":   {crawl.Policy{Name: "a", CSS: "a", Window: 3}, "select[0].window"},
		"a wide window":     {crawl.Policy{Name: "a", Keywords: []string{"a"}, Window: 10_001}, "select[0].window"},
		"a list of css":     {crawl.Policy{Name: "a", CSS: "a", List: true}, "select[0].list"},
		"fields of words": {crawl.Policy{Name: "a", Keywords: []string{"a"},
			Fields: field(crawl.PolicyField{Name: "b", CSS: "a"})}, "select[0].fields"},
		"a field's name": {crawl.Policy{Name: "a", CSS: "a", Fields: field(crawl.PolicyField{CSS: "a"})},
			"select[0].fields[0].name"},
		"a field's CSS": {crawl.Policy{Name: "a", CSS: "a", Fields: field(crawl.PolicyField{Name: "b", CSS: "::"})},
			"select[0].fields[0].css"},
		"a field's type": {crawl.Policy{Name: "a", CSS: "a",
			Fields: field(crawl.PolicyField{Name: "b", CSS: "a", Type: "float"})}, "select[0].fields[0].type"},
		"JSON in HTML": {crawl.Policy{Name: "a", CSS: "a",
			Fields: field(crawl.PolicyField{Name: "b", JSONPointer: "/a"})}, "select[0].fields[0].json_pointer"},
		"HTML in JSON": {crawl.Policy{Name: "a", JSONPointer: "/a",
			Fields: field(crawl.PolicyField{Name: "b", CSS: "a"})}, "select[0].fields[0]"},
		"no field pointer": {crawl.Policy{Name: "a", JSONPointer: "/a", Fields: field(crawl.PolicyField{Name: "b"})},
			"select[0].fields[0].json_pointer"},
		"both": {crawl.Policy{Name: "a", CSS: "a",
			Fields: field(crawl.PolicyField{Name: "b", CSS: "a", XPath: "a"})}, "select[0].fields[0]"},
		"HTML of attribute": {crawl.Policy{Name: "a", CSS: "a",
			Fields: field(crawl.PolicyField{Name: "b", Attr: "a", Type: "html"})}, "select[0].fields[0].type"},
		"a field twice": {crawl.Policy{Name: "a", CSS: "a",
			Fields: []crawl.PolicyField{{Name: "b", CSS: "a"}, {Name: "b", CSS: "c"}}},
			"select[0].fields[1].name"},
	} {
		job := siteJob()
		job.Select = []crawl.Policy{tc.p}
		var want []string
		if tc.want != "" {
			want = []string{tc.want}
		}
		if got := faultsOf(t, &job); !slices.Equal(got, want) {
			t.Errorf("%s: faults %q, want %q", name, got, want)
		}
	}
}

func TestPoliciesHaveNamesOfTheirOwn(t *testing.T) {
	job := siteJob()
	job.Rules = []crawl.SiteRule{{Fields: []crawl.FieldRule{{Name: "title", CSS: "h1"}}}}
	job.Select = []crawl.Policy{{Name: "a", CSS: "a"}, {Name: "a", CSS: "b"}, {Name: "title", CSS: "c"}}
	if got := faultsOf(t, &job); !slices.Equal(got, []string{"select[1].name", "select[2].name"}) {
		t.Errorf("faults %q", got)
	}
	job.Select = make([]crawl.Policy, 101)
	if got := faultsOf(t, &job); !slices.Equal(got, []string{"select"}) {
		t.Errorf("faults %q", got)
	}
}

func TestRetryOnNamesFailures(t *testing.T) {
	job := siteJob()
	job.Retry.On = []string{"timeout", "connect", "dns", "tls", "broken", "status:429", "status:5xx", "status:404"}
	if err := job.Validate(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "Timeout", "status", "status:", "status:200", "status:3xx", "status:5XX",
		"status:600", "5xx", "robots"} {
		job.Retry.On = []string{"timeout", name}
		if got := faultsOf(t, &job); !slices.Equal(got, []string{"retry.on[1]"}) {
			t.Errorf("%q: faults %q", name, got)
		}
	}
}

func TestWhichFailuresAreRepeated(t *testing.T) {
	out := func(v crawl.Verdict, reason string, status int) *crawl.Outcome {
		return &crawl.Outcome{Verdict: v, Reason: reason, Status: status}
	}
	r := crawl.Retry{On: []string{"timeout", "status:429", "status:5xx"}}
	for _, tc := range []struct {
		out           *crawl.Outcome
		repeat, named bool
	}{
		{out(crawl.VerdictRetry, crawl.ReasonTimeout, 0), true, true},
		{out(crawl.VerdictRetry, crawl.ReasonTooSlow, 200), true, true},
		{out(crawl.VerdictRetry, crawl.ReasonConnect, 0), false, true},
		{out(crawl.VerdictRetry, crawl.ReasonDNS, 0), false, true},
		{out(crawl.VerdictRetry, crawl.ReasonTLS, 0), false, true},
		{out(crawl.VerdictRefused, crawl.ReasonTLS, 0), false, false},
		{out(crawl.VerdictRetry, crawl.ReasonStatus, 429), true, true},
		{out(crawl.VerdictRetry, crawl.ReasonStatus, 408), false, true},
		{out(crawl.VerdictRetry, crawl.ReasonStatus, 503), true, true},
		{out(crawl.VerdictGone, crawl.ReasonStatus, 501), true, true},
		{out(crawl.VerdictGone, crawl.ReasonStatus, 404), false, true},
		{out(crawl.VerdictRetry, crawl.ReasonRobots, 0), false, false},
		{out(crawl.VerdictRetry, crawl.ReasonProxy, 0), false, false},
		{out(crawl.VerdictDone, "", 200), false, false},
	} {
		if repeat, named := r.Repeats(tc.out); repeat != tc.repeat || named != tc.named {
			t.Errorf("%s %s %d: %v %v, want %v %v", tc.out.Verdict, tc.out.Reason, tc.out.Status, repeat, named, tc.repeat,
				tc.named)
		}
	}
	if _, named := (&crawl.Retry{}).Repeats(out(crawl.VerdictRetry, crawl.ReasonTimeout, 0)); named {
		t.Error("an empty list decides something")
	}
}

func TestJSONIsAPageWhereAPolicyReadsIt(t *testing.T) {
	job := siteJob()
	if job.SelectsJSON("application/json") || len(job.Notices()) > 0 {
		t.Error("JSON is a page though no policy reads it")
	}
	job.Select = []crawl.Policy{{Name: "a", JSONPointer: "/a", Types: []string{"application/vnd.api+json"}},
		{Name: "b", CSS: "b"}}
	for media, want := range map[string]bool{"application/json": false, "application/vnd.api+json": true,
		"text/html": false} {
		if job.SelectsJSON(media) != want {
			t.Errorf("%s: want %v", media, want)
		}
	}
	if n := job.Notices(); len(n) != 1 || !strings.Contains(n[0], "select a") {
		t.Errorf("notices %q", n)
	}
	job.MediaTypes = []string{"application/*"}
	if n := job.Notices(); len(n) != 0 {
		t.Errorf("notices %q", n)
	}
}
