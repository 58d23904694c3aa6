package contentseen

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// searchable lets a record that was stored be found by its words, where the job wants that.
func (h *Handler) searchable(ctx context.Context, job *crawl.Job, r *crawl.Record) error {
	if !job.Search || h.st.Texts == nil {
		return nil
	}
	if err := h.st.Texts.PutText(ctx, r); err != nil {
		return fmt.Errorf("store its words: %w", err)
	}
	return nil
}
