package whirlpool

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"
)

var (
	settings func(at string, with []byte) error
	points   = map[string]func(*Call, []byte, string) (Answer, error){}
	lines    []string // of the log of the call under way
)

// head is the JSON at the beginning of a frame.
type head struct {
	At      string          `json:"at"`
	With    json.RawMessage `json:"with"`
	ID      string          `json:"id"`
	Now     time.Time       `json:"now"`
	Message json.RawMessage `json:"message"`
	Text    int             `json:"text"` // bytes of the text behind the head
}

// cut takes a frame apart.
func cut(frame []byte) (h head, text string, body []byte, err error) {
	if len(frame) < 4 {
		return h, "", nil, errors.New("a frame of less than four bytes")
	}
	n := uint64(binary.LittleEndian.Uint32(frame))
	if n > uint64(len(frame)-4) {
		return h, "", nil, errors.New("a frame that is shorter than its head")
	}
	if err := json.Unmarshal(frame[4:4+n], &h); err != nil {
		return h, "", nil, err
	}
	rest := frame[4+n:]
	if h.Text < 0 || h.Text > len(rest) {
		return h, "", nil, errors.New("a frame that is shorter than its text")
	}
	return h, string(rest[:h.Text]), rest[h.Text:], nil
}

// configure answers a configure frame.
func configure(frame []byte) []byte {
	h, _, _, err := cut(frame)
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
	h, text, body, err := cut(frame)
	if err != nil {
		return failure(err.Error())
	}
	lines = nil
	answer, err := f(&Call{ID: h.ID, Now: h.Now, Body: body}, h.Message, text)
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
