package process

import (
	"log/slog"
	"net/url"
)

// mask is where a secret was. It needs no escape in a URL.
const mask = "xxxxx"

// Secret is a password. Printed, logged or marshalled it is masked; only Reveal gives it away.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return s.String() }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = Secret(text)
	return nil
}

// URL is an address that may hold a password. Printed, logged or marshalled the password is masked; Reveal gives it
// away.
type URL string

// Reveal returns the URL with its password.
func (u URL) Reveal() string { return string(u) }

// String implements fmt.Stringer. A URL that cannot be parsed is masked as a whole, because its password cannot be
// found.
func (u URL) String() string {
	parsed, err := url.Parse(string(u))
	switch {
	case u == "":
		return ""
	case err != nil || parsed.Opaque != "":
		return mask
	}
	if _, has := parsed.User.Password(); has {
		parsed.User = url.UserPassword(parsed.User.Username(), mask)
	}
	if q := parsed.Query(); parsed.RawQuery != "" { // PostgreSQL takes passwords here too
		for key := range q {
			if key == "password" || key == "sslpassword" {
				q.Set(key, mask)
				parsed.RawQuery = q.Encode()
			}
		}
	}
	return parsed.String()
}

// GoString implements fmt.GoStringer.
func (u URL) GoString() string { return u.String() }

// LogValue implements slog.LogValuer.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText implements encoding.TextMarshaler.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *URL) UnmarshalText(text []byte) error {
	*u = URL(text)
	return nil
}

// With returns the URL with a user and a password; what is empty stays as it is.
func (u URL) With(user string, password Secret) URL {
	parsed, err := url.Parse(string(u))
	if err != nil || user == "" && password == "" {
		return u
	}
	if user == "" {
		user = parsed.User.Username()
	}
	if password == "" {
		old, _ := parsed.User.Password()
		password = Secret(old)
	}
	if parsed.User = url.User(user); password != "" {
		parsed.User = url.UserPassword(user, string(password))
	}
	return URL(parsed.String())
}
