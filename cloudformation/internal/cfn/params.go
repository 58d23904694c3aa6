package cfn

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Parameter is a declared parameter.
type Parameter struct {
	Name          string
	Type          string
	Default       *string
	NoEcho        bool
	AllowedValues []string
	pattern       *regexp.Regexp
	min, max      *float64
	minLen        int
	maxLen        int
}

// maxValue is the longest value of a parameter that AWS takes, in bytes.
const maxValue = 4096

// types of parameters; those with an AWS type are looked up in the account.
var parameterTypes = []string{"String", "Number", "CommaDelimitedList", "List<Number>", "AWS::EC2::KeyPair::KeyName",
	"AWS::EC2::Image::Id", "AWS::EC2::VPC::Id", "AWS::EC2::Subnet::Id", "AWS::EC2::SecurityGroup::Id"}

var parameterAttributes = []string{"Type", "Default", "Description", "AllowedPattern", "AllowedValues",
	"ConstraintDescription", "MinValue", "MaxValue", "MinLength", "MaxLength", "NoEcho"}

func parameter(name string, v any) (Parameter, error) {
	m, _ := v.(map[string]any)
	p := Parameter{Name: name, maxLen: maxValue}
	for k := range m {
		if !slices.Contains(parameterAttributes, k) {
			return p, fmt.Errorf("parameter %s: %s is no attribute of parameters", name, k)
		}
	}
	p.Type, _ = m["Type"].(string)
	if !slices.Contains(parameterTypes, p.Type) {
		return p, fmt.Errorf("parameter %s: unrecognized type %q", name, p.Type)
	}
	if d, ok := m["Default"]; ok {
		s := text(d)
		p.Default = &s
	}
	if s, ok := m["AllowedPattern"].(string); ok {
		re, err := regexp.Compile("^(?:" + s + ")$")
		if err != nil {
			return p, fmt.Errorf("parameter %s: %w", name, err)
		}
		p.pattern = re
	}
	for _, a := range list(m["AllowedValues"]) {
		p.AllowedValues = append(p.AllowedValues, text(a))
	}
	p.NoEcho, _ = m["NoEcho"].(bool)
	p.min, p.max = number(m["MinValue"]), number(m["MaxValue"])
	if n := number(m["MinLength"]); n != nil {
		p.minLen = int(*n)
	}
	if n := number(m["MaxLength"]); n != nil {
		p.maxLen = int(*n)
	}
	if p.Default != nil {
		return p, p.check(*p.Default)
	}
	return p, nil
}

// check compares a value with what the parameter allows, in AWS's words.
func (p Parameter) check(value string) error {
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case len(value) > p.maxLen || len(value) < p.minLen:
		return worded("Parameter '%s' must contain %d to %d characters", p.Name, p.minLen, p.maxLen)
	case p.Type == "Number" && err != nil:
		return worded("Parameter '%s' must be a number", p.Name)
	case len(p.AllowedValues) > 0 && !slices.Contains(p.AllowedValues, value):
		return worded("Parameter '%s' must be one of AllowedValues", p.Name)
	case p.pattern != nil && !p.pattern.MatchString(value):
		return worded("Parameter '%s' must match pattern %s", p.Name, p.pattern)
	case p.min != nil && n < *p.min:
		return worded("Parameter '%s' must be a number not less than %v", p.Name, *p.min)
	case p.max != nil && n > *p.max:
		return worded("Parameter '%s' must be a number not greater than %v", p.Name, *p.max)
	}
	return nil
}

// Resolve gives every parameter its value: the one given or the default. Parameters that the template does not have are
// refused, and exists is asked whether the account has what a parameter of an AWS type names.
func (t *Template) Resolve(given map[string]string, exists func(kind, id string) bool) (map[string]string, error) {
	for name := range given {
		if _, ok := t.Parameters[name]; !ok {
			return nil, worded("Parameters: [%s] do not exist in the template", name)
		}
	}
	values := map[string]string{}
	var missing []string
	for name, p := range t.Parameters {
		v, ok := given[name]
		switch {
		case ok:
		case p.Default != nil:
			v = *p.Default
		default:
			missing = append(missing, name)
			continue
		}
		if err := p.check(v); err != nil {
			return nil, err
		}
		if strings.HasPrefix(p.Type, "AWS::") && !exists(p.Type, v) {
			return nil, worded("Parameter validation failed: parameter value %s for parameter name %s does not exist", v, name)
		}
		values[name] = v
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, worded("Parameters: [%s] must have values", strings.Join(missing, ", "))
	}
	return values, t.obey(values)
}

func list(v any) []any { l, _ := v.([]any); return l }

func number(v any) *float64 {
	if v == nil {
		return nil
	}
	n, err := strconv.ParseFloat(text(v), 64)
	if err != nil {
		return nil
	}
	return &n
}

// text is a scalar as CloudFormation writes it.
func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
