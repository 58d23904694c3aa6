package topical

import (
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// Promises tells how much links promise by their texts, for links that were found before their job had a model.
type Promises struct {
	models  *crawl.PerRevision[*topic.Model]
	readers sync.Pool
}

// NewPromises returns one over the jobs.
func NewPromises(jobs crawl.Jobs) *Promises {
	return &Promises{models: crawl.NewPerRevision(jobs, modelOf),
		readers: sync.Pool{New: func() any { return &topic.Reader{} }}}
}

func modelOf(job *crawl.Job) (*topic.Model, error) {
	b, err := job.TopicModel.Bytes()
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return topic.Parse(b)
}

// Of is how much a task promises by the text of its link; unknown where that says nothing, or there is no model.
func (p *Promises) Of(job *crawl.Job, t *crawl.Task) (crawl.Relevance, error) {
	m, err := p.models.Of(job)
	if err != nil || m == nil {
		return 0, err
	}
	read := p.readers.Get().(*topic.Reader)
	defer p.readers.Put(read)
	v := read.Read(t.Text, "")
	if len(v.IDs) == 0 {
		return 0, nil
	}
	return crawl.RelevanceOf(topic.LinkText * m.Score(0, v)), nil
}
