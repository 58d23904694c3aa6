package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// remote does things with the executions of a server. A job is an execution.
type remote struct{ c *client.Client }

var _ control.Service = remote{}

// theOnly is an execution by its id, or the only one: of those that crawl, else of all.
func (r remote) theOnly(ctx context.Context, id crawl.JobID) (crawl.JobID, error) {
	if id != "" {
		return id, nil
	}
	all, err := r.c.Executions(ctx, "", 0)
	if err != nil {
		return "", err
	}
	var crawling []crawl.JobID
	for _, e := range all {
		if !e.State.Ended() {
			crawling = append(crawling, e.ID)
		}
	}
	switch {
	case len(crawling) == 1:
		return crawling[0], nil
	case len(all) == 1:
		return all[0].ID, nil
	case len(all) == 0:
		return "", errors.New("the server has no execution yet: `whirlpool workflow run` starts one")
	}
	return "", control.Misusef("the server has %d executions: say which with --job; `whirlpool exec list` shows them",
		len(all))
}

// List implements control.Service.
func (r remote) List(ctx context.Context) ([]control.Listed, error) {
	all, err := r.c.Executions(ctx, "", 0)
	out := make([]control.Listed, len(all))
	for i, e := range all { // the oldest first
		l := control.Listed{ID: e.ID, State: string(e.State), Created: e.Created, Epoch: max(e.Epoch, 1)}
		if e.Stats != nil {
			l.Pages, l.Open = e.Stats.Pages, e.Stats.Open
		} else if s, err := r.c.View(e.ID).Status(ctx); err == nil {
			l.Pages, l.Open = s.Pages, s.Open
		}
		out[len(all)-1-i] = l
	}
	return out, err
}

var errWorkflows = &control.Misuse{Err: errors.New("a server crawls workflows: `whirlpool workflow create` makes one " +
	"of a job file, and `whirlpool workflow run` runs it")}

// Submit implements control.Service.
func (remote) Submit(context.Context, control.Submission) (*control.Submitted, error) {
	return nil, errWorkflows
}

// Retry implements control.Service.
func (remote) Retry(context.Context, crawl.JobID, control.Retry) (*control.Retried, error) {
	return nil, errWorkflows
}

// Order implements control.Service.
func (r remote) Order(ctx context.Context, job crawl.JobID, o control.Order) (*control.Ordered, error) {
	id, err := r.theOnly(ctx, job)
	if err != nil {
		return nil, err
	}
	e, err := r.c.Wish(ctx, id, string(o), "")
	if err != nil {
		return nil, err
	}
	return &control.Ordered{Job: id, State: string(e.State),
		Text: fmt.Sprintf("%s is %s, and is to %s", id, e.State, e.Desired)}, nil
}

// Delete implements control.Service. Force has it cancelled first; it is deleted when that has come to its end.
func (r remote) Delete(ctx context.Context, job crawl.JobID, force bool) (*control.Deleted, error) {
	if job == "" {
		return nil, control.Misusef("say which execution with --job; `whirlpool exec list` shows them")
	}
	e, err := r.c.Execution(ctx, job)
	if err != nil {
		return nil, err
	}
	if force && !e.State.Ended() {
		if _, err := r.c.Wish(ctx, job, "cancel", "to be deleted"); err != nil {
			return nil, err
		}
		err := r.c.Stream(ctx, []string{"execution:" + string(job)}, func(client.StreamEvent) error {
			if e, err := r.c.Execution(ctx, job); err != nil || e.State.Ended() {
				return errors.Join(errEnded, err)
			}
			return nil
		})
		if !errors.Is(err, errEnded) {
			return nil, err
		}
	}
	return &control.Deleted{Job: job, Records: -1}, r.c.Delete(ctx, job, false)
}

// Letters implements control.Service.
func (r remote) Letters(ctx context.Context, job crawl.JobID) ([]report.Letter, error) {
	id, err := r.theOnly(ctx, job)
	if err != nil {
		return nil, err
	}
	return r.c.View(id).Letters(ctx)
}

