package warc

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const magicWord = "WARC/"

// head is the header of a record that is being checked.
type head struct {
	version string
	kind    kinds // 0: not known
	fields  map[string][]string
}

func (h *head) get(name string) string {
	if v := h.fields[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// record checks one record. whole says that its end was found where it should be; the error is one of r.
func (v *validator) record(r *bufio.Reader) (whole bool, err error) {
	v.summary.Records++
	h, err := v.header(r)
	if errors.Is(err, errNoHeader) {
		v.fault(FaultSyntax, "%v", err)
		return false, nil
	}
	if err != nil || h == nil {
		return false, err
	}
	v.checkFields(h)
	length, bad := strconv.ParseInt(h.get("content-length"), 10, 64)
	if bad != nil || length < 0 {
		return false, nil //nolint:nilerr // reported as missing or as no number
	}
	if ok, err := v.block(r, h, length); err != nil || !ok {
		return false, err
	}
	return v.end(r)
}

// header reads the version line and the fields; nil: this is no record.
func (v *validator) header(r *bufio.Reader) (*head, error) {
	line, bare, err := readLine(r, 64)
	if errors.Is(err, errNoHeader) || err == nil && !strings.HasPrefix(line, magicWord) {
		v.fault(FaultVersion, "no record begins here: the first line is not WARC/1.1")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h := &head{version: line[len(magicWord):], fields: map[string][]string{}}
	if h.version != "1.1" && h.version != "1.0" {
		v.fault(FaultVersion, "%q is a version this program does not know", line)
	}
	syntax := func(detail string) { v.fault(FaultSyntax, "%s", detail) }
	if bare {
		syntax("the version line ends without CR")
	}
	fields, err := readHeader(r, syntax)
	for _, f := range fields {
		name := strings.ToLower(f.Name)
		h.fields[name] = append(h.fields[name], f.Value)
	}
	v.identify(h)
	return h, err
}

// identify notes what the record is, for the faults to come and for the count.
func (v *validator) identify(h *head) {
	v.at.Type, v.at.ID = strings.ToLower(h.get("warc-type")), h.get("warc-record-id")
	h.kind = kindNames[v.at.Type]
	if h.kind == 0 {
		v.summary.ByType["unknown"]++ // the names of strangers could be without number
		return
	}
	v.summary.ByType[v.at.Type]++
}

func (v *validator) checkFields(h *head) {
	if h.kind == 0 && v.at.Type != "" {
		v.fault(FaultType, "WARC-Type %q is none of the standard's", v.at.Type)
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		values := h.fields[name]
		r := rules[name]
		switch {
		case len(values) == 0 && (r.must&h.kind != 0 || r.must == anyKind):
			v.fault(FaultMissing, "%s is missing", name)
		case len(values) > 1 && !r.repeatable:
			v.fault(FaultRepeated, "%s stands %d times", name, len(values))
		case len(values) > 0 && h.kind != 0 && r.allowed&h.kind == 0:
			v.fault(FaultForbidden, "%s has no place in a %s record", name, v.at.Type)
		}
		for _, value := range values {
			if !r.form(value, h.version) {
				v.fault(or(r.fault, FaultValue), "%s: %.100q is not %s", name, value, or(r.want, "a value"))
			}
		}
	}
	if h.get("content-type") == "" && h.get("content-length") != "0" && h.kind&continuation == 0 {
		v.fault(FaultMissing, "content-type is missing, and the block is not empty")
	}
	v.checkKind(h)
	v.checkIDs(h)
}

// checkIDs checks that ids are unique, and keeps the references that name nothing yet.
func (v *validator) checkIDs(h *head) {
	if id := v.at.ID; id != "" {
		if _, ok := v.ids[id]; ok {
			v.fault(FaultDuplicate, "WARC-Record-ID is that of an earlier record")
		}
		v.ids[id] = struct{}{}
	}
	for _, ref := range h.fields["warc-concurrent-to"] {
		if _, ok := v.ids[ref]; !ok {
			f := v.at
			f.Kind, f.Detail = FaultReference, ref
			v.refs = append(v.refs, f)
		}
	}
}

// block reads the block and checks its digests and its form. ok: it was as long as it should be.
func (v *validator) block(r io.Reader, h *head, length int64) (ok bool, err error) {
	sinks := []io.Writer{}
	block := v.checksum(h, "warc-block-digest")
	if block != nil {
		sinks = append(sinks, block)
	}
	payload := v.checksum(h, "warc-payload-digest")
	if h.kind == revisit || h.get("warc-segment-number") != "" {
		payload = nil // the digest of what is not here
	}
	http := v.httpBlock(h, payload, length)
	switch {
	case http != nil:
		sinks = append(sinks, http)
	case payload != nil:
		sinks = append(sinks, payload)
	}
	n, err := io.CopyN(io.MultiWriter(sinks...), r, length)
	if errors.Is(err, io.EOF) {
		v.fault(FaultLength, "Content-Length is %d, but only %d bytes follow", length, n)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v.checkBlock(h, block, payload, http)
	return true, nil
}

func (v *validator) checksum(h *head, name string) *checksum {
	label := h.get(name)
	if label == "" {
		return nil
	}
	c, err := newChecksum(name, label)
	if err != nil {
		v.fault(FaultDigest, "%v", err)
		return nil
	}
	return c
}

// httpBlock returns what checks the block as an HTTP message; nil: it is none.
func (v *validator) httpBlock(h *head, payload *checksum, length int64) *httpBlock {
	isHTTP := strings.HasPrefix(strings.ToLower(h.get("content-type")), "application/http")
	if !isHTTP || h.kind&(request|response|revisit) == 0 || h.kind == revisit && length == 0 {
		return nil
	}
	return &httpBlock{payload: payload}
}

func (v *validator) checkBlock(h *head, block, payload *checksum, http *httpBlock) {
	if http != nil {
		if wrong := http.check(h.kind == request); wrong != "" {
			v.fault(FaultHTTP, "%s", wrong)
		}
	}
	for _, c := range []*checksum{block, payload} {
		if c == nil || c == payload && http != nil && !http.done {
			continue
		}
		if wrong := c.check(); wrong != "" {
			v.fault(FaultDigest, "%s", wrong)
		}
	}
}

// end checks what follows the block.
func (v *validator) end(r *bufio.Reader) (whole bool, err error) {
	b, err := r.Peek(4)
	if string(b) == "\r\n\r\n" {
		_, err = r.Discard(4)
		return true, err
	}
	if err := ignoreEOF(err); err != nil {
		return false, err
	}
	v.fault(FaultEnd, "the block is followed by %q, not by CR LF CR LF", b)
	return false, nil
}
