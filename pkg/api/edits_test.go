package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// editable is an engine whose one job has revisions, and previews that are exact at once.
type editable struct {
	fakeCrawls

	mu        sync.Mutex
	revisions []crawl.Revision
}

func (f *editable) Revisions(context.Context, crawl.JobID) ([]crawl.Revision, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.revisions), nil
}

func (f *editable) last() *crawl.Job { return f.revisions[len(f.revisions)-1].Job }

func (f *editable) Revise(_ context.Context, _ workflow.Note, id crawl.JobID,
	change control.Change) (*control.Revised, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	job := f.last()
	next, err := change(job)
	if err != nil {
		return nil, err
	}
	made := *next
	made.Epoch = job.Epoch + 1
	f.revisions = append(f.revisions, crawl.Revision{Job: &made})
	return &control.Revised{Job: id, Epoch: made.Epoch, Changes: crawl.Changes(job, &made)}, nil
}

func (f *editable) Preview(_ context.Context, next *crawl.Job, tell func(*preview.Answer)) error {
	tell(&preview.Answer{Job: next.ID, Epoch: next.Epoch, Exact: true})
	return nil
}

func withEdits(t *testing.T, change func(*crawl.Job)) (*world, *editable) {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Epoch = "w-1", []string{"http://a.test/"}, 1
	change(&job)
	w, f := newWorld(t), &editable{revisions: []crawl.Revision{{Job: &job}}}
	w.s.Crawls, w.s.Previews = f, f
	return w, f
}

const (
	revisionsPath = "/api/v1/executions/w-1/revisions"
	previewPath   = "/api/v1/executions/w-1/preview"
)

func aPreview(t *testing.T, w *world, edit string) (id string) {
	t.Helper()
	got := w.ask(http.MethodPost, previewPath, edit)
	var p Preview
	if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.status != 200 || p.ID == "" {
		t.Fatalf("preview: %d %s", got.status, got.body)
	}
	return p.ID
}

// What an editor based an edit on is not overwritten, whichever way the edit says what that was.
func TestAnEditOfWhatHasChangedIsRefused(t *testing.T) {
	w, f := withEdits(t, func(*crawl.Job) {})
	old := aPreview(t, w, `{"patch":{"max_depth":3}}`)
	if got := w.ask(http.MethodPost, revisionsPath, `{"patch":{"max_pages":7},"epoch":1}`); got.status != 201 {
		t.Fatalf("another editor: %d %s", got.status, got.body)
	}
	fresh := aPreview(t, w, `{"patch":{"max_depth":3},"epoch":2}`)
	for _, tt := range []struct {
		path, body, header, want string
		status                   int
	}{
		{revisionsPath, `{"patch":{"max_depth":3}}`, `If-Match: "1"`, "revision 2", 412},
		{revisionsPath, `{"patch":{"max_depth":3}}`, `If-Match: W/"1"`, "revision 2", 412},
		{revisionsPath, `{"patch":{"max_depth":3}}`, `If-Match: "x"`, "If-Match", 400},
		{revisionsPath, `{"patch":{"max_depth":3},"epoch":2}`, `If-Match: "1"`, "If-Match", 400},
		{revisionsPath, `{"patch":{"max_depth":3},"epoch":1}`, "", "revision 2", 409},
		{revisionsPath, `{"source":"id: w\nseeds: [http://a.test/]\n","epoch":1}`, "", "revision 2", 409},
		{revisionsPath, `{"undo":2,"epoch":1}`, "", "revision 2", 409},
		{revisionsPath + "/2:undo", `{"epoch":1}`, "", "revision 2", 409},
		{revisionsPath, `{"patch":{"max_depth":3},"dry_run":true,"epoch":1}`, "", "revision 2", 409},
		{revisionsPath, `{"patch":{"max_depth":3},"preview_id":"` + old + `"}`, "", "revision 2", 409},
		{revisionsPath, `{"patch":{"max_depth":3},"preview_id":"` + old + `","epoch":2}`, "", "make the preview again", 409},
		{revisionsPath, `{"patch":{"max_depth":3},"preview_id":"pv_none"}`, "", "make it again", 404},
		{previewPath, `{"patch":{"max_depth":3},"epoch":1}`, "", "revision 2", 409},
	} {
		var more []string
		if tt.header != "" {
			more = append(more, tt.header)
		}
		got := w.ask(http.MethodPost, tt.path, tt.body, more...)
		if got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s %s: %d %s, want %d with %q", tt.body, tt.header, got.status, got.body, tt.status, tt.want)
		}
	}
	if n := len(f.revisions); n != 2 {
		t.Errorf("there are %d revisions: what was refused has made some", n)
	}
	if got := w.ask(http.MethodPost, revisionsPath, `{"patch":{"max_depth":3},"preview_id":"`+fresh+`"}`,
		`If-Match: "2"`); got.status != 201 {
		t.Errorf("what agrees: %d %s", got.status, got.body)
	}
}

