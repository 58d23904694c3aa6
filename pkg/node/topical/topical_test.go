package topical_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/topical"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func crawlDir(t *testing.T) string {
	t.Helper()
	u, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	line := jsonl.AppendRecord(nil, &crawl.Record{URL: u, FinalURL: u, Title: "wine", Text: "grapes are pressed to wine"})
	return filepath.Dir(write(t, "pages.jsonl", string(line)))
}

func TestCompleteTakesWhatAJobNames(t *testing.T) {
	page := write(t, "page.html", "<title>Beer</title><p>malt and hops</p>")
	all := topical.Sources{Files: true, Fetch: func(_ context.Context, url string) (string, string, error) {
		if strings.Contains(url, "gone") {
			return "", "", errors.New("404")
		}
		return "Beer", "malt and hops", nil
	}}
	m, err := topic.Train([]topic.Vector{new(topic.Reader).Read("", "some words").Clone()},
		[]topic.Vector{new(topic.Reader).Read("", "other ones").Clone()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	model := write(t, "beer.model", string(m.Append(nil)))
	for _, c := range []struct {
		name    string
		topic   crawl.Theme
		from    topical.Sources
		learns  bool
		fault   string // in the error; empty: there is none
		classes string
	}{
		{name: "nothing"},
		{name: "a text", topic: crawl.Theme{Examples: []string{"beer is brewed"}}, learns: true},
		{name: "a file", topic: crawl.Theme{Examples: []string{page}}, from: all, learns: true},
		{name: "a page of the web", topic: crawl.Theme{Examples: []string{"http://a.test/"}}, from: all, learns: true},
		{name: "others named", topic: crawl.Theme{Examples: []string{"beer is brewed"}, Not: []string{"wine is pressed"}}},
		{name: "a former crawl", topic: crawl.Theme{Examples: []string{"beer is brewed"}, Background: crawlDir(t)},
			from: all},
		{name: "a model", topic: crawl.Theme{Model: model}, from: all},
		{name: "a model of a class", classes: model, from: all},
		{name: "a page that is gone", topic: crawl.Theme{Examples: []string{"http://a.test/gone"}}, from: all,
			fault: "topic.examples"},
		{name: "no such file", topic: crawl.Theme{Examples: []string{"/none"}}, from: all, fault: "no such file"},
		{name: "no model", topic: crawl.Theme{Model: page}, from: all, fault: "no model"},
		{name: "a file, at a server", topic: crawl.Theme{Examples: []string{page}}, fault: "reads no files"},
		{name: "a model, at a server", topic: crawl.Theme{Model: model}, fault: "reads no files"},
		{name: "a page, at a server", topic: crawl.Theme{Examples: []string{"http://a.test/"}}, fault: "does not fetch"},
	} {
		job := crawl.DefaultJob()
		job.Topic, job.Classify.Model = c.topic, c.classes
		err := topical.Complete(t.Context(), &job, c.from)
		switch {
		case c.fault != "":
			if err == nil || !strings.Contains(err.Error(), c.fault) || job.Topical() {
				t.Errorf("%s: %v, want %q", c.name, err, c.fault)
			}
		case err != nil || topical.Learns(&job) != c.learns || job.Topical() != c.topic.Wanted() ||
			(job.ClassModel != "") != (c.classes != ""):
			t.Errorf("%s: %v; learns %v, topical %v", c.name, err, topical.Learns(&job), job.Topical())
		}
	}
}

// store keeps revisions in memory.
type store struct {
	crawl.JobStore
	revisions []crawl.Job
	err       error
	meanwhile *crawl.Job // a revision that comes between the learner's look at the job and its own
}

func (s *store) Job(context.Context, crawl.JobID) (*crawl.Job, error) {
	job := s.revisions[len(s.revisions)-1]
	return &job, s.err
}

func (s *store) AddRevision(_ context.Context, j *crawl.Job) (*crawl.Job, bool, error) {
	s.revisions = append(s.revisions, *j)
	return j, true, nil
}

func (s *store) AddNext(ctx context.Context, j *crawl.Job, epoch uint32) (*crawl.Job, bool, error) {
	if s.meanwhile != nil {
		s.revisions = append(s.revisions, *s.meanwhile)
		s.meanwhile = nil
	}
	if int(epoch) != int(crawl.EpochOf(s.revisions[len(s.revisions)-1].Epoch)) {
		return nil, false, crawl.ErrRevised
	}
	next := *j
	next.Epoch = epoch + 1
	return s.AddRevision(ctx, &next)
}

func learning(t *testing.T) crawl.Job {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Topic.Examples = "test", []string{"beer is brewed of malt and hops"}
	if err := topical.Complete(t.Context(), &job, topical.Sources{}); err != nil {
		t.Fatal(err)
	}
	return job
}

// show shows a learner pages about other things.
func show(t *testing.T, l *topical.Learner, job *crawl.Job, n int) {
	t.Helper()
	var read topic.Reader
	for i := range n {
		if err := l.Learn(t.Context(), job,
			read.Read("", fmt.Sprintf("a page of others, which has number x%d", i))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLesson(t *testing.T) {
	for pages, want := range map[int]int{0: 400, 10: 60, 1000: 100, 10_000: 400, 1_000_000: 400} {
		if got := topic.Lesson(pages); got != want {
			t.Errorf("a crawl of %d pages learns from %d, want %d", pages, got, want)
		}
	}
}

func TestAModelIsLearnedOnce(t *testing.T) {
	job := learning(t)
	s := &store{revisions: []crawl.Job{job}}
	l := topical.NewLearner(s, slog.New(slog.DiscardHandler))
	enough := topic.Lesson(job.MaxPages)
	show(t, l, &job, enough-1)
	if len(s.revisions) != 1 {
		t.Fatal("it has learned too early")
	}
	s.revisions[0].MaxPages = 77 // people revise the job meanwhile
	show(t, l, &job, 1)
	if len(s.revisions) != 2 {
		t.Fatalf("%d revisions", len(s.revisions))
	}
	now := s.revisions[1]
	if now.TopicSeen != enough || now.TopicModel == "" || now.MaxPages != 77 || topical.Learns(&now) {
		t.Errorf("a model of %d pages, max_pages %d", now.TopicSeen, now.MaxPages)
	}
	// Late pages of the revision before, another process, and the same one after a restart teach nothing more.
	show(t, l, &job, enough)
	show(t, l, &now, enough)
	show(t, topical.NewLearner(s, slog.New(slog.DiscardHandler)), &job, enough)
	if len(s.revisions) != 2 {
		t.Error("it was learned twice")
	}
}

// A revision of the job that comes while the learner makes its own is not undone.
func TestALearnerUndoesNobodysRevision(t *testing.T) {
	job := learning(t)
	theirs := job
	theirs.MaxPages, theirs.Epoch = 77, 2
	s := &store{revisions: []crawl.Job{job}, meanwhile: &theirs}
	show(t, topical.NewLearner(s, slog.New(slog.DiscardHandler)), &job, topic.Lesson(job.MaxPages))
	now := s.revisions[len(s.revisions)-1]
	if now.TopicModel == "" || now.MaxPages != 77 || len(s.revisions) != 3 {
		t.Errorf("%d revisions, the last with max_pages %d, learned %t; want 3, 77, true", len(s.revisions), now.MaxPages,
			now.TopicModel != "")
	}
}

func TestALessonOfAnotherTopicIsNone(t *testing.T) {
	job := learning(t)
	other := job
	other.TopicExamples = "other"
	s := &store{revisions: []crawl.Job{other}}
	show(t, topical.NewLearner(s, slog.New(slog.DiscardHandler)), &job, topic.Lesson(job.MaxPages))
	if len(s.revisions) != 1 {
		t.Error("the topic was named anew, and the model of the old one is its")
	}
	s.err = crawl.ErrDiscarded
	show(t, topical.NewLearner(s, slog.New(slog.DiscardHandler)), &job, topic.Lesson(job.MaxPages))
}
