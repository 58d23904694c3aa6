package jobdoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// node is a JSON Schema (2020-12), or a part of one.
type node struct {
	Schema      string     `json:"$schema,omitempty"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Type        any        `json:"type"` // a name, or names
	Default     any        `json:"default,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Pattern     string     `json:"pattern,omitempty"`
	Minimum     *float64   `json:"minimum,omitempty"`
	Maximum     *float64   `json:"maximum,omitempty"`
	Items       *node      `json:"items,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Closed      *bool      `json:"additionalProperties,omitempty"`
}

// properties keep their order.
type properties []property

type property struct {
	name string
	node *node
}

// MarshalJSON implements json.Marshaler.
func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, e := range p {
		b.WriteByte("{,"[min(i, 1)])
		name, err := json.Marshal(e.name)
		if err != nil {
			return nil, err
		}
		value, err := plain(e.node)
		if err != nil {
			return nil, err
		}
		b.Write(append(append(name, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain encodes without escaping what HTML would need.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// What times and sizes look like.
const (
	durationPattern = `^(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*)$`
	sizePattern     = `^\s*[0-9]+(\.[0-9]+)?\s*([kKmMgG]([iI]?[bB])?|[bB])?\s*$`
)

// Schema writes the JSON Schema.
func Schema(keys []Key) ([]byte, error) {
	root := object(keys)
	root.Schema, root.Title = "https://json-schema.org/draft/2020-12/schema", "Whirlpool job file"
	root.Description = "Made of the program by `go generate ./pkg/control/jobfile`; docs/jobfile.md says the same for " +
		"people."
	compact, err := plain(root)
	if err != nil {
		return nil, fmt.Errorf("schema of the job file: %w", err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("schema of the job file: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func object(keys []Key) *node {
	n := &node{Type: "object", Closed: new(bool)}
	for _, k := range keys {
		n.Properties = append(n.Properties, property{k.Name, describe(k)})
	}
	return n
}

func describe(k Key) *node {
	var n *node
	switch {
	case isSection(k.Type):
		n = object(k.Keys)
	case k.Type.Kind() == reflect.Slice && k.Keys != nil:
		n = &node{Type: "array", Items: object(k.Keys)}
	case k.Type.Kind() == reflect.Slice:
		n = &node{Type: "array", Items: &node{Type: "string"}}
	case k.Type.Kind() == reflect.Map:
		n = &node{Type: "object"}
	default:
		n = scalar(k)
	}
	n.Description = k.Doc
	if v := k.Default; v.IsValid() && !v.IsZero() && !isSection(k.Type) {
		n.Default = v.Interface()
	}
	return n
}

func scalar(k Key) *node {
	b, isNumber := crawl.BoundOf(k.Path, k.Type)
	switch {
	case k.Type == durationType:
		return &node{Type: "string", Pattern: durationPattern}
	case k.Type == sizeType:
		return &node{Type: []string{"string", "integer"}, Pattern: sizePattern, Minimum: &b.Min, Maximum: &b.Max}
	case k.Type.Kind() == reflect.Float64:
		return &node{Type: "number", Minimum: &b.Min, Maximum: &b.Max}
	case isNumber:
		return &node{Type: "integer", Minimum: &b.Min, Maximum: &b.Max}
	case k.Type.Kind() == reflect.Bool:
		return &node{Type: "boolean"}
	}
	return &node{Type: "string", Enum: k.Enum}
}
