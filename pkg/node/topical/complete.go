package topical

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// Sources are where what a job names may come from.
type Sources struct {
	// Fetch gets a page of the web, as politely as the job asks for; nil: URLs are refused.
	Fetch func(ctx context.Context, url string) (title, text string, err error)
	// Files says that files of this machine may be read: whoever named them has them.
	Files bool
}

// Complete gives a job the models that it asks for and does not have. An error is a fault of what the job names.
func Complete(ctx context.Context, job *crawl.Job, from Sources) error {
	if job.ClassModel == "" && job.Classify.Model != "" {
		blob, err := from.model(job.Classify.Model, 0)
		if err != nil {
			return &crawl.KeyError{Key: "classify.model", Problem: err.Error()}
		}
		job.ClassModel = blob
	}
	t := &job.Topic
	switch {
	case job.Topical() || !t.Wanted():
		return nil
	case t.Model != "":
		blob, err := from.model(t.Model, 1)
		if err != nil {
			return &crawl.KeyError{Key: "topic.model", Problem: err.Error()}
		}
		job.TopicModel = blob
		return nil
	}
	yes, err := from.vectors(ctx, "topic.examples", t.Examples)
	if err != nil {
		return err
	}
	if len(t.Not) == 0 && t.Background == "" {
		b := topic.AppendVectors(nil, yes)
		if len(b) > topic.MaxModel {
			return &crawl.KeyError{Key: "topic.examples", Problem: fmt.Sprintf("%d pages: they are too many for a job; "+
				"make a model of them (whirlpool tool topic train)", len(yes))}
		}
		job.TopicExamples = crawl.BlobOf(b)
		return nil
	}
	m, err := from.train(ctx, t, yes)
	if err == nil {
		job.TopicModel = crawl.BlobOf(m.Append(nil))
	}
	return err
}

// model reads a model of so many classes; 0: of any number.
func (s Sources) model(file string, classes int) (crawl.Blob, error) {
	if !s.Files {
		return "", fmt.Errorf("%q: a server reads no files of its own for a job: give examples as texts", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, topic.MaxModel+1))
	if err != nil {
		return "", err
	}
	m, err := topic.Parse(b)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q: %w", file, err)
	case classes > 0 && len(m.Names()) != classes:
		return "", fmt.Errorf("%q: it has %d classes, want %d; classify takes a model of several", file, len(m.Names()),
			classes)
	}
	return crawl.BlobOf(b), nil
}

// train makes the model of a topic that says what is not about it.
func (s Sources) train(ctx context.Context, t *crawl.Theme, yes []topic.Vector) (*topic.Model, error) {
	no, err := s.vectors(ctx, "topic.not", t.Not)
	if err != nil {
		return nil, err
	}
	var background []topic.Vector
	if t.Background != "" {
		if background, err = s.vectors(ctx, "topic.background", []string{t.Background}); err != nil {
			return nil, err
		}
	}
	m, err := topic.Train(yes, no, background)
	if err != nil {
		return nil, &crawl.KeyError{Key: "topic.examples", Problem: err.Error()}
	}
	return m, nil
}
