package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

// Plugins are what nodes of pipelines can use, and what those of a crawl that runs do.
type Plugins interface {
	// List returns what definitions may name, built-in ones included. What cannot be read is told beside the list.
	List(ctx context.Context) ([]repo.Item, error)
	// Figures returns what the nodes of an execution did since the program started.
	Figures(ctx context.Context, id crawl.JobID) ([]chain.Figures, error)
	// Waiting returns how many messages wait before each stage, of all executions.
	Waiting(ctx context.Context) (map[string]int, error)
	// Change calls do with the repository, which is closed afterwards. The error is ErrNoRepository where there is none.
	Change(ctx context.Context, do func(*repo.Repository) error) error
	// Registry opens the registry of an address such as oci://HOST/PATH/OWNER/NAME:VERSION, and says which plug-in that
	// names.
	Registry(artifact string) (from repo.Upstream, use string, err error)
}

// Plugin is a plug-in that a node can use.
type Plugin struct {
	Use     string         `json:"use" doc:"as a node names it: OWNER/NAME@VERSION"`
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Tier    string         `json:"tier" enum:"builtin,wasm,process"`
	Summary string         `json:"summary"`
	Authors []string       `json:"authors,omitempty"`
	License string         `json:"license,omitempty"`
	Serves  []PluginServes `json:"serves" doc:"the points that it can be used at"`
	Limits  plugin.Limits  `json:"limits"`
	Config  map[string]any `json:"config" doc:"JSON Schema of its settings"`
	Digest  string         `json:"digest,omitempty" doc:"of its package; built-in ones have none"`
	Pushed  time.Time      `json:"pushed,omitzero"`
	Trust   repo.Trust     `json:"trust"`
}

// PluginServes is a point that a plug-in can be used at.
type PluginServes struct {
	Point string            `json:"point" enum:"provider,request,response,document,links,record,output"`
	Needs []string          `json:"needs,omitempty" doc:"body: the page's bytes; text: its text"`
	Adds  map[string]string `json:"adds,omitempty" doc:"fields that it adds, with their types"`
}

// PluginList is what nodes can use.
type PluginList struct {
	Items  []Plugin `json:"items"`
	Faults []string `json:"faults,omitempty" doc:"what lies in the repository and cannot be read"`
}

// PipelineNow is what the pipeline of an execution does.
type PipelineNow struct {
	Nodes   []NodeNow      `json:"nodes" doc:"in the order of the points"`
	Waiting map[string]int `json:"waiting" doc:"messages before each stage, of all executions"`
}

// NodeNow is what a node of a pipeline did since the program started.
type NodeNow struct {
	Node    string    `json:"node"`
	At      string    `json:"at"`
	Use     string    `json:"use"`
	Calls   int64     `json:"calls"`
	Patched int64     `json:"patched"`
	Dropped int64     `json:"dropped"`
	Errors  int64     `json:"errors"`
	Skipped int64     `json:"skipped" doc:"its condition was not true"`
	Passed  int64     `json:"passed" doc:"not called, because it had failed too often"`
	P50     int64     `json:"p50_us" doc:"microseconds of a call, within a factor of two"`
	P95     int64     `json:"p95_us"`
	Tripped time.Time `json:"tripped,omitzero" doc:"until when it is not called, because it failed too often"`
}

func (s *Server) pluginRoutes() {
	add(s, route{method: http.MethodGet, path: "/plugins", id: "listPlugins", role: Viewer,
		text: "List what nodes of pipelines can use, with their points and the schema of their settings"}, s.listPlugins)
	add(s, route{method: http.MethodGet, path: "/plugins/{owner}/{name}/{version}", id: "getPlugin", role: Viewer,
		text: "Show a plug-in"}, s.getPlugin)
	s.pluginChanges()
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/pipeline", id: "getPipeline", role: Viewer,
		text: "What the nodes of an execution's pipeline did, and what waits before each stage"}, s.getPipeline)
}

// plugins lists them; faults are what could not be read.
func (s *Server) plugins(ctx context.Context) (items []Plugin, faults []string, err error) {
	if s.Plugins == nil {
		return nil, nil, problem(ctx, http.StatusNotFound, "this server knows no plug-ins")
	}
	list, err := s.Plugins.List(ctx)
	if err != nil {
		faults = append(faults, err.Error())
	}
	items = make([]Plugin, 0, len(list))
	for i := range list {
		items = append(items, pluginOf(&list[i]))
	}
	return items, faults, ctx.Err()
}

func pluginOf(i *repo.Item) Plugin {
	d := i.Descriptor
	p := Plugin{Use: d.Use(), Name: d.Name, Version: d.Version, Tier: string(d.Tier), Summary: d.Summary,
		Authors: d.Authors, License: d.License, Serves: make([]PluginServes, len(d.Serves)), Limits: d.Limits,
		Config: d.Config, Digest: i.Digest, Pushed: i.Pushed, Trust: i.Trust}
	for i, at := range d.Serves {
		p.Serves[i] = PluginServes{Point: string(at.Point), Needs: at.Needs, Adds: at.Adds}
	}
	if p.Config == nil {
		p.Config = map[string]any{}
	}
	return p
}

func (s *Server) listPlugins(ctx context.Context, in *struct {
	Point string `query:"point" enum:"provider,request,response,document,links,record,output" doc:"only those that serve it"`
}) (*body[PluginList], error) {
	items, faults, err := s.plugins(ctx)
	items = slices.DeleteFunc(items, func(p Plugin) bool {
		return in.Point != "" && !slices.ContainsFunc(p.Serves, func(at PluginServes) bool { return at.Point == in.Point })
	})
	return ok(PluginList{items, faults}, err)
}

// PluginPath names a plug-in.
type PluginPath struct {
	Owner   string `path:"owner" maxLength:"32"`
	Name    string `path:"name" maxLength:"32"`
	Version string `path:"version" maxLength:"32"`
}

func (p *PluginPath) use() string { return p.Owner + "/" + p.Name + "@" + p.Version }

func (s *Server) getPlugin(ctx context.Context, in *PluginPath) (*body[Plugin], error) {
	items, _, err := s.plugins(ctx)
	if err != nil {
		return nil, err
	}
	use := in.use()
	i := slices.IndexFunc(items, func(p Plugin) bool { return p.Use == use })
	if i < 0 {
		return nil, problem(ctx, http.StatusNotFound, "there is no plug-in "+use+": GET /plugins lists what there is")
	}
	return &body[Plugin]{items[i]}, nil
}

func (s *Server) getPipeline(ctx context.Context, in *ExecutionPath) (*body[PipelineNow], error) {
	if _, err := s.Workflows.Execution(ctx, in.job()); err != nil {
		return nil, err
	}
	if s.Plugins == nil {
		return nil, problem(ctx, http.StatusNotFound, "this server knows no plug-ins")
	}
	figures, err := s.Plugins.Figures(ctx, in.job())
	if err != nil {
		return nil, err
	}
	waiting, err := s.Plugins.Waiting(ctx)
	out := PipelineNow{Nodes: make([]NodeNow, 0, len(figures)), Waiting: waiting}
	for i := range figures {
		out.Nodes = append(out.Nodes, nodeNow(&figures[i]))
	}
	return ok(out, err)
}

func nodeNow(f *chain.Figures) NodeNow {
	return NodeNow{Node: f.Node, At: string(f.At), Use: f.Use, Calls: f.Calls, Patched: f.Patched, Dropped: f.Dropped,
		Errors: f.Errors, Skipped: f.Skipped, Passed: f.Passed, P50: f.P50.Microseconds(), P95: f.P95.Microseconds(),
		Tripped: f.Tripped}
}
