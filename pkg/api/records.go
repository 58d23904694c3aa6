package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
)

// Picking says which records are asked for.
type Picking struct {
	Query      string    `query:"q" maxLength:"1000" doc:"words of title, text and URL; \"a phrase\"; word*; -word; one OR two; title:word, text:word, url:word"`
	Since      time.Time `query:"since" doc:"fetched then or later"`
	Until      time.Time `query:"until" doc:"fetched before then"`
	Lang       string    `query:"lang" maxLength:"20" doc:"with its regions: en is also en-GB"`
	Type       string    `query:"type" maxLength:"100" doc:"media type"`
	Status     int       `query:"status" minimum:"0" maximum:"999"`
	Host       string    `query:"host" maxLength:"300"`
	Duplicates string    `query:"duplicates" enum:"only,exact,near,none" doc:"none: originals alone"`
	Fields     []string  `query:"field" maxItems:"10" doc:"NAME=value, or NAME: the record has the site field"`
}

func (p *Picking) filter() explore.RecordFilter {
	f := explore.RecordFilter{Query: p.Query, Since: p.Since, Until: p.Until, Lang: p.Lang, Type: p.Type,
		Status: p.Status, Host: p.Host, Duplicates: p.Duplicates, Fields: map[string]string{}}
	for _, field := range p.Fields {
		name, value, _ := strings.Cut(field, "=")
		f.Fields[name] = value
	}
	return f
}

// all reports whether nothing is asked for, which is every record.
func (p *Picking) all() bool {
	return p.Query == "" && p.Since.IsZero() && p.Until.IsZero() && p.Lang == "" && p.Type == "" && p.Status == 0 &&
		p.Host == "" && p.Duplicates == "" && len(p.Fields) == 0
}

type recordsIn struct {
	ExecutionPath
	Paged
	Picking
	Sort    string   `query:"sort" enum:"best,newest" doc:"none: best where words are searched for, else newest"`
	Columns []string `query:"columns" maxItems:"20" doc:"site fields whose values are given with each record"`
	Facets  bool     `query:"facets" doc:"count what else could be asked for"`
}

// RecordPath names a record of an execution.
type RecordPath struct {
	ExecutionPath
	Key string `path:"key" maxLength:"8192" doc:"key of the record, or its URL, escaped"`
}

type clustersIn struct {
	ExecutionPath
	Paged
	Similarity string `query:"similarity" enum:"exact,near"`
	Distance   int    `query:"distance" minimum:"0" maximum:"64" doc:"near ones whose Hamming distance is that at most; 0: all"`
}

func (s *Server) recordRoutes() {
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/records", id: "listRecords", role: Viewer,
		text: "Records, found by words and filters"},
		s.listRecords)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/records/{key}", id: "getRecord", role: Viewer,
		text: "All that is stored of a page"}, s.getRecord)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/records/{key}/versions/{visit}/diff",
		id: "compareVersions", role: Viewer,
		text: "What a page was at an earlier visit beside what it is, in plain text; kept with revisit.history"},
		s.compareVersions)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/records/{key}/rules", id: "applyRules", role: Viewer,
		text: "What the site rules of the execution find in a page, and where"}, s.recordRules)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/records/{key}/body", id: "getBody", role: Viewer,
		stream: true, media: attachment,
		text: "The body as the server sent it, as an attachment; kept with keep_bodies"}, s.getBody)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/records/{key}/screenshot", id: "getScreenshot",
		role: Viewer, stream: true, media: "image/webp", ranges: true,
		text: "The picture of a page that was rendered, as WebP; kept with render.screenshot"}, s.getScreenshot)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/clusters", id: "listClusters", role: Viewer,
		text: "Originals with their copies, the largest first"}, s.listClusters)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/clusters/{id}", id: "getCluster", role: Viewer,
		text: "A cluster with its members"},
		s.getCluster)
}

func (s *Server) listRecords(ctx context.Context, in *recordsIn) (*body[explore.Records], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	f := in.filter()
	f.Sort, f.Columns, f.Facets = in.Sort, in.Columns, in.Facets
	l, err := s.Explore.Records(ctx, in.job(), f, p)
	if err != nil {
		return nil, err
	}
	out := *l
	out.Items, out.Next = full(l.Items), s.next(ctx, l.Next)
	return &body[explore.Records]{out}, nil
}

func (s *Server) getRecord(ctx context.Context, in *RecordPath) (*body[explore.RecordWhole], error) {
	return okOf(s.Explore.Record(ctx, in.job(), in.Key))
}

func (s *Server) compareVersions(ctx context.Context, in *struct {
	RecordPath
	Visit int `path:"visit" minimum:"0" maximum:"1000000000" doc:"number of the visit; 0 is the first"`
	To    int `query:"to" minimum:"-1" maximum:"1000000000" default:"-1" doc:"number of the other visit; -1: the record as it is"`
}) (*body[explore.TextDiff], error) {
	return okOf(s.Explore.VersionDiff(ctx, in.job(), in.Key, in.Visit, in.To))
}

func (s *Server) recordRules(ctx context.Context, in *RecordPath) (*body[explore.RuleTested], error) {
	return okOf(s.Explore.RecordRules(ctx, in.job(), in.Key))
}

func (s *Server) listClusters(ctx context.Context, in *clustersIn) (*body[explore.List[explore.Cluster]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	l, err := s.Explore.Clusters(ctx, in.job(), explore.ClusterFilter{Similarity: in.Similarity, Distance: in.Distance}, p)
	return listed(ctx, s, l, err)
}

func (s *Server) getCluster(ctx context.Context, in *struct {
	ExecutionPath
	Paged
	Cluster string `path:"id" maxLength:"100" doc:"key of its original"`
}) (*body[explore.ClusterWhole], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	c, err := s.Explore.Cluster(ctx, in.job(), in.Cluster, p)
	if err != nil {
		return nil, err
	}
	out := *c
	out.Members.Items, out.Members.Next = full(c.Members.Items), s.next(ctx, c.Members.Next)
	return &body[explore.ClusterWhole]{out}, nil
}
