// Package cfn reads CloudFormation templates and evaluates them as AWS does: parameters, conditions, mappings,
// intrinsic functions, and the order in which resources are made. It refuses what AWS refuses. It knows no service;
// internal/fakeaws makes the resources.
package cfn

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// MaxBody is the size of the largest template that AWS takes from S3.
const MaxBody = 1 << 20

// node makes plain values of YAML: maps, lists, strings, bools, ints and floats, the short forms of functions written
// out.
func node(n *yaml.Node, depth int) (any, error) {
	if depth > 64 {
		return nil, fmt.Errorf("line %d: nested too deeply", n.Line)
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return nil, fmt.Errorf("line %d: YAML aliases are not allowed in CloudFormation templates", n.Line)
	}
	v, err := plain(n, depth)
	if err != nil || !strings.HasPrefix(n.Tag, "!") || strings.HasPrefix(n.Tag, "!!") {
		return v, err
	}
	name := strings.TrimPrefix(n.Tag, "!")
	switch name {
	case "Ref", "Condition":
		return map[string]any{name: v}, nil
	case "GetAtt":
		if s, ok := v.(string); ok {
			resource, attribute, _ := strings.Cut(s, ".")
			v = []any{resource, attribute}
		}
	}
	if !functions[name] {
		return nil, fmt.Errorf("line %d: no function is called !%s", n.Line, name)
	}
	return map[string]any{"Fn::" + name: v}, nil
}

func plain(n *yaml.Node, depth int) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if _, twice := m[key]; twice {
				return nil, fmt.Errorf("line %d: %s stands twice", n.Content[i].Line, key)
			}
			v, err := node(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			m[key] = v
		}
		return m, nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := node(c, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	}
	return scalar(n)
}

func scalar(n *yaml.Node) (any, error) {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Value, nil
	}
	switch {
	case n.Tag == "!!null" || n.Value == "" && n.Tag == "!!str":
		return nil, fmt.Errorf("line %d: null values are not allowed in templates", n.Line)
	case n.Tag == "!!bool":
		return strconv.ParseBool(strings.ToLower(n.Value))
	case n.Tag == "!!int":
		return strconv.Atoi(n.Value)
	case n.Tag == "!!float":
		return strconv.ParseFloat(n.Value, 64)
	}
	return n.Value, nil // dates too: 2010-09-09 stays what it is
}

// decode reads a template's text.
func decode(text []byte) (map[string]any, error) {
	if len(text) > MaxBody {
		return nil, fmt.Errorf("the template has %d bytes, more than %d", len(text), MaxBody)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	if len(root.Content) != 1 {
		return nil, fmt.Errorf("the template is empty")
	}
	v, err := node(root.Content[0], 0)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the template is no mapping")
	}
	return m, nil
}
