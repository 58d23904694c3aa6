package plugtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Compare says where an answer is another than is wanted; both are JSON. Of objects each key counts, of lists each
// item.
func Compare(want, got []byte) ([]string, error) {
	var w, g any
	if err := json.Unmarshal(want, &w); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		return nil, err
	}
	return compare(nil, "", w, g), nil
}

func compare(out []string, path string, want, got any) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := map[string]bool{}
		for k := range w {
			keys[k] = true
		}
		for k := range g {
			keys[k] = true
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			out = compareKey(out, join(path, k), w, g, k)
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			out = compare(out, fmt.Sprintf("%s[%d]", path, i), w[i], g[i])
		}
		return out
	}
	if reflect.DeepEqual(want, got) {
		return out
	}
	return append(out, fmt.Sprintf("%s: got %s, want %s", path, text(got), text(want)))
}

func compareKey(out []string, path string, want, got map[string]any, key string) []string {
	w, wanted := want[key]
	g, given := got[key]
	switch {
	case !given:
		return append(out, fmt.Sprintf("%s: it is missing, want %s", path, text(w)))
	case !wanted:
		return append(out, fmt.Sprintf("%s: got %s, want none", path, text(g)))
	}
	return compare(out, path, w, g)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
