package ring

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Hash, seed and range make the virtual node of a host. They must be the same in every build and on every processor.
func TestTheVirtualNodeOfAKeyIsFixedForEver(t *testing.T) {
	r := Must(CreateBy(XXH3, 256_000, ByHost, 0x5eed))
	for key, want := range map[string]int{"": 82636, "example.com": 226251, "example.com:8080": 88855,
		"xn--bcher-kva.example": 74635, "a-host-name-that-is-longer-than-the-two-hundred-and-forty-octets-of-the-short-path" +
			fmt.Sprintf("%d", make([]byte, 100)): 161161} {
		if got := r.VnodeOf(key); got != want {
			t.Errorf("%q is in %d, was in %d", key, got, want)
		}
	}
	// the value of nothing, without seed, that XXH3's own tests give
	finest := Must(CreateBy(XXH3, MaxVnodes, ByHost, 0))
	if first, last := finest.Range(finest.VnodeOf("")); first > 0x2d06800538d394c2 || last < 0x2d06800538d394c2 {
		t.Errorf("the hash of nothing is between %x and %x", first, last)
	}
}

func TestEveryHashBelongsToTheRangeOfItsVirtualNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Must(Create(rapid.IntRange(1, MaxVnodes).Draw(t, "vnodes"), ByHost, rapid.Uint64().Draw(t, "seed")))
		i := rapid.IntRange(0, r.Len()-1).Draw(t, "vnode")
		first, last := r.Range(i)
		if (i == 0) != (first == 0) || (i == r.Len()-1) != (last == math.MaxUint64) || first > last {
			t.Fatalf("%d of %d: %x to %x", i, r.Len(), first, last)
		}
		if size, ideal := float64(last-first)+1, math.Exp2(64)/float64(r.Len()); math.Abs(size-ideal) > 2+ideal*1e-9 {
			t.Fatalf("%d of %d has %g hashes, an equal part is %g", i, r.Len(), size, ideal)
		}
		if i+1 < r.Len() {
			if next, _ := r.Range(i + 1); next != last+1 {
				t.Fatalf("%d ends at %x, %d begins at %x", i, last, i+1, next)
			}
		}
		for _, h := range []uint64{first, last} {
			if got := r.vnodeOfHash(h); got != i {
				t.Fatalf("hash %x is in %d, the range says %d", h, got, i)
			}
		}
	})
}

func TestKeysSpreadEvenlyOverVirtualNodes(t *testing.T) {
	const vnodes, keys = 1000, 1_000_000
	r, counts := Must(Create(vnodes, ByHost, 1)), make([]float64, vnodes)
	for i := range keys {
		counts[r.VnodeOf(fmt.Sprintf("www.site%d.example", i))]++
	}
	chi := 0.0
	for _, n := range counts {
		chi += (n - keys/vnodes) * (n - keys/vnodes) / (keys / vnodes)
	}
	if sigma := (chi - (vnodes - 1)) / math.Sqrt(2*(vnodes-1)); math.Abs(sigma) > 5 { // chi-squared of 999 degrees
		t.Errorf("chi-squared %.0f of %d virtual nodes, %.1f standard deviations off", chi, vnodes, sigma)
	}
}

func TestAnotherSeedIsAnotherRing(t *testing.T) {
	a, b := Must(CreateBy(XXH3, 1000, ByHost, 1)), Must(CreateBy(XXH3, 1000, ByHost, 2))
	same := 0
	for i := range 1000 {
		if key := fmt.Sprint("host", i); a.VnodeOf(key) == b.VnodeOf(key) {
			same++
		}
	}
	if same > 20 {
		t.Errorf("%d of 1000 keys are at the same place", same)
	}
}

func TestOwnerAllocatesNothing(t *testing.T) {
	r := of(t, 4096, 16)
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := r.Owner("www.example.com"); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a look-up", n)
	}
	v := r.VnodeOf("www.example.com")
	n, _ := r.Owner("www.example.com")
	if r.Vnode(v).Owner != n.Name || !r.MayLease(n.Name, v) || r.MayLease("n99", v) || r.MayLease("", v) {
		t.Errorf("owner %s of virtual node %+v", n.Name, r.Vnode(v))
	}
}

