package crawl

import "time"

// Extracted is what a page's record has where the job's Extract asks for it. Empty fields say that the page has none.
type Extracted struct {
	Markdown string `cbor:"60,keyasint,omitempty"` // of the main text
	// Structured is a JSON object of what the page says to programs: JSON-LD, microdata, RDFa and meta elements.
	Structured string    `cbor:"61,keyasint,omitempty"`
	Author     string    `cbor:"62,keyasint,omitempty"`
	Published  time.Time `cbor:"63,keyasint,omitzero"`
	Modified   time.Time `cbor:"64,keyasint,omitzero"`
}
