package builtin

import (
	"maps"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/expr"
)

func speaks(keep []string, lang string) bool {
	lang = strings.ToLower(lang)
	return lang != "" && slices.ContainsFunc(keep, func(k string) bool {
		k = strings.ToLower(k)
		return lang == k || strings.HasPrefix(lang, k+"-")
	})
}

// header sets fields of the request's header.
func header() *builtin {
	return &builtin{plugin.Descriptor{Name: "header", Summary: "Sets and removes fields of the request's header",
		Serves: serving(nil, crawl.AtRequest),
		Config: object(nil, map[string]any{"set": byName("fields and their values"),
			"remove": texts("fields that are left out")})}, makeHeader}
}

func makeHeader(_ crawl.Point, with map[string]any) (handler, error) {
	var set struct {
		Set    map[string]string
		Remove []string
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	headers := map[string][]string{}
	for _, name := range set.Remove {
		headers[textproto.CanonicalMIMEHeaderKey(name)] = nil
	}
	for name, value := range set.Set {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, bad("set."+name, "%q cannot stand in a header", value)
		}
		if secret.IsReference(value) { // it would be sent as it stands, to all hosts
			return nil, bad("set."+name, "%s: this node knows no secrets, and would send these words to all hosts: "+
				"name the field in headers of the job, which sends it to the hosts of the seeds", value)
		}
		headers[textproto.CanonicalMIMEHeaderKey(name)] = []string{value}
	}
	if len(headers) == 0 {
		return nil, bad("", "want a field in set or remove")
	}
	answer := &plugin.Answer{Action: plugin.Patch, Patch: &plugin.RequestPatch{Headers: headers}}
	return func(*plugin.Call) (*plugin.Answer, error) { return answer, nil }, nil
}

// mapping computes, renames and removes fields.
func mapping() *builtin {
	return &builtin{plugin.Descriptor{Name: "map", Summary: "Computes fields by expressions, renames and removes them",
		Serves: serving(needsText, textPoints...),
		Config: object(nil, map[string]any{"set": byName("expressions, by the field that gets their value; nil removes it"),
			"rename": byName("new names, by the old ones"), "remove": texts("fields that go")})}, makeMapping}
}

func makeMapping(at crawl.Point, with map[string]any) (handler, error) {
	var set struct {
		Set, Rename map[string]string
		Remove      []string
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	programs := map[string]*expr.Program{}
	for name, text := range set.Set {
		p, err := expr.Compile(at, text)
		if err != nil {
			return nil, bad("set."+name, "%v", err)
		}
		programs[name] = p
	}
	if len(set.Set)+len(set.Rename)+len(set.Remove) == 0 {
		return nil, bad("", "want set, rename or remove")
	}
	names := slices.Sorted(maps.Keys(programs))
	return func(call *plugin.Call) (*plugin.Answer, error) {
		fields, had := map[string]any{}, pageIn(call.Message).fields
		for old, name := range set.Rename {
			if v, ok := had[old]; ok {
				fields[old], fields[name] = nil, v
			}
		}
		for _, name := range set.Remove {
			if _, ok := had[name]; ok {
				fields[name] = nil
			}
		}
		for _, name := range names {
			v, err := programs[name].Value(call.Message)
			if err != nil {
				return nil, err
			}
			fields[name] = v
		}
		return patchOf(at, nil, nil, fields), nil
	}, nil
}
