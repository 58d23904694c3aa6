package crawl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that reads "1s" or "2m30s" in a job file and on the command line.
type Duration time.Duration

// D returns d as a time.Duration.
func (d Duration) D() time.Duration { return time.Duration(d) }

// String implements fmt.Stringer.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error { return d.Set(string(text)) }

// longUnits are those that time.ParseDuration does not know.
var longUnits = []string{"d", "day", "days", "w", "week", "weeks"}

// Set implements pflag.Value.
func (d *Duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		if unit := strings.TrimLeft(s, "0123456789. "); unit != s && slices.Contains(longUnits, unit) {
			return fmt.Errorf("duration %q: the largest unit is the hour: a day is 24h", s)
		}
		return fmt.Errorf("duration %q: want a number with a unit, as in 500ms, 1s or 2m", s)
	}
	*d = Duration(v)
	return nil
}

// Type implements pflag.Value.
func (*Duration) Type() string { return "duration" }

// Size is a number of bytes that reads "10MiB", "64k" or "1048576".
type Size int64

var sizeUnits = []struct {
	suffix string
	factor int64
}{
	{"gib", 1 << 30}, {"mib", 1 << 20}, {"kib", 1 << 10}, {"gb", 1e9}, {"mb", 1e6}, {"kb", 1e3},
	{"g", 1 << 30}, {"m", 1 << 20}, {"k", 1 << 10}, {"b", 1},
}

// String implements fmt.Stringer.
func (s Size) String() string {
	for _, u := range sizeUnits[:3] {
		if s != 0 && int64(s)%u.factor == 0 {
			return strconv.FormatInt(int64(s)/u.factor, 10) + strings.ToUpper(u.suffix[:1]) + "iB"
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// MarshalText implements encoding.TextMarshaler.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) error { return s.Set(string(text)) }

// Set implements pflag.Value.
func (s *Size) Set(text string) error {
	num, factor := strings.ToLower(strings.TrimSpace(text)), int64(1)
	for _, u := range sizeUnits {
		if cut, ok := strings.CutSuffix(num, u.suffix); ok {
			num, factor = strings.TrimSpace(cut), u.factor
			break
		}
	}
	v, err := strconv.ParseFloat(num, 64)
	if err != nil || v < 0 || v*float64(factor) > 1<<53 {
		return fmt.Errorf("size %q: want a number of bytes, as in 1048576, 64k or 10MiB", text)
	}
	*s = Size(v * float64(factor))
	return nil
}

// Type implements pflag.Value.
func (*Size) Type() string { return "size" }
