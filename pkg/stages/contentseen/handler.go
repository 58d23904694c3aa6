package contentseen

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// Stores are what the stage works with. All but Metrics are needed.
type Stores struct {
	Jobs    crawl.Jobs
	Content crawl.ContentSet
	Pages   crawl.Pages
	Unkept  crawl.Unkept // why pages are not among Pages
	// Texts gets the words of pages of jobs with Search; nil: none does.
	Texts crawl.PageTexts
	// Attempts gets a line for a page that has no record for a reason of its own; nil: none does.
	Attempts crawl.AttemptLog
	// Bodies, Renders and Queue are there for pages that are rendered; nil: none are.
	Bodies  crawl.Bodies
	Renders crawl.RenderStats
	Queue   RenderQueue
	Trials  crawl.HostTrials      // of hosts that topical jobs judge; nil: none are judged
	Metrics prometheus.Registerer // nil: none
}

// Handler is the stage's logic: a pipeline.Handler of *crawl.Document.
type Handler struct {
	st      Stores
	log     *slog.Logger
	pages   *prometheus.CounterVec
	plugins Plugins // of jobs; nil: none
	wishes  wishes
	judged  judged
}

// New returns a handler over the stores.
func New(st Stores, log *slog.Logger) *Handler {
	h := &Handler{st: st, log: log,
		pages: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "seen",
			Name: "pages_total", Help: "Pages stored, by what they were: new, or a copy of another one; repeats included."},
			[]string{"result"})}
	for _, s := range []crawl.Sameness{crawl.Original, crawl.ExactCopy, crawl.NearCopy} {
		h.pages.WithLabelValues(resultName(s)) // a series exists from the start
	}
	if st.Metrics != nil {
		st.Metrics.MustRegister(h.pages)
	}
	return h
}

// Handle judges, stores and passes on one document. Done again it gives the same answer.
func (h *Handler) Handle(ctx context.Context, d *crawl.Document) ([]crawl.Event, error) {
	if d.Mark != nil {
		return nil, h.mark(ctx, d)
	}
	job, err := h.st.Jobs.JobAt(ctx, d.Page.Task.Job, d.Page.Task.Epoch)
	if err != nil {
		return nil, fmt.Errorf("content of %s: %w", d.Page.Task.URL, err)
	}
	if d.Page.Rendered != nil {
		return h.rendered(ctx, job, d)
	}
	if d.Page.Status == crawl.ShellStatus {
		return h.shell(ctx, job, d)
	}
	seen := observe(job, d)
	stays, err := h.stays(ctx, job, d, seen)
	switch {
	case err != nil:
		return nil, fmt.Errorf("content of %s: %w", d.Page.Task.URL, err)
	case stays:
		return told(seen, &d.Page.Task, d.Page.Task.Copy, nil), nil
	case seen != nil && seen.Result == revisit.Missing:
		return told(seen, &d.Page.Task, false, nil), h.missing(ctx, d)
	}
	if err := h.tryHost(ctx, job, d); err != nil {
		return nil, err
	}
	verdict, err := h.keep(ctx, job, d)
	if err != nil {
		return nil, fmt.Errorf("content of %s: %w", d.Page.Task.URL, err)
	}
	return h.withRender(ctx, job, d, told(seen, &d.Page.Task, verdict.Sameness != crawl.Original, links(job, d, verdict)))
}

// keep stores a document, or why it is not stored.
func (h *Handler) keep(ctx context.Context, job *crawl.Job, d *crawl.Document) (crawl.Seen, error) {
	switch reason := unkept(job, d); {
	case d.Page.Task.Kind != crawl.KindPage: // no page of the ledger: it needs no record
		return crawl.Seen{}, nil
	case reason == crawl.ReasonNoIndex:
		if err := h.withdraw(ctx, &d.Page.Task, d.Page.FetchedAt); err != nil {
			return crawl.Seen{}, err
		}
		return crawl.Seen{}, h.note(ctx, d, reason, d.Why)
	case reason != "":
		return crawl.Seen{}, h.note(ctx, d, reason, d.Why)
	}
	return h.store(ctx, job, d)
}

// note stores why a page has no record, and reports it if no other stage can.
func (h *Handler) note(ctx context.Context, d *crawl.Document, reason, why string) error {
	t := &d.Page.Task
	if err := h.st.Unkept.Note(ctx, t.Job, t.URL, reason); err != nil || reason == crawl.ReasonNoIndex ||
		h.st.Attempts == nil {
		return err
	}
	return h.st.Attempts.Append(ctx,
		crawl.LogLine{Job: t.Job, At: d.Page.FetchedAt, URL: t.URL, Kind: t.Kind, Verdict: crawl.VerdictRefused,
			Status: d.Page.Status, Reason: reason, Detail: why, Bytes: d.Page.Bytes, Attempt: t.Attempt + 1, Depth: t.Depth,
			ContentType: d.ContentType, Digest: d.Page.Digest, Referrer: t.Referrer, Epoch: t.Epoch})
}

// unkept is why the document may not be stored; empty: it may.
func unkept(job *crawl.Job, d *crawl.Document) string {
	if d.NoIndex && !job.IgnoreMeta {
		return crawl.ReasonNoIndex
	}
	return d.Unkept
}

