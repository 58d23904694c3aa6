package builtin

import (
	"encoding/binary"

	"crypto/sha256"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/expr"
)

var reasonToken = lazily(`^[a-z0-9-]{0,64}$`)

// filter keeps what an expression is true of.
func filter() *builtin {
	return &builtin{plugin.Descriptor{Name: "filter",
		Summary: "Keeps, or drops, what an expression is true of; at links each link is asked",
		Serves:  serving(needsText, crawl.AtRequest, crawl.AtResponse, crawl.AtDocument, crawl.AtLinks, crawl.AtRecord),
		Config: object(nil, map[string]any{"keep": prop("string", "expression; what it is not true of is dropped"),
			"drop":   prop("string", "expression; what it is true of is dropped"),
			"reason": prop("string", "why, for explain and the log: a token of a-z, 0-9 and -")})}, makeFilter}
}

func makeFilter(at crawl.Point, with map[string]any) (handler, error) {
	var set struct{ Keep, Drop, Reason string }
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	key, text, wanted := "keep", set.Keep, true
	if set.Keep == "" {
		key, text, wanted = "drop", set.Drop, false
	}
	switch {
	case (set.Keep == "") == (set.Drop == ""):
		return nil, bad("", "want one of keep and drop")
	case !reasonToken().MatchString(set.Reason):
		return nil, bad("reason", "%q: want a token of a-z, 0-9 and -", set.Reason)
	}
	if at == crawl.AtLinks {
		return filterLinks(key, text, set.Reason, wanted)
	}
	p, err := expr.Compile(at, text, expr.AsBool())
	if err != nil {
		return nil, bad(key, "%v", err)
	}
	return func(call *plugin.Call) (*plugin.Answer, error) {
		yes, err := p.Bool(call.Message)
		if err != nil {
			return nil, err
		}
		if yes == wanted {
			return pass, nil
		}
		return drop(set.Reason), nil
	}, nil
}

func filterLinks(key, text, reason string, wanted bool) (handler, error) {
	p, err := expr.Compile(crawl.AtLinks, text, expr.AsBool(), expr.Each())
	if err != nil {
		return nil, bad(key, "%v", err)
	}
	if reason == "" {
		reason = "filter"
	}
	return func(call *plugin.Call) (*plugin.Answer, error) {
		links, _ := call.Message.(*plugin.Links)
		var change []plugin.LinkChange
		for i := range links.Links {
			if links.Links[i].Dropped != "" {
				continue
			}
			yes, err := p.BoolAt(links, i)
			if err != nil {
				return nil, err
			}
			if yes != wanted {
				change = append(change, plugin.LinkChange{Index: i, Drop: reason})
			}
		}
		if change == nil {
			return pass, nil
		}
		return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.LinksPatch{Change: change}}, nil
	}, nil
}

// sample keeps a share of the pages, the same ones each time.
func sample() *builtin {
	return &builtin{plugin.Descriptor{Name: "sample", Summary: "Keeps a share of the pages, the same ones each time",
		Serves: serving(nil, crawl.AtRequest, crawl.AtResponse, crawl.AtDocument, crawl.AtRecord),
		Config: object([]string{"share"},
			map[string]any{"share": map[string]any{"type": "number", "minimum": 0, "maximum": 1,
				"description": "part of the URLs that is kept"},
				"seed": prop("string", "another text draws other pages")})}, makeSample}
}

func makeSample(_ crawl.Point, with map[string]any) (handler, error) {
	var set struct {
		Share *float64
		Seed  string
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	if set.Share == nil || *set.Share < 0 || *set.Share > 1 {
		return nil, bad("share", "want a number from 0 to 1")
	}
	return func(call *plugin.Call) (*plugin.Answer, error) {
		sum := sha256.Sum256([]byte(set.Seed + " " + urlOf(call.Message)))
		if float64(binary.BigEndian.Uint64(sum[:])>>11)/(1<<53) < *set.Share {
			return pass, nil
		}
		return drop("sample"), nil
	}, nil
}

func urlOf(m plugin.Message) string {
	switch m := m.(type) {
	case *plugin.Request:
		return m.URL
	case *plugin.Response:
		return m.URL
	}
	return pageIn(m).url
}

// language keeps pages of some languages.
func language() *builtin {
	return &builtin{plugin.Descriptor{Name: "lang", Summary: "Keeps pages in some languages",
		Serves: serving(nil, textPoints...),
		Config: object([]string{"keep"}, map[string]any{"keep": texts("languages as BCP 47 has them; en takes en-GB too"),
			"unknown": oneOf("what becomes of pages whose language is not known", "keep", "drop")})}, makeLanguage}
}

func makeLanguage(_ crawl.Point, with map[string]any) (handler, error) {
	var set struct {
		Keep    []string
		Unknown string
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	switch {
	case len(set.Keep) == 0:
		return nil, bad("keep", "want a language at least")
	case set.Unknown != "" && set.Unknown != "keep" && set.Unknown != "drop":
		return nil, bad("unknown", "%q: want keep or drop", set.Unknown)
	}
	return func(call *plugin.Call) (*plugin.Answer, error) {
		lang := pageIn(call.Message).lang
		if lang == "" && set.Unknown != "drop" || speaks(set.Keep, lang) {
			return pass, nil
		}
		return drop("language"), nil
	}, nil
}
