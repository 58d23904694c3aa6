package delivertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Lines are stored records: a deliver.Source.
type Lines struct{ all []byte }

// Length implements deliver.Source.
func (l *Lines) Length() int64 { return int64(len(l.all)) }

// EachLine implements deliver.Source.
func (l *Lines) EachLine(_ context.Context, from int64, use func(int64, []byte) (bool, error)) error {
	for at := int(from); at < len(l.all); {
		end := bytes.IndexByte(l.all[at:], '\n')
		if end < 0 {
			end = len(l.all) - at - 1
		}
		next := at + end + 1
		if more, err := use(int64(next), l.all[at:next-1]); err != nil || !more {
			return err
		}
		at = next
	}
	return nil
}

// Add adds the i-th record.
func (l *Lines) Add(t testing.TB, i int, title string, fields ...crawl.Field) {
	t.Helper()
	u, err := weburl.Parse(fmt.Sprintf("https://a.test/%d", i))
	if err != nil {
		t.Fatal(err)
	}
	l.all = jsonl.AppendRecord(l.all, &crawl.Record{URL: u, FinalURL: u, Status: 200, Title: title, Depth: i % 7,
		FetchedAt: time.UnixMilli(int64(i)), Fields: fields})
}

func (l *Lines) split() [][]byte { return slices.Collect(bytes.Lines(l.all)) }

// takeBack removes a line; those behind it close up.
func (l *Lines) takeBack(i int) { l.all = bytes.Join(slices.Delete(l.split(), i, i+1), nil) }

// replace marks a line as replaced.
func (l *Lines) replace(i int) {
	all := l.split()
	record, replaced := jsonl.Mark()
	all[i] = append(bytes.Clone(replaced), bytes.TrimPrefix(bytes.TrimPrefix(all[i], record), replaced)...)
	l.all = bytes.Join(all, nil)
}

// errKilled is what a process says that was killed: nothing.
var errKilled = errors.New("killed")

// fate kills a process at its n-th effect, before or after it. A killed process has no more effects.
type fate struct {
	in    int
	after bool
	dead  bool
}

// meets reports what happens with an effect.
func (f *fate) meets(effect func() error) error {
	if f.dead {
		return errKilled
	}
	f.in--
	if f.in == 0 {
		f.dead = true
		if f.after {
			if err := effect(); err != nil {
				return err
			}
		}
		return errKilled
	}
	return effect()
}

// notes are deliver.Notes that outlive a process.
type notes struct {
	by   map[string][]byte
	fate *fate
}

func (n *notes) Get(_ context.Context, name string) ([]byte, bool, error) {
	v, ok := n.by[name]
	return v, ok, nil
}

func (n *notes) Put(_ context.Context, name string, v []byte) error {
	return n.fate.meets(func() error { n.by[name] = bytes.Clone(v); return nil })
}
