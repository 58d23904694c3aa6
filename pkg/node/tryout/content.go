package tryout

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
)

var similar = map[crawl.Sameness]string{crawl.ExactCopy: "exact", crawl.NearCopy: "near"}

// content has content-seen judge the page over what is stored, which is only read, and keeps the record that it makes.
func (r *run) content(ctx context.Context, d *crawl.Document) error {
	t := r.trial
	simhash, _, words := contentseen.Fingerprint(d.Text)
	c := &trial.Content{Simhash: fmt.Sprintf("%016x", simhash), Words: words, Judged: r.opt.Stored.Copies != nil}
	in := object{"simhash": c.Simhash, "words": c.Words, "digest": d.Page.Digest.String()}
	s := r.begin(trial.StepContent, in)
	m := r.memory
	h := contentseen.New(contentseen.Stores{Jobs: r.jobs(), Content: m, Pages: pages{m}, Unkept: m}, r.log)
	if r.plugins != nil {
		h.UsePlugins(r.plugins)
	}
	if _, err := h.Handle(ctx, d); err != nil {
		return r.ended(err)
	}
	c.Took = trial.InSeconds(time.Since(s.started))
	r.without(s, crawl.AtRecord)
	t.Content, t.Kept, t.Why = c, m.unkept, d.Why
	c.Similarity, c.CopyOf, c.Distance = similar[m.seen.Sameness], m.seen.Of, m.seen.Distance
	out := with(in, "similarity", c.Similarity, "distance", c.Distance)
	switch {
	case t.Kept != "" && len(r.at(crawl.AtRecord)) == 0: // else a node was asked, whose step comes
		s.end(trial.Against, with(in, "not_kept", t.Kept, "why", t.Why), "it would have no record: %s %s", t.Kept, t.Why)
	case c.Similarity != "":
		out["copy_of"] = c.CopyOf.String()
		s.end(trial.OK, out, "it would be a copy (%s) of %s", c.Similarity, c.CopyOf)
	case c.Judged:
		s.end(trial.OK, with(out, "original", true), "it is no copy of what is stored")
	default:
		s.end(trial.OK, out, "it was compared with nothing: name an execution to compare it with what that has stored")
	}
	r.tell(crawl.AtRecord)
	return r.store(m.record)
}

// store tells the record that would be stored.
func (r *run) store(rec *crawl.Record) error {
	s := r.begin(trial.StepRecord, object{})
	if rec == nil {
		s.end(trial.Skipped, object{}, "there would be no record")
		return nil
	}
	final := *rec
	if final.Epoch = r.opt.Job.Epoch; crawl.EpochOf(final.Epoch) == 1 {
		final.Epoch = 0
	}
	r.trial.Record = jsonl.AppendRecord(nil, &final)
	var out object
	if err := json.Unmarshal(r.trial.Record, &out); err != nil {
		return fmt.Errorf("the record as JSON: %w", err)
	}
	s.end(trial.OK, out, "a record of %d bytes would be stored", len(r.trial.Record))
	return nil
}
