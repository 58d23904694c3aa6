// Package jobdoc describes the job file: docs/jobfile.md for people and a JSON Schema for editors, both made of the
// struct crawl.Job, its comments, its defaults and its bounds. `go generate ./pkg/control/jobfile` writes them; a test
// says when they are stale.
package jobdoc

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Key is a key of the job file.
type Key struct {
	Path    string // "politeness.delay"; of the items of a list the list's key: "rules.links.weight"
	Name    string // its last part
	Doc     string
	Type    reflect.Type
	Default reflect.Value // invalid for the keys of items
	Keys    []Key         // of a section, or of the items of a list of sections
	Enum    []string      // all values; nil: there are more
}

// enums are the texts of which there are few.
var enums = map[string][]string{
	"scope":                       {"domain", "host", "prefix", "any"},
	"order":                       {"priority", "breadth"},
	"mode":                        {"", "once", "continuous"},
	"politeness.preset":           {"", "mercator"},
	"assets.scope":                {"", "any", "job"},
	"render.mode":                 {"", "never", "auto", "always"},
	"render.rules.mode":           {"never", "auto", "always"},
	"cookies":                     {"", "on", "off"},
	"network.ip":                  {"", "4", "6"},
	"lifecycle.on_limit":          {"", "stop"},
	"lifecycle.retention.records": {"", "keep", "drop"},
	"pipeline.nodes.at":           names(crawl.NodePoints()),
	"pipeline.nodes.on_error":     append([]string{""}, names(crawl.OnErrors())...),
	"rules.fields.type":           crawl.FieldTypes(),
	"select.fields.type":          crawl.FieldTypes(),
}

func names[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// Keys returns the keys of a job in their order. sources are the texts of the files that declare crawl.Job and what it
// is made of.
func Keys(sources ...[]byte) ([]Key, error) {
	d := describer{comments: map[string]string{}}
	for _, source := range sources {
		comments, err := commentsOf(source)
		if err != nil {
			return nil, err
		}
		maps.Copy(d.comments, comments)
	}
	keys := d.section(reflect.TypeFor[crawl.Job](), reflect.ValueOf(crawl.DefaultJob()), "")
	if len(d.missing) > 0 {
		return nil, fmt.Errorf("no comment in pkg/crawl says what these keys mean: %s; write one, then `go generate "+
			"./pkg/control/jobfile`",
			strings.Join(d.missing, ", "))
	}
	return keys, nil
}

type describer struct {
	comments map[string]string // by type and field
	missing  []string
}

// section describes the keys of a struct. Values are the defaults; invalid where there are none.
func (d *describer) section(t reflect.Type, values reflect.Value, path string) (keys []Key) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := crawl.KeyOf(f)
		if name == "" {
			continue
		}
		k := Key{Path: strings.TrimPrefix(path+"."+name, "."), Name: name, Type: f.Type, Doc: d.comments[t.Name()+"."+f.Name]}
		k.Enum = enums[k.Path]
		if values.IsValid() {
			k.Default = values.Field(i)
		}
		if k.Doc == "" {
			d.missing = append(d.missing, k.Path)
		}
		switch {
		case isSection(f.Type):
			k.Keys = d.section(f.Type, k.Default, k.Path)
		case f.Type.Kind() == reflect.Slice && isSection(f.Type.Elem()):
			k.Keys = d.section(f.Type.Elem(), reflect.Value{}, k.Path)
		}
		keys = append(keys, k)
	}
	return keys
}

func isSection(t reflect.Type) bool { return t.Kind() == reflect.Struct }

// commentsOf reads the comments of the fields of all structs in a source file.
func commentsOf(source []byte) (map[string]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "job.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("comments of the job: %w", err)
	}
	comments := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					comments[spec.Name.Name+"."+name.Name] = oneLine(f.Doc.Text() + " " + f.Comment.Text())
				}
			}
		}
		return false
	})
	return comments, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// format writes a value as in a job file; "" where there is none.
func format(v reflect.Value) string {
	if !v.IsValid() {
		return ""
	}
	if b, ok := crawl.BoundOf("", v.Type()); ok && b.Max > 0 {
		return number(v)
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.String:
		return v.String()
	case reflect.Slice:
		var items []string
		for i := range v.Len() {
			items = append(items, format(v.Index(i)))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return ""
}

func number(v reflect.Value) string {
	if v.CanFloat() {
		return crawl.Format(v.Float(), v.Type())
	}
	return crawl.Format(float64(v.Int()), v.Type())
}
