package export

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Type is what the values of a site rule's field are in formats that have types.
type Type struct {
	Base Base
	List bool
}

// Base is the type of one value.
type Base string

// The types of values. Text holds whatever fits no other, as it is in the record.
const (
	TextType    Base = "text"
	NumberType  Base = "number"
	IntegerType Base = "integer"
	BoolType    Base = "bool"
	DateType    Base = "date"
	JSONType    Base = "json" // lists of objects, as policies select them, as JSON texts
)

// FieldTypes returns the names of the site rules' fields in the records of in, each with its type: that of the rules,
// or without a rule that of the values. A field with a value that does not fit, because the rules were others when its
// page was fetched, is text: nothing is lost. More than 1,000 fields are an error.
func FieldTypes(ctx context.Context, in io.Reader, rules []crawl.SiteRule) (map[string]Type, error) {
	byRule, out := ruleTypes(rules), map[string]Type{}
	err := eachRecord(ctx, in, func(_ []byte, r *crawl.Record) error {
		for i := range r.Fields {
			f := &r.Fields[i]
			if f.Name == "" { // no column can be named so
				continue
			}
			t, known := out[f.Name]
			if !known {
				t = byRule[f.Name]
			}
			out[f.Name] = t.with(f.Value)
		}
		if len(out) > maxFields {
			return fmt.Errorf("more than %d different fields: name the ones you want", maxFields)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find the types of fields: %w", err)
	}
	for name, t := range out {
		if t.Base == "" { // there are nothing but nulls and empty lists
			out[name] = Type{Base: TextType, List: t.List}
		}
	}
	return out, nil
}

// ruleTypes are the types that rules give their fields. Where rules differ it is text.
func ruleTypes(rules []crawl.SiteRule) map[string]Type {
	out := map[string]Type{}
	for i := range rules {
		for _, f := range rules[i].Fields {
			t := Type{Base: TextType, List: f.List}
			switch b := Base(f.Type); b {
			case NumberType, IntegerType, BoolType, DateType:
				t.Base = b
			}
			if before, known := out[f.Name]; known && before != t {
				t = Type{Base: TextType}
			}
			out[f.Name] = t
		}
	}
	return out
}

// with is the type that also has a value.
func (t Type) with(v any) Type {
	if v == nil || t == (Type{Base: TextType}) {
		return t
	}
	list, isList := v.([]any)
	if objects := hasObject(list); objects || t.Base == JSONType {
		if (t == Type{} || t.Base == JSONType) && (objects || isList && len(list) == 0) {
			return Type{Base: JSONType}
		}
		return Type{Base: TextType}
	}
	switch {
	case t == Type{}:
		t.List = isList
	case t.List != isList:
		return Type{Base: TextType}
	}
	if !isList {
		list = []any{v}
	}
	for _, item := range list {
		if t.Base == "" {
			t.Base = baseOf(item)
		}
		if _, ok := t.Base.value(item); !ok {
			return Type{Base: TextType}
		}
	}
	return t
}

// hasObject reports whether an item of a list is an object.
func hasObject(list []any) bool {
	return slices.ContainsFunc(list, func(item any) bool {
		_, is := item.(map[string]any)
		return is
	})
}

// baseOf is the type of a value that no rule has a type for.
func baseOf(v any) Base {
	switch v.(type) {
	case bool:
		return BoolType
	case float64:
		return NumberType
	}
	return TextType
}

// maxExact is up to where a float64 has all integers.
const maxExact = 1 << 53

// value turns a field's value, or an item of its list, into what the type holds: a string, float64, int64 (milliseconds
// since 1970 for a date) or bool.
func (b Base) value(v any) (any, bool) {
	switch b {
	case NumberType:
		f, ok := v.(float64)
		return f, ok
	case IntegerType:
		f, ok := v.(float64)
		return int64(f), ok && f == math.Trunc(f) && math.Abs(f) <= maxExact
	case BoolType:
		truth, ok := v.(bool)
		return truth, ok
	case DateType:
		s, _ := v.(string)
		at, err := time.Parse(time.RFC3339, s)
		return at.UnixMilli(), err == nil
	}
	s, ok := v.(string)
	return s, ok
}
