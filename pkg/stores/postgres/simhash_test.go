package postgres

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestNearSimhashesShareAProbeAndABlock(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for near := range maxNear + 1 {
		for range 200 {
			a := rnd.Uint64()
			b := a
			for bits.OnesCount64(a^b) < near {
				b ^= 1 << rnd.IntN(64)
			}
			_, up := slices.BinarySearch(probes(upper(a), near), upper(b))
			_, low := slices.BinarySearch(probes(lower(a), near), lower(b))
			if !up && !low {
				t.Errorf("%#x and %#x, %d bits apart, are in neither half's probes", a, b, near)
			}
			mine, theirs, shared := blocks(a, near+1), blocks(b, near+1), 0
			for i := range mine {
				if mine[i] == theirs[i] {
					shared++
				}
			}
			if shared == 0 {
				t.Errorf("%#x and %#x, %d bits apart, share none of %d blocks", a, b, near, near+1)
			}
		}
	}
}

func TestProbesAreEachOnce(t *testing.T) {
	for near, want := range []int{1, 1, 33, 33, 529, 529, 5489, 5489} {
		got := probes(-7, near)
		if len(got) != want || len(slices.Compact(slices.Clone(got))) != want || !slices.IsSorted(got) {
			t.Errorf("distance %d: %d probes, want %d, each once and sorted", near, len(got), want)
		}
		for _, p := range got {
			if d := bits.OnesCount32(uint32(p) ^ uint32(0xfffffff9)); d > near/2 {
				t.Fatalf("distance %d: probe %#x is %d bits away", near, p, d)
			}
		}
	}
}

func TestBlocksCoverEveryBit(t *testing.T) {
	for n := 1; n <= maxNear+1; n++ {
		for bit := range 64 {
			changed := 0
			for i, b := range blocks(1<<bit, n) {
				if b != blocks(0, n)[i] {
					changed++
				}
			}
			if changed != 1 {
				t.Errorf("%d blocks: bit %d is in %d of them", n, bit, changed)
			}
		}
	}
}

func TestDataErrorsArePermanent(t *testing.T) {
	for code, permanent := range map[string]bool{
		"22021": true, "22P02": true, "23505": true, "54000": true, // bad bytes, no number, not unique, index row too large
		// shut down, starting, lost, disk full, too many
		"57P01": false, "57P03": false, "08006": false, "53100": false, "53300": false,
		// deadlock, serialisation, cancelled, no table, read-only
		"40P01": false, "40001": false, "57014": false, "42P01": false, "25006": false,
	} {
		err := fault("claim", fmt.Errorf("batch: %w", &pgconn.PgError{Code: code}))
		if crawl.IsPermanent(err) != permanent {
			t.Errorf("%s: permanent is %t, want %t", code, !permanent, permanent)
		}
		if again := passing(err); again != (strings.HasPrefix(code, "40") || code == "57P01") {
			t.Errorf("%s: sent again at once: %t", code, again)
		}
	}
	if crawl.IsPermanent(fault("claim", errors.New("connection reset"))) {
		t.Error("a lost connection is permanent")
	}
}

func FuzzTextIsTaken(f *testing.F) {
	for _, s := range []string{"", "a", "\x00", "\xff\xfe", "ü\x00ü", strings.Repeat("ü", 300), "\xed\xa0\x80"} {
		f.Add(s, 48)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = max(0, min(limit, 1<<16))
		for _, got := range []string{clean(s, limit), indexed(s)} {
			if !utf8.ValidString(got) || strings.Contains(got, "\x00") {
				t.Errorf("%q became %q", s, got)
			}
		}
		if utf8.ValidString(s) && len(clean(s, limit)) > limit {
			t.Errorf("%q is %d bytes long, limit %d", clean(s, limit), len(clean(s, limit)), limit)
		}
		if got := indexed(s); len(got) > 1000 {
			t.Errorf("a key of %d bytes", len(got))
		}
	})
}

func TestEscapedKeysStayDistinct(t *testing.T) {
	long := strings.Repeat("x", 5000)
	seen := map[string]string{}
	for _, s := range []string{"a", "a\x00", "a\xff", "a\xfe", long, long + "y", long + "z"} {
		if other, twice := seen[indexed(s)]; twice {
			t.Errorf("%.20q and %.20q are one key", s, other)
		}
		seen[indexed(s)] = s
	}
}
