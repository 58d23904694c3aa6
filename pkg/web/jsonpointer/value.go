package jsonpointer

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
)

// exact is the first whole number beyond which a float64 does not hold each.
const exact = 1 << 53

// Value reads a JSON value. It is what encoding/json makes of it, but numbers that no float64 holds are texts of their
// digits: whole ones beyond 2^53, such as the ids of many sites, and those out of range.
func Value(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return Plain(v), nil
}

// Plain makes numbers and texts, as Value has them, of what a decoder with UseNumber read. It changes lists and objects
// in place.
func Plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return plainNumber(v)
	case map[string]any:
		for name, e := range v {
			v[name] = Plain(e)
		}
	case []any:
		for i, e := range v {
			v[i] = Plain(e)
		}
	}
	return v
}

func plainNumber(n json.Number) any {
	f, err := n.Float64()
	if err != nil || math.Abs(f) >= exact && !strings.ContainsAny(n.String(), ".eE") {
		return n.String()
	}
	return f
}
