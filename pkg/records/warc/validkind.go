package warc

import "strings"

// checkKind checks what the standard asks of some records only, by the values of their fields.
func (v *validator) checkKind(h *head) {
	if n := strings.TrimLeft(h.get("warc-segment-number"), "0"); isNumber(h.get("warc-segment-number"), "") {
		switch { // WARC 1.1, section 5.18: the first segment is no continuation, and has the number 1
		case h.kind == continuation && (n == "" || n == "1"):
			v.fault(FaultValue, "warc-segment-number: a continuation has 2 or more")
		case h.kind != continuation && h.kind != 0 && n != "1":
			v.fault(FaultValue, "warc-segment-number: the first segment, which is no continuation, has 1")
		}
	}
	if h.kind == revisit && strings.HasSuffix(h.get("warc-profile"), "/revisit/identical-payload-digest") &&
		h.get("warc-payload-digest") == "" { // section 6.7.2
		v.fault(FaultMissing, "warc-payload-digest is missing, which the profile identical-payload-digest is about")
	}
	scheme, _, _ := strings.Cut(h.get("warc-target-uri"), ":")
	base, _, _ := strings.Cut(h.get("content-type"), ";")
	if h.kind == resource && strings.EqualFold(scheme, "dns") && base != "" &&
		!strings.EqualFold(strings.TrimSpace(base), "text/dns") { // section 6.4.2
		v.fault(FaultValue, "content-type: a resource of the scheme dns is text/dns, not %.100q", base)
	}
}
