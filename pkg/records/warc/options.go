package warc

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Field is a named value: of a record's header, or of a warcinfo or metadata block.
type Field struct{ Name, Value string }

// Options of a Writer. The zero value of each field stands for its default.
type Options struct {
	Prefix    string        // of file names; default WHIRLPOOL
	Host      string        // the machine's name in file names and warcinfo; default os.Hostname
	MaxSize   int64         // bytes after which a new file begins; default 1 GB, which the standard recommends
	Level     int           // of gzip, 1 to 9; default 1
	Remember  int           // payloads remembered for revisit records; default 32,768, negative: none
	SyncEvery time.Duration // default 1 s
	Info      []Field       // added to the warcinfo records: operator, robots, http-header-user-agent …
	Now       func() time.Time
	Log       *slog.Logger
}

// Validate reports everything that is wrong with the options, a line each.
func (o Options) Validate() error {
	var errs []error
	if o.Prefix != "" && !namePart.MatchString(o.Prefix) {
		errs = append(errs, fmt.Errorf("prefix %q: want letters, digits, dots and underscores", o.Prefix))
	}
	if o.MaxSize < 0 {
		errs = append(errs, fmt.Errorf("max size %d: want more than 0 bytes", o.MaxSize))
	}
	if o.Level < 0 || o.Level > 9 {
		errs = append(errs, fmt.Errorf("gzip level %d: want 1 to 9", o.Level))
	}
	if o.SyncEvery < 0 {
		errs = append(errs, fmt.Errorf("sync interval %v: want more than 0", o.SyncEvery))
	}
	for _, f := range o.Info {
		if !token.MatchString(f.Name) {
			errs = append(errs, fmt.Errorf("warcinfo field %q: want a name of letters, digits and dashes", f.Name))
		}
	}
	return errors.Join(errs...)
}

var (
	namePart = regexp.MustCompile(`^[A-Za-z0-9._]+$`)
	token    = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
	unnamely = regexp.MustCompile(`[^A-Za-z0-9._]+`)
)

func (o Options) withDefaults() Options {
	o.Prefix = or(o.Prefix, "WHIRLPOOL")
	o.MaxSize = or(o.MaxSize, 1e9)
	o.Level = or(o.Level, 1)
	o.Remember = or(o.Remember, 32_768)
	o.SyncEvery = or(o.SyncEvery, time.Second)
	if o.Host == "" {
		o.Host, _ = os.Hostname()
	}
	o.Host = or(strings.Trim(unnamely.ReplaceAllString(o.Host, "_"), "_"), "localhost")
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// warcinfo makes the record that a file begins with.
func (o Options) warcinfo(filename string) *record {
	return &record{
		kind: "warcinfo", contentType: typeFields, id: newID(), date: o.Now(),
		fields: []Field{{"WARC-Filename", filename}},
		head: appendFields(nil, append([]Field{
			{"software", "Whirlpool/" + crawl.Version},
			{"format", "WARC File Format 1.1"},
			{"conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
			{"hostname", o.Host},
		}, o.Info...)),
	}
}
