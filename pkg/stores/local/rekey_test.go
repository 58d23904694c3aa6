package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// pastKey is a key as formats 2 and 3 had it.
func pastKey(k []byte) []byte {
	kind := k[0] &^ perJob
	out, rest := []byte{kind}, k[1:]
	if kind == pastContent {
		out, rest = append(out, rest[0]), rest[1:]
	}
	num, rest := binary.BigEndian.Uint32(rest), rest[jobLen:]
	if bytes.IndexByte([]byte(pastPageKinds), kind) < 0 {
		out = binary.BigEndian.AppendUint16(out, uint16(num))
	}
	return append(out, rest...)
}

// contents are all entries of the state.
func contents(t *testing.T, s *Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, s.flush())
	must(t, scanRange(context.Background(), s.db, []byte{0}, []byte{0xff}, func(k, v []byte) error {
		out[string(k)] = string(v)
		return nil
	}))
	return out
}

// makePast turns a store into one of format 3, but for keys that skip names.
func makePast(t *testing.T, dir string, skip func(i int) bool) {
	t.Helper()
	s := openStore(t, dir)
	i := 0
	for k, v := range contents(t, s) {
		if i++; skip(i) {
			continue
		}
		key := []byte(k)
		switch {
		case key[0] == kindJob:
			must(t, s.db.Set(key, binary.BigEndian.AppendUint16(nil, uint16(binary.BigEndian.Uint32([]byte(v)))), pebble.Sync))
		case key[0] == kindJobNext:
			must(t, s.db.Delete(key, pebble.Sync))
		case key[0]&perJob != 0:
			must(t, s.db.Set(pastKey(key), []byte(v), pebble.Sync))
			must(t, s.db.Delete(key, pebble.Sync))
		}
	}
	must(t, s.Close())
}

// A directory of format 3 is what it was after its keys were given their present form, also where that was cut off.
func TestAStateWithShortJobNumbersIsConverted(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of waiting")
	}
	for name, tc := range map[string]struct {
		format string
		skip   func(i int) bool
	}{
		"whole":         {formatKeys, func(int) bool { return false }},
		"cut off":       {converting + formatKeys, func(i int) bool { return i%3 == 0 }},
		"cut off early": {converting + formatKeys, func(int) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			dir, ctx := t.TempDir(), context.Background()
			s := openStore(t, dir)
			for i := range 300 {
				must(t, storeAll(s, i%3, mustURL(t, fmt.Sprintf("http://a.test/%d", i)), func(string) {}))
			}
			_, err := s.Budgets().Spend(ctx, testJob, "level 1", 3, 10)
			must(t, err)
			want := contents(t, s)
			before, err := s.URLs().Tally(ctx, testJob)
			must(t, err)
			must(t, s.Close())
			makePast(t, dir, tc.skip)
			must(t, os.WriteFile(filepath.Join(dir, "state", formatName), []byte(tc.format+"\n"), 0o600))

			s = openStore(t, dir)
			got := contents(t, s)
			delete(want, string([]byte{kindJobNext}))
			delete(got, string([]byte{kindJobNext}))
			if !maps.Equal(got, want) {
				t.Errorf("%d entries after the conversion, want the %d as they were", len(got), len(want))
			}
			after, err := s.URLs().Tally(ctx, testJob)
			if err != nil || after.Pages != before.Pages || after.Claimed != before.Claimed || before.Claimed == 0 {
				t.Errorf("tally %+v, error %v; before %+v", after, err, before)
			}
			if n, err := s.Budgets().Spend(ctx, testJob, "level 1", 100, 10); n != 7 || err != nil {
				t.Errorf("the budget grants %d, %v; want 7", n, err)
			}
			if f, err := formatOf(dir); f != format || err != nil {
				t.Errorf("the format is %q, %v", f, err)
			}
			must(t, s.Close())
		})
	}
}

// A move of records that was under way goes on behind the conversion.
func TestAMoveUnderWayIsConverted(t *testing.T) {
	m := move{gone: []place{{at: 5, length: 3}}, size: 20}
	for _, next := range [][]byte{{'p'}, append([]byte{'p'}, bytes.Repeat([]byte{7}, 24)...), {'p' + 1}} {
		m.next = next
		k, v, err := rekeyed([]byte{'M'}, m.encode())
		must(t, err)
		var got move
		must(t, got.decode(v))
		want := appendJob(nil, kindPage, 0)
		if next[0] != 'p' {
			want = afterJob(kindPage, 0)
		}
		want = append(want, next[1:]...)
		if !bytes.Equal(k, appendJob(nil, kindPageMove, 0)) || !bytes.Equal(got.next, want) {
			t.Errorf("next %x becomes %x under %x, want %x", next, got.next, k, want)
		}
	}
}