// Replay implements control.Service.
func (r remote) Replay(ctx context.Context, job crawl.JobID, choose control.Choose) (*control.Replayed, error) {
	id, err := r.theOnly(ctx, job)
	if err != nil {
		return nil, err
	}
	all, err := r.c.View(id).Letters(ctx)
	if err != nil {
		return nil, err
	}
	some, err := choose(all)
	if err != nil || len(some) == 0 {
		return &control.Replayed{}, err
	}
	ids := make([]string, len(some))
	for i := range some {
		ids[i] = some[i].ID.String()
	}
	return r.c.Replay(ctx, id, api.Replay{IDs: ids})
}

// Revise implements control.Service.
func (r remote) Revise(ctx context.Context, job crawl.JobID, change control.Change) (*control.Revised, error) {
	id, err := r.theOnly(ctx, job)
	if err != nil {
		return nil, err
	}
	list, err := r.c.Revisions(ctx, id)
	if err != nil {
		return nil, err
	}
	present, err := activeJob(id, list)
	if err != nil {
		return nil, err
	}
	next, err := change(present)
	if err != nil {
		return nil, err
	}
	patch, err := patchOf(present, next)
	if err != nil {
		return nil, err
	}
	return r.c.Revise(ctx, id, api.NewRevision{Edit: api.Edit{Patch: patch, Epoch: present.Epoch}})
}

// patchOf is the merge patch (RFC 7396) that makes one job of another.
func patchOf(from, to *crawl.Job) (map[string]any, error) {
	var a, b map[string]any
	for _, p := range []struct {
		job  *crawl.Job
		into *map[string]any
	}{{from, &a}, {to, &b}} {
		data, err := json.Marshal(p.job)
		if err == nil {
			err = json.Unmarshal(data, p.into)
		}
		if err != nil {
			return nil, err
		}
	}
	return difference(a, b), nil
}

func difference(a, b map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range a {
		if _, stays := b[key]; !stays {
			patch[key] = nil
		}
	}
	for key, v := range b {
		before, isMap := a[key].(map[string]any)
		if after, both := v.(map[string]any); isMap && both {
			if inner := difference(before, after); len(inner) > 0 {
				patch[key] = inner
			}
			continue
		}
		x, _ := json.Marshal(a[key]) // it was made of JSON
		y, _ := json.Marshal(v)
		if string(x) != string(y) {
			patch[key] = v
		}
	}
	return patch
}

// Events implements control.Service.
func (r remote) Events(ctx context.Context, job crawl.JobID, s control.Selection, each control.EachLine) error {
	id, err := r.theOnly(ctx, job)
	if err != nil {
		return err
	}
	for at := s.From; ; {
		if at, err = r.lines(ctx, id, s, at, each); err != nil || !s.Follow {
			if s.Follow && ctx.Err() != nil {
				return nil //nolint:nilerr // who follows ends it so
			}
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// lines hands the lines from a place on to each, and returns the place behind the last.
func (r remote) lines(ctx context.Context, id crawl.JobID, s control.Selection, at int64,
	each control.EachLine) (int64, error) {
	log, err := r.c.FileFrom(ctx, id, "crawl.log", at)
	if client.IsNotFound(err) && !strings.Contains(err.Error(), string(id)) || client.IsPastEnd(err) {
		return at, nil // it has no line there yet
	}
	if err != nil {
		return at, err
	}
	defer log.Close()
	in := bufio.NewReaderSize(log, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil { // the last line is being written
			return at, ignoreEOF(err)
		}
		at += int64(len(line))
		l, err := jsonl.ParseLogLine(line)
		if err != nil {
			return at, fmt.Errorf("crawl.log of %s: %w", id, err)
		}
		if s.Has(l) {
			if err := each(line, at); err != nil {
				return at, err
			}
		}
	}
}

// Close implements io.Closer.
func (remote) Close() error { return nil }

// query says what of the records is meant, to a server.
func (f *exportFlags) query(args []string) url.Values {
	opt := f.options(args)
	q := url.Values{"format": {string(opt.Format)}}
	if len(f.columns) > 0 {
		q.Set("columns", strings.Join(f.columns, ","))
	}
	if f.originals {
		q.Set("originals", "true")
	}
	return q
}