func TestRowsCoverTheRing(t *testing.T) {
	r := Must(of(t, 300, 3).Join(node("x", Unit, 50)))
	rows, next, hash := r.Runs(), 0, uint64(0)
	for _, row := range rows {
		if row.Vnode != next || row.First != hash {
			t.Fatalf("row %+v, want it to begin at virtual node %d", row, next)
		}
		for v := row.Vnode; v < row.Vnode+row.Count; v++ {
			if w := r.Vnode(v); w.Owner != row.Owner || w.Step != row.Step || w.From != row.From {
				t.Fatalf("row %+v holds %+v", row, w)
			}
		}
		next, hash = next+row.Count, row.Last+1
	}
	if next != r.Len() || hash != 0 || len(rows) > 12 {
		t.Errorf("%d rows, to virtual node %d and hash %x", len(rows), next, hash)
	}
}

func TestPlanSaysWhatTheChangeThenMoves(t *testing.T) {
	r := of(t, 1000, 4)
	for name, c := range map[string]struct {
		change Change
		then   *Table
	}{
		"join":  {Change{Join: "x", Weight: 2 * Unit}, Must(r.Join(node("x", 2*Unit, 77)))},
		"leave": {Change{Leave: "n2"}, Must(r.Drain("n2"))},
	} {
		plan, err := r.Plan(c.change)
		if err != nil || fmt.Sprint(plan) != fmt.Sprint(compare(t, r, c.then)) || plan.Moved == 0 {
			t.Errorf("%s: %+v, %v", name, plan, err)
		}
	}
	for _, bad := range []Change{{}, {Join: "a", Weight: Unit, Leave: "n1"}, {Join: "n1", Weight: Unit}, {Leave: "x"},
		{Join: "x"}} {
		if _, err := r.Plan(bad); err == nil {
			t.Errorf("plan of %+v", bad)
		}
	}
	if _, err := Compare(r, of(t, 999, 4)); err == nil {
		t.Error("two rings were compared")
	}
}

func TestLateWritesAreFenced(t *testing.T) {
	r := of(t, 60, 3)
	v := r.Len() - 1
	n, _ := r.Node(r.Vnode(v).Owner)
	token, ok := r.Token(n.Name)
	if !ok || r.Admits(token, v) != nil {
		t.Fatalf("the owner is refused: %v", r.Admits(token, v))
	}
	draining := Must(r.Drain(n.Name))
	back := Must(draining.Dead(draining.Vnode(v).Owner, mustNode(draining, draining.Vnode(v).Owner).Incarnation))
	again := Must(r.Join(Node{n.Name, n.Address, n.Weight, 0, 99}))
	for name, c := range map[string]struct {
		t     *Table
		token Token
		admit bool
	}{
		"while it hands the virtual node on":      {draining, token, true},
		"after it was handed on":                  {settled(t, draining), token, false},
		"after the node died":                     {Must(r.Dead(n.Name, n.Incarnation)), token, false},
		"of an earlier life":                      {again, token, false},
		"of the life that is":                     {again, Token{n.Name, 99, again.Epoch()}, true},
		"of the new owner before it got anything": {draining, Token{draining.Vnode(v).Owner, 1, 1}, false},
		"while what it handed comes back to it":   {back, token, true},
		"of a stranger":                           {r, Token{"x", 1, r.Epoch()}, false},
	} {
		if err := c.t.Admits(c.token, v); (err == nil) != c.admit {
			t.Errorf("a write %s: %v, want it admitted: %v", name, err, c.admit)
		}
	}
	if _, ok := r.Token("x"); ok {
		t.Error("a stranger has a token")
	}
}

func mustNode(r *Table, name string) Node {
	n, ok := r.Node(name)
	if !ok {
		panic(name)
	}
	return n
}