// Of editors that edit the same revision at the same moment one wins, and no edit is lost.
func TestOfEditorsAtOnceOneWins(t *testing.T) {
	w, f := withEdits(t, func(*crawl.Job) {})
	for round := range 20 {
		at := f.last().Epoch
		preview := aPreview(t, w, `{"patch":{"max_depth":3}}`)
		edits := []struct{ more, header string }{{"", fmt.Sprintf("If-Match: \"%d\"", at)},
			{fmt.Sprintf(`,"epoch":%d`, at), ""}, {`,"preview_id":"` + preview + `"`, ""}}
		status := make([]int, len(edits))
		var wg sync.WaitGroup
		for i, e := range edits {
			wg.Go(func() {
				var more []string
				if e.header != "" {
					more = []string{e.header}
				}
				status[i] = w.ask(http.MethodPost, revisionsPath,
					fmt.Sprintf(`{"patch":{"max_pages":%d}%s}`, 100*round+i+1, e.more), more...).status
			})
		}
		wg.Wait()
		won := slices.Index(status, 201)
		if won < 0 {
			t.Fatalf("round %d: nobody wins: %v", round, status)
		}
		for i, want := range []int{412, 409, 409} {
			if i != won && status[i] != want {
				t.Errorf("round %d: editor %d has %d, want %d", round, i, status[i], want)
			}
		}
		if got := f.last(); got.Epoch != at+1 || got.MaxPages != 100*round+won+1 {
			t.Errorf("round %d: revision %d with max_pages %d, want %d with %d", round, got.Epoch, got.MaxPages, at+1,
				100*round+won+1)
		}
	}
}

// A key that a patch makes null has its default, also where that is not zero, and the preset's for politeness.
func TestANullInAPatchIsTheDefault(t *testing.T) {
	is := crawl.DefaultJob()
	mercator, _ := crawl.PresetPoliteness(crawl.Mercator)
	for _, tt := range []struct {
		patch string
		from  func(*crawl.Job)
		same  func(*crawl.Job) bool
	}{
		{`{"max_depth":null}`, func(j *crawl.Job) { j.MaxDepth = 3 },
			func(j *crawl.Job) bool { return j.MaxDepth == is.MaxDepth }},
		{`{"scope":null}`, func(j *crawl.Job) { j.Scope = crawl.ScopeHost },
			func(j *crawl.Job) bool { return j.Scope == is.Scope }},
		{`{"sitemaps":null}`, func(j *crawl.Job) { j.Sitemaps = false }, func(j *crawl.Job) bool { return j.Sitemaps }},
		{`{"media_types":null}`, func(j *crawl.Job) { j.MediaTypes = []string{"text/plain"} },
			func(j *crawl.Job) bool { return slices.Equal(j.MediaTypes, is.MediaTypes) }},
		{`{"exclude":null}`, func(j *crawl.Job) { j.Exclude = []string{"/x"} },
			func(j *crawl.Job) bool { return len(j.Exclude) == 0 }},
		{`{"parallelism":null}`, func(j *crawl.Job) { j.Parallelism = 3 },
			func(j *crawl.Job) bool { return j.Parallelism == 0 }},
		{`{"politeness":{"delay":null}}`, func(j *crawl.Job) { j.Politeness.Delay = 7 },
			func(j *crawl.Job) bool { return j.Politeness.Delay == is.Politeness.Delay }},
		{`{"politeness":{"download_factor":null}}`,
			func(j *crawl.Job) { j.Politeness = mercator; j.Politeness.DownloadFactor = 3 },
			func(j *crawl.Job) bool { return j.Politeness == mercator }},
		{`{"limits":null}`, func(j *crawl.Job) { j.Limits.Redirects = 1 },
			func(j *crawl.Job) bool { return j.Limits == is.Limits }},
		{`{"id":null,"max_depth":4}`, func(*crawl.Job) {},
			func(j *crawl.Job) bool { return j.ID == "w-1" && j.MaxDepth == 4 }},
	} {
		job := crawl.DefaultJob()
		job.ID, job.Seeds = "w-1", []string{"http://a.test/"}
		tt.from(&job)
		var patch map[string]any
		if err := json.Unmarshal([]byte(tt.patch), &patch); err != nil {
			t.Fatal(err)
		}
		if next, err := merged(t.Context(), &job, patch); err != nil || !tt.same(next) {
			t.Errorf("%s: %+v, %v", tt.patch, next, err)
		}
	}
}

