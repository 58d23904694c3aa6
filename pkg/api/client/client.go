// Package client is the Go client of the API: small, by hand, with the API's own types. A Client makes requests again
// that can be made twice, and sends an Idempotency-Key with the others.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const base = "/api/v1"

// maxAnswer bounds an answer that is JSON.
const maxAnswer = 64 << 20

// Client asks one server.
type Client struct {
	server string
	key    string
	http   *http.Client
}

// New makes a client of the server at an address, such as http://127.0.0.1:8711, or https://example.org/crawler where a
// proxy has it under a path. key is an API key; empty: none.
func New(server, key string) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of a server: give one such as http://127.0.0.1:8711", server)
	}
	// A key goes to the server that it is for, and to no other.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	server = u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/")
	return &Client{server: server, key: key, http: &http.Client{CheckRedirect: stay}}, nil
}

// Server is the address of the server.
func (c *Client) Server() string { return c.server }

// Problem is an answer that says what went wrong.
//
//nolint:errname // RFC 9457 calls it so
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Instance string `json:"instance"`
	Errors   []struct {
		Location string `json:"location"`
		Message  string `json:"message"`
	} `json:"errors"`
}

// Error implements error.
func (p *Problem) Error() string {
	text := p.Detail
	for _, e := range p.Errors {
		if e.Message != "" && !strings.Contains(text, e.Message) {
			text += "\n  " + strings.TrimPrefix(e.Location+": "+e.Message, ": ")
		}
	}
	return text
}

// IsNotFound reports whether an error says that there is no such thing.
func IsNotFound(err error) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status == http.StatusNotFound
}

// call is one request.
type call struct {
	method, path string
	query        url.Values
	in           any
	ifMatch      string
	from         int64 // the first byte of the answer that is wanted
}

// do makes a request and reads the answer into out; nil: it is not looked at.
func (c *Client) do(ctx context.Context, r call, out any) error {
	resp, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("answer of %s to %s %s: %w", c.server, r.method, r.path, err)
	}
	return nil
}

// send makes a request. An answer that says that something is wrong is a *Problem.
func (c *Client) send(ctx context.Context, r call) (*http.Response, error) {
	var content []byte
	if r.in != nil {
		var err error
		if content, err = json.Marshal(r.in); err != nil {
			return nil, err
		}
	}
	key := newKey()
	for try := 1; ; try++ {
		resp, err := c.once(ctx, r, content, key)
		if err == nil || try == 3 || ctx.Err() != nil || !passing(err) {
			return resp, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(try) * 300 * time.Millisecond):
		}
	}
}

// passing reports whether a request that failed may succeed soon: the connection broke, or the first try is still being
// answered. A server that is not there is told at once.
func passing(err error) bool {
	var p *Problem
	if errors.As(err, &p) {
		return p.Status == http.StatusConflict && strings.Contains(p.Detail, "Idempotency-Key") ||
			p.Status == http.StatusTooManyRequests
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func (c *Client) once(ctx context.Context, r call, content []byte, key string) (*http.Response, error) {
	to := c.server + base + r.path
	if len(r.query) > 0 {
		to += "?" + r.query.Encode()
	}
	var body io.Reader
	if content != nil {
		body = bytes.NewReader(content)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, to, body)
	if err != nil {
		return nil, err
	}
	if content != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.method == http.MethodPost {
		req.Header.Set("Idempotency-Key", key)
	}
	if r.ifMatch != "" {
		req.Header.Set("If-Match", r.ifMatch)
	}
	if r.from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", r.from))
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s does not answer: %w", c.server, err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, problemOf(resp)
}

func problemOf(resp *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // what was read of it will do
	p := new(Problem)
	if json.Unmarshal(data, p) != nil || p.Detail == "" {
		p.Detail = "the server answered " + resp.Status
	}
	p.Status = resp.StatusCode
	return p
}

func newKey() string { return rand.Text() }
