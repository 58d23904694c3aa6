package tryout

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
)

// request has one task fetched, in its turn; gap is the Crawl-delay of the host. What is fetched for robots.txt brings
// links to sitemaps, which are not wanted here. A *frontier.TurnError: there was no turn in time.
func (r *run) request(ctx context.Context, s *step, task *crawl.Task,
	gap time.Duration) (*crawl.Outcome, []crawl.Event, error) {
	began := time.Now()
	visit, err := r.turn(ctx, task, gap)
	s.waited += time.Since(began)
	if err != nil {
		return nil, nil, err
	}
	asked := time.Now()
	out, events, err := r.send(ctx, visit.fetch(task))
	if err != nil { // it may have reached the host
		out = &crawl.Outcome{Task: *task, Verdict: crawl.VerdictInterrupted, Started: asked, Ended: time.Now()}
	}
	visit.end(out)
	if out.Contacted() {
		r.contact = out.Ended
	}
	return out, events, err
}

// turn is a turn of a host; without a frontier it is nobody else's.
type turn struct{ Turn }

func (t turn) fetch(task *crawl.Task) *crawl.Fetch {
	f := &crawl.Fetch{Task: *task}
	if t.Turn != nil {
		f.Addr = t.Addr()
	}
	return f
}

func (t turn) end(out *crawl.Outcome) {
	if t.Turn != nil {
		t.End(out)
	}
}

// turn waits until the host may be asked.
func (r *run) turn(ctx context.Context, task *crawl.Task, gap time.Duration) (turn, error) {
	if r.opt.Turns == nil {
		return turn{}, r.wait(ctx, max(r.job.Politeness.Delay.D(), gap))
	}
	patience := r.opt.Patience
	if end, ok := ctx.Deadline(); ok && patience == 0 {
		patience = time.Until(end) / 2 // the request takes time as well
	}
	v, err := r.opt.Turns.Visit(ctx,
		frontier.Ask{Job: r.job, URL: task.URL, Gap: gap, Patience: cmp.Or(patience, time.Hour)})
	return turn{v}, err
}

