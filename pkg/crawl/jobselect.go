package crawl

import (
	"slices"
	"strings"
)

// Policy says what is taken from the pages that it is for: a list of objects, the field NAME of the page's record. One
// of css, xpath, keywords, json_pointer and regex says what is looked for.
type Policy struct {
	// name of the field in the record
	Name string `json:"name" yaml:"name"`
	// media types of the pages that it is for, as in media_types; empty: all that it can read
	Types []string `json:"types,omitempty" yaml:"types,omitempty"`
	// host or registrable domain that it is for; empty: any
	Host string `json:"host,omitempty" yaml:"host,omitempty"`
	// regular expression (RE2) over the URL; empty: any
	Match string `json:"match,omitempty" yaml:"match,omitempty"`
	// CSS selector: each element is an object; or
	CSS string `json:"css,omitempty" yaml:"css,omitempty"`
	// XPath expression: each element is an object; or
	XPath string `json:"xpath,omitempty" yaml:"xpath,omitempty"`
	// words or phrases in the text, in any case: each block around hits is an object; or
	Keywords []string `json:"keywords,omitempty" yaml:"keywords,omitempty"`
	// characters before and after a hit of keywords that its block has at most
	Window int `json:"window,omitempty" yaml:"window,omitempty"`
	// JSON pointer (RFC 6901) into a JSON document, "#" for the whole: each item of the array there is an object; or
	JSONPointer string `json:"json_pointer,omitempty" yaml:"json_pointer,omitempty"`
	// regular expression (RE2) over each line of the text: its match is an object
	Regex string `json:"regex,omitempty" yaml:"regex,omitempty"`
	// take all matches of regex, not the first
	List bool `json:"list,omitempty" yaml:"list,omitempty"`
	// what an object of css, xpath or json_pointer has; none: its text, or its value
	Fields []PolicyField `json:"fields,omitempty" yaml:"fields,omitempty"`
}

// PolicyField is one field of the objects of a Policy.
type PolicyField struct {
	// name of the field in the object
	Name string `json:"name" yaml:"name"`
	// CSS selector of elements within the object's; or
	CSS string `json:"css,omitempty" yaml:"css,omitempty"`
	// XPath expression for them; neither of both: the object's own element; or
	XPath string `json:"xpath,omitempty" yaml:"xpath,omitempty"`
	// JSON pointer within the object, "#" for the whole, where the policy has one
	JSONPointer string `json:"json_pointer,omitempty" yaml:"json_pointer,omitempty"`
	// attribute that is taken instead of the text
	Attr string `json:"attr,omitempty" yaml:"attr,omitempty"`
	// regular expression (RE2): its first group, or the whole match, is taken
	Regex string `json:"regex,omitempty" yaml:"regex,omitempty"`
	// take all matches, not the first; of JSON: the items of an array
	List bool `json:"list,omitempty" yaml:"list,omitempty"`
	// what the text is turned into; empty: string, or what the JSON has
	Type string `json:"type,omitempty" yaml:"type,omitempty"`
}

// DefaultWindow is what Policy.Window is where it is 0.
const DefaultWindow = 200

// WindowRunes is how many characters a block has around a hit.
func (p *Policy) WindowRunes() int {
	if p.Window <= 0 {
		return DefaultWindow
	}
	return p.Window
}

// For reports whether the policy is for pages of a media type, without parameters and in lower case, as far as its
// types say.
func (p *Policy) For(media string) bool {
	return len(p.Types) == 0 || slices.ContainsFunc(p.Types, inRange(media))
}

// inRange reports whether a media type is of a range: type/subtype, type/* or */*.
func inRange(media string) func(pattern string) bool {
	return func(pattern string) bool {
		prefix, wild := strings.CutSuffix(strings.ToLower(pattern), "*")
		return prefix == media || wild && (prefix == "*/" || strings.HasPrefix(media, prefix))
	}
}

// IsJSON reports whether a media type, without parameters and in lower case, is JSON (RFC 6839, 3.1).
func IsJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// SelectsJSON reports whether a policy reads JSON of a media type: such answers are pages besides those of MediaTypes.
func (j *Job) SelectsJSON(media string) bool {
	return IsJSON(media) && slices.ContainsFunc(j.Select,
		func(p Policy) bool { return p.JSONPointer != "" && p.For(media) })
}

// Notices tell, a sentence each, what follows from the job that whoever wrote it may not expect.
func (j *Job) Notices() (list []string) {
	list = append(globNotices("include", j.Include), globNotices("exclude", j.Exclude)...)
	for i := range j.Select {
		p := &j.Select[i]
		if p.JSONPointer == "" || slices.ContainsFunc(j.MediaTypes, inRange("application/json")) {
			continue
		}
		list = append(list, "select "+p.Name+" reads JSON: application/json and types that end in +json are kept as pages, "+
			"though media_types does not name them")
	}
	return list
}
