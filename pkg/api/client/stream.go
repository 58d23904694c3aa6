package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// StreamEvent is an event of the stream: a durable one has an id, which the next connection goes on after.
type StreamEvent struct {
	ID   string
	Kind string // event, progress, series, tail, agents or reset; "" where only the place of the stream is told
	Data []byte
}

// Stream hands the events of topics to each until it returns an error, or ctx is done. A connection that breaks is made
// again, after the last event; only a server that refuses ends it. The first of each connection has no kind: what
// happens from then on is told.
func (c *Client) Stream(ctx context.Context, topics []string, each func(StreamEvent) error) error {
	last := ""
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		began, before := time.Now(), last
		err := c.stream(ctx, topics, &last, each)
		var p *Problem
		var stopped *stopError
		switch {
		case errors.As(err, &stopped):
			return stopped.err
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &p) && p.Status != http.StatusTooManyRequests && p.Status < 500:
			return err
		}
		if last != before || time.Since(began) > 10*time.Second { // it was a good connection
			wait = 200 * time.Millisecond
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// stopError carries the error of whom the events are handed to.
type stopError struct{ err error }

// Error implements error.
func (e *stopError) Error() string { return e.err.Error() }

func (c *Client) stream(ctx context.Context, topics []string, last *string, each func(StreamEvent) error) error {
	to := c.server + base + "/events?" + url.Values{"topics": {strings.Join(topics, ",")}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if err != nil {
		return err
	}
	if *last != "" {
		req.Header.Set("Last-Event-ID", *last)
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", c.server, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return problemOf(resp)
	}
	return readStream(resp.Body, func(e StreamEvent) error {
		if e.ID != "" { // the place of the stream, with an event or alone
			*last = e.ID
		}
		if err := each(e); err != nil {
			return &stopError{err}
		}
		return nil
	})
}

// maxEvent bounds a line of a stream.
const maxEvent = 4 << 20

// readStream reads text/event-stream as the server writes it: one line of data an event.
func readStream(r io.Reader, each func(StreamEvent) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), maxEvent)
	var e StreamEvent
	for in.Scan() {
		line := in.Text()
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && (e.Kind != "" || e.ID != ""):
			if err := each(e); err != nil {
				return err
			}
			e = StreamEvent{}
		case line == "":
			e = StreamEvent{}
		case name == "id":
			e.ID = value
		case name == "event":
			e.Kind = value
		case name == "data":
			e.Data = []byte(value)
		}
	}
	return in.Err()
}
