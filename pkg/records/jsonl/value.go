package jsonl

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const timeFormat = "2006-01-02T15:04:05.000Z07:00"

func appendTime(dst []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(dst, '"'), timeFormat), '"')
}

func appendDigest(dst []byte, d crawl.Digest) []byte {
	if d.IsZero() {
		return append(dst, `""`...)
	}
	return append(hex.AppendEncode(append(dst, `"sha256:`...), d[:]), '"')
}

func appendHex64(dst []byte, v uint64) []byte {
	dst = append(dst, '"')
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[v>>shift&15])
	}
	return append(dst, '"')
}

// appendMillis appends d in milliseconds, with up to three decimals.
func appendMillis(dst []byte, d time.Duration) []byte {
	us := d.Microseconds()
	if us%1000 == 0 {
		return strconv.AppendInt(dst, us/1000, 10)
	}
	return strconv.AppendFloat(dst, float64(us)/1000, 'f', -1, 64)
}

// appendFloat appends f; JSON has no infinities and no NaN, they become null.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

// AppendValue appends the value of a field to dst. Values come from site rules, or from the bus as CBOR makes them.
func AppendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return appendString(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case float64:
		return appendFloat(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case []any:
		return appendList(dst, v, AppendValue)
	case []string:
		return appendList(dst, v, appendString)
	case []float64:
		return appendList(dst, v, appendFloat)
	case map[string]any:
		return appendMembers(dst, v)
	}
	return appendOther(dst, v)
}

// appendOther appends a value of a type that no site rule makes; one that JSON cannot hold becomes null.
func appendOther(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

// appendMembers appends an object, its members in the order of their names.
func appendMembers(dst []byte, object map[string]any) []byte {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendValue(append(appendString(dst, name), ':'), object[name])
	}
	return append(dst, '}')
}

func appendList[T any](dst []byte, list []T, item func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item(dst, v)
	}
	return append(dst, ']')
}
