package warc

import (
	"net/netip"
	"regexp"
	"strings"
	"time"
)

// kinds is a set of record types.
type kinds uint16

const (
	warcinfo kinds = 1 << iota
	response
	resource
	request
	metadata
	revisit
	conversion
	continuation
	anyKind   = 1<<iota - 1
	capturing = response | resource | request | metadata | revisit
)

var kindNames = map[string]kinds{
	"warcinfo": warcinfo, "response": response, "resource": resource, "request": request, "metadata": metadata,
	"revisit": revisit, "conversion": conversion, "continuation": continuation,
}

// rule says which records may (allowed) and must have a field (WARC 1.1, section 5), and of which form it is.
type rule struct {
	allowed, must kinds
	repeatable    bool
	form          func(value, version string) bool
	want          string
	fault         string
}

// rules are by the field's name in lower case. Fields that are not here are extensions, and anything goes.
var rules = map[string]rule{
	"warc-type":      {allowed: anyKind, must: anyKind, form: isText},
	"warc-record-id": {allowed: anyKind, must: anyKind, form: isID, want: "a URI in < and >"},
	"warc-date": {allowed: anyKind, must: anyKind, form: isDate, want: "a W3C date in UTC",
		fault: FaultDate},
	"content-length":            {allowed: anyKind, must: anyKind, form: isNumber, want: "a number of bytes"},
	"content-type":              {allowed: anyKind, form: isMediaType, want: "a media type"},
	"warc-concurrent-to":        {allowed: capturing, repeatable: true, form: isID, want: "a URI in < and >"},
	"warc-block-digest":         {allowed: anyKind, form: isText},
	"warc-payload-digest":       {allowed: anyKind, form: isText},
	"warc-ip-address":           {allowed: capturing, form: isAddress, want: "an IP address"},
	"warc-refers-to":            {allowed: metadata | revisit | conversion, form: isID, want: "a URI in < and >"},
	"warc-refers-to-target-uri": {allowed: revisit, form: isURI, want: "a URI"},
	"warc-refers-to-date":       {allowed: revisit, form: isDate, want: "a W3C date in UTC", fault: FaultDate},
	"warc-target-uri": {allowed: anyKind &^ warcinfo, must: anyKind &^ (warcinfo | metadata), form: isURI,
		want: "a URI"},
	"warc-truncated":               {allowed: anyKind, form: isText},
	"warc-warcinfo-id":             {allowed: anyKind &^ warcinfo, form: isID, want: "a URI in < and >"},
	"warc-filename":                {allowed: warcinfo, form: isText},
	"warc-profile":                 {allowed: revisit, must: revisit, form: isURI, want: "a URI"},
	"warc-identified-payload-type": {allowed: anyKind, form: isMediaType, want: "a media type"},
	"warc-segment-number":          {allowed: anyKind, must: continuation, form: isNumber, want: "a number"},
	"warc-segment-origin-id":       {allowed: continuation, must: continuation, form: isID, want: "a URI in < and >"},
	"warc-segment-total-length":    {allowed: continuation, form: isNumber, want: "a number of bytes"},
}

func isText(v, _ string) bool { return v != "" }

var (
	number = regexp.MustCompile(`^[0-9]{1,18}$`)
	uri    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f<>]+$`)
)

// mediaType is the standard's, with white space where HTTP has it (errata of WARC 1.1).
var mediaType = func() *regexp.Regexp {
	const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
	return regexp.MustCompile(`^` + token + `/` + token +
		`([ \t]*;[ \t]*` + token + `=(` + token + `|"([^"\\\x00-\x08\x0a-\x1f\x7f]|\\[\t -~])*"))*$`)
}()

func isMediaType(v, _ string) bool { return mediaType.MatchString(v) }

func isNumber(v, _ string) bool { return number.MatchString(v) }

func isID(v, _ string) bool {
	inner, ok := strings.CutPrefix(v, "<")
	inner, closed := strings.CutSuffix(inner, ">")
	return ok && closed && uri.MatchString(inner)
}

// isURI lets WARC/1.0 have its brackets: the grammar of that version was read both ways.
func isURI(v, version string) bool {
	return uri.MatchString(v) || version == "1.0" && isID(v, version)
}

func isAddress(v, _ string) bool {
	a, err := netip.ParseAddr(v)
	return err == nil && a.Zone() == ""
}

// dateForms are the W3C date forms in UTC; WARC 1.0 knows the one with seconds only.
var dateForms = []string{"2006-01-02T15:04:05Z", "2006-01-02T15:04Z", "2006-01-02", "2006-01", "2006"}

func isDate(v, version string) bool {
	forms := dateForms
	if version == "1.0" {
		if forms = dateForms[:1]; len(v) != len(forms[0]) {
			return false
		}
	}
	for _, form := range forms {
		if t, err := time.Parse(form, v); err == nil { // takes decimals of a second, and 4:05 for 04:05, in its stride
			head := strings.TrimSuffix(form, "Z")
			return strings.HasPrefix(v, t.Format(head)) && !strings.Contains(v, ",") &&
				len(v) <= len("2006-01-02T15:04:05.123456789Z")
		}
	}
	return false
}
