package cfn

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// Env is where a template is evaluated.
type Env struct {
	Template   *Template
	Parameters map[string]string // resolved, by Template.Resolve
	Pseudo     map[string]string // AWS::Region and so on
	Zones      []string
	Ref        func(resource string) (string, error) // a resource's physical id
	GetAtt     func(resource, attribute string) (any, error)
	Secret     func(id, key string) (string, error) // what {{resolve:secretsmanager:…}} stands for
}

// novalue is AWS::NoValue: what has it as value is left out.
type novalue struct{}

// Properties evaluates a map of properties.
func (e *Env) Properties(v map[string]any) (map[string]any, error) {
	x, err := e.Eval(v)
	if err != nil {
		return nil, err
	}
	m, _ := x.(map[string]any)
	return m, nil
}

// Eval evaluates a value.
func (e *Env) Eval(v any) (any, error) {
	switch x := v.(type) {
	case []any:
		out := make([]any, 0, len(x))
		for _, el := range x {
			r, err := e.Eval(el)
			if err != nil {
				return nil, err
			}
			if _, none := r.(novalue); !none {
				out = append(out, r)
			}
		}
		return out, nil
	case map[string]any:
		if len(x) == 1 {
			for k, argument := range x {
				if k == "Ref" || strings.HasPrefix(k, "Fn::") {
					return e.call(k, argument)
				}
			}
		}
		out := make(map[string]any, len(x))
		for k, el := range x {
			r, err := e.Eval(el)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
			if _, none := r.(novalue); !none {
				out[k] = r
			}
		}
		return out, nil
	case string:
		return e.dynamic(x)
	}
	return v, nil
}

var dynamicReference = regexp.MustCompile(`\{\{resolve:secretsmanager:(.+):SecretString:([A-Za-z]+)\}\}`)

// dynamic resolves references to secrets.
func (e *Env) dynamic(s string) (any, error) {
	m := dynamicReference.FindStringSubmatch(s)
	switch {
	case m != nil:
		secret, err := e.Secret(m[1], m[2])
		return strings.ReplaceAll(s, m[0], secret), err
	case strings.Contains(s, "{{resolve:"):
		return nil, fmt.Errorf("cannot resolve %s", s)
	}
	return s, nil
}

