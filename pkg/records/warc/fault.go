package warc

// Fault is something in a WARC file that the standard does not allow.
type Fault struct {
	Kind   string `json:"fault"`        // one of the Fault constants
	Offset int64  `json:"offset"`       // in the file: where the record begins, or its gzip member
	Record int64  `json:"record"`       // its number, from 1
	Type   string `json:"type"`         // WARC-Type; may be empty
	ID     string `json:"id,omitempty"` // WARC-Record-ID; may be empty
	Detail string `json:"detail"`       // what is wrong, for people
}

// The kinds of faults.
const (
	FaultEmpty     = "empty"     // a file without records
	FaultGzip      = "gzip"      // a member is broken or cut; nothing after it can be read
	FaultMember    = "member"    // a gzip member does not hold exactly one record
	FaultVersion   = "version"   // no WARC/1.0 or WARC/1.1 where a record should begin
	FaultSyntax    = "syntax"    // a header line that is none, a missing CR, a header without end
	FaultMissing   = "missing"   // a mandatory field is not there
	FaultRepeated  = "repeated"  // a field stands twice that may stand once
	FaultForbidden = "forbidden" // a field that this type of record may not have
	FaultType      = "type"      // a type of record that the standard does not know
	FaultDate      = "date"      // not a W3C date in UTC
	FaultValue     = "value"     // another value that is not of its form
	FaultLength    = "length"    // the block is shorter than Content-Length
	FaultEnd       = "end"       // the block is not followed by CR LF CR LF
	FaultDigest    = "digest"    // a digest that differs, or cannot be checked
	FaultHTTP      = "http"      // an HTTP block without start line or end of headers
	FaultDuplicate = "duplicate" // a WARC-Record-ID that another record has
	FaultReference = "reference" // a WARC-Concurrent-To that names no record of the file
)

// Summary is what a file holds.
type Summary struct {
	Records int64            `json:"records"`
	ByType  map[string]int64 `json:"by_type"`
	Bytes   int64            `json:"bytes"` // of the file, as far as it was read
	Faults  int64            `json:"faults"`
}
