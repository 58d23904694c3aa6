package whirlpool

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"
)

var (
	settings func(at string, with []byte) error
	points   = map[string]func(*Call, []byte) (Answer, error){}
	lines    []string // of the log of the call under way
)

// head is the JSON at the beginning of a frame.
type head struct {
	At      string          `json:"at"`
	With    json.RawMessage `json:"with"`
	ID      string          `json:"id"`
	Now     time.Time       `json:"now"`
	Message json.RawMessage `json:"message"`
}

// cut takes a frame apart.
func cut(frame []byte) (h head, body []byte, err error) {
	if len(frame) < 4 {
		return h, nil, errors.New("a frame of less than four bytes")
	}
	n := uint64(binary.LittleEndian.Uint32(frame))
	if n > uint64(len(frame)-4) {
		return h, nil, errors.New("a frame that is shorter than its head")
	}
	return h, frame[4+n:], json.Unmarshal(frame[4:4+n], &h)
}

// configure answers a configure frame.
func configure(frame []byte) []byte {
	h, _, err := cut(frame)
	if err == nil && settings != nil {
		err = settings(h.At, h.With)
	}
	if err == nil {
		return []byte("{}")
	}
	var fault *ConfigError
	if !errors.As(err, &fault) {
		fault = &ConfigError{Text: err.Error()}
	}
	return encode(map[string]any{"error": fault})
}

// handle answers a message at a point.
func handle(point string, frame []byte) []byte {
	f := points[point]
	if f == nil {
		return failure("it registered nothing for point " + point)
	}
	h, body, err := cut(frame)
	if err != nil {
		return failure(err.Error())
	}
	lines = nil
	answer, err := f(&Call{ID: h.ID, Now: h.Now, Body: body}, h.Message)
	if err != nil {
		return failure(err.Error())
	}
	answer.Log = append(answer.Log, lines...)
	return encode(answer)
}

func failure(text string) []byte { return encode(map[string]string{"error": text}) }

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		data, _ = json.Marshal(map[string]string{"error": err.Error()}) // a map of strings has no fault
	}
	return data
}
