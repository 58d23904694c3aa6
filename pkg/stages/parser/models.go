package parser

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	model "github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// models are those of a job; nil: it has none.
type models struct{ topic, classes *model.Model }

// asLikely is the probability from which a page is said to be of a class.
const asLikely = 0.5

// modelsOf reads the models of a job.
func modelsOf(job *crawl.Job) (*models, error) {
	m := &models{}
	for _, of := range []struct {
		key  string
		blob crawl.Blob
		to   **model.Model
	}{{"topic", job.TopicModel, &m.topic}, {"classify", job.ClassModel, &m.classes}} {
		if of.blob == "" {
			continue
		}
		b, err := of.blob.Bytes()
		if err == nil {
			*of.to, err = model.Parse(b)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", of.key, err)
		}
	}
	if m.topic == nil && m.classes == nil {
		return nil, nil
	}
	return m, nil
}

// Learner makes the models of jobs that have none yet, of the pages that are parsed.
type Learner interface {
	Learn(ctx context.Context, job *crawl.Job, v model.Vector) error
}

// UseLearner lets models be made. Call it before the first Handle.
func (h *Handler) UseLearner(l Learner) { h.learner = l }

// judge asks the job's models what they say of a page. Sitemaps and style sheets are about nothing.
func (h *Handler) judge(ctx context.Context, job *crawl.Job, d *crawl.Document, rules *Rules) error {
	has := rules != nil && rules.models != nil
	learns := job.LearnsTopic() && h.learner != nil && d.Page.Rendered == nil &&
		!slices.Contains(job.Topic.Examples, d.Page.Task.URL.String())
	if !has && !learns || d.Page.Task.Kind != crawl.KindPage {
		return nil
	}
	read := h.readers.Get().(*model.Reader)
	defer h.readers.Put(read)
	v := read.Read(d.Title, d.Text)
	if has {
		d.Judged = rules.models.judge(v)
	}
	if learns && len(v.IDs) > 0 {
		if err := h.learner.Learn(ctx, job, v); err != nil {
			return err
		}
	}
	if has && rules.models.topic != nil {
		rules.models.weigh(read, d)
	}
	return nil
}

// weigh weighs the links whose texts promise more than the page does: a table of contents is about nothing, and leads
// to what it names.
func (m *models) weigh(read *model.Reader, d *crawl.Document) {
	page := d.Relevance.Weight(0)
	for i := range d.Links {
		l := &d.Links[i]
		v := read.Read(l.Text, "")
		if len(v.IDs) == 0 || l.URL.IsZero() {
			continue
		}
		p := crawl.RelevanceOf(model.LinkText * m.topic.Score(0, v))
		if p > d.Relevance {
			l.Promise = p
		}
		if w := p.Weight(0); w > max(page, l.Weight) {
			l.Weight = w
		}
	}
}

func (m *models) judge(v model.Vector) (j crawl.Judged) {
	if m.topic != nil {
		j.Relevance = crawl.RelevanceOf(m.topic.Score(0, v))
	}
	if m.classes == nil {
		return j
	}
	p := map[string]float64{}
	for i, name := range m.classes.Names() {
		if s := m.classes.Score(i, v); s >= asLikely {
			p[name], j.Classes = s, append(j.Classes, name)
		}
	}
	slices.SortStableFunc(j.Classes, func(a, b string) int { return cmp.Compare(p[b], p[a]) })
	return j
}
