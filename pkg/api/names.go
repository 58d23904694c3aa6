package api

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// renamed are types whose names others have, too, or that say too little without their package.
var renamed = map[string]string{
	"worddiff.Piece":   "DiffPiece",
	"report.Status":    "CrawlStatus",
	"report.File":      "CrawlFile",
	"report.Pipeline":  "ClusterPipeline",
	"report.Rendering": "RenderFigures",
	"report.Freshness": "FreshnessFigures",
	"report.Revisits":  "PageVisits",
	"report.Rendered":  "PageRendered",
	"report.Template":  "RenderTemplate",
	"explore.Change":   "RecordChange",
	"explore.Index":    "IndexState",
	"ruletest.Node":    "OutlineNode",
	"preview.Answer":   "PreviewAnswer",
	"induce.Result":    "Induced",
	"induce.Field":     "InducedField",
	"induce.Extracted": "InducedValues",
	"induce.Other":     "InducedOther",
	"induce.Lack":      "InducedLack",
}

// nameOf names the schema of a type.
func nameOf(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	wing := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
	if other := renamed[wing+"."+name]; other != "" {
		return other
	}
	if wing == "preview" && t.Name() != "Answer" {
		return "Preview" + name
	}
	if wing == "trial" {
		return "Trial" + strings.TrimPrefix(name, "Trial")
	}
	return name
}
