package chain

import (
	"encoding/json"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// maxField is how large a field may be, as JSON.
const maxField = 1 << 20

// fieldValue makes a plug-in's value one that records have: a text, a number, true or false, a list or an object of
// them.
func fieldValue(v any) (any, error) {
	switch s := v.(type) {
	case string:
		if len(s) > maxField {
			return nil, fmt.Errorf("%d bytes: want at most %d", len(s), maxField)
		}
		return s, nil
	case bool, float64:
		return crawl.PlainValue(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text) > maxField {
		return nil, fmt.Errorf("%d bytes of JSON: want at most %d", len(text), maxField)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return nil, err
	}
	return crawl.PlainValue(plain)
}

// addsFault says which field of a patch is of another type than plugin.toml says in adds.
func addsFault(n *node, patch any) error {
	if len(n.serves.Adds) == 0 {
		return nil
	}
	var fields map[string]any
	switch p := patch.(type) {
	case *plugin.DocumentPatch:
		fields = p.Fields
	case *plugin.RecordPatch:
		fields = p.Fields
	}
	if fault := plugin.AddsFault(n.serves.Adds, fields); fault != "" {
		return bad("%s", fault)
	}
	return nil
}
