package ring

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The first 16 digits of SHA-256 of nothing and of "example.com", by sha256sum: they are in these virtual nodes for
// ever.
func TestTheVirtualNodeOfAKeyBySHA256IsFixedForEver(t *testing.T) {
	r := Must(Create(MaxVnodes, ByHost, 0x5eed))
	for key, hash := range map[string]uint64{"": 0xe3b0c44298fc1c14, "example.com": 0xa379a6f6eeafb9a5} {
		if got := r.VnodeOf(key); got != int(hash>>46) {
			t.Errorf("%q is in %d, want %d", key, got, hash>>46)
		}
	}
	if other := Must(Create(MaxVnodes, ByHost, 1)); other.VnodeOf("example.com") != r.VnodeOf("example.com") {
		t.Error("the seed moves a key")
	}
}

// hostURL is a page of the i-th of many hosts.
func hostURL(t fataler, i int) weburl.URL {
	u, err := weburl.Parse(fmt.Sprintf("http://host%d.test:80%d/page", i, i%7))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

type fataler interface{ Fatal(...any) }

func TestTheRangesOfVirtualNodesHoldTheirKeysAndNoOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Must(Create(rapid.SampledFrom([]int{1, 2, 3, 7, 100, 256, 1000}).Draw(t, "vnodes"), ByHost, 1))
		mine := rapid.SliceOfN(rapid.Bool(), r.Len(), r.Len()).Draw(t, "mine")
		in := r.KeyRanges(func(v int) bool { return mine[v] })
		for i := range in {
			if in[i].First > in[i].Last || i > 0 && in[i-1].Last+1 >= in[i].First {
				t.Fatalf("range %d of %v is not behind the one before, apart from it", i, in)
			}
		}
		for i := range 200 {
			u := hostURL(t, i)
			if got, want := weburl.InRanges(in, u.Key()), mine[r.VnodeOf(u.HostKey())]; got != want {
				t.Fatalf("%s is in the ranges: %v, want %v", u, got, want)
			}
		}
	})
}

func TestRangesThatAreAllOrNothing(t *testing.T) {
	r := Must(Create(100, ByHost, 1))
	if got := r.KeyRanges(func(int) bool { return true }); !slices.Equal(got, weburl.AllKeys()) {
		t.Errorf("all virtual nodes are %v", got)
	}
	if got := r.KeyRanges(func(int) bool { return false }); len(got) > 0 {
		t.Errorf("no virtual node is %v", got)
	}
	ends := r.KeyRanges(func(v int) bool { return v == 0 || v == 99 }) // where the ring closes
	if len(ends) != 2 || ends[0].First != 0 || ends[1].Last != 1<<64-1 {
		t.Errorf("the first and the last are %v", ends)
	}
	for name, other := range map[string]*Table{"by XXH3": Must(CreateBy(XXH3, 100, ByHost, 1)),
		"by domain": Must(CreateBy(SHA256, 100, ByDomain, 1))} {
		if got := other.KeyRanges(func(int) bool { return false }); !slices.Equal(got, weburl.AllKeys()) {
			t.Errorf("%s, where virtual nodes are no ranges of keys: %v", name, got)
		}
	}
}

// A change must not make a ring of one hash one of another: all hosts would move.
func TestARingKeepsItsHash(t *testing.T) {
	for _, h := range []Hash{XXH3, SHA256} {
		r := Must(CreateBy(h, 64, ByHost, 1))
		next := Must(Must(r.Join(node("a", Unit, 1))).Join(node("b", Unit, 2)))
		b := Must2(next.Encode())
		back, err := Decode(b)
		if err != nil || back.Hash() != h || next.Hash() != h || !back.SameRing(r) {
			t.Errorf("%s became %s, and %v from its encoding, error %v", h, next.Hash(), back, err)
		}
		if want := map[Hash]byte{XXH3: version, SHA256: versionHashes}[h]; b[0] != want {
			t.Errorf("%s is stored as version %d, want %d: programs before know the first alone", h, b[0], want)
		}
	}
	if x := Must(CreateBy(XXH3, 64, ByHost, 1)); x.SameRing(Must(CreateBy(SHA256, 64, ByHost, 1))) {
		t.Error("rings of two hashes are one")
	}
}

func TestHashesByName(t *testing.T) {
	for _, h := range []Hash{XXH3, SHA256} {
		if back, err := ParseHash(h.String()); err != nil || back != h {
			t.Errorf("%s: %v, %v", h, back, err)
		}
	}
	if _, err := ParseHash("md5"); err == nil {
		t.Error("md5 is taken")
	}
	if _, err := CreateBy(9, 1, ByHost, 1); err == nil {
		t.Error("an unknown hash is taken")
	}
}