// What a patch has wrong is told in the words of job files, and not by the types of the program.
func TestAPatchThatCannotBeRead(t *testing.T) {
	job := crawl.DefaultJob()
	job.ID, job.Seeds = "w-1", []string{"http://a.test/"}
	for patch, want := range map[string]string{
		`{"max_pages":"abc"}`:           `max_pages: want a whole number, not "abc"`,
		`{"max_pages":1.5}`:             `max_pages: want a whole number, not "1.5"`,
		`{"exclude":"/x/"}`:             `exclude: want a list, as in [a, b], not "/x/"`,
		`{"politeness":"fast"}`:         `politeness: want keys with values, not "fast"`,
		`{"politeness":{"dely":"1s"}}`:  `there is no key politeness.dely; did you mean delay?`,
		`{"allow_private":"perhaps"}`:   `allow_private: want true or false, not "perhaps"`,
		`{"allow_private":"yes"}`:       `allow_private: want true or false, not a string`,
		`{"politeness":{"delay":5}}`:    "politeness.delay: ",
		`{"limits":{"max_body":"10X"}}`: "limits.max_body: ",
	} {
		var keys map[string]any
		if err := json.Unmarshal([]byte(patch), &keys); err != nil {
			t.Fatal(err)
		}
		_, err := merged(t.Context(), &job, keys)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "json:") {
			t.Errorf("%s: %v, want %q", patch, err, want)
		}
	}
}

// A dry run of an edit asks the plug-ins, as the edit itself does.
func TestADryEditChecksThePipeline(t *testing.T) {
	w, _ := withEdits(t, func(*crawl.Job) {})
	w.s.DryRuns = &tries{faults: []workflow.Fault{{Key: "seeds[0]", Message: "private"},
		{Key: "pipeline.nodes[0].with.keep", Line: 1, Message: "no expression"}}}
	const edit = `{"dry_run":true,"patch":{"pipeline":{"nodes":[{"id":"a","at":"record","use":"builtin/filter@1",` +
		`"with":{"keep":"("}}]}}}`
	if got := w.ask(http.MethodPost, revisionsPath, edit); got.status != 422 ||
		!strings.Contains(got.body, "no expression") || strings.Contains(got.body, "private") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := w.ask(http.MethodPost, revisionsPath, `{"dry_run":true,"patch":{"max_depth":3}}`); got.status > 201 {
		t.Errorf("an edit of something else: %d %s", got.status, got.body)
	}
}

// The settings of a revision are those of a job file: what is in the file that blacklist names is not among them,
// and an edit that does not change that name keeps it.
func TestSettingsAreThoseOfAJobFile(t *testing.T) {
	w, f := withEdits(t, func(j *crawl.Job) { j.Blacklist, j.BlacklistEntries = "/etc/b.txt", []string{"bad.test"} })
	got := w.ask(http.MethodGet, revisionsPath, "")
	if got.status != 200 || strings.Contains(got.body, "blacklist_entries") || !strings.Contains(got.body, "/etc/b.txt") {
		t.Errorf("the revisions: %d %s", got.status, got.body)
	}
	w.ask(http.MethodPost, revisionsPath, `{"patch":{"max_depth":3}}`)
	if j := f.last(); j.MaxDepth != 3 || !slices.Equal(j.BlacklistEntries, []string{"bad.test"}) {
		t.Errorf("after another edit the blacklist has %v", j.BlacklistEntries)
	}
	w.ask(http.MethodPost, revisionsPath, `{"patch":{"blacklist":"/etc/c.txt"}}`)
	if j := f.last(); j.Blacklist != "/etc/c.txt" || j.BlacklistEntries != nil {
		t.Errorf("another file keeps the lines of the one before: %v", j.BlacklistEntries)
	}
}
