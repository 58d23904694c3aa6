package crawl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// TaskList is a list of tasks that encodes compactly: see AppendTask.
type TaskList []Task

// LinkList is a list of links that encodes compactly.
type LinkList []Link

// ExclusionList is a list of exclusions that encodes compactly.
type ExclusionList []Exclusion

// maxList bounds the elements of a list; a page's links are cut at a lower number.
const maxList = 1 << 20

var errList = errors.New("the list is damaged")

// MarshalCBOR implements cbor.Marshaler.
func (t Task) MarshalCBOR() ([]byte, error) {
	return byteString(func(b []byte) []byte { return AppendTask(b, &t) }, 128), nil
}

// UnmarshalCBOR implements cbor.Unmarshaler.
func (t *Task) UnmarshalCBOR(data []byte) error {
	b, err := bytesOf(data)
	if err != nil {
		return err
	}
	return DecodeTask(b, t)
}

// MarshalCBOR implements cbor.Marshaler.
func (l TaskList) MarshalCBOR() ([]byte, error) {
	return byteString(func(b []byte) []byte {
		b = listHead(b, len(l))
		before := &Task{}
		for i := range l {
			b = appendTask(b, &l[i], before)
			before = &l[i]
		}
		return b
	}, 64*len(l)), nil
}

// UnmarshalCBOR implements cbor.Unmarshaler.
func (l *TaskList) UnmarshalCBOR(data []byte) error {
	before := &Task{}
	return readList(data, l, listVersion, func(_ byte, r *codec.Reader, t *Task) error {
		defer func() { before = t }()
		return readTask(r, t, before)
	})
}

// The bits of a link's fields. They are on disk, and complete: a new field is an extension.
const (
	hasRaw = 1 << iota
	hasRel
	hasText
	hasTag
	sameTag
	hasWeight
	hasLinkExtensions
	linkBits = iota
)

// MarshalCBOR implements cbor.Marshaler.
func (l LinkList) MarshalCBOR() ([]byte, error) {
	return byteString(func(b []byte) []byte {
		b = listHead(b, len(l))
		before := &Link{}
		for i := range l {
			b = appendLink(b, &l[i], before)
			before = &l[i]
		}
		return b
	}, 64*len(l)), nil
}

func appendLink(b []byte, l, before *Link) []byte {
	texts := [...]string{l.Raw, l.Rel, l.Text, l.Tag}
	bits := [...]byte{hasRaw, hasRel, hasText, hasTag}
	if l.Tag == before.Tag {
		texts[3], bits[3] = "", 0
	}
	var mask byte
	for i, s := range texts {
		if s != "" {
			mask |= bits[i]
		}
	}
	if l.Tag == before.Tag {
		mask |= sameTag
	}
	if l.Weight != 0 {
		mask |= hasWeight
	}
	if l.Drop != "" || l.Fields != "" || l.Promise != 0 || !l.Told.IsZero() || l.Beyond != 0 {
		mask |= hasLinkExtensions
	}
	b = appendURL(append(b, mask), l.URL, before.URL)
	for i, s := range texts {
		if mask&bits[i] != 0 {
			b = codec.AppendText(b, s)
		}
	}
	if l.Weight != 0 {
		b = binary.AppendVarint(b, int64(l.Weight))
	}
	if mask&hasLinkExtensions != 0 {
		var more []byte
		if l.Drop != "" {
			more = appendPair(more, extDrop, []byte(l.Drop))
		}
		more = appendNumber(appendFields(more, l.Fields), extPromise, int(l.Promise))
		b = codec.AppendBytes(b, appendNumber(appendTold(more, l.Told), extBeyond, l.Beyond))
	}
	return b
}

// UnmarshalCBOR implements cbor.Unmarshaler.
func (l *LinkList) UnmarshalCBOR(data []byte) error {
	before := &Link{}
	return readList(data, l, listVersion, func(_ byte, r *codec.Reader, k *Link) error {
		defer func() { before = k }()
		return readLink(r, k, before)
	})
}

func readLink(r *codec.Reader, l, before *Link) (err error) {
	mask := r.Byte()
	if mask >= 1<<linkBits {
		return errList
	}
	if l.URL, err = readURL(r, before.URL); err != nil {
		return err
	}
	for _, f := range [...]struct {
		bit byte
		to  *string
	}{{hasRaw, &l.Raw}, {hasRel, &l.Rel}, {hasText, &l.Text}, {hasTag, &l.Tag}} {
		if mask&f.bit != 0 {
			*f.to = r.Text()
		}
	}
	if mask&sameTag != 0 {
		l.Tag = before.Tag
	}
	if mask&hasWeight != 0 {
		l.Weight = int(r.Varint())
	}
	if mask&hasLinkExtensions != 0 {
		readExtensions(r, extension{extDrop, func(v *codec.Reader) { l.Drop, v.B = string(v.B), nil }}, fieldsInto(&l.Fields),
			numberInto(extPromise, (*int)(&l.Promise)),
			toldInto(&l.Told), numberInto(extBeyond, &l.Beyond))
	}
	return nil
}

// extendedVersion is the version of an exclusion list in which each item ends with its extensions. A list that needs
// none is written in the version before.
const extendedVersion = 2

