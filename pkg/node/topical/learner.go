package topical

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// Learner makes the models of jobs that name nothing but examples: the first pages of the crawl stand for what is not
// the topic, since they have in common what its pages say everywhere. A model is a revision of its job, so all programs
// of the crawl go over to it, and a message is judged by the model under which its page was leased.
//
// It keeps pages in memory. After a restart it begins with the next ones.
type Learner struct {
	jobs crawl.JobStore
	log  *slog.Logger
	mu   sync.Mutex
	seen map[crawl.JobID]*lesson
}

// lesson is what was seen of a crawl.
type lesson struct {
	job   crawl.Blob // TopicExamples: another job of the name begins anew
	pages []topic.Vector
}

// maxLessons is how many crawls learn at once; of one more nothing is remembered until another has ended learning.
const maxLessons = 64

// NewLearner returns a learner over the store of the jobs.
func NewLearner(jobs crawl.JobStore, log *slog.Logger) *Learner {
	return &Learner{jobs: jobs, log: log, seen: map[crawl.JobID]*lesson{}}
}

// Learns reports whether a job still learns.
func Learns(job *crawl.Job) bool {
	return job.LearnsTopic()
}

// Learn takes note of a page of a job that learns, and makes the model where these are enough.
func (l *Learner) Learn(ctx context.Context, job *crawl.Job, v topic.Vector) error {
	if !Learns(job) {
		return nil
	}
	pages := l.note(job, v)
	if pages == nil {
		return nil
	}
	if err := l.teach(ctx, job, pages); err != nil && !errors.Is(err, crawl.ErrDiscarded) {
		return fmt.Errorf("learn the topic of job %s from %d pages: %w", job.ID, len(pages), err)
	}
	return nil
}

// note remembers a page. It returns all of them once they are enough.
func (l *Learner) note(job *crawl.Job, v topic.Vector) []topic.Vector {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.seen[job.ID]
	if s == nil || s.job != job.TopicExamples {
		if s == nil && len(l.seen) >= maxLessons {
			return nil
		}
		s = &lesson{job: job.TopicExamples}
		l.seen[job.ID] = s
	}
	s.pages = append(s.pages, v.Clone())
	if len(s.pages) < topic.Lesson(job.MaxPages) {
		return nil
	}
	delete(l.seen, job.ID)
	return s.pages
}

// teach makes a model and the revision that has it, unless another process has.
func (l *Learner) teach(ctx context.Context, job *crawl.Job, pages []topic.Vector) error {
	examples, err := vectorsOf(job.TopicExamples)
	if err != nil {
		return crawl.Permanent(err)
	}
	m, err := topic.Train(examples, nil, pages)
	if err != nil {
		return crawl.Permanent(err)
	}
	for err = crawl.ErrRevised; errors.Is(err, crawl.ErrRevised); { // nobody's revision of this time is undone
		var current *crawl.Job
		if current, err = l.jobs.Job(ctx, job.ID); err != nil {
			return err
		}
		if !Learns(current) || current.TopicExamples != job.TopicExamples {
			return nil
		}
		next := *current
		next.TopicModel, next.TopicSeen = crawl.BlobOf(m.Append(nil)), len(pages)
		_, _, err = l.jobs.AddNext(ctx, &next, crawl.EpochOf(current.Epoch))
	}
	if err == nil {
		l.log.Info("learned the topic", "job", job.ID, "pages", len(pages), "model", m.Digest()[:12])
	}
	return err
}

func vectorsOf(b crawl.Blob) ([]topic.Vector, error) {
	bytes, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	return topic.ParseVectors(bytes)
}
