package mongo

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// builder appends BSON elements (bsonspec.org). A record is encoded by hand, because reflection over documents of forty
// links takes several times as long.
type builder struct {
	b    []byte
	open []int // where the documents begin that are not ended
}

func (w *builder) head(t bson.Type, key string) {
	w.b = append(w.b, byte(t))
	w.b = append(append(w.b, key...), 0)
}

// text appends a string; each invalid byte becomes U+FFFD.
func (w *builder) text(key, s string) {
	w.head(bson.TypeString, key)
	s = valid(s)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(s)+1))
	w.b = append(append(w.b, s...), 0)
}

// optional appends a string unless it is empty.
func (w *builder) optional(key, s string) {
	if s != "" {
		w.text(key, s)
	}
}

func (w *builder) integer(key string, v int64) {
	if v == int64(int32(v)) {
		w.head(bson.TypeInt32, key)
		w.b = binary.LittleEndian.AppendUint32(w.b, uint32(v))
		return
	}
	w.head(bson.TypeInt64, key)
	w.b = binary.LittleEndian.AppendUint64(w.b, uint64(v))
}

// number appends f, or null where JSON has no such number: servers differ about infinities and NaN.
func (w *builder) number(key string, f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.head(bson.TypeNull, key)
		return
	}
	w.head(bson.TypeDouble, key)
	w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(f))
}

func (w *builder) boolean(key string, v bool) {
	w.head(bson.TypeBoolean, key)
	if v {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *builder) date(key string, t time.Time) {
	w.head(bson.TypeDateTime, key)
	w.b = binary.LittleEndian.AppendUint64(w.b, uint64(t.UnixMilli()))
}

// start begins a document; startIn one that is an element of another, or an array.
func (w *builder) start() {
	w.open = append(w.open, len(w.b))
	w.b = append(w.b, 0, 0, 0, 0)
}

func (w *builder) startIn(t bson.Type, key string) {
	w.head(t, key)
	w.start()
}

// end ends the document that was begun last.
func (w *builder) end() {
	at := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	w.b = append(w.b, 0)
	binary.LittleEndian.PutUint32(w.b[at:], uint32(len(w.b)-at))
}

// appendList appends an array.
func appendList[T any](w *builder, key string, list []T, item func(key string, v T)) {
	w.startIn(bson.TypeArray, key)
	for i, v := range list {
		item(strconv.Itoa(i), v)
	}
	w.end()
}

// valid returns s with U+FFFD for each invalid byte.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
