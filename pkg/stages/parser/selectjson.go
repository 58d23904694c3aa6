package parser

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/jsonpointer"
)

// valueMember is the member of an object that is made of JSON by a policy without fields.
const valueMember = "value"

// takeJSON makes an object of each item of the array that the policy points at, or of another value there.
func (s *selection) takeJSON(p *policy, add func(map[string]any) bool) {
	doc := bytes.TrimPrefix(s.utf8(), []byte("\ufeff"))
	if !json.Valid(doc) {
		return
	}
	at := p.pointer.Find(doc)
	if at == nil {
		return
	}
	jsonpointer.Items(at, func(item []byte) bool {
		object := map[string]any{}
		for _, f := range p.fields {
			if v := s.fieldOf(f, item); v != nil {
				object[f.name] = v
			}
		}
		if len(p.fields) == 0 {
			if v := s.jsonValue(item); v != nil {
				object[valueMember] = v
			}
		}
		return add(object)
	})
}

// fieldOf is a field of an item; nil: there is none.
func (s *selection) fieldOf(f *field, item []byte) any {
	at := f.pointer.Find(item)
	if at == nil {
		return nil
	}
	if !f.list {
		return s.typed(f, at)
	}
	var values []any
	jsonpointer.Items(at, func(raw []byte) bool {
		if v := s.typed(f, raw); v != nil {
			values = append(values, v)
		}
		if len(values) == maxValues {
			s.r.cut(CutFields)
		}
		return len(values) < maxValues
	})
	if len(values) == 0 {
		return nil
	}
	return values
}

// typed makes of JSON what the field's type says, and of one without a type what it is in JSON.
func (s *selection) typed(f *field, raw []byte) any {
	v := s.jsonValue(raw)
	if f.own || v == nil {
		return v
	}
	if v, ok := f.value(scalar(v), s.r); ok {
		return v
	}
	return nil
}

// jsonValue is a string, a number or a bool; of an object or array its text, as it is there without white space.
func (s *selection) jsonValue(raw []byte) any {
	switch raw[0] {
	case '{', '[':
		if len(raw) > 4*maxValue {
			s.r.cut(CutFields)
			return nil // a part would be no JSON
		}
		var out bytes.Buffer
		if json.Compact(&out, raw) != nil || out.Len() > maxValue {
			s.r.cut(CutFields)
			return nil
		}
		return out.String()
	case '"':
		if cut := cutString(raw); cut != nil {
			s.r.cut(CutFields)
			raw = cut
		}
	}
	v, err := jsonpointer.Value(raw)
	if err != nil {
		return nil
	}
	if text, is := v.(string); is && raw[0] != '"' { // a number that no float64 holds
		return text[:min(len(text), maxValue)]
	}
	return v
}

// cutString cuts a long JSON string; nil where it is not long.
func cutString(quoted []byte) []byte {
	if len(quoted) <= maxValue {
		return nil
	}
	for end := maxValue; end > maxValue-16; end-- { // an escape has up to 12 bytes
		if !utf8.RuneStart(quoted[end]) {
			continue
		}
		if cut := slices.Concat(quoted[:end], []byte{'"'}); json.Valid(cut) {
			return cut
		}
	}
	return []byte(`""`)
}
