package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Action is what a plug-in says of a message.
type Action string

// The actions.
const (
	Pass      Action = "pass"  // it stays as it is
	Patch     Action = "patch" // it is changed as the patch says
	Drop      Action = "drop"  // it goes no further
	LinksOnly Action = "links" // at response: its links are followed, and it has no record
)

// Answer is what a plug-in says of a message. Its JSON is what WASM modules and processes write.
type Answer struct {
	Action Action `json:"action"`
	Reason string `json:"reason,omitempty"` // of a drop: a token of a-z, 0-9 and -
	// Patch is of the point: *SeedsPatch, *RequestPatch, *ResponsePatch, *DocumentPatch, *LinksPatch or *RecordPatch.
	Patch any      `json:"patch,omitempty"`
	Log   []string `json:"log,omitempty"` // lines for the log of the dry run, and of the program at debug
}

// SeedsPatch changes the seeds of a job.
type SeedsPatch struct {
	Add []Seed `json:"add,omitempty"`
}

// RequestPatch changes a request. A header whose list is null is removed. Host, Cookie, Authorization, the conditional
// fields, and those of the connection cannot be set.
type RequestPatch struct {
	Headers map[string][]string `json:"headers,omitempty"`
}

// ResponsePatch changes an answer; nil keeps.
type ResponsePatch struct {
	ContentType *string `json:"content_type,omitempty"`
	Body        []byte  `json:"body,omitempty"` // base64 in JSON; nil keeps
}

// DocumentPatch changes a document; nil keeps. A field whose value is null is removed.
type DocumentPatch struct {
	Title    *string        `json:"title,omitempty"`
	Text     *string        `json:"text,omitempty"`
	Lang     *string        `json:"lang,omitempty"`
	NoIndex  *bool          `json:"noindex,omitempty"`
	NoFollow *bool          `json:"nofollow,omitempty"`
	Fields   map[string]any `json:"fields,omitempty"`
}

// LinksPatch changes the links of a page.
type LinksPatch struct {
	Change []LinkChange `json:"change,omitempty"`
	Add    []Link       `json:"add,omitempty"`
}

// LinkChange changes the link at an index of Links.Links.
type LinkChange struct {
	Index  int    `json:"index"`
	Drop   string `json:"drop,omitempty"`   // reason; empty: it stays
	Weight int    `json:"weight,omitempty"` // 1 to 9; 0 keeps
}

// RecordPatch changes a record; nil keeps. A field whose value is null is removed.
type RecordPatch struct {
	Title  *string        `json:"title,omitempty"`
	Text   *string        `json:"text,omitempty"`
	Lang   *string        `json:"lang,omitempty"`
	Fields map[string]any `json:"fields,omitempty"`
}

// AddsFault says which of the fields that a plug-in sets is of another type than its descriptor says; empty: none is.
// Fields that the descriptor does not name may be of any.
func AddsFault(adds map[string]string, fields map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		want, known := adds[name]
		if is := kindOf(fields[name]); known && is != "" && is != want && (want != "number" || !isLong(fields[name])) {
			return fmt.Sprintf("fields.%s is of the type %s, and plugin.toml says %s in adds", name, is, want)
		}
	}
	return ""
}

// isLong reports whether a text is a number that no float64 holds (jsonpointer.Value).
func isLong(v any) bool {
	s, _ := v.(string)
	return len(s) > len("900719925474099") && json.Valid([]byte(s)) && s[0] != '{' && s[0] != '[' && s[0] != '"'
}

// kindOf is the type of a field, as descriptors name it; empty: it is taken away, or is nothing that JSON has.
func kindOf(v any) string {
	if v == nil {
		return ""
	}
	switch reflect.TypeOf(v).Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Map, reflect.Struct:
		return "object"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return "number"
	}
	return ""
}
