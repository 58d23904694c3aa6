package fetcher

import "io"

// source reads the body of an exchange, counted, up to a bound, before it is decoded.
type source struct {
	from io.Reader
	max  int64 // octets

	n   int64
	err error // sticky; io.EOF when the body was whole
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (n int, err error) {
	if s.err == nil && s.n >= s.max {
		s.err = errTooLong
	}
	if s.err != nil {
		return 0, s.err
	}
	n, s.err = s.from.Read(p)
	s.n += int64(n)
	return n, s.err
}

// fault returns why the body could not be read to its end, or nil.
func (s *source) fault() error {
	if s.err == io.EOF || s.err == errTooLong {
		return nil
	}
	return s.err
}