// wait waits until the host may be asked again.
func (r *run) wait(ctx context.Context, delay time.Duration) error {
	if r.contact.IsZero() {
		return nil
	}
	timer := time.NewTimer(time.Until(r.contact.Add(delay)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// send makes a request.
func (r *run) send(ctx context.Context, f *crawl.Fetch) (*crawl.Outcome, []crawl.Event, error) {
	events, err := r.fetcher.Handle(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	out, ok := events[len(events)-1].(*crawl.Outcome)
	if !ok {
		return nil, nil, errors.New("the fetcher reported no outcome")
	}
	return out, events[:len(events)-1], nil
}

// fetch asks for the URL. Of a redirect it returns the link that it is.
func (r *run) fetch(ctx context.Context) (page *crawl.Page, links *crawl.Links, err error) {
	in := object{"url": r.trial.URL.String()}
	s := r.begin(trial.StepFetch, in)
	r.memory.lastExchange()
	out, before, err := r.fetchInTurn(ctx, s)
	var turn *frontier.TurnError
	if errors.As(err, &turn) {
		r.trial.Fetch = &trial.Fetch{Verdict: "waits", Reason: trial.NoTurn, Detail: turn.Error(),
			Waited: trial.InSeconds(s.waited)}
		s.end(trial.Stopped, with(in, "verdict", "waits", "reason", trial.NoTurn, "detail", turn.Error()), "%s", turn.Error())
		return nil, nil, nil
	}
	if err = r.ended(err); err != nil {
		return nil, nil, err
	}
	f := &trial.Fetch{Verdict: out.Verdict.String(), Status: out.Status, Reason: out.Reason, Detail: out.Detail,
		ContentType: out.ContentType, Bytes: out.Bytes, Location: out.Location, Waited: trial.InSeconds(s.waited),
		FirstByte: trial.InSeconds(out.FirstByte), Took: trial.InSeconds(time.Since(s.started) - s.waited)}
	if out.Addr.IsValid() {
		f.Addr = out.Addr.String()
	}
	if !out.Digest.IsZero() {
		f.Digest = out.Digest.String()
	}
	r.trial.Fetch = f
	for _, e := range before {
		switch e := e.(type) {
		case *crawl.Page:
			page, f.Truncated = e, e.Truncated
			body, _ := r.memory.Body(e.Body)
			r.trial.SetBody(body)
		case *crawl.Links:
			links = e
		}
	}
	r.endFetch(s, in, page, links)
	return page, links, nil
}

// fetchInTurn asks for the URL when it is its turn; what robots.txt forbids is not asked for, and needs none.
func (r *run) fetchInTurn(ctx context.Context, s *step) (*crawl.Outcome, []crawl.Event, error) {
	rb := r.trial.Robots
	if rb.Allowed && rb.CrawlDelay.D() <= r.job.Politeness.MaxCrawlDelay.D() {
		return r.request(ctx, s, &r.task, rb.CrawlDelay.D())
	}
	return r.send(ctx, &crawl.Fetch{Task: r.task})
}

// endFetch tells what the URL answered.
func (r *run) endFetch(s *step, in object, page *crawl.Page, links *crawl.Links) {
	f := r.trial.Fetch
	if x := r.memory.lastExchange(); x != nil {
		in = with(in, "method", x.Method, "request_header", sent(x.RequestHeader))
		s.told.In = trial.Shown(in)
		in = with(in, "protocol", x.Proto, "answer_header", received(x.ResponseHeader))
	}
	out := with(in, "verdict", f.Verdict, "status", f.Status, "reason", f.Reason, "detail", f.Detail, "content_type",
		f.ContentType, "bytes", f.Bytes, "address", f.Addr, "truncated", f.Truncated)
	if !f.Location.IsZero() {
		out["location"] = f.Location.String()
	}
	verdict := trial.OK
	if page == nil && links == nil {
		verdict = trial.Stopped
	}
	r.without(s, crawl.AtRequest)
	r.tell(crawl.AtRequest)
	s.end(verdict, out, "%s", f.Words())
}

// harmless are the fields of a request that tell no secret.
var harmless = []string{"Host", "User-Agent", "Accept", "Accept-Language", "Accept-Encoding", "From", "Referer",
	"If-None-Match", "If-Modified-Since"}

// sent is the head of a request, without what may be secret.
func sent(h http.Header) object {
	out := object{}
	for name, values := range h {
		if out[name] = "(not shown)"; slices.Contains(harmless, name) {
			out[name] = strings.Join(values, ", ")
		}
	}
	return out
}

// received is the head of an answer, without its cookies.
func received(h http.Header) object {
	out := object{}
	for name, values := range h {
		if out[name] = strings.Join(values, ", "); name == "Set-Cookie" {
			out[name] = fmt.Sprintf("(%d, not shown)", len(values))
		}
	}
	return out
}

// given is the page that was given instead of an answer.
func (r *run) given(ctx context.Context, g *Given) (*crawl.Page, error) {
	in := object{"url": r.trial.URL.String()}
	s := r.begin(trial.StepFetch, in)
	ref, err := r.memory.Put(ctx, bytes.NewReader(g.Body))
	if err != nil {
		return nil, err
	}
	p := &crawl.Page{Task: r.task, Status: http.StatusOK, FetchedAt: time.Now().UTC(),
		ContentType: cmp.Or(g.ContentType, "text/html; charset=utf-8"), Body: ref, Bytes: int64(len(g.Body)),
		Digest: sha256.Sum256(g.Body)}
	r.trial.Fetch = &trial.Fetch{Verdict: crawl.VerdictDone.String(), Status: p.Status, ContentType: p.ContentType,
		Bytes: p.Bytes, Digest: p.Digest.String()}
	r.trial.SetBody(g.Body)
	s.end(trial.Skipped, with(in, "status", p.Status, "content_type", p.ContentType, "bytes", p.Bytes),
		"the page was given: nothing was asked for")
	return p, nil
}
