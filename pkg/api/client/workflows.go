package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Me tells who the key is of.
func (c *Client) Me(ctx context.Context) (*api.Me, error) { return get[api.Me](ctx, c, "/me", nil) }

// get asks for one thing.
func get[T any](ctx context.Context, c *Client, path string, q url.Values) (*T, error) {
	out := new(T)
	return out, c.do(ctx, call{method: http.MethodGet, path: path, query: q}, out)
}

// post sends something, and returns the answer.
func post[T any](ctx context.Context, c *Client, path string, in any) (*T, error) {
	out := new(T)
	return out, c.do(ctx, call{method: http.MethodPost, path: path, in: in}, out)
}

// all asks for a list, page by page, up to most items; 0: all of them.
func all[T any](ctx context.Context, c *Client, path string, q url.Values, most int) (out []T, err error) {
	if q == nil {
		q = url.Values{}
	}
	q.Set("limit", "200")
	for {
		page, err := get[workflow.List[T]](ctx, c, path, q)
		if err != nil {
			return out, err
		}
		out = append(out, page.Items...)
		if most > 0 && len(out) >= most {
			return out[:most], nil
		}
		if page.Next == "" {
			return out, nil
		}
		q.Set("cursor", page.Next)
	}
}

func workflowPath(id string) string { return "/workflows/" + url.PathEscape(id) }

// Workflows lists them.
func (c *Client) Workflows(ctx context.Context, archived bool) ([]workflow.Workflow, error) {
	q := url.Values{}
	if archived {
		q.Set("archived", "true")
	}
	return all[workflow.Workflow](ctx, c, "/workflows", q, 0)
}

// Workflow finds one by id or slug.
func (c *Client) Workflow(ctx context.Context, id string) (*workflow.Workflow, error) {
	return get[workflow.Workflow](ctx, c, workflowPath(id), nil)
}

// CreateWorkflow makes one.
func (c *Client) CreateWorkflow(ctx context.Context, n api.NewWorkflow) (*workflow.Workflow, error) {
	return post[workflow.Workflow](ctx, c, "/workflows", n)
}

// Check says what is wrong with a definition, and what it will do.
func (c *Client) Check(ctx context.Context, source string) (*api.DefinitionChecked, error) {
	return post[api.DefinitionChecked](ctx, c, "/workflows:validate", map[string]string{"source": source})
}

// Archive makes a workflow one that is not run any more.
func (c *Client) Archive(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: workflowPath(id), ifMatch: "*"}, nil)
}

// Versions lists the versions of a workflow, the newest first.
func (c *Client) Versions(ctx context.Context, id string) ([]workflow.Version, error) {
	return all[workflow.Version](ctx, c, workflowPath(id)+"/versions", nil, 0)
}

// Version finds one.
func (c *Client) Version(ctx context.Context, id string, number int) (*workflow.Version, error) {
	return get[workflow.Version](ctx, c, fmt.Sprintf("%s/versions/%d", workflowPath(id), number), nil)
}

// AddVersion makes a version the current one.
func (c *Client) AddVersion(ctx context.Context, id string, v api.NewVersion) (*workflow.Version, error) {
	return post[workflow.Version](ctx, c, workflowPath(id)+"/versions", v)
}

// Diff tells what differs between two versions.
func (c *Client) Diff(ctx context.Context, id string, from, to int) (*api.VersionDiff, error) {
	return get[api.VersionDiff](ctx, c, fmt.Sprintf("%s/versions/%d/diff", workflowPath(id), to),
		url.Values{"from": {fmt.Sprint(from)}})
}

// Restore makes the definition of an older version the next one.
func (c *Client) Restore(ctx context.Context, id string, number int, message string) (*workflow.Version, error) {
	return post[workflow.Version](ctx, c, fmt.Sprintf("%s/versions/%d:restore", workflowPath(id), number),
		map[string]string{"message": message})
}

// Run starts an execution.
func (c *Client) Run(ctx context.Context, id string, o workflow.Overrides) (*workflow.Execution, error) {
	return post[workflow.Execution](ctx, c, workflowPath(id)+":run", o)
}

// Apply makes workflows and schedules what a file says.
func (c *Client) Apply(ctx context.Context, list []api.Applied, schedules []api.AppliedSchedule,
	dry bool) ([]api.ApplyResult, error) {
	r := call{method: http.MethodPut, path: "/apply", in: map[string]any{"workflows": list, "schedules": schedules}}
	if dry {
		r.query = url.Values{"dry_run": {"true"}}
	}
	var out workflow.List[api.ApplyResult]
	err := c.do(ctx, r, &out)
	return out.Items, err
}

// Pipeline tells what the nodes of an execution's pipeline did.
func (c *Client) Pipeline(ctx context.Context, id crawl.JobID) (*api.PipelineNow, error) {
	return get[api.PipelineNow](ctx, c, executionPath(id)+"/pipeline", nil)
}
