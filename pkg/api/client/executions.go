package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func executionPath(id crawl.JobID) string { return "/executions/" + url.PathEscape(string(id)) }

// Executions lists them, the newest first: of one workflow, or of all where none is named; up to most, 0: all.
func (c *Client) Executions(ctx context.Context, of string, most int) ([]workflow.Execution, error) {
	q := url.Values{}
	if of != "" {
		q.Set("workflow", of)
	}
	return all[workflow.Execution](ctx, c, "/executions", q, most)
}

// Execution finds one.
func (c *Client) Execution(ctx context.Context, id crawl.JobID) (*api.ExecutionNow, error) {
	return get[api.ExecutionNow](ctx, c, executionPath(id), nil)
}

// Wish says what is wanted of an execution: pause, resume, stop or cancel.
func (c *Client) Wish(ctx context.Context, id crawl.JobID, verb, reason string) (*workflow.Execution, error) {
	return post[workflow.Execution](ctx, c, executionPath(id)+":"+verb, map[string]string{"reason": reason})
}

// Delete deletes an execution that has ended.
func (c *Client) Delete(ctx context.Context, id crawl.JobID, keepRecords bool) error {
	r := call{method: http.MethodDelete, path: executionPath(id), ifMatch: "*"}
	if keepRecords {
		r.query = url.Values{"keep": {"records"}}
	}
	return c.do(ctx, r, nil)
}

// Events lists the events of an execution behind one, the oldest first.
func (c *Client) Events(ctx context.Context, id crawl.JobID, after int64) ([]workflow.Event, error) {
	l, err := get[workflow.List[workflow.Event]](ctx, c, executionPath(id)+"/events",
		url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {"200"}})
	return l.Items, err
}

// Logs lists lines of the server's log, or of an execution's crawl.log, the newest first.
func (c *Client) Logs(ctx context.Context, q url.Values, most int) ([]explore.LogLine, error) {
	return all[explore.LogLine](ctx, c, "/logs", q, most)
}

// Records lists a page of the records of an execution.
func (c *Client) Records(ctx context.Context, id crawl.JobID, q url.Values) (*explore.Records, error) {
	return get[explore.Records](ctx, c, executionPath(id)+"/records", q)
}

// File opens a file of an execution.
func (c *Client) File(ctx context.Context, id crawl.JobID, name string) (io.ReadCloser, error) {
	return c.FileFrom(ctx, id, name, 0)
}

// FileFrom opens a file of an execution at one of its bytes; where it ends there, the error IsPastEnd.
func (c *Client) FileFrom(ctx context.Context, id crawl.JobID, name string, from int64) (io.ReadCloser, error) {
	resp, err := c.send(ctx, call{method: http.MethodGet, path: executionPath(id) + "/files/" + url.PathEscape(name),
		from: from})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// IsPastEnd reports whether an error says that a file has no byte at a place yet.
func IsPastEnd(err error) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status == http.StatusRequestedRangeNotSatisfiable
}

// Export opens the records of an execution in a format: csv, jsonl or parquet.
func (c *Client) Export(ctx context.Context, id crawl.JobID, q url.Values) (io.ReadCloser, error) {
	return c.open(ctx, executionPath(id)+"/export", q)
}

