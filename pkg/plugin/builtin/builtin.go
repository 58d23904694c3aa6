// Package builtin has the plug-ins that come with the program. Their names are builtin/NAME@1. They compute from a
// message alone: no files, no network, no clock. Those at provider and output only say here what they are to read and
// write; the engine does it.
package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Owner is the owner of the built-in plug-ins.
const Owner = "builtin"

// version is that of all of them. A change of what one does gets a number of its own beside the old one.
const version = "1"

// handler answers one call.
type handler func(call *plugin.Call) (*plugin.Answer, error)

// builtin is one of them.
type builtin struct {
	d    plugin.Descriptor
	make func(at crawl.Point, with map[string]any) (handler, error)
}

// All returns the descriptors of all of them, by name.
func All() (out []*plugin.Descriptor) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, &all[name].d)
	}
	return out
}

// Plugin returns the one of a name OWNER/NAME@VERSION.
func Plugin(use string) (plugin.Plugin, bool) {
	b, ok := all[use]
	return b, ok
}

// all has them by what a node's use says.
var all = index(filter(), header(), jsonNode(), csvNode(), feed(), keywords(), redact(), mapping(), language(),
	sample(), urls(), list(), sitemapNode(), pages(), file(), s3(), postgres(), mongodb(), hook())

func index(list ...*builtin) map[string]*builtin {
	out := map[string]*builtin{}
	for _, b := range list {
		b.d.Name, b.d.Version, b.d.Tier, b.d.License = Owner+"/"+b.d.Name, version, plugin.Builtin, "Apache-2.0"
		out[b.d.Use()] = b
	}
	return out
}

// Descriptor implements plugin.Plugin.
func (b *builtin) Descriptor() *plugin.Descriptor { return &b.d }

// Configure implements plugin.Plugin.
func (b *builtin) Configure(_ context.Context, at crawl.Point, with map[string]any) (plugin.Instance, error) {
	if _, ok := b.d.ServesAt(at); !ok {
		return nil, &plugin.ConfigError{Text: fmt.Sprintf("%s does not serve the point %s", b.d.Use(), at)}
	}
	h, err := b.make(at, with)
	if err != nil {
		return nil, err
	}
	return instance{h}, nil
}

// Close implements plugin.Plugin.
func (b *builtin) Close() error { return nil }

type instance struct{ handle handler }

// Handle implements plugin.Instance.
func (i instance) Handle(_ context.Context, call *plugin.Call) (*plugin.Answer, error) {
	return i.handle(call)
}

// Close implements plugin.Instance.
func (instance) Close() error { return nil }

// decode reads settings into a struct. Unknown keys are errors.
func decode(with map[string]any, to any) error {
	text, err := json.Marshal(with)
	if err != nil {
		return &plugin.ConfigError{Text: err.Error()}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err = dec.Decode(to)
	if typed := (*json.UnmarshalTypeError)(nil); errors.As(err, &typed) {
		return &plugin.ConfigError{Path: strings.ToLower(typed.Field),
			Text: fmt.Sprintf("a %s: want %s", typed.Value, kindOf(typed.Type.String()))}
	}
	if err != nil {
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return &plugin.ConfigError{Path: strings.Trim(name, `"`), Text: "there is no such setting"}
		}
		return &plugin.ConfigError{Text: err.Error()}
	}
	return nil
}

func kindOf(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "map"):
		return "an object"
	case goType == "string":
		return "a text"
	case goType == "bool":
		return "true or false"
	}
	return "a number"
}

func bad(path, format string, args ...any) error {
	return &plugin.ConfigError{Path: path, Text: fmt.Sprintf(format, args...)}
}

// serving makes the list of points.
func serving(needs []string, points ...crawl.Point) (out []plugin.Serves) {
	for _, p := range points {
		out = append(out, plugin.Serves{Point: p, Needs: needs})
	}
	return out
}

var (
	pass       = &plugin.Answer{Action: plugin.Pass}
	needsText  = []string{plugin.NeedsText}
	needsBody  = []string{plugin.NeedsBody}
	textPoints = []crawl.Point{crawl.AtDocument, crawl.AtRecord}
)

func drop(reason string) *plugin.Answer { return &plugin.Answer{Action: plugin.Drop, Reason: reason} }

// patchOf is an answer that changes title, text and fields of a document or record; nil keeps.
func patchOf(at crawl.Point, title, text *string, fields map[string]any) *plugin.Answer {
	if title == nil && text == nil && len(fields) == 0 {
		return pass
	}
	if at == crawl.AtRecord {
		return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.RecordPatch{Title: title, Text: text, Fields: fields}}
	}
	return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.DocumentPatch{Title: title, Text: text, Fields: fields}}
}

// pageOf is what documents and records have alike.
type pageOf struct {
	url, title, text, lang string
	fields                 map[string]any
}

func pageIn(m plugin.Message) pageOf {
	switch m := m.(type) {
	case *plugin.Document:
		return pageOf{m.URL, m.Title, m.Text, m.Lang, m.Fields}
	case *plugin.Record:
		return pageOf{m.URL, m.Title, m.Text, m.Lang, m.Fields}
	}
	return pageOf{}
}
