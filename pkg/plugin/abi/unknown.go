package abi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Unknown returns the keys of an answer that nobody reads, as in patch.titel, in order: "whirlpool plugin test" tells
// them, for they are typing errors.
func Unknown(at crawl.Point, data []byte) []string {
	var top map[string]json.RawMessage
	if json.Unmarshal(data, &top) != nil {
		return nil
	}
	found := unknownKeys("", reflect.TypeFor[answer](), data)
	if patch := newPatch(at); patch != nil && top["patch"] != nil {
		found = append(found, unknownKeys("patch.", reflect.TypeOf(patch).Elem(), top["patch"])...)
	}
	slices.Sort(found)
	return found
}

// unknownKeys returns the keys of an object that a struct does not have, and those of the objects within it.
func unknownKeys(prefix string, t reflect.Type, data []byte) (found []string) {
	var keys map[string]json.RawMessage
	if t.Kind() != reflect.Struct || json.Unmarshal(data, &keys) != nil {
		return nil
	}
	for key, value := range keys {
		field, ok := fieldOf(t, key)
		switch {
		case !ok:
			found = append(found, prefix+key)
		case field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct:
			var items []json.RawMessage
			if json.Unmarshal(value, &items) != nil {
				continue
			}
			for i, item := range items {
				found = append(found, unknownKeys(fmt.Sprintf("%s%s[%d].", prefix, key, i), field.Type.Elem(), item)...)
			}
		}
	}
	return found
}

func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == key {
			return t.Field(i), true
		}
	}
	return reflect.StructField{}, false
}
