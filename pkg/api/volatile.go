package api

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"
)

// volatileTopic is a topic whose values change all the time: the progress of a crawl, its figures, the end of a log.
// Only the present value is kept, and only while a client reads it.
type volatileTopic struct {
	name    string
	refs    int
	line    []byte
	version uint64 // of line; 0: there is none yet
	stop    context.CancelFunc
}

const (
	volatileEvery = 500 * time.Millisecond
	volatileTime  = 5 * time.Second // to make a line
)

// source makes the data of a volatile topic: nil, nothing new.
type source func(ctx context.Context) (kind string, data any, err error)

// follow makes sure that a topic is made while it is followed.
func (h *hub) follow(name string, from source) (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[name]
	if t == nil {
		ctx, cancel := context.WithCancel(h.ctx)
		t = &volatileTopic{name: name, stop: cancel}
		h.topics[name] = t
		go h.produce(ctx, t, from)
	}
	t.refs++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if t.refs--; t.refs == 0 {
			t.stop()
			delete(h.topics, name)
		}
	}
}

// produce makes a topic's line twice a second, and wakes readers where it is another.
func (h *hub) produce(ctx context.Context, t *volatileTopic, from source) {
	tick := time.NewTicker(volatileEvery)
	defer tick.Stop()
	for {
		within, cancel := context.WithTimeout(ctx, volatileTime)
		kind, data, err := from(within)
		cancel()
		if err == nil && data != nil {
			h.publish(t, kind, data)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (h *hub) publish(t *volatileTopic, kind string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		return
	}
	line := frame(0, kind, text)
	h.mu.Lock()
	defer h.mu.Unlock()
	if bytes.Equal(line, t.line) {
		return
	}
	t.line = line
	t.version++
	h.rouse()
}

// newest returns the lines that a reader has not seen; seen holds the versions that it has.
func (h *hub) newest(seen map[string]uint64) (lines [][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, version := range seen {
		if t := h.topics[name]; t != nil && t.version != version {
			seen[name] = t.version
			lines = append(lines, t.line)
		}
	}
	return lines
}

// frame is an event of the stream; id 0: it has none, and cannot be asked for again.
func frame(id int64, kind string, data []byte) []byte {
	var b bytes.Buffer
	if id > 0 {
		b.WriteString("id: " + strconv.FormatInt(id, 10) + "\n")
	}
	b.WriteString("event: " + kind + "\ndata: ")
	b.Write(data) // JSON in one line
	b.WriteString("\n\n")
	return b.Bytes()
}
