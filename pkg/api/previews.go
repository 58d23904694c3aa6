package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Preview is what an edit would do, as far as it is known.
type Preview struct {
	ID      string         `json:"id"`
	State   string         `json:"state" enum:"counting,exact,failed,cancelled"`
	Problem string         `json:"problem,omitempty" doc:"why it failed"`
	Answer  preview.Answer `json:"answer"`
}

// Bounds of previews.
const (
	maxPreviews    = 2                      // that count at once
	keptPreviews   = 32                     // that are kept
	previewKept    = 30 * time.Minute       // for so long
	previewAtOnce  = 900 * time.Millisecond // for which a first answer is waited for
	previewPatient = 20 * time.Second       // for which an exact one is
)

// PreviewPath names a preview of an execution.
type PreviewPath struct {
	ExecutionPath
	Preview string `path:"preview" maxLength:"40" doc:"id of the preview"`
}

func (s *Server) previewRoutes() {
	add(s, route{method: http.MethodPost, path: "/executions/{ex}/preview", id: "previewRevision", role: Viewer,
		text: "Tell what an edit would do to what is queued, left out and fetched: within a second by a sample, then " +
			"exactly"}, s.preview)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/previews/{preview}", id: "getPreview", role: Viewer,
		text: "Show how far a preview is"},
		s.getPreview)
	add(s, route{method: http.MethodDelete, path: "/executions/{ex}/previews/{preview}", id: "cancelPreview", role: Viewer,
		text: "End a preview"},
		s.cancelPreview)
}

func (s *Server) preview(ctx context.Context, in *struct {
	ExecutionPath
	Body Edit
}) (*body[Preview], error) {
	if s.Previews == nil {
		return nil, problem(ctx, http.StatusNotFound, "this server makes no previews")
	}
	e, err := s.Workflows.Execution(ctx, in.job())
	if err == nil {
		err = mayRevise(e)
	}
	if err != nil {
		return nil, err
	}
	now, err := s.jobOf(ctx, e)
	if err != nil {
		return nil, err
	}
	next, err := in.Body.of(ctx, s, now)
	if err != nil {
		return nil, err
	}
	p, err := s.previews.begin(ctx, s.Previews, next)
	if err != nil {
		return nil, err
	}
	p.wait(ctx, previewAtOnce, func(v *Preview) bool { return v.Answer.Sampled > 0 || v.Answer.Exact })
	s.previews.store(p) // whoever asks next may ask another copy of the program
	return p.shown()
}

func (s *Server) getPreview(ctx context.Context, in *struct {
	PreviewPath
	Wait bool `query:"wait" doc:"until it is exact, for 20 s at most"`
}) (*body[Preview], error) {
	p, err := s.previews.find(ctx, in.job(), in.Preview)
	if err != nil {
		return nil, err
	}
	if in.Wait {
		p.wait(ctx, previewPatient, func(*Preview) bool { return false })
	}
	return p.shown()
}

// cancelPreview ends a preview. One that another copy counts goes on there, until it is done.
func (s *Server) cancelPreview(ctx context.Context, in *PreviewPath) (*none, error) {
	p, err := s.previews.find(ctx, in.job(), in.Preview)
	if err == nil {
		p.cancel()
	}
	return &none{}, err
}

// previews are the previews of a server. What they tell is in the vault, too: other copies of the program are asked for
// it.
type previews struct {
	ctx context.Context //nolint:containedctx // of the server: a preview outlives the request that began it
	s   *Server

	mu   sync.Mutex
	list []*counting // the oldest first
}

func newPreviews(ctx context.Context, s *Server) *previews { return &previews{ctx: ctx, s: s} }

// counting is a preview.
type counting struct {
	job    crawl.JobID
	began  time.Time
	cancel context.CancelFunc
	done   chan struct{}

	storing sync.Mutex

	mu    sync.Mutex
	now   Preview
	err   error
	fresh chan struct{} // closed when there is something new
}