// store claims the document's content and stores what is new in it.
func (h *Handler) store(ctx context.Context, job *crawl.Job, d *crawl.Document) (crawl.Seen, error) {
	r, verdict, err := h.recordOf(ctx, job, d)
	if err != nil {
		return verdict, err
	}
	if ok, err := h.askPlugins(ctx, job, d, r); err != nil || !ok {
		return verdict, err
	}
	put := h.st.Pages.Put
	if r.Visit > 0 {
		put = h.st.Pages.Replace
	}
	if err := h.keepVersions(ctx, job, r); err != nil {
		return verdict, fmt.Errorf("keep its earlier versions: %w", err)
	}
	if err := put(ctx, r); err != nil {
		return verdict, fmt.Errorf("store its record: %w", err)
	}
	if err := h.searchable(ctx, job, r); err != nil {
		return verdict, err
	}
	h.pages.WithLabelValues(resultName(verdict.Sameness)).Inc()
	return verdict, nil
}

// recordOf claims the document's content, and makes its record.
func (h *Handler) recordOf(ctx context.Context, job *crawl.Job, d *crawl.Document) (*crawl.Record, crawl.Seen, error) {
	simhash, sketch, _ := Fingerprint(d.Text)
	fp := crawl.Fingerprint{
		Job: job.ID, URL: d.Page.Task.URL, Digest: d.Page.Digest, LinkSum: linkSum(job, d), Simhash: simhash, Sketch: sketch,
	}
	verdict, err := h.st.Content.Claim(ctx, fp, job.NearDuplicate, resemble)
	if err != nil {
		return nil, verdict, err
	}
	r := metadata(d, simhash)
	if verdict.Sameness == crawl.Original {
		r.Text, r.Fields, r.Links, r.Assets = d.Text, d.Fields, d.Links, d.Assets
		r.Extracted = d.Extracted
	} else {
		r.DuplicateOf, r.Similarity = verdict.Of, similarityName(verdict.Sameness)
		h.log.Debug("copy", "url", fp.URL, "of", verdict.Of, "similarity", r.Similarity, "distance", verdict.Distance)
	}
	return r, verdict, nil
}

func resemble(mine, theirs []byte) bool { return Similarity(mine, theirs) >= Resemblance }

// resultName is the label of a page in the metrics.
func resultName(s crawl.Sameness) string {
	if s == crawl.Original {
		return "new"
	}
	return similarityName(s)
}

func similarityName(s crawl.Sameness) string {
	if s == crawl.ExactCopy {
		return "exact"
	}
	return "near"
}

// metadata is the part of a record that copies have as well.
func metadata(d *crawl.Document, simhash uint64) *crawl.Record {
	p := &d.Page
	return &crawl.Record{
		Job: p.Task.Job, URL: p.Task.URL, FinalURL: p.Task.URL, Canonical: d.Canonical, Status: p.Status,
		FetchedAt: p.FetchedAt, Depth: p.Task.Depth, Referrer: p.Task.Referrer, ContentType: d.ContentType,
		Charset: d.Charset, Bytes: p.Bytes, Digest: p.Digest, Simhash: simhash, Title: d.Title, Lang: d.Lang,
		Truncated: p.Truncated, Cut: d.Cut, Epoch: p.Task.Epoch, Visit: p.Task.Visit, Insecure: p.Insecure,
		Plugged: p.Plugged, Judged: d.Judged,
	}
}

// links is the event that passes the document's links and requisites on; none if there is nothing to follow or it was
// said before, and nobody waits to hear it. Requisites are parts of the page, whatever it says of its links.
func links(job *crawl.Job, d *crawl.Document, verdict crawl.Seen) []crawl.Event {
	follow := marked(job, d, withBeyond(d, d.Links))
	if verdict.Sameness == crawl.ExactCopy && verdict.SameLinks {
		follow = nil
	}
	switch {
	case len(d.Requisites) > 0:
		follow = slices.Concat(d.Requisites, follow)
	case len(follow) == 0:
		return nil
	}
	return []crawl.Event{&crawl.Links{Task: d.Page.Task, Links: follow, Relevance: d.Relevance}}
}

// linkSum hashes what the links of a document are to the job: the URLs that they resolve to, in order, for the same
// bytes at another place can mean other URLs; and what of its place decides whether they are followed. Where nothing of
// the sort does, it is the hash of the URLs alone.
func linkSum(job *crawl.Job, d *crawl.Document) uint64 {
	const odd = 0x9e3779b97f4a7c15
	var sum uint64
	mix := func(s string) { sum = (sum ^ xxh3.HashString(s)) * odd }
	for i := range d.Links {
		mix(d.Links[i].URL.String())
	}
	task := &d.Page.Task
	if d.NoFollow && !job.IgnoreMeta {
		mix("nofollow")
	}
	if job.MaxDepth >= 0 && task.Depth >= job.MaxDepth {
		mix("max_depth")
	}
	switch {
	case !job.Listed(): // the scope is that of the seeds
	case job.Scope == crawl.ScopeHost:
		mix(task.URL.HostKey())
	case job.Scope == crawl.ScopeDomain:
		mix(task.URL.RegistrableDomain())
	}
	return sum
}
