package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Schema checks the settings of nodes.
type Schema struct{ compiled *jsonschema.Schema }

// SchemaOf compiles the schema of a plug-in's settings. A plug-in without one takes no settings.
func SchemaOf(d *plugin.Descriptor) (*Schema, error) {
	doc := map[string]any{"type": "object", "additionalProperties": false}
	if len(d.Config) > 0 {
		doc = d.Config
	}
	value, err := asJSON(doc)
	if err != nil {
		return nil, err
	}
	const name = "settings.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{}) // a schema of somebody else must not read files or ask the network
	if err := c.AddResource(name, value); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON Schema: %w", err)
	}
	return &Schema{compiled}, nil
}

// nothing loads no other schema.
type nothing struct{}

// Load implements jsonschema.URLLoader.
func (nothing) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is another schema: want all of it in [config]", url)
}

// Check finds what is wrong with settings.
func (s *Schema) Check(with map[string]any) []*plugin.ConfigError {
	if with == nil {
		with = map[string]any{}
	}
	value, err := asJSON(with)
	if err != nil {
		return []*plugin.ConfigError{{Text: err.Error()}}
	}
	err = s.compiled.Validate(value)
	var bad *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &bad):
		return []*plugin.ConfigError{{Text: err.Error()}}
	}
	return leaves(nil, bad)
}

var printer = message.NewPrinter(language.English)

// leaves are the faults themselves, without what they are a part of.
func leaves(out []*plugin.ConfigError, e *jsonschema.ValidationError) []*plugin.ConfigError {
	for _, cause := range e.Causes {
		out = leaves(out, cause)
	}
	if len(e.Causes) == 0 {
		out = append(out, &plugin.ConfigError{Path: pathOf(e.InstanceLocation), Text: e.ErrorKind.LocalizedString(printer)})
	}
	return out
}

// pathOf writes a place as fields[2].name.
func pathOf(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		if _, err := strconv.Atoi(t); err == nil {
			b.WriteString("[" + t + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(t)
	}
	return b.String()
}

// asJSON makes a value one as the JSON reader makes it.
func asJSON(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// plainObject makes a table of TOML an object as JSON has it.
func plainObject(v map[string]any) (map[string]any, error) {
	if v == nil {
		return nil, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(text, &out)
}
