package api

import (
	"context"
	"net/http"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/induce"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/ruletest"
)

// PairOf names two executions.
type PairOf struct {
	First  string `query:"first" required:"true" maxLength:"80" doc:"execution"`
	Second string `query:"second" required:"true" maxLength:"80" doc:"execution"`
}

func (p PairOf) pair() (first, second crawl.JobID) {
	return crawl.JobID(p.First), crawl.JobID(p.Second)
}

func (s *Server) compareRoutes() {
	add(s, route{method: http.MethodGet, path: "/compare", id: "compareExecutions", role: Viewer,
		text: "Count what is new, gone and changed in the second of two executions"},
		s.compare)
	add(s, route{method: http.MethodGet, path: "/compare/changes", id: "listChanges", role: Viewer,
		text: "URLs that are new, gone or changed"}, s.listChanges)
	add(s, route{method: http.MethodGet, path: "/compare/texts", id: "compareTexts", role: Viewer,
		text: "Two texts side by side, in plain text"}, s.compareTexts)
	add(s, route{method: http.MethodPost, path: "/rule-tests", id: "testRules", role: Viewer, json: true,
		text: "What site rules find in a page, and where"}, s.testRules)
	add(s, route{method: http.MethodPost, path: "/rule-checks", id: "checkRules", role: Viewer, json: true,
		text: "On how many pages of an execution site rules match"},
		s.checkRules)
	add(s, route{method: http.MethodPost, path: "/page-outlines", id: "outlinePage", role: Viewer, json: true,
		text: "Elements of a page as plain text, to pick one from"}, s.outline)
	add(s, route{method: http.MethodPost, path: "/selector-proposals", id: "proposeSelectors", role: Viewer, json: true,
		text: "Selectors for an element of a page, from specific to robust, each with what it matches"}, s.proposeSelectors)
	add(s, route{method: http.MethodPost, path: "/rule-inductions", id: "induceRule", role: Viewer, json: true,
		text: "A site rule from example pages and the values that are wanted from each, with what it takes from them"},
		s.induceRule)
}

func (s *Server) compare(ctx context.Context, in *PairOf) (*body[explore.Comparison], error) {
	first, second := in.pair()
	return okOf(s.Explore.Compare(ctx, first, second))
}

func (s *Server) listChanges(ctx context.Context, in *struct {
	PairOf
	Paged
	Change string `query:"change" enum:"new,gone,changed,touched,same" doc:"none: all that are not the same"`
}) (*body[explore.List[explore.Compared]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	first, second := in.pair()
	l, err := s.Explore.Changes(ctx, first, second, explore.Change(in.Change), p)
	return listed(ctx, s, l, err)
}

func (s *Server) compareTexts(ctx context.Context, in *struct {
	PairOf
	FirstKey  string `query:"first_key" required:"true" maxLength:"8192" doc:"key or URL of a record"`
	SecondKey string `query:"second_key" required:"true" maxLength:"8192" doc:"key or URL of a record"`
}) (*body[explore.TextDiff], error) {
	first, second := in.pair()
	return okOf(s.Explore.TextDiff(ctx, first, in.FirstKey, second, in.SecondKey))
}

func (s *Server) testRules(ctx context.Context,
	in *struct{ Body explore.RuleTest }) (*body[explore.RuleTested], error) {
	return okOf(s.Explore.TestRules(ctx, in.Body))
}

func (s *Server) checkRules(ctx context.Context,
	in *struct{ Body explore.RuleCheck }) (*body[explore.RuleChecked], error) {
	return okOf(s.Explore.CheckRules(ctx, in.Body))
}

func (s *Server) outline(ctx context.Context, in *struct{ Body explore.PageOf }) (*body[ruletest.Outline], error) {
	return okOf(s.Explore.Outline(ctx, in.Body))
}

func (s *Server) proposeSelectors(ctx context.Context,
	in *struct{ Body explore.SelectorAsk }) (*body[ruletest.Proposed], error) {
	return okOf(s.Explore.ProposeSelectors(ctx, in.Body))
}

func (s *Server) induceRule(ctx context.Context,
	in *struct{ Body explore.InductionAsk }) (*body[induce.Result], error) {
	return okOf(s.Explore.InduceRule(ctx, in.Body))
}
