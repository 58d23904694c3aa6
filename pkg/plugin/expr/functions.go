package expr

import (
	"fmt"
	"reflect"
	"strings"

	lang "github.com/expr-lang/expr"
)

// disabled are functions of the language that depend on the time or the machine, or take time in proportion to the
// square of a list.
var disabled = []string{"now", "timezone", "uniq"}

// functions are ours: those that count, and those that could make more than the budget has before they are counted.
func functions() []lang.Option {
	names := append([]string{"repeat", "replace", "join"}, disabled...)
	out := make([]lang.Option, 0, 5+len(names))
	out = append(out,
		lang.Function(stepName, func(p ...any) (any, error) { return true, p[0].(*budget).step() }, new(func(*budget) bool)),
		lang.Function(grownName, func(p ...any) (any, error) { return p[1], p[0].(*budget).grow(p[1]) }),
		lang.Function("repeat", repeat),
		lang.Function("replace", replace),
		lang.Function("join", join))
	for _, name := range names {
		out = append(out, lang.DisableBuiltin(name))
	}
	return out
}

// taken returns the budget and the arguments behind it, which meter put there.
func taken(p []any, least, most int) (*budget, []any, error) {
	b, ok := (*budget)(nil), false
	if len(p) > 0 {
		b, ok = p[0].(*budget)
	}
	if !ok || len(p)-1 < least || len(p)-1 > most {
		return nil, nil, fmt.Errorf("it has %d arguments: want %d to %d", len(p)-1, least, most)
	}
	return b, p[1:], nil
}

func texts(args []any) ([]string, error) {
	out := make([]string, len(args))
	for i, a := range args {
		s, ok := a.(string)
		if !ok {
			return nil, fmt.Errorf("argument %d is %s: want a string", i+1, kindOf(a))
		}
		out[i] = s
	}
	return out, nil
}

// repeat(text, n)
func repeat(p ...any) (any, error) {
	b, args, err := taken(p, 2, 2)
	if err != nil {
		return nil, err
	}
	s, err := texts(args[:1])
	if err != nil {
		return nil, err
	}
	n := reflect.ValueOf(args[1])
	if !n.CanInt() || n.Int() < 0 {
		return nil, fmt.Errorf("argument 2 is %v: want a whole number from 0", args[1])
	}
	if n.Int() > maxBytes || int64(len(s[0]))*n.Int() > int64(maxBytes-b.bytes) {
		return nil, errBytes
	}
	return strings.Repeat(s[0], int(n.Int())), nil
}

// replace(text, old, new)
func replace(p ...any) (any, error) {
	b, args, err := taken(p, 3, 3)
	if err != nil {
		return nil, err
	}
	s, err := texts(args)
	if err != nil {
		return nil, err
	}
	if n := strings.Count(s[0], s[1]); n*len(s[2]) > maxBytes-b.bytes {
		return nil, errBytes
	}
	return strings.ReplaceAll(s[0], s[1], s[2]), nil
}

// join(list), join(list, between)
func join(p ...any) (any, error) {
	b, args, err := taken(p, 1, 2)
	if err != nil {
		return nil, err
	}
	between, err := texts(args[1:])
	if err != nil {
		return nil, err
	}
	list := reflect.ValueOf(args[0])
	if args[0] == nil || list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
		return nil, fmt.Errorf("argument 1 is %s: want a list", kindOf(args[0]))
	}
	parts, sum := make([]string, list.Len()), 0
	for i := range parts {
		s, err := texts([]any{list.Index(i).Interface()})
		if err != nil {
			return nil, fmt.Errorf("item %d of the list is %s: want a string", i, kindOf(list.Index(i).Interface()))
		}
		parts[i] = s[0]
		if sum += len(s[0]) + len(strings.Join(between, "")); sum > maxBytes-b.bytes {
			return nil, errBytes
		}
	}
	return strings.Join(parts, strings.Join(between, "")), nil
}
