package parser

import (
	"context"
	"log/slog"
	"reflect"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	model "github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

func vector(title, text string) model.Vector { return new(model.Reader).Read(title, text).Clone() }

// beer are pages about beer and others, which the models of these tests are made of.
func beer(t *testing.T) (about, others []model.Vector) {
	t.Helper()
	for _, text := range []string{"malt and hops are brewed to beer", "beer is brewed of malt", "hops make beer bitter",
		"brewing with malt and yeast"} {
		about = append(about, vector("beer", text))
	}
	for _, text := range []string{"the stock market fell", "football results of the season",
		"how to repair a bicycle chain", "weather for the weekend"} {
		others = append(others, vector("news", text))
	}
	return about, others
}

func modelJob(t *testing.T) *crawl.Job {
	t.Helper()
	about, others := beer(t)
	m, err := model.Train(about, others, nil)
	if err != nil {
		t.Fatal(err)
	}
	classes, err := model.TrainClasses([]model.Labelled{{Name: "beer", Pages: about}, {Name: "news", Pages: others}})
	if err != nil {
		t.Fatal(err)
	}
	job := testJob()
	job.TopicModel, job.ClassModel = crawl.BlobOf(m.Append(nil)), crawl.BlobOf(classes.Append(nil))
	return job
}

func TestModelsJudgePages(t *testing.T) {
	job := modelJob(t)
	on := handle(t, job, spool{body: `<title>beer</title><p>malt and hops are brewed to beer</p><a href=x>more</a>`},
		testPage(t, "text/html"))
	off := handle(t, job,
		spool{body: `<title>news</title><p>the stock market fell</p><a href=x>football results</a><a href=y>beer brewed of malt</a>`},
		testPage(t, "text/html"))
	if on.Relevance.P() < 0.7 || !reflect.DeepEqual(on.Classes, []string{"beer"}) {
		t.Errorf("a page about beer: P %v, classes %q", on.Relevance, on.Classes)
	}
	if off.Relevance.P() > 0.3 || !reflect.DeepEqual(off.Classes, []string{"news"}) {
		t.Errorf("a page about others: P %v, classes %q", off.Relevance, off.Classes)
	}
	if on.Links[0].Weight != 0 || off.Links[0].Weight > 2 {
		t.Errorf("links that promise no more than their page weigh %d and %d", on.Links[0].Weight, off.Links[0].Weight)
	}
	if off.Links[1].Weight < 5 {
		t.Errorf("a link that promises more weighs %d", off.Links[1].Weight)
	}
}

func TestWhatModelsLeaveAlone(t *testing.T) {
	const page = `<title>beer</title><p>malt and hops are brewed to beer</p>`
	if d := handle(t, testJob(), spool{body: page}, testPage(t, "text/html")); d.Relevance.Known() || d.Classes != nil {
		t.Errorf("a job without models: %+v", d.Judged)
	}
	asset := testPage(t, "text/css")
	asset.Task.Kind = crawl.KindAsset
	if d := handle(t, modelJob(t), spool{body: "a{background:url(b.png)}"}, asset); d.Relevance.Known() {
		t.Errorf("a style sheet is about something: %+v", d.Judged)
	}
}

func TestADamagedModelIsSaid(t *testing.T) {
	job := modelJob(t)
	job.TopicModel = job.TopicModel[:len(job.TopicModel)/2]
	h := NewHandler(crawl.StaticJobs{"job": job}, spool{}, slog.New(slog.DiscardHandler))
	if _, err := h.Handle(t.Context(), testPage(t, "text/html")); !crawl.IsPermanent(err) {
		t.Errorf("error %v, want a permanent one", err)
	}
}

// pupil counts the pages that it is told of.
type pupil struct{ pages int }

func (p *pupil) Learn(context.Context, *crawl.Job, model.Vector) error {
	p.pages++
	return nil
}

func TestPagesAreForLearning(t *testing.T) {
	learns := testJob()
	learns.TopicExamples = "x"
	for _, c := range []struct {
		name string
		job  *crawl.Job
		body string
		want int
	}{
		{"a job that learns", learns, "<p>some words</p>", 1},
		{"a page without words", learns, "", 0},
		{"a job with a model", modelJob(t), "<p>some words</p>", 0},
		{"a job without a topic", testJob(), "<p>some words</p>", 0},
	} {
		h := NewHandler(crawl.StaticJobs{"job": c.job}, spool{body: c.body}, slog.New(slog.DiscardHandler))
		p := &pupil{}
		h.UseLearner(p)
		if _, err := h.Handle(t.Context(), testPage(t, "text/html")); err != nil || p.pages != c.want {
			t.Errorf("%s: told of %d pages, %v; want %d", c.name, p.pages, err, c.want)
		}
	}
}

// A job without models pays for none: nothing is read, and nothing taken.
func TestAJobWithoutModelsPaysNothing(t *testing.T) {
	h := NewHandler(nil, nil, slog.New(slog.DiscardHandler))
	h.readers.New = func() any { t.Error("a reader was taken"); return new(model.Reader) }
	h.UseLearner(&pupil{})
	job, d := testJob(), &crawl.Document{Text: "some words"}
	if n := testing.AllocsPerRun(10, func() { _ = h.judge(t.Context(), job, d, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
