package workflow_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// A definition whose patterns are too large is not compiled by anybody.
func TestPatternsThatAreTooLargeAreNotCompiled(t *testing.T) {
	asked := false
	m := workflow.NewManager(nil, nil, workflow.Options{Check: func(*crawl.Job) error { asked = true; return nil }})
	c, err := m.Check(bg, simple+"include: ['"+strings.Repeat("(ab|cd|ef|gh){1000}", 120)+"']\n")
	if err != nil || len(c.Faults) != 1 || c.Faults[0].Key != "include[0]" || asked {
		t.Errorf("%+v, %v; compiled %v", c, err, asked)
	}
}

func TestSlugs(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		n    workflow.New
		slug string
		name string
	}{
		{workflow.New{Source: simple}, "a-test", "a.test"},
		{workflow.New{Source: simple}, "a-test-2", "a.test"},
		{workflow.New{Source: "seeds: [https://www.Exämple.test/x]"}, "ex-mple-test", "Exämple.test"},
		{workflow.New{Source: "id: jobs\n" + simple}, "jobs", "jobs"},
		{workflow.New{Name: "Jobs, daily!", Source: simple}, "jobs-daily", "Jobs, daily!"},
		{workflow.New{Name: "Jobs, daily!", Source: simple}, "jobs-daily-2", "Jobs, daily!"},
		{workflow.New{Name: "日本", Source: "seeds: ['http://[::1]/']\nallow_private: true"}, "1", "日本"},
		{workflow.New{Name: strings.Repeat("x", 60), Source: simple}, strings.Repeat("x", 48), strings.Repeat("x", 60)},
		{workflow.New{Name: strings.Repeat("x", 60), Source: simple}, strings.Repeat("x", 46) + "-2",
			strings.Repeat("x", 60)},
		{workflow.New{Name: " \t", Source: simple}, "a-test-3", "a.test"}, // a name that nobody can see is none
		{workflow.New{Slug: "own", Source: simple}, "own", "a.test"},
	} {
		flow, err := w.Create(bg, "me", tt.n)
		if err != nil {
			t.Errorf("%+v: %v", tt.n, err)
			continue
		}
		if flow.Slug != tt.slug || flow.Name != tt.name {
			t.Errorf("slug %q, name %q, want %q and %q", flow.Slug, flow.Name, tt.slug, tt.name)
		}
		if !regexp.MustCompile(`^wf_[0-7][0-9A-HJKMNP-TV-Z]{25}$`).MatchString(string(flow.ID)) {
			t.Errorf("id %s", flow.ID)
		}
	}
	if _, err := w.Create(bg, "me", workflow.New{Slug: "own", Source: simple}); !errors.Is(err, workflow.ErrTaken) {
		t.Errorf("a slug twice: %v", err)
	}
	for _, slug := range []string{"A", "-a", "a-", "a_b", strings.Repeat("x", 49), "ä"} {
		if _, err := w.Create(bg, "me", workflow.New{Slug: slug, Source: simple}); !isInvalid(err, "slug") {
			t.Errorf("slug %q: %v", slug, err)
		}
	}
}

func isInvalid(err error, key string) bool {
	bad := (*workflow.Invalid)(nil)
	return errors.As(err, &bad) && bad.Faults[0].Key == key
}

func TestVersions(t *testing.T) {
	w := newWorld(t)
	w.create(simple)
	add := func(source string, parent int) (int, error) {
		v, err := w.AddVersion(bg, "me", "flow", source, "why", parent)
		if err != nil {
			return 0, err
		}
		return v.Number, nil
	}
	for _, tt := range []struct {
		source string
		parent int
		want   int
	}{
		{simple, 1, 1},
		{"# the same, said otherwise\nid: other\nseeds: ['http://a.test/']\nmax_pages: 10000\n", 1, 2}, // its text is kept
		{simple + "max_pages: 5\n", 2, 3},
		{simple + "max_pages: 5\n", 3, 3},
		{simple + "max_pages: 6\n", 0, 4},
	} {
		if n, err := add(tt.source, tt.parent); err != nil || n != tt.want {
			t.Errorf("%q: version %d, %v, want %d", tt.source, n, err, tt.want)
		}
	}
	if _, err := add(simple+"max_pages: 7\n", 2); !errors.Is(err, workflow.ErrConflict) {
		t.Errorf("from an old version: %v", err)
	}
	v, err := w.Restore(bg, "me", "flow", 1, "back")
	if err != nil || v.Number != 5 || v.Parent != 1 || v.Source != simple {
		t.Errorf("restored %+v, %v", v, err)
	}
	changes, err := w.Diff(bg, "flow", 4, 5)
	if err != nil || len(changes) != 1 || changes[0] != (crawl.Change{Key: "max_pages", From: "6", To: "10000"}) {
		t.Errorf("differences %v, %v", changes, err)
	}
	first, err := w.Version(bg, "flow", 1)
	if err != nil || first.SHA256 != v.SHA256 || string(first.Definition) != string(v.Definition) {
		t.Errorf("equal content has digests %s and %s, %v", first.SHA256, v.SHA256, err)
	}
}