// begin begins a preview. Of too many, the oldest one of the same job gives way.
//
//nolint:contextcheck // a preview outlives the request that began it
func (ps *previews) begin(ctx context.Context, by Previews, next *crawl.Job) (*counting, error) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	own, cancel := context.WithCancel(ps.ctx)
	c := &counting{job: next.ID, began: time.Now(), cancel: cancel, done: make(chan struct{}), fresh: make(chan struct{}),
		now: Preview{ID: "pv_" + hex.EncodeToString(id[:]), State: "counting"}}
	c.now.Answer.Job, c.now.Answer.Epoch = next.ID, crawl.EpochOf(next.Epoch)
	if err := ps.enter(ctx, c); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(c.done)
		defer cancel()
		last := time.Now()
		c.end(by.Preview(own, next, func(a *preview.Answer) {
			c.tell(a)
			if time.Since(last) >= previewStored {
				last = time.Now()
				ps.store(c)
			}
		}))
		ps.store(c)
	}()
	return c, nil
}

func (ps *previews) enter(ctx context.Context, c *counting) error {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	running := 0
	kept := ps.list[:0]
	for _, o := range ps.list {
		switch {
		case !o.over() && o.job == c.job: // the user has gone on editing
			o.cancel()
		case !o.over():
			running++
		case time.Since(o.began) > previewKept:
			continue
		}
		kept = append(kept, o)
	}
	if ps.list = kept; running >= maxPreviews {
		return problem(ctx, http.StatusTooManyRequests, "other previews are counting: try again when they are done")
	}
	ps.list = append(ps.list, c)
	ps.list = ps.list[max(0, len(ps.list)-keptPreviews):]
	return nil
}

func (ps *previews) find(ctx context.Context, job crawl.JobID, id string) (*counting, error) {
	if c := ps.own(job, id); c != nil {
		return c, nil
	}
	if c, err := ps.stored(ctx, job, id); c != nil || err != nil {
		return c, err
	}
	return nil, fmt.Errorf("preview %s of %s: %w: it may be too old: make it again", id, job, workflow.ErrNotFound)
}

// own is a preview that this copy counts, or has counted; nil: there is none.
func (ps *previews) own(job crawl.JobID, id string) *counting {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, c := range ps.list {
		if c.now.ID == id && c.job == job {
			return c
		}
	}
	return nil
}

// based has a revision fail where the preview that it names was made of another one than the last.
func (ps *previews) based(ctx context.Context, job crawl.JobID, r *NewRevision) error {
	c, err := ps.find(ctx, job, r.PreviewID)
	if err != nil {
		return err
	}
	of := c.shownNow().Answer.Epoch
	if r.Epoch != 0 && r.Epoch != of {
		return fmt.Errorf("%w: the preview was made of revision %d, the edit of revision %d: make the preview again",
			workflow.ErrConflict, of, r.Epoch)
	}
	r.Epoch = of
	return nil
}

func (c *counting) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *counting) tell(a *preview.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.Answer = *a
	if a.Exact {
		c.now.State = "exact"
	}
	close(c.fresh)
	c.fresh = make(chan struct{})
}

func (c *counting) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled):
		c.now.State = "cancelled"
	case err != nil:
		c.now.State, c.now.Problem, c.err = "failed", err.Error(), err
	}
}

// wait waits until the preview is over, or enough of it is known.
func (c *counting) wait(ctx context.Context, d time.Duration, enough func(*Preview) bool) {
	limit := time.NewTimer(d)
	defer limit.Stop()
	for {
		c.mu.Lock()
		fresh, is := c.fresh, enough(&c.now)
		c.mu.Unlock()
		if is {
			return
		}
		select {
		case <-fresh:
		case <-c.done:
			return
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (c *counting) shownNow() Preview {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// shown is the preview as it is; one that failed is its error.
func (c *counting) shown() (*body[Preview], error) {
	v := c.shownNow()
	for _, row := range []*preview.Row{&v.Answer.Queued, &v.Answer.LeftOut, &v.Answer.Fetched} {
		for _, cell := range []*preview.Cell{&row.Stays, &row.Drops, &row.Admits} {
			cell.Rules, cell.Hosts, cell.Examples = full(cell.Rules), full(cell.Hosts), full(cell.Examples)
		}
	}
	v.Answer.Changes, v.Answer.Warnings = full(v.Answer.Changes), full(v.Answer.Warnings)
	c.mu.Lock()
	defer c.mu.Unlock()
	return ok(v, c.err)
}
