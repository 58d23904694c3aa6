package crawl

// Extract says what is taken from every page besides its text and what site rules name.
type Extract struct {
	// Markdown of the main text
	Markdown bool `json:"markdown" yaml:"markdown"`
	// JSON-LD, microdata, RDFa and meta elements; author, dates of publication and change
	Structured bool `json:"structured" yaml:"structured"`
}

// Documents says how documents are read that are no pages: PDF files and those of office programs.
type Documents struct {
	// do not open them: their records have no text
	Raw bool `json:"raw,omitempty" yaml:"raw,omitempty"`
	// pages, slides or sheets that are read of one; the rest is cut
	Pages int `json:"pages,omitempty" yaml:"pages,omitempty"`
	// time to read one; what takes longer has no record
	Time Duration `json:"time,omitempty" yaml:"time,omitempty"`
}

// Assets says whether the requisites of pages are fetched, and how many. They are no pages: they have no record, and
// count against these budgets only.
type Assets struct {
	// which are fetched; empty: none; job: those in the scope of the job
	Scope AssetScope `json:"scope" yaml:"scope"`
	// assets of the whole job
	Max int `json:"max" yaml:"max"`
	// assets of one host
	PerHost int `json:"per_host" yaml:"per_host"`
}

// SiteRule extracts records from the pages it matches and weighs their links.
type SiteRule struct {
	// name, for messages
	Name string `json:"name" yaml:"name"`
	// host or registrable domain that the rule is for; empty: any
	Host string `json:"host" yaml:"host"`
	// regular expression (RE2) over the URL; empty: any
	Match string `json:"match" yaml:"match"`
	// what the record of a page of that host and URL gets
	Fields []FieldRule `json:"fields" yaml:"fields"`
	// weights of the links of such a page; the first that matches a link counts
	Links []LinkWeight `json:"links" yaml:"links"`
}

// FieldRule is one field of a record.
type FieldRule struct {
	Name  string `json:"name" yaml:"name"`   // name of the field in the record
	CSS   string `json:"css" yaml:"css"`     // CSS selector of the elements; or
	XPath string `json:"xpath" yaml:"xpath"` // XPath expression for them: one of the two
	Attr  string `json:"attr" yaml:"attr"`   // attribute that is taken instead of the text
	Regex string `json:"regex" yaml:"regex"` // regular expression (RE2): its first group, or the whole match, is taken
	List  bool   `json:"list" yaml:"list"`   // take all matches, not the first
	Type  string `json:"type" yaml:"type"`   // what the text is turned into; empty: string
}

// LinkWeight weighs the links whose URL matches: 9 is fetched first, 1 last.
type LinkWeight struct {
	Match  string `json:"match" yaml:"match"`   // regular expression (RE2) over the URL of the link
	Weight int    `json:"weight" yaml:"weight"` // 9 is fetched first, 1 last
}
