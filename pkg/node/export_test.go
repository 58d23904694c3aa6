package node

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
)

// SampledPreview is Preview that begins with a sample, however few URLs there are.
func (e *Engine) SampledPreview(ctx context.Context, next *crawl.Job, tell func(*preview.Answer)) error {
	p, err := newSurvey(ctx, surveyedIn(e.store), next, e.frontier.Leased(next.ID))
	if err != nil {
		return err
	}
	p.enough, p.first = 0, time.Hour // a slow machine's sample would be the first hosts alone
	return p.run(ctx, tell)
}

// SetOutputsEvery sets how often outputs follow the records.
func SetOutputsEvery(d time.Duration) { outputsEvery = d }

// SetOutputPart sets how large the parts of outputs are.
func SetOutputPart(bytes int64) { outputPart = bytes }
