package cfn

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Template is a template that was read; its values are not evaluated.
type Template struct {
	Description string
	Parameters  map[string]Parameter
	Mappings    map[string]any
	Conditions  map[string]any
	Rules       map[string]Rule
	Resources   map[string]*Resource
	Outputs     map[string]Output
}

// Resource is one resource of a template.
type Resource struct {
	Name           string
	Type           string
	Condition      string
	DependsOn      []string
	Properties     map[string]any
	CreationPolicy map[string]any
	UpdatePolicy   map[string]any
	DeletionPolicy string // Delete, Retain, RetainExceptOnCreate or Snapshot
}

// Output is one output; Value is not evaluated.
type Output struct {
	Condition string
	Value     any
}

// Limits of AWS on a template.
const (
	maxResources  = 500
	maxParameters = 200
	maxOutputs    = 200
)

var logicalName = regexp.MustCompile(`^[A-Za-z0-9]{1,255}$`)

// Parse reads a template and checks everything that can be known without evaluating it: sections, names, references,
// functions, cycles.
func Parse(text []byte) (*Template, error) {
	raw, err := decode(text)
	if err != nil {
		return nil, worded("Template format error: %w", err)
	}
	t, err := build(raw)
	if err == nil {
		err = t.check()
	}
	if err == nil {
		_, err = t.Order(false)
	}
	if err != nil {
		return nil, worded("Template format error: %w", err)
	}
	return t, nil
}

var sections = []string{"AWSTemplateFormatVersion", "Description", "Metadata", "Parameters", "Rules", "Mappings",
	"Conditions", "Resources", "Outputs"}

func build(raw map[string]any) (*Template, error) {
	for name := range raw {
		if !slices.Contains(sections, name) {
			return nil, fmt.Errorf("invalid template property: %s", name)
		}
	}
	if v := raw["AWSTemplateFormatVersion"]; v != "2010-09-09" {
		return nil, fmt.Errorf("template format version %v is not supported", v)
	}
	t := &Template{Parameters: map[string]Parameter{}, Resources: map[string]*Resource{}, Outputs: map[string]Output{},
		Rules: map[string]Rule{}, Mappings: section(raw, "Mappings"), Conditions: section(raw, "Conditions")}
	t.Description, _ = raw["Description"].(string)
	if len(t.Description) > 1024 {
		return nil, fmt.Errorf("the description has more than 1024 characters")
	}
	for name, v := range section(raw, "Parameters") {
		p, err := parameter(name, v)
		if err != nil {
			return nil, err
		}
		t.Parameters[name] = p
	}
	for name, v := range section(raw, "Resources") {
		r, err := resource(name, v)
		if err != nil {
			return nil, err
		}
		if _, both := t.Parameters[name]; both {
			return nil, fmt.Errorf("%s is a parameter and a resource", name)
		}
		t.Resources[name] = r
	}
	if err := errors.Join(t.addRules(section(raw, "Rules")), t.addOutputs(section(raw, "Outputs"))); err != nil {
		return nil, err
	}
	switch {
	case len(t.Resources) == 0:
		return nil, fmt.Errorf("at least one Resources member must be defined")
	case len(t.Resources) > maxResources || len(t.Parameters) > maxParameters || len(t.Outputs) > maxOutputs:
		return nil, fmt.Errorf("more than %d resources, %d parameters or %d outputs", maxResources, maxParameters, maxOutputs)
	}
	return t, nil
}

func (t *Template) addRules(rules map[string]any) (err error) {
	for name, v := range rules {
		if t.Rules[name], err = rule(name, v); err != nil {
			return err
		}
	}
	return nil
}

func (t *Template) addOutputs(outputs map[string]any) error {
	for name, v := range outputs {
		m, _ := v.(map[string]any)
		if m["Value"] == nil {
			return fmt.Errorf("output %s has no value", name)
		}
		condition, _ := m["Condition"].(string)
		t.Outputs[name] = Output{condition, m["Value"]}
	}
	return nil
}

func section(raw map[string]any, name string) map[string]any {
	m, _ := raw[name].(map[string]any)
	return m
}

var attributes = []string{"Type", "Properties", "DependsOn", "Condition", "CreationPolicy", "UpdatePolicy",
	"DeletionPolicy", "UpdateReplacePolicy", "Metadata"}

func resource(name string, v any) (*Resource, error) {
	m, _ := v.(map[string]any)
	for k := range m {
		if !slices.Contains(attributes, k) {
			return nil, fmt.Errorf("resource %s: %s is no attribute of resources", name, k)
		}
	}
	r := &Resource{Name: name, Properties: section(m, "Properties"), CreationPolicy: section(m, "CreationPolicy"),
		UpdatePolicy: section(m, "UpdatePolicy"), DeletionPolicy: "Delete"}
	r.Type, _ = m["Type"].(string)
	r.Condition, _ = m["Condition"].(string)
	switch d := m["DependsOn"].(type) {
	case string:
		r.DependsOn = []string{d}
	case []any:
		for _, x := range d {
			s, _ := x.(string)
			r.DependsOn = append(r.DependsOn, s)
		}
	}
	if d, ok := m["DeletionPolicy"].(string); ok {
		r.DeletionPolicy = d
	}
	switch {
	case !logicalName.MatchString(name):
		return nil, fmt.Errorf("resource name %q: only letters and digits", name)
	case !strings.HasPrefix(r.Type, "AWS::"):
		return nil, fmt.Errorf("resource %s has no type", name)
	case !slices.Contains([]string{"Delete", "Retain", "RetainExceptOnCreate", "Snapshot"}, r.DeletionPolicy):
		return nil, fmt.Errorf("resource %s: DeletionPolicy %s", name, r.DeletionPolicy)
	case r.DeletionPolicy == "Snapshot" && !snapshots[r.Type]:
		return nil, fmt.Errorf("resource %s: %s has no snapshots", name, r.Type)
	}
	return r, nil
}

// snapshots names the types that DeletionPolicy Snapshot is for.
var snapshots = map[string]bool{"AWS::EC2::Volume": true, "AWS::RDS::DBInstance": true}

// Names returns the names of the resources in order.
func (t *Template) Names() []string { return slices.Sorted(maps.Keys(t.Resources)) }

// worded is an error in AWS's own words, capitals and full stops as they are.
func worded(format string, args ...any) error { return fmt.Errorf(format, args...) }
