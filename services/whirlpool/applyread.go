package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/nearest"
)

// document is a part of a file for apply, and the line of the file that it begins with.
type document struct {
	text []byte
	line int
}

// root reads the document; nil: it has comments alone. What is said of lines is of those of the file.
func (d *document) root() (*yaml.Node, error) {
	var n yaml.Node
	if err := yaml.Unmarshal(append([]byte(strings.Repeat("\n", d.line-1)), d.text...), &n); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(n.Content) == 0 {
		return nil, nil
	}
	if n.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want keys with values, as in id: postings", n.Content[0].Line)
	}
	return n.Content[0], nil
}

// strictly reads a document by the names that its JSON has, but for name, in whose place stands the key that says what
// it is. It has no others.
func strictly(doc *yaml.Node, kind string, to any) error {
	fields := map[string]reflect.Value{}
	fieldsOf(reflect.ValueOf(to).Elem(), fields)
	name := fields["name"]
	delete(fields, "name")
	fields[kind] = name
	names := slices.Sorted(maps.Keys(fields))
	var faults []error
	for i := 0; i+1 < len(doc.Content); i += 2 {
		key, value := doc.Content[i], doc.Content[i+1]
		field, known := fields[key.Value]
		var problem string
		switch {
		case key.Value == "name":
			problem = "name: it is what " + kind + " says"
		case !known:
			problem = fmt.Sprintf("there is no key %s; %s", key.Value, meant(key.Value, names))
		default:
			if problem = readValue(value, field); problem != "" {
				problem = key.Value + ": " + problem
			}
		}
		if problem != "" {
			faults = append(faults, fmt.Errorf("line %d: %s", key.Line, problem))
		}
	}
	return errors.Join(faults...)
}

// fieldsOf finds the fields of a struct by the names that they have in JSON.
func fieldsOf(v reflect.Value, out map[string]reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			fieldsOf(v.Field(i), out)
		case name != "" && name != "-":
			out[name] = v.Field(i)
		}
	}
}

// meant names the key that was probably meant, else all of them.
func meant(key string, names []string) string {
	if best := nearest.To(strings.ToLower(key), names, 2); best != "" {
		return "did you mean " + best + "?"
	}
	return "there are " + strings.Join(names, ", ")
}

// wanted are the kinds of values for people.
var wanted = map[reflect.Kind]string{reflect.String: "a text", reflect.Int: "a whole number",
	reflect.Float64: "a number", reflect.Bool: "true or false", reflect.Slice: "a list of texts, as in [a, b]",
	reflect.Struct: "a time, as in 2026-12-01T08:00:00Z"}

// readValue reads a value, and says what is wrong with it. Empty: nothing.
func readValue(n *yaml.Node, to reflect.Value) string {
	err := n.Decode(to.Addr().Interface())
	if to.Type() == reflect.TypeFor[time.Time]() { // in quotes, too
		var data []byte
		if data, err = json.Marshal(n.Value); err == nil {
			err = json.Unmarshal(data, to.Addr().Interface())
		}
	}
	if err == nil && (n.Tag != "!!float" || to.Kind() != reflect.Int) { // which the library cuts to a whole number
		return ""
	}
	found := map[yaml.Kind]string{yaml.MappingNode: "keys with values", yaml.SequenceNode: "a list"}[n.Kind]
	if found == "" {
		found = fmt.Sprintf("%.60q", n.Value)
	}
	return "want " + wanted[to.Kind()] + ", not " + found
}

// explain finds the job files because of which a server refused to apply, with the lines of the file. Where it is none
// of them, it is err.
func (d *applied) explain(ctx context.Context, c *client.Client, err error) error {
	var faults []error
	for i := range d.jobs {
		j := &d.jobs[i]
		checked, bad := c.Check(ctx, j.Source)
		if bad != nil {
			return err // the server, or who asks
		}
		for _, f := range checked.Faults {
			line := d.lines["workflow "+j.Slug] + max(f.Line-1, 0)
			faults = append(faults, fmt.Errorf("%s: line %d: workflow %s: %s", d.file, line, j.Slug, f.Message))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	return fmt.Errorf("%s: %w", d.file, err)
}