// MarshalCBOR implements cbor.Marshaler.
func (l ExclusionList) MarshalCBOR() ([]byte, error) {
	extended := slices.ContainsFunc(l, func(x Exclusion) bool {
		return x.Rule != "" || x.Epoch > 1 || !x.plain() || x.Relevance != 0 || x.more != ""
	})
	version := byte(listVersion)
	if extended {
		version = extendedVersion
	}
	return byteString(func(b []byte) []byte {
		b = binary.AppendUvarint(append(b, version), uint64(len(l)))
		before := &Exclusion{}
		for i := range l {
			x := &l[i]
			b = appendURL(appendURL(b, x.URL, before.URL), x.Referrer, before.Referrer)
			b = codec.AppendText(binary.AppendVarint(b, int64(x.Depth)), x.Reason)
			if extended {
				b = codec.AppendBytes(b, appendExclusionExtensions(nil, x, before))
			}
			before = x
		}
		return b
	}, 64*len(l)), nil
}

func appendExclusionExtensions(b []byte, x, before *Exclusion) []byte {
	b = appendNumber(appendWhat(appendEpoch(b, x.Epoch), x), extTopic, int(x.Relevance))
	switch x.Rule {
	case "":
	case before.Rule:
		b = appendPair(b, extSameRule, nil)
	default:
		b = appendPair(b, extRule, []byte(x.Rule))
	}
	return append(b, x.more...)
}

// UnmarshalCBOR implements cbor.Unmarshaler.
func (l *ExclusionList) UnmarshalCBOR(data []byte) error {
	before := &Exclusion{}
	return readList(data, l, extendedVersion, func(version byte, r *codec.Reader, x *Exclusion) (err error) {
		if x.URL, err = readURL(r, before.URL); err != nil {
			return err
		}
		if x.Referrer = before.Referrer; !repeats(r, before.Referrer) {
			x.Referrer, err = readURL(r, before.Referrer)
		}
		x.Depth, x.Reason = int(r.Varint()), r.Text()
		if version == extendedVersion {
			x.more = readExtensions(r,
				epochInto(&x.Epoch), whatInto(x), numberInto(extTopic, (*int)(&x.Relevance)),
				extension{extRule, func(v *codec.Reader) { x.Rule, v.B = string(v.B), nil }},
				extension{extSameRule, func(*codec.Reader) { x.Rule = before.Rule }})
		}
		before = x
		return err
	})
}

// repeats takes a URL off r that is the whole of before and nothing more, if that is what comes next: it need not be
// parsed again.
func repeats(r *codec.Reader, before weburl.URL) bool {
	n, size := binary.Uvarint(r.B)
	if size <= 0 || n != uint64(len(before.String())) || len(r.B) <= size || r.B[size] != 0 {
		return false
	}
	r.B = r.B[size+1:]
	return true
}

// listVersion is the version of the lists' formats; see extendedVersion.
const listVersion = 1

func listHead(b []byte, n int) []byte { return binary.AppendUvarint(append(b, listVersion), uint64(n)) }

// readList reads the elements of a list, of version newest or an older one, one after the other.
func readList[L ~[]E, E any](data []byte, l *L, newest byte,
	read func(version byte, r *codec.Reader, e *E) error) error {
	b, err := bytesOf(data)
	if err != nil {
		return err
	}
	r := codec.Reader{B: b}
	version := r.Byte()
	if version < listVersion || version > newest {
		return fmt.Errorf("%w: it has no version that this program knows", errList)
	}
	n := r.Uvarint(maxList)
	if n > uint64(len(r.B)) { // an element has at least one byte
		return errList
	}
	out := make(L, n)
	for i := range out {
		if err := read(version, &r, &out[i]); err != nil {
			return fmt.Errorf("element %d of %d: %w", i, n, err)
		}
	}
	if !r.Done() {
		return errList
	}
	*l = out
	return nil
}

// byteString returns what fill appends as a CBOR byte string (RFC 8949, 3.1); about size bytes.
func byteString(fill func([]byte) []byte, size int) []byte {
	const head = 5 // the largest that is needed here: a length of 32 bits
	b := fill(make([]byte, head, head+size+16))
	n := uint32(len(b) - head)
	switch {
	case n < 24:
		b = b[4:]
		b[0] = 0x40 | byte(n)
	case n < 1<<8:
		b = b[3:]
		b[0], b[1] = 0x58, byte(n)
	case n < 1<<16:
		b = b[2:]
		b[0] = 0x59
		binary.BigEndian.PutUint16(b[1:], uint16(n))
	default:
		b[0] = 0x5a
		binary.BigEndian.PutUint32(b[1:], n)
	}
	return b
}

// bytesOf returns the content of a CBOR byte string; it is part of data.
func bytesOf(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0]>>5 != 2 {
		return nil, fmt.Errorf("%w: it is no byte string", errList)
	}
	head := 1
	switch data[0] & 31 {
	case 24:
		head = 2
	case 25:
		head = 3
	case 26:
		head = 5
	case 27:
		head = 9
	case 31:
		return nil, errList // of indefinite length: we write none
	}
	return data[min(head, len(data)):], nil
}
