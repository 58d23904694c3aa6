package cfn

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/spec"
)

var functions = map[string]bool{"Base64": true, "Cidr": true, "FindInMap": true, "GetAtt": true, "GetAZs": true,
	"If": true, "Equals": true, "And": true, "Or": true, "Not": true, "Join": true, "Select": true, "Split": true,
	"Sub": true}

var pseudo = []string{"AWS::AccountId", "AWS::NoValue", "AWS::Partition", "AWS::Region", "AWS::StackId",
	"AWS::StackName", "AWS::URLSuffix"}

// substitution is ${NAME}, ${RESOURCE.ATTRIBUTE} or ${!literal}.
var substitution = regexp.MustCompile(`\$\{(!?)([^}]*)\}`)

// reference is a use of another name by a value.
type reference struct {
	kind      string // Ref, GetAtt, Map, Condition, Contains
	name      string
	attribute string
}

// walk calls see for every reference in a value.
func walk(v any, see func(reference) error) error {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			if err := walk(e, see); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, e := range x {
			if err := use(k, e, see); err != nil {
				return err
			}
			if len(x) > 1 && (k == "Ref" || strings.HasPrefix(k, "Fn::")) {
				return fmt.Errorf("%s stands beside other keys", k)
			}
			if err := walk(e, see); err != nil {
				return err
			}
		}
	}
	return nil
}

// use calls see for the reference that a function is itself.
func use(function string, argument any, see func(reference) error) error {
	switch function {
	case "Ref":
		return see(reference{kind: "Ref", name: text(argument)})
	case "Condition":
		if s, ok := argument.(string); ok {
			return see(reference{kind: "Condition", name: s})
		}
	case "Fn::If":
		if l := list(argument); len(l) == 3 {
			return see(reference{kind: "Condition", name: text(l[0])})
		}
		return fmt.Errorf("Fn::If wants a condition and two values")
	case "Fn::GetAtt":
		l := list(argument)
		if len(l) != 2 {
			return fmt.Errorf("Fn::GetAtt wants a resource and an attribute")
		}
		return see(reference{"GetAtt", text(l[0]), text(l[1])})
	case "Fn::FindInMap":
		l := list(argument)
		if len(l) != 3 {
			return fmt.Errorf("Fn::FindInMap wants a map and two keys")
		}
		return see(reference{kind: "Map", name: text(l[0])})
	case "Fn::Contains":
		return see(reference{kind: "Contains"})
	case "Fn::Sub":
		return substitutions(argument, see)
	default:
		if strings.HasPrefix(function, "Fn::") && !functions[strings.TrimPrefix(function, "Fn::")] {
			return fmt.Errorf("%s is no function", function)
		}
	}
	return nil
}

func substitutions(argument any, see func(reference) error) error {
	own := map[string]any{}
	if l := list(argument); len(l) == 2 {
		argument = l[0]
		own, _ = l[1].(map[string]any)
	}
	s, ok := argument.(string)
	if !ok {
		return fmt.Errorf("Fn::Sub wants a text")
	}
	for _, m := range substitution.FindAllStringSubmatch(s, -1) {
		if m[1] == "!" || own[m[2]] != nil {
			continue
		}
		r := reference{kind: "Ref", name: m[2]}
		if name, attribute, ok := strings.Cut(m[2], "."); ok {
			r = reference{"GetAtt", name, attribute}
		}
		if err := see(r); err != nil {
			return err
		}
	}
	return nil
}

// check finds references to what the template does not have.
func (t *Template) check() error {
	if err := t.checkRules(); err != nil {
		return err
	}
	for name, v := range t.Conditions {
		if err := walk(v, func(r reference) error { return t.known(r, false) }); err != nil {
			return fmt.Errorf("condition %s: %w", name, err)
		}
	}
	for _, name := range t.Names() {
		r := t.Resources[name]
		if _, err := spec.Lookup(r.Type); err != nil {
			return worded("Unrecognized resource types: [%s]: %w", r.Type, err)
		}
		if r.Condition != "" && t.Conditions[r.Condition] == nil {
			return fmt.Errorf("resource %s: unresolved condition %s", name, r.Condition)
		}
		for _, d := range r.DependsOn {
			if t.Resources[d] == nil {
				return fmt.Errorf("resource %s: unresolved resource dependencies [%s]", name, d)
			}
		}
		for _, v := range []map[string]any{r.Properties, r.CreationPolicy, r.UpdatePolicy} {
			if err := walk(v, func(ref reference) error { return t.known(ref, true) }); err != nil {
				return fmt.Errorf("resource %s: %w", name, err)
			}
		}
	}
	for name, o := range t.Outputs {
		if err := walk(o.Value, func(r reference) error { return t.known(r, true) }); err != nil {
			return fmt.Errorf("output %s: %w", name, err)
		}
	}
	return nil
}

func (t *Template) known(r reference, resources bool) error {
	switch r.kind {
	case "Contains":
		return fmt.Errorf("Fn::Contains stands in rules only")
	case "Ref":
		if _, ok := t.Parameters[r.name]; ok || slices.Contains(pseudo, r.name) || resources && t.Resources[r.name] != nil {
			return nil
		}
		return fmt.Errorf("unresolved reference to %s", r.name)
	case "Condition":
		if t.Conditions[r.name] == nil {
			return fmt.Errorf("unresolved condition %s", r.name)
		}
	case "Map":
		if t.Mappings[r.name] == nil {
			return fmt.Errorf("no mapping is called %s", r.name)
		}
	case "GetAtt":
		other := t.Resources[r.name]
		if other == nil || !resources {
			return fmt.Errorf("unresolved reference to %s.%s", r.name, r.attribute)
		}
		ty, err := spec.Lookup(other.Type)
		if err != nil {
			return err
		}
		if !ty.HasAttribute(r.attribute) {
			return fmt.Errorf("%s has no attribute %s; it has %v", other.Type, r.attribute, ty.Attributes())
		}
	}
	return nil
}

// Needs returns the resources that must be there before this one is made.
func (t *Template) Needs(r *Resource) []string {
	needs := map[string]bool{}
	for _, d := range r.DependsOn {
		needs[d] = true
	}
	for _, v := range []map[string]any{r.Properties, r.CreationPolicy} {
		_ = walk(v, func(ref reference) error {
			if t.Resources[ref.name] != nil && (ref.kind == "Ref" || ref.kind == "GetAtt") {
				needs[ref.name] = true
			}
			return nil
		})
	}
	return slices.Sorted(maps.Keys(needs))
}

// Order returns the names of all resources, each after those it needs. AWS makes at the same time what does not need
// each other; here it comes in the order of the names, or in the opposite one, so that a dependency that is missing
// shows in one of the two.
func (t *Template) Order(backward bool) ([]string, error) {
	var order []string
	state := map[string]int{} // 1: on the way, 2: done
	var visit func(name string) error
	visit = func(name string) error {
		switch state[name] {
		case 1:
			return fmt.Errorf("circular dependency between resources: [%s]", name)
		case 2:
			return nil
		}
		state[name] = 1
		for _, n := range turned(t.Needs(t.Resources[name]), backward) {
			if err := visit(n); err != nil {
				return err
			}
		}
		state[name] = 2
		order = append(order, name)
		return nil
	}
	for _, name := range turned(t.Names(), backward) {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return order, nil
}

func turned(names []string, backward bool) []string {
	if backward {
		slices.Reverse(names)
	}
	return names
}
