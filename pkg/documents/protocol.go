package documents

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A request is a head and the document; an answer is one crawl.Opened. Heads and answers are JSON, before each stands
// its length in four bytes.

// Bounds of what one side reads of the other.
const (
	maxHead   = 64 << 10
	maxAnswer = 256 << 20
	maxBody   = 1 << 30 // limits.max_body is at most that
)

type head struct {
	MediaType string        `json:"media_type"`
	Pages     int           `json:"pages"`
	Text      int           `json:"text"`
	Links     int           `json:"links"`
	Time      time.Duration `json:"time"`
	Bytes     int           `json:"bytes"` // of the document, which follows
}

var errFrame = errors.New("the other side sent something else")

func writeFrame(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data)))); err != nil { //nolint:gosec // bounded by the request
		return err
	}
	_, err = w.Write(data)
	return err
}

func readFrame(r io.Reader, limit uint32, v any) error {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > limit {
		return fmt.Errorf("%w: a frame of %d bytes", errFrame, n)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	return nil
}

func writeRequest(w io.Writer, r *crawl.OpenRequest) error {
	h := head{r.MediaType, r.Pages, r.Text, r.Links, r.Time, len(r.Body)}
	if err := writeFrame(w, h); err != nil {
		return err
	}
	_, err := w.Write(r.Body)
	return err
}

func readRequest(r io.Reader) (*crawl.OpenRequest, error) {
	var h head
	if err := readFrame(r, maxHead, &h); err != nil {
		return nil, err
	}
	if h.Bytes < 0 || h.Bytes > maxBody {
		return nil, fmt.Errorf("%w: a document of %d bytes", errFrame, h.Bytes)
	}
	body := make([]byte, h.Bytes)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	return &crawl.OpenRequest{MediaType: h.MediaType, Body: body, Pages: h.Pages, Text: h.Text, Links: h.Links,
		Time: h.Time}, nil
}
