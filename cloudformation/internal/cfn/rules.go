package cfn

import (
	"fmt"
	"maps"
	"slices"
)

// Rule is a condition on parameters that belong together: where it holds, each of its assertions must.
type Rule struct {
	When       any // nil: always
	Assertions []Assertion
}

// Assertion is what a rule wants, and what is said where it is not so.
type Assertion struct {
	Assert      any
	Description string
}

func rule(name string, v any) (Rule, error) {
	m, _ := v.(map[string]any)
	r := Rule{When: m["RuleCondition"]}
	for k := range m {
		if k != "RuleCondition" && k != "Assertions" {
			return r, fmt.Errorf("rule %s: %s is no attribute of rules", name, k)
		}
	}
	for _, a := range list(m["Assertions"]) {
		x, _ := a.(map[string]any)
		description, _ := x["AssertDescription"].(string)
		if x["Assert"] == nil {
			return r, fmt.Errorf("rule %s has an assertion that asserts nothing", name)
		}
		r.Assertions = append(r.Assertions, Assertion{x["Assert"], description})
	}
	if len(r.Assertions) == 0 {
		return r, fmt.Errorf("rule %s asserts nothing", name)
	}
	return r, nil
}

// checkRules finds rules that speak of what is no parameter: AWS looks at them before there is anything else.
func (t *Template) checkRules() error {
	for name, r := range t.Rules {
		values := []any{r.When}
		for _, a := range r.Assertions {
			values = append(values, a.Assert)
		}
		if err := walk(values, func(ref reference) error {
			switch ref.kind {
			case "Ref":
				return t.known(ref, false)
			case "Contains":
				return nil
			}
			return fmt.Errorf("%s %s in a rule, which knows parameters only", ref.kind, ref.name)
		}); err != nil {
			return fmt.Errorf("rule %s: %w", name, err)
		}
	}
	return nil
}

// obey compares the parameters with the rules.
func (t *Template) obey(values map[string]string) error {
	e := &Env{Template: t, Parameters: values}
	for _, name := range slices.Sorted(maps.Keys(t.Rules)) {
		r := t.Rules[name]
		if r.When != nil {
			if yes, err := e.truth(r.When); err != nil || !yes {
				if err != nil {
					return err
				}
				continue
			}
		}
		for _, a := range r.Assertions {
			yes, err := e.truth(a.Assert)
			if err != nil {
				return err
			}
			if !yes {
				return worded("Template validation error: Rule %s: %s", name, a.Description)
			}
		}
	}
	return nil
}

// contains is Fn::Contains, of rules only: whether a list has a text.
func (e *Env) contains(of, wanted any) (bool, error) {
	all, err := e.Eval(of)
	if err != nil {
		return false, err
	}
	w, err := e.Eval(wanted)
	return slices.ContainsFunc(list(all), func(v any) bool { return text(v) == text(w) }), err
}
