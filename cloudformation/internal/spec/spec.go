// Package spec holds what AWS says of the resource types and actions that the templates and policies use, and checks
// resources against it.
//
// The data are AWS's own: the schemas of its resource registry and the service authorization reference; update.py
// fetches them again. A type or an action that is missing here is one that AWS does not have, or that nobody has added
// yet: both are errors.
package spec

import (
	_ "embed" // the data
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed resources.json
var resources []byte

//go:embed actions.json
var actions []byte

// Action is what AWS says of an action.
type Action struct {
	Keys []string `json:"keys"` // condition keys it knows besides the global ones; * stands for a tag's name
	Wild bool     `json:"wild"` // it knows no resources: only Resource "*" matches
}

// Type is a resource type.
type Type struct {
	Name       string
	schema     map[string]any
	compiled   *jsonschema.Schema
	readOnly   []string // attributes, as in Endpoint.Address
	createOnly []string
}

var types = sync.OnceValues(func() (map[string]*Type, error) {
	var raw map[string]map[string]any
	if err := json.Unmarshal(resources, &raw); err != nil {
		return nil, err
	}
	all := map[string]*Type{}
	for name, schema := range raw {
		t := &Type{Name: name, schema: schema, readOnly: paths(schema["readOnlyProperties"]),
			createOnly: append(paths(schema["createOnlyProperties"]), paths(schema["conditionalCreateOnlyProperties"])...)}
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft7)
		c.UseRegexpEngine(lenient)
		url := "mem:///" + strings.ReplaceAll(name, "::", "-")
		if err := c.AddResource(url, schema); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var err error
		if t.compiled, err = c.Compile(url); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = t
	}
	return all, nil
})

// Lookup returns a resource type.
func Lookup(name string) (*Type, error) {
	all, err := types()
	if err != nil {
		return nil, err
	}
	if t := all[name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s: no such resource type (or it is not in resources.json)", name)
}

// Actions returns all actions of the services that the policies use, by name as in ec2:RunInstances.
func Actions() (map[string]Action, error) {
	var all map[string]Action
	return all, json.Unmarshal(actions, &all)
}

// Attributes returns what Fn::GetAtt may ask of the type, as in Endpoint.Address.
func (t *Type) Attributes() []string { return t.readOnly }

// HasAttribute tells whether Fn::GetAtt may ask for it.
func (t *Type) HasAttribute(name string) bool {
	return slices.Contains(t.readOnly, name) || t.Name == "AWS::CloudFormation::Stack" &&
		strings.HasPrefix(name, "Outputs.")
}

// Replaces tells whether a change of a property makes the resource anew. AWS decides some cases by more than the name
// (a machine's type may change while it stands still); those count as changes in place.
func (t *Type) Replaces(property string) bool {
	if slices.Contains(conditional(t.schema), property) {
		return false
	}
	return slices.ContainsFunc(t.createOnly,
		func(p string) bool { return p == property || strings.HasPrefix(p, property+".") })
}

func conditional(schema map[string]any) []string {
	return paths(schema["conditionalCreateOnlyProperties"])
}

// Check compares a resource's properties with the schema: names, types, required ones, values, and what excludes each
// other. It returns them as AWS would take them, with "20" made 20 where a number is wanted.
func (t *Type) Check(properties map[string]any) (map[string]any, error) {
	coerced, _ := t.coerce(t.schema, properties).(map[string]any)
	var found []error
	for name := range coerced {
		if slices.Contains(t.readOnly, name) && !slices.Contains(writable[t.Name], name) {
			found = append(found, fmt.Errorf("%s: %s is read only", t.Name, name))
		}
	}
	found = append(found, t.relations(t.schema, coerced, t.Name)...)
	if err := t.compiled.Validate(coerced); err != nil {
		found = append(found, fmt.Errorf("%s: %w", t.Name, err))
	}
	return coerced, errors.Join(found...)
}

// writable names properties that the registry lists as read only although they can be set.
var writable = map[string][]string{"AWS::EC2::SecurityGroup": {"GroupId"}}

func paths(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, p := range list {
		s, _ := p.(string)
		out = append(out, strings.ReplaceAll(strings.TrimPrefix(s, "/properties/"), "/", "."))
	}
	return out
}