func (c *Client) open(ctx context.Context, path string, q url.Values) (io.ReadCloser, error) {
	resp, err := c.send(ctx, call{method: http.MethodGet, path: path, query: q})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Replay puts dead letters back: those whose ids begin so, all where none are given.
func (c *Client) Replay(ctx context.Context, id crawl.JobID, r api.Replay) (*control.Replayed, error) {
	return post[control.Replayed](ctx, c, executionPath(id)+"/dead-letters:replay", r)
}

// Revisions lists the settings of an execution over time, the newest first.
func (c *Client) Revisions(ctx context.Context, id crawl.JobID) ([]api.Revision, error) {
	l, err := get[workflow.List[api.Revision]](ctx, c, executionPath(id)+"/revisions", nil)
	return l.Items, err
}

// View is the report of an execution.
func (c *Client) View(id crawl.JobID) *View { return &View{c, id} }

// View is a report.View over a server.
type View struct {
	c  *Client
	id crawl.JobID
}

var _ report.View = (*View)(nil)

// Status implements report.View.
func (v *View) Status(ctx context.Context) (*report.Status, error) {
	return get[report.Status](ctx, v.c, executionPath(v.id)+"/status", nil)
}

// Explain implements report.View.
func (v *View) Explain(ctx context.Context, u string) (*report.Explanation, error) {
	return get[report.Explanation](ctx, v.c, executionPath(v.id)+"/explain", url.Values{"url": {u}})
}

// Letters implements report.View.
func (v *View) Letters(ctx context.Context) ([]report.Letter, error) {
	l, err := get[workflow.List[report.Letter]](ctx, v.c, executionPath(v.id)+"/dead-letters",
		url.Values{"limit": {"1000"}})
	return l.Items, err
}

// Audit implements report.View.
func (v *View) Audit(ctx context.Context) (*crawl.AuditReport, error) {
	return post[crawl.AuditReport](ctx, v.c, executionPath(v.id)+":audit", nil)
}

// LoginURL makes a link that signs a user in once.
func (c *Client) LoginURL(ctx context.Context, role string) (*api.LoginURL, error) {
	return post[api.LoginURL](ctx, c, "/login-urls", map[string]string{"role": role})
}

// NewKey makes an API key.
func (c *Client) NewKey(ctx context.Context, k api.KeyToMake) (*api.Key, error) {
	return post[api.Key](ctx, c, "/api-keys", k)
}

// Keys lists API keys.
func (c *Client) Keys(ctx context.Context) ([]api.Key, error) {
	l, err := get[workflow.List[api.Key]](ctx, c, "/api-keys", nil)
	return l.Items, err
}

// RotateKey gives an API key a new secret.
func (c *Client) RotateKey(ctx context.Context, id string) (*api.Key, error) {
	return post[api.Key](ctx, c, "/api-keys/"+url.PathEscape(id)+":rotate", struct{}{})
}

// UseCode exchanges the code that a browser brought for an API key.
func (c *Client) UseCode(ctx context.Context, u api.CodeToUse) (*api.Key, error) {
	return post[api.Key](ctx, c, "/auth/code", u)
}

// RevokeKey makes an API key worthless.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: "/api-keys/" + url.PathEscape(id)}, nil)
}

// Revise changes settings of an execution.
func (c *Client) Revise(ctx context.Context, id crawl.JobID, r api.NewRevision) (*control.Revised, error) {
	return post[control.Revised](ctx, c, executionPath(id)+"/revisions", r)
}

// Preview tells what an edit of an execution would do; the exact answer comes later.
func (c *Client) Preview(ctx context.Context, id crawl.JobID, e api.Edit) (*api.Preview, error) {
	return post[api.Preview](ctx, c, executionPath(id)+"/preview", e)
}

// PreviewNow shows how far a preview is, with up to 20 s of patience for the exact answer.
func (c *Client) PreviewNow(ctx context.Context, id crawl.JobID, preview string) (*api.Preview, error) {
	return get[api.Preview](ctx, c, executionPath(id)+"/previews/"+url.PathEscape(preview), url.Values{"wait": {"true"}})
}

// Rendering tells what renders brought to an execution, by templates of pages.
func (c *Client) Rendering(ctx context.Context, id crawl.JobID) (*report.Rendering, error) {
	return get[report.Rendering](ctx, c, executionPath(id)+"/rendering", nil)
}

// Freshness tells how fresh the pages of a continuous execution are.
func (c *Client) Freshness(ctx context.Context, id crawl.JobID) (*report.Freshness, error) {
	return get[report.Freshness](ctx, c, executionPath(id)+"/freshness", nil)
}

// SwitchRendering decides what becomes of the pages of a template.
func (c *Client) SwitchRendering(ctx context.Context, id crawl.JobID, r api.RenderSwitch) (*report.Template, error) {
	return post[report.Template](ctx, c, executionPath(id)+"/rendering:switch", r)
}

// Undo takes a revision of an execution back.
func (c *Client) Undo(ctx context.Context, id crawl.JobID, epoch uint32, message string,
	resume bool) (*control.Revised, error) {
	return post[control.Revised](ctx, c, executionPath(id)+"/revisions/"+strconv.FormatUint(uint64(epoch), 10)+":undo",
		map[string]any{"message": message, "resume": resume})
}

// HoldHost keeps a host from being asked by any execution, or lets it be asked again.
func (c *Client) HoldHost(ctx context.Context, id crawl.JobID, key string, held bool) error {
	verb := ":release"
	if held {
		verb = ":hold"
	}
	return c.do(ctx, call{method: http.MethodPost, path: executionPath(id) + "/hosts/" + url.PathEscape(key) + verb,
		in: struct{}{}}, nil)
}

// Host tells of a host of an execution.
func (c *Client) Host(ctx context.Context, id crawl.JobID, key string) (*explore.HostStory, error) {
	return get[explore.HostStory](ctx, c, executionPath(id)+"/hosts/"+url.PathEscape(key), nil)
}
