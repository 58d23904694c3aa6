package spec

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// lenient compiles a pattern of the registry. They are written for other engines: what Go's does not know (look-ahead)
// matches all.
func lenient(pattern string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		re = regexp.MustCompile("")
	}
	return re, nil
}

// coerce makes the scalars of a value those that the schema wants, as CloudFormation does: parameters are all strings.
func (t *Type) coerce(schema map[string]any, value any) any {
	schema = t.deref(schema)
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for name, x := range v {
			sub, _ := properties[name].(map[string]any)
			out[name] = t.coerce(sub, x)
		}
		return out
	case []any:
		items, _ := schema["items"].(map[string]any)
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = t.coerce(items, x)
		}
		return out
	}
	return scalar(schema["type"], value)
}

func scalar(wanted, value any) any {
	kind, _ := wanted.(string)
	switch kind {
	case "integer", "number":
		if s, ok := value.(string); ok {
			if n, err := strconv.ParseFloat(s, 64); err == nil {
				return n
			}
		}
	case "boolean":
		if s, ok := value.(string); ok && (s == "true" || s == "false") {
			return s == "true"
		}
	case "string":
		switch value.(type) {
		case bool, int, int64, float64:
			return fmt.Sprint(value)
		}
	}
	if n, ok := value.(int); ok {
		return float64(n)
	}
	return value
}

func (t *Type) deref(schema map[string]any) map[string]any {
	for range 8 {
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		var at any = t.schema
		for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			m, _ := at.(map[string]any)
			at = m[step]
		}
		schema, _ = at.(map[string]any)
	}
	return schema
}

// relations checks what JSON schema has no word for: cfn-lint's requiredXor, requiredOr and dependentExcluded.
func (t *Type) relations(schema map[string]any, value any, at string) []error {
	schema = t.deref(schema)
	var found []error
	switch v := value.(type) {
	case map[string]any:
		if names := words(schema["requiredXor"]); len(names) > 0 && count(v, names) != 1 {
			found = append(found, fmt.Errorf("%s: exactly one of %v must be set", at, names))
		}
		if names := words(schema["requiredOr"]); len(names) > 0 && count(v, names) == 0 {
			found = append(found, fmt.Errorf("%s: one of %v must be set", at, names))
		}
		excluded, _ := schema["dependentExcluded"].(map[string]any)
		for name, others := range excluded {
			if _, set := v[name]; set && count(v, words(others)) > 0 {
				found = append(found, fmt.Errorf("%s: %s excludes %v", at, name, words(others)))
			}
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, x := range v {
			if sub, ok := properties[name].(map[string]any); ok {
				found = append(found, t.relations(sub, x, at+"."+name)...)
			}
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i, x := range v {
			found = append(found, t.relations(items, x, fmt.Sprintf("%s[%d]", at, i))...)
		}
	}
	return found
}

func count(v map[string]any, names []string) (n int) {
	for _, name := range names {
		if _, ok := v[name]; ok {
			n++
		}
	}
	return n
}

func words(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