func TestOverrides(t *testing.T) {
	w := newWorld(t)
	w.create(simple)
	pages, depth, none := 7, 0, -5
	x, err := w.Start(bg, "me", "flow",
		workflow.Overrides{Seeds: []string{"http://b.test/"}, MaxPages: &pages, MaxDepth: &depth,
			Labels: map[string]string{"why": "test"}})
	if err != nil {
		t.Fatal(err)
	}
	job, err := w.store.Job(bg, x.ID)
	if err != nil || job.Seeds[0] != "http://b.test/" || job.MaxPages != 7 || job.MaxDepth != 0 || job.ID != "flow-1" {
		t.Errorf("job %+v, %v", job, err)
	}
	if _, err := w.Start(bg, "me", "flow", workflow.Overrides{MaxPages: &none}); !isInvalid(err, "max_pages") {
		t.Errorf("max_pages -5: %v", err)
	}
	if _, err := w.Start(bg, "me", "flow", workflow.Overrides{Version: 4}); !errors.Is(err, workflow.ErrNotFound) {
		t.Errorf("version 4: %v", err)
	}
	archived := true
	if _, err := w.Update(bg, "me", "flow", 0, workflow.Changed{Archived: &archived}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Start(bg, "me", "flow", workflow.Overrides{}); !errors.Is(err, workflow.ErrArchived) {
		t.Errorf("archived: %v", err)
	}
	archived = false
	if flow, err := w.Update(bg, "me", "flow", 0, workflow.Changed{Archived: &archived}); err != nil ||
		!flow.Archived.IsZero() {
		t.Errorf("taken up again: %+v, %v", flow, err)
	}
}

func TestANameOfBlanksIsNone(t *testing.T) {
	w := newWorld(t)
	w.create(simple)
	blank := " "
	if flow, err := w.Update(bg, "me", "flow", 0, workflow.Changed{Name: &blank}); err != nil || flow.Name != "flow" {
		t.Errorf("%+v, %v", flow, err)
	}
}

// A name is a line of characters, and not of bytes: those of most scripts take two or three.
func TestNamesAreLines(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("ب", 200)
	if made, err := w.Create(bg, "me", workflow.New{Name: long, Source: simple}); err != nil || made.Name != long {
		t.Error(made, err)
	}
	for _, name := range []string{long + "ب", "a\x00b", "a\nb", "a\x1b[31mb"} {
		if _, err := w.Create(bg, "me", workflow.New{Name: name, Source: simple}); !isInvalid(err, "name") {
			t.Errorf("%q: %v", name, err)
		}
	}
	labels := map[string]string{"team": "a\x00"}
	if _, err := w.Create(bg, "me", workflow.New{Source: simple, Labels: labels}); !isInvalid(err, "labels") {
		t.Error(err)
	}
}

func TestStaleChanges(t *testing.T) {
	w := newWorld(t)
	flow := w.create(simple)
	name := "new"
	if _, err := w.Update(bg, "me", "flow", flow.Lock, workflow.Changed{Name: &name}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Update(bg, "me", "flow", flow.Lock, workflow.Changed{Name: &name}); !errors.Is(err, workflow.ErrStale) {
		t.Errorf("an old lock: %v", err)
	}
	x, note := w.start(), "a note"
	if got, err := w.Annotate(bg, "me", x, 1, nil, &note); err != nil || got.Note != note {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := w.Annotate(bg, "me", x, 1, nil, &note); !errors.Is(err, workflow.ErrStale) {
		t.Errorf("an old lock: %v", err)
	}
	if err := w.Delete(bg, "me", x, true); !errors.Is(err, workflow.ErrConflict) {
		t.Errorf("what waits is deleted: %v", err)
	}
}

func TestFaultsHavePlaces(t *testing.T) {
	w := newWorld(t)
	for source, want := range map[string]workflow.Fault{
		"seeds: [http://a.test/]\nscop: any\n":                 {Key: "scop", Line: 2, Column: 1},
		"seeds: [http://a.test/]\nmax_pages: -1\n":             {Key: "max_pages", Line: 2, Column: 12},
		"seeds: [http://a.test/]\nexclude:\n  - ok\n  - '('\n": {Key: "exclude[1]", Line: 4, Column: 5},
		"seeds: [http://a.test/]\npoliteness:\n  delay: x\n":   {Key: "politeness.delay", Line: 3, Column: 10},
		"seeds: [http://a.test/]\nblacklist: x.txt\n":          {Key: "blacklist", Line: 2, Column: 12},
		"max_pages: 3\n": {Key: "seeds"},
		"seeds: [http://a.test/]\nlifecycle: {on_limit: explode}\n": {Key: "lifecycle.on_limit", Line: 2, Column: 23},
		"seeds: [http://a.test/\n":                                  {Line: 1},
		"seeds: [http://a.test/]\nlifecycle:\n  then: 'No Slug'\n":  {Key: "lifecycle.then", Line: 3, Column: 9},
		"seeds: [ftp://a.test/]\n":                                  {Key: "seeds[0]", Line: 1, Column: 9},
	} {
		c, err := w.Check(bg, source)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Faults) != 1 || c.Definition != nil {
			t.Errorf("%q: faults %+v", source, c.Faults)
			continue
		}
		got := c.Faults[0]
		if got.Message == "" || strings.HasPrefix(got.Message, "line") {
			t.Errorf("%q: message %q", source, got.Message)
		}
		if got.Message = ""; got != want {
			t.Errorf("%q: fault %+v, want %+v", source, got, want)
		}
	}
	if c, err := w.Check(bg, strings.Repeat("#", workflow.MaxSource+1)); err != nil || len(c.Faults) != 1 {
		t.Errorf("a large definition: %+v, %v", c, err)
	}
}

func TestWords(t *testing.T) {
	w := newWorld(t)
	c, err := w.Check(bg, `
seeds: [https://www.example.com/jobs/, https://b.test/, 'https://b.test/#part', 'https://www.example.com/jobs/#a']
scope: host
exclude: ['/private/']
max_pages: 12000
pages_per_host: 500
politeness: {delay: 2s}
ignore_robots: true
assets: {scope: any}
keep_bodies: true
rules: [{fields: [{name: t, css: h1}]}]
lifecycle: {max_duration: 6h, retention: {executions: 20, days: 90}, then: next}
`)
	if err != nil || len(c.Faults) > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	text := strings.Join(c.Words, "\n")
	for _, want := range []string{
		"It starts from https://www.example.com/jobs/, https://b.test/.",
		"It follows links on example.com, b.test, and on no other host.",
		"URLs that match /private/ are left out.",
		"It ends after 12,000 pages, or when no link is left.",
		"It goes at most 20 links away from where it started.",
		"It fetches at most 500 URLs of a host.",
		"It waits at least 2 s between two requests to a host, and longer where the host is slow, and sends it one at a " +
			"time.",
		"It does not ask for robots.txt and fetches what that may forbid.",
		"Its rules take 1 fields from the pages that they match.",
		"The pages themselves are kept too, compressed.",
		"It fetches the style sheets, images, scripts and fonts of pages too, and keeps them and the pages in WARC files.",
		"It is stopped after 6 h.",
		"Kept whole are, of the last 20 executions, those that ended in the last 90 days; of others its records, log and " +
			"figures stay.",
		"When it has come to its end by itself, workflow next starts.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not said: %s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	if len(c.Warnings) != 2 || !strings.HasPrefix(c.Warnings[0], "ignore_robots") ||
		!strings.HasPrefix(c.Warnings[1], "contact") {
		t.Errorf("warnings %q", c.Warnings)
	}
}

// What is told of a definition has no fault of its own.
func FuzzDefinitions(f *testing.F) {
	f.Add(simple)
	f.Add("seeds: [x]\nlifecycle: {retention: {days: 3}}\nexclude: [a, b, c, d]\n")
	f.Add("id: &a b\nseeds: [*a]\nmax_depth: -1\n")
	m := workflow.NewManager(nil, nil, workflow.Options{})
	f.Fuzz(func(t *testing.T, source string) {
		c, err := m.Check(bg, source)
		if err != nil {
			t.Fatal(err)
		}
		if (c.Definition == nil) != (len(c.Faults) > 0) {
			t.Errorf("%q has a definition: %t, faults %+v", source, c.Definition != nil, c.Faults)
		}
		if c.Definition == nil {
			return
		}
		for _, s := range c.Words {
			if s == "" || !strings.HasSuffix(s, ".") || strings.Contains(s, "%!") {
				t.Errorf("%q: %q is no sentence", source, s)
			}
		}
	})
}

// Clients are promised an object and an array, also of what has no labels and of an audit without faults.
func TestNothingIsWrittenAsNull(t *testing.T) {
	w := newWorld(t)
	flow, err := w.Create(bg, "me", workflow.New{Slug: "flow", Source: simple})
	if err != nil || flow.Labels == nil {
		t.Errorf("labels %#v, %v", flow.Labels, err)
	}
	x, err := w.Start(bg, "me", "flow", workflow.Overrides{})
	if err != nil || x.Labels == nil {
		t.Errorf("labels %#v, %v", x.Labels, err)
	}
	if a := workflow.Audited(&crawl.AuditReport{}, flow.Created); a.Faults == nil || len(a.Faults) > 0 {
		t.Errorf("faults %#v", a.Faults)
	}
}
