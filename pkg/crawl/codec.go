package crawl

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"

	"github.com/fxamacker/cbor/v2"
)

// CodecVersion is the first byte of every encoded event and value. The rest is CBOR (RFC 8949) with small integer keys.
// A new field gets a new number, so programs of neighbouring versions understand each other.
const CodecVersion = 2

var (
	encMode = must(cbor.EncOptions{Time: cbor.TimeRFC3339NanoUTC, OmitEmpty: cbor.OmitEmptyGoValue,
		TextMarshaler: cbor.TextMarshalerTextString}.UserBufferEncMode())
	// Whether text is UTF-8 is not asked again here: the parser sees to it, and the stores make it so for what they are
	// given.
	decMode = must(cbor.DecOptions{TextUnmarshaler: cbor.TextUnmarshalerTextString, MaxArrayElements: 1 << 20,
		UTF8: cbor.UTF8DecodeInvalid, DefaultMapType: reflect.TypeFor[map[string]any]()}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // options are constants of this file
	}
	return v
}

// EncodeEvent encodes e for the bus or a journal.
func EncodeEvent(e Event) ([]byte, error) { return EncodeValue(e) }

// DecodeEvent decodes an event of the topic. Its errors are permanent: the bytes will not get better.
func DecodeEvent(topic string, data []byte) (Event, error) {
	t, ok := TopicNamed(topic)
	if !ok {
		return nil, Permanent(fmt.Errorf("no event has the topic %q", topic))
	}
	e := t.Event()
	if err := DecodeValue(data, e); err != nil {
		return nil, Permanent(fmt.Errorf("decode an event of topic %q: %w", topic, err))
	}
	return e, nil
}

// EncodeValue encodes a value that a store keeps: a Task, a Host, a Robots. One byte of version comes first.
func EncodeValue(v any) ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	buf.WriteByte(CodecVersion)
	if err := encMode.MarshalToBuffer(v, buf); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	b := bytes.Clone(buf.Bytes())
	if buf.Cap() <= keptBuffer {
		buffers.Put(buf)
	}
	return b, nil
}

// keptBuffer is the capacity, in octets, up to which a buffer is used again.
const keptBuffer = 1 << 20

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// DecodeValue decodes what EncodeValue made into v, a pointer.
func DecodeValue(data []byte, v any) error {
	if len(data) == 0 {
		return fmt.Errorf("decode %T: no bytes", v)
	}
	if data[0] != CodecVersion {
		return fmt.Errorf("decode %T: format version %d, this program knows version %d", v, data[0], CodecVersion)
	}
	if err := decMode.Unmarshal(data[1:], v); err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}
