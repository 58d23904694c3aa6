package crawl

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
)

// Extensions let the compact forms grow. They are a byte string of pairs: a tag (uvarint) and a value (byte string). A
// program that does not know a tag skips the value and passes it on with the task or exclusion, so neighbouring
// versions read each other's messages. A field with its zero value is not written. Tags are stored on disk: only
// append, never reuse one.
const (
	extEpoch     = 1   // Task, Exclusion: Epoch as uvarint
	extRule      = 2   // Exclusion: Rule as text
	extSameRule  = 3   // Exclusion: Rule is that of the exclusion before; no value
	extFeed      = 4   // Task: Feed; no value
	extPaid      = 6   // Task: Paid; no value
	extTopic     = 9   // Task, Exclusion: Relevance as varint; 10 to 12 are for topics too
	extTold      = 13  // Task, Link: Told as varints of seconds since 1970 and nanoseconds
	extRepeated  = 14  // Task: Repeated, eight octets a sum
	extAsked     = 16  // Task: Asked; no value
	extPromise   = 20  // Task, Link: Promise as varint
	extText      = 21  // Task: Text
	extSum       = 7   // Task: Sum as uvarint
	extRestore   = 8   // Task: Restore; no value
	extCopy      = 15  // Task: Copy; no value
	extHostLinks = 51  // Task: HostLinks as varint
	extFinds     = 50  // Task: Finds as varint
	extDrop      = 80  // Link: Drop as text
	extBeyond    = 81  // Link: Beyond as varint
	extWhat      = 5   // Exclusion: Kind as a byte, Priority and Redirects as varints, and 1 for a Feed
	extFields    = 140 // Task, Link: Fields as text
)

// extension is a tag and what reads its value.
type extension struct {
	tag  uint64
	read func(value *codec.Reader)
}

// appendPair appends one extension.
func appendPair(b []byte, tag uint64, value []byte) []byte {
	return codec.AppendBytes(binary.AppendUvarint(b, tag), value)
}

// appendEpoch appends the extension of an epoch; that of the first is not written.
func appendEpoch(b []byte, epoch uint32) []byte {
	if epoch <= 1 {
		return b
	}
	return appendPair(b, extEpoch, binary.AppendUvarint(nil, uint64(epoch)))
}

// appendMark appends an extension without a value, if it is set.
func appendMark(b []byte, tag uint64, set bool) []byte {
	if !set {
		return b
	}
	return appendPair(b, tag, nil)
}

// markInto notes that an extension without a value is set.
func markInto(tag uint64, to *bool) extension {
	return extension{tag, func(*codec.Reader) { *to = true }}
}

// appendTaskExtensions appends the extensions of a task.
func appendTaskExtensions(b []byte, t *Task) []byte {
	b = appendMark(appendMark(appendEpoch(b, t.Epoch), extFeed, t.Feed), extPaid, t.Paid)
	b = appendNumber(appendNumber(b, extFinds, t.Finds), extHostLinks, t.HostLinks)
	b = appendFields(b, t.Fields)
	b = appendNumber(appendNumber(b, extTopic, int(t.Relevance)), extPromise, int(t.Promise))
	if t.Text != "" {
		b = appendPair(b, extText, []byte(t.Text))
	}
	if t.Sum != 0 {
		b = appendPair(b, extSum, binary.AppendUvarint(nil, t.Sum))
	}
	b = appendTold(appendMark(appendMark(b, extRestore, t.Restore), extCopy, t.Copy), t.Told)
	b = appendMark(b, extAsked, t.Asked)
	if t.Repeated != "" {
		b = appendPair(b, extRepeated, []byte(t.Repeated))
	}
	return append(b, t.more...)
}

// appendNumber appends a number, if it is not 0.
func appendNumber(b []byte, tag uint64, n int) []byte {
	if n == 0 {
		return b
	}
	return appendPair(b, tag, binary.AppendVarint(nil, int64(n)))
}

// appendTold appends a time, if it is set.
func appendTold(b []byte, at time.Time) []byte {
	if at.IsZero() {
		return b
	}
	return appendPair(b, extTold, binary.AppendVarint(binary.AppendVarint(nil, at.Unix()), int64(at.Nanosecond())))
}

// toldInto reads it.
func toldInto(to *time.Time) extension {
	return extension{extTold, func(v *codec.Reader) { *to = time.Unix(v.Varint(), v.Varint()).UTC() }}
}

// appendFields appends the fields of a request, if there are any.
func appendFields(b []byte, fields string) []byte {
	if fields == "" {
		return b
	}
	return appendPair(b, extFields, []byte(fields))
}

// fieldsInto reads the fields of a request.
func fieldsInto(to *string) extension {
	return extension{extFields, func(v *codec.Reader) { *to, v.B = string(v.B), nil }}
}

// numberInto reads a number.
func numberInto(tag uint64, to *int) extension {
	return extension{tag, func(v *codec.Reader) { *to = int(v.Varint()) }}
}

// sumInto reads a sum.
func sumInto(to *uint64) extension {
	return extension{extSum, func(v *codec.Reader) { *to = v.Uvarint(math.MaxUint64) }}
}

// extended reports whether the task has any.
func (t *Task) extended() bool {
	return t.Epoch > 1 || t.Feed || t.Paid || t.Finds != 0 || t.HostLinks != 0 || t.Relevance != 0 || t.Promise != 0 ||
		t.Text != "" || t.Sum != 0 || t.Restore || t.Copy || t.Asked || !t.Told.IsZero() || t.Fields != "" ||
		t.Repeated != "" || t.more != ""
}

// appendWhat appends what an excluded task would have been, unless it is plain.
func appendWhat(b []byte, x *Exclusion) []byte {
	if x.plain() {
		return b
	}
	v := binary.AppendVarint([]byte{byte(x.Kind)}, int64(x.Priority))
	v = binary.AppendVarint(v, int64(x.Redirects))
	if x.Feed {
		v = append(v, 1)
	}
	return appendPair(b, extWhat, v)
}

func whatInto(x *Exclusion) extension {
	return extension{extWhat, func(v *codec.Reader) {
		x.Kind, x.Priority, x.Redirects = Kind(v.Byte()), int(v.Varint()), int(v.Varint())
		x.Feed = !v.Bad && len(v.B) > 0 && v.Byte() == 1
	}}
}

// epochInto reads an epoch into to. The first is 0, however it was written.
func epochInto(to *uint32) extension {
	return extension{extEpoch, func(v *codec.Reader) {
		if *to = uint32(v.Uvarint(math.MaxUint32)); *to == 1 {
			*to = 0
		}
	}}
}

// readExtensions reads a byte string of extensions. It passes the values with known tags to their readers and returns
// the other pairs unchanged.
func readExtensions(r *codec.Reader, known ...extension) (unknown string) {
	var rest []byte
	for in := (codec.Reader{B: r.Bytes()}); len(in.B) > 0 && !r.Bad; r.Bad = r.Bad || in.Bad {
		pair := in.B
		tag, value := in.Uvarint(1<<64-1), codec.Reader{}
		value.B = in.Bytes()
		i := 0
		for i < len(known) && known[i].tag != tag {
			i++
		}
		if i == len(known) {
			rest = append(rest, pair[:len(pair)-len(in.B)]...)
			continue
		}
		known[i].read(&value)
		r.Bad = r.Bad || !value.Done()
	}
	return string(rest)
}
