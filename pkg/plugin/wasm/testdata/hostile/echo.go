package main

import (
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/sdk/go/whirlpool"
)

// echo tells what it was given of a page.
func echo(call *whirlpool.Call, doc *whirlpool.Document) *whirlpool.DocumentPatch {
	title := fmt.Sprintf("%s|%s|%s|%s|%d|%d|%s|%s|%s", doc.URL, doc.Host, doc.Path, doc.Text, doc.Depth, doc.Status,
		doc.ContentType, doc.Canonical, call.ID)
	text, lang, noindex, nofollow := string(call.Body), doc.Lang+"-x", !doc.NoIndex, !doc.NoFollow
	return &whirlpool.DocumentPatch{Title: &title, Text: &text, Lang: &lang, NoIndex: &noindex, NoFollow: &nofollow,
		Fields: map[string]any{"all": doc.Fields, "gone": nil}}
}

func request(_ *whirlpool.Call, r *whirlpool.Request) whirlpool.Answer {
	told := []string{r.URL, r.Host, r.Path, r.Kind, fmt.Sprint(r.Depth), fmt.Sprint(r.Attempt), fmt.Sprint(r.Seed)}
	return whirlpool.Change(&whirlpool.RequestPatch{Headers: map[string][]string{"X-Told": append(told,
		r.Headers["Accept"]...), "Accept": nil}})
}

func response(call *whirlpool.Call, r *whirlpool.Response) whirlpool.Answer {
	if r.Status == 404 {
		return whirlpool.LinksOnly()
	}
	kind := fmt.Sprintf("%s|%d|%d|%s", r.ContentType, r.Status, r.Bytes, r.Truncated)
	body := slices.Clone(call.Body)
	slices.Reverse(body)
	return whirlpool.Change(&whirlpool.ResponsePatch{ContentType: &kind, Body: body})
}

func links(_ *whirlpool.Call, page *whirlpool.Links) whirlpool.Answer {
	patch := &whirlpool.LinksPatch{}
	for i, l := range page.Links {
		switch {
		case l.Text == "out":
			patch.Change = append(patch.Change, whirlpool.LinkChange{Index: i, Drop: "out"})
		case l.Rel == "next" && l.Dropped == "":
			patch.Change = append(patch.Change, whirlpool.LinkChange{Index: i, Weight: l.Weight + 1})
		}
	}
	patch.Add = []whirlpool.Link{{URL: page.URL + "added", Text: "more", Tag: "plugin", Weight: 3}}
	return whirlpool.Change(patch)
}

func record(_ *whirlpool.Call, r *whirlpool.Record) whirlpool.Answer {
	if r.Text == "" {
		return whirlpool.Drop("empty")
	}
	title := fmt.Sprintf("%s|%s|%d|%s|%s", r.Title, r.Text, r.Bytes, r.DuplicateOf, r.Similarity)
	return whirlpool.Change(&whirlpool.RecordPatch{Title: &title, Fields: r.Fields})
}
