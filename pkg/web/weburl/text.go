package weburl

import (
	"encoding"
	"encoding/hex"
	"fmt"
)

var (
	_ encoding.TextMarshaler   = URL{}
	_ encoding.TextUnmarshaler = (*URL)(nil)
	_ encoding.TextMarshaler   = Key{}
	_ encoding.TextUnmarshaler = (*Key)(nil)
)

// MarshalText returns the URL's text; the zero URL is the empty text.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.href), nil }

// UnmarshalText is Parse, and reads the empty text as the zero URL.
func (u *URL) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*u = URL{}
		return nil
	}
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*u = parsed
	return nil
}

// String returns the key as 48 hex digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// MarshalText returns the key as 48 hex digits.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads 48 hex digits.
func (k *Key) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(k)) {
		return fmt.Errorf("read URL key %q: %d characters, want %d", text, len(text), hex.EncodedLen(len(k)))
	}
	var out Key
	if _, err := hex.Decode(out[:], text); err != nil {
		return fmt.Errorf("read URL key %q: %w", text, err)
	}
	*k = out
	return nil
}
