package topic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// The compact form of a model: head, number of classes, and of each its name, bias and scale (float32, little-endian),
// the number of its weights and, for each that is not 0, the distance from the feature before and the weight. Numbers
// are varints. At the end stands the XXH3 of all before it.
//
// The version changes with the features too: weights mean nothing without the hash that they were made for.
const head = "wtopic\x01"

const sumSize = 8

// ErrModel says that bytes are no model.
var ErrModel = errors.New("this is no model of a topic or of classes, or it is damaged")

// ErrVersion says that they are a model of another version.
var ErrVersion = errors.New("the model was made by another version of whirlpool: make it anew")

// Append appends the compact form of the model.
func (m *Model) Append(b []byte) []byte {
	start := len(b)
	b = append(b, head...)
	b = binary.AppendUvarint(b, uint64(len(m.classes)))
	for i := range m.classes {
		b = m.classes[i].append(b)
	}
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b[start:]))
}

func (c *class) append(b []byte) []byte {
	b = append(binary.AppendUvarint(b, uint64(len(c.name))), c.name...)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c.bias))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c.scale))
	n := 0
	for _, w := range c.weights {
		if w != 0 {
			n++
		}
	}
	b = binary.AppendUvarint(b, uint64(n))
	before := -1
	for id, w := range c.weights {
		if w != 0 {
			b = binary.AppendUvarint(b, uint64(id-before-1))
			b = binary.AppendVarint(b, int64(w))
			before = id
		}
	}
	return b
}

// Parse reads what Append appended, and nothing else. A model takes 512 KiB for each of its classes.
func Parse(b []byte) (*Model, error) {
	switch {
	case len(b) > MaxModel:
		return nil, fmt.Errorf("%w: it has %d bytes, and %d are allowed", ErrModel, len(b), MaxModel)
	case len(b) < len(head)+sumSize || string(b[:len(head)-1]) != head[:len(head)-1]:
		return nil, ErrModel
	case b[len(head)-1] != head[len(head)-1]:
		return nil, ErrVersion
	}
	body, sum := b[:len(b)-sumSize], binary.LittleEndian.Uint64(b[len(b)-sumSize:])
	if xxh3.Hash(body) != sum {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrModel)
	}
	r := reader{b: body[len(head):]}
	m := &Model{make([]class, r.uvarint(MaxClasses))}
	for i := range m.classes {
		if err := r.class(&m.classes[i]); err != nil {
			return nil, err
		}
	}
	if r.bad || len(r.b) > 0 || len(m.classes) == 0 {
		return nil, ErrModel
	}
	return m, nil
}

// reader takes numbers off bytes; bad once there were none, or one too large.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uvarint(most uint64) uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > most {
		r.bad = true
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.b) {
		r.bad = true
		return make([]byte, min(n, MaxName))
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) float() float32 {
	f := math.Float32frombits(binary.LittleEndian.Uint32(r.bytes(4)))
	if d := float64(f); math.IsNaN(d) || math.IsInf(d, 0) {
		r.bad = true
	}
	return f
}

// class reads a class. Everything is checked before a table is made.
func (r *reader) class(c *class) error {
	c.name = string(r.bytes(int(r.uvarint(MaxName))))
	c.bias, c.scale = r.float(), r.float()
	n := r.uvarint(Features)
	if r.bad || !utf8.ValidString(c.name) || n > uint64(len(r.b))/2 {
		return ErrModel
	}
	c.weights = make([]int16, Features)
	at := uint64(0)
	for range n {
		at += r.uvarint(Features)
		w, size := binary.Varint(r.b)
		if r.bad || at >= Features || size <= 0 || w == 0 || w < math.MinInt16 || w > math.MaxInt16 {
			return ErrModel
		}
		r.b = r.b[size:]
		c.weights[at] = int16(w)
		at++
	}
	return nil
}