func (e *Env) call(name string, argument any) (any, error) {
	switch name {
	case "Ref":
		return e.ref(text(argument))
	case "Fn::GetAtt":
		l := list(argument)
		return e.GetAtt(text(l[0]), text(l[1]))
	case "Fn::Sub":
		return e.sub(argument)
	case "Fn::If":
		l := list(argument)
		yes, err := e.Condition(text(l[0]))
		if err != nil {
			return nil, err
		}
		if yes {
			return e.Eval(l[1])
		}
		return e.Eval(l[2])
	}
	v, err := e.Eval(argument)
	if err != nil {
		return nil, err
	}
	r, err := e.pure(name, v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func (e *Env) ref(name string) (any, error) {
	if name == "AWS::NoValue" {
		return novalue{}, nil
	}
	if v, ok := e.Pseudo[name]; ok {
		return v, nil
	}
	if v, ok := e.Parameters[name]; ok {
		if strings.HasPrefix(e.Template.Parameters[name].Type, "List") ||
			e.Template.Parameters[name].Type == "CommaDelimitedList" {
			var l []any
			for _, s := range strings.Split(v, ",") {
				l = append(l, strings.TrimSpace(s))
			}
			return l, nil
		}
		return v, nil
	}
	return e.Ref(name)
}

func (e *Env) sub(argument any) (any, error) {
	own := map[string]any{}
	if l := list(argument); len(l) == 2 {
		argument = l[0]
		own, _ = l[1].(map[string]any)
	}
	s, _ := argument.(string)
	var failed error
	out := substitution.ReplaceAllStringFunc(s, func(match string) string {
		m := substitution.FindStringSubmatch(match)
		var v any
		var err error
		switch resource, attribute, isAtt := strings.Cut(m[2], "."); {
		case m[1] == "!":
			return "${" + m[2] + "}"
		case own[m[2]] != nil:
			v, err = e.Eval(own[m[2]])
		case isAtt:
			v, err = e.GetAtt(resource, attribute)
		default:
			v, err = e.ref(m[2])
		}
		if err != nil && failed == nil {
			failed = err
		}
		return text(v)
	})
	if failed != nil {
		return nil, failed
	}
	return e.dynamic(out)
}

// pure computes the functions whose arguments say everything.
func (e *Env) pure(name string, v any) (any, error) {
	l := list(v)
	switch {
	case name == "Fn::Base64":
		return base64.StdEncoding.EncodeToString([]byte(text(v))), nil
	case name == "Fn::GetAZs":
		out := make([]any, len(e.Zones))
		for i, z := range e.Zones {
			out[i] = z
		}
		return out, nil
	case name == "Fn::FindInMap" && len(l) == 3:
		top, _ := e.Template.Mappings[text(l[0])].(map[string]any)
		second, _ := top[text(l[1])].(map[string]any)
		if found, ok := second[text(l[2])]; ok {
			return found, nil
		}
		return nil, fmt.Errorf("no key %v in mapping %v", l[1:], l[0])
	case name == "Fn::Select" && len(l) == 2:
		i, err := strconv.Atoi(text(l[0]))
		from := list(l[1])
		if err != nil || i < 0 || i >= len(from) {
			return nil, fmt.Errorf("cannot select element %v of %d", l[0], len(from))
		}
		return from[i], nil
	case name == "Fn::Join" && len(l) == 2:
		var parts []string
		for _, p := range list(l[1]) {
			parts = append(parts, text(p))
		}
		return strings.Join(parts, text(l[0])), nil
	case name == "Fn::Split" && len(l) == 2:
		var out []any
		for _, p := range strings.Split(text(l[1]), text(l[0])) {
			out = append(out, p)
		}
		return out, nil
	case name == "Fn::Cidr" && len(l) == 3:
		return cidr(text(l[0]), text(l[1]), text(l[2]))
	}
	return nil, fmt.Errorf("wrong arguments")
}

// cidr cuts n blocks with 2^bits addresses each from the start of a block.
func cidr(block, n, bits string) (any, error) {
	prefix, err := netip.ParsePrefix(block)
	if err != nil {
		return nil, err
	}
	count, err1 := strconv.Atoi(n)
	size, err2 := strconv.Atoi(bits)
	if err1 != nil || err2 != nil || !prefix.Addr().Is4() || count < 1 || count > 256 || size < 1 ||
		32-size < prefix.Bits() || count<<size > 1<<(32-prefix.Bits()) {
		return nil, fmt.Errorf("%s has no %s blocks of 2^%s addresses", block, n, bits)
	}
	a := prefix.Masked().Addr().As4()
	base := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	var out []any
	for i := range count {
		x := base + uint32(i)<<size
		out = append(out, fmt.Sprintf("%d.%d.%d.%d/%d", x>>24, x>>16&255, x>>8&255, x&255, 32-size))
	}
	return out, nil
}

// Condition evaluates a condition of the template by its name.
func (e *Env) Condition(name string) (bool, error) {
	v, ok := e.Template.Conditions[name]
	if !ok {
		return false, fmt.Errorf("unresolved condition %s", name)
	}
	return e.truth(v)
}

func (e *Env) truth(v any) (bool, error) {
	m, _ := v.(map[string]any)
	for k, argument := range m {
		l := list(argument)
		switch {
		case k == "Condition":
			return e.Condition(text(argument))
		case k == "Fn::Equals" && len(l) == 2:
			a, err := e.Eval(l[0])
			if err != nil {
				return false, err
			}
			b, err := e.Eval(l[1])
			return text(a) == text(b), err
		case k == "Fn::Contains" && len(l) == 2:
			return e.contains(l[0], l[1])
		case k == "Fn::Not" && len(l) == 1:
			x, err := e.truth(l[0])
			return !x, err
		case (k == "Fn::And" || k == "Fn::Or") && len(l) >= 2 && len(l) <= 10:
			for _, el := range l {
				x, err := e.truth(el)
				if err != nil || x == (k == "Fn::Or") {
					return x, err
				}
			}
			return k == "Fn::And", nil
		}
	}
	return false, fmt.Errorf("not a condition: %v", v)
}

// Active tells whether a resource or output with this condition is made.
func (e *Env) Active(condition string) (bool, error) {
	if condition == "" {
		return true, nil
	}
	return e.Condition(condition)
}
