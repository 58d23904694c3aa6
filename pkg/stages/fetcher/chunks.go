package fetcher

import (
	"bytes"
	"io"
	"strconv"
)

// chunkPart is what of a body in chunks (RFC 9112, section 7.1) comes next.
type chunkPart uint8

const (
	chunkNone    chunkPart = iota // nothing: the body is in no chunks, or is over, or beyond help
	chunkSize                     // the line with the size of a chunk
	chunkData                     // its data
	chunkEnd                      // the line end behind that
	chunkTrailer                  // fields behind the last chunk
)

// maxChunkLine bounds a line with a size, and maxTrailer all trailers.
const (
	maxChunkLine = 4 << 10
	maxTrailer   = 64 << 10
)

// chunks mends bodies in chunks where browsers do not mind: lines that end with LF alone, sizes with many zeros, odd
// extensions and trailers, and a connection that ends right behind the last chunk. What is beyond help is passed on as
// it is, and net/http refuses it.
type chunks struct {
	part    chunkPart
	line    []byte // what came of a line
	left    int64  // octets of the chunk
	skipped int    // octets of trailers
}

// take appends to out what p is when it is mended.
func (c *chunks) take(out, p []byte) []byte {
	for len(p) > 0 {
		switch c.part {
		case chunkNone:
			return append(out, p...)
		case chunkData:
			n := min(c.left, int64(len(p)))
			out, p = append(out, p[:n]...), p[n:]
			if c.left -= n; c.left == 0 {
				c.part = chunkEnd
			}
		default:
			line, rest, whole := bytes.Cut(p, []byte("\n"))
			c.line = append(c.line, line...)
			p = rest
			switch {
			case whole:
				out = c.ends(out)
			case len(c.line) > maxChunkLine:
				out = c.giveUp(out, "")
			}
		}
	}
	return out
}

// ends deals with a line that came to its end.
func (c *chunks) ends(out []byte) []byte {
	text := bytes.TrimRight(c.line, "\r")
	switch c.part {
	case chunkSize:
		size, ok := sizeOfChunk(text)
		if !ok {
			return c.giveUp(out, "\n")
		}
		if c.left = size; size == 0 {
			c.part, c.skipped = chunkTrailer, 0
		} else {
			c.part = chunkData
			out = append(strconv.AppendInt(out, size, 16), "\r\n"...)
		}
	case chunkEnd:
		if len(text) > 0 {
			return c.giveUp(out, "\n")
		}
		c.part = chunkSize
		out = append(out, "\r\n"...)
	case chunkTrailer:
		switch c.skipped += len(c.line); {
		case len(text) == 0:
			c.part = chunkNone
			out = append(out, "0\r\n\r\n"...)
		case c.skipped > maxTrailer:
			return c.giveUp(append(out, "0\r\n"...), "\n")
		}
	}
	c.line = c.line[:0]
	return out
}

// giveUp passes on what came of a line, and all that comes.
func (c *chunks) giveUp(out []byte, end string) []byte {
	out = append(append(out, c.line...), end...)
	c.part, c.line = chunkNone, nil
	return out
}

// close appends to out what is missing when the connection ended with err: nothing, unless the last chunk came.
func (c *chunks) close(out []byte, err error) []byte {
	last := c.part == chunkTrailer
	if size, ok := sizeOfChunk(bytes.TrimRight(c.line, "\r")); c.part == chunkSize && ok {
		last = size == 0
	}
	if c.part = chunkNone; last && err == io.EOF {
		out = append(out, "0\r\n\r\n"...)
	}
	return out
}

// sizeOfChunk reads the line with the size of a chunk.
func sizeOfChunk(line []byte) (int64, bool) {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	digits = bytes.Trim(digits, " \t\r")
	if len(digits) == 0 || digits[0] == '+' || digits[0] == '-' {
		return 0, false
	}
	size, err := strconv.ParseInt(string(digits), 16, 64)
	return size, err == nil
}
