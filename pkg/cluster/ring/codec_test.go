package ring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestATableComesBackFromItsEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, rapid.IntRange(1, 300).Draw(t, "vnodes"))
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			w.step(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		}
		b := Must2(w.table.Encode())
		back, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if !same(back, w.table) {
			t.Fatalf("got\n%+v, want\n%+v", back, w.table)
		}
	})
}

func same(a, b *Table) bool {
	x, y := *a, *b
	if len(x.nodes) == 0 && len(y.nodes) == 0 {
		x.nodes, y.nodes = nil, nil
	}
	return reflect.DeepEqual(x, y)
}

func TestDamageIsNoticed(t *testing.T) {
	r := Must(of(t, 100, 3).Join(node("x", Unit, 9)))
	good := Must2(r.Encode())
	for name, b := range map[string][]byte{
		"nothing":         nil,
		"another version": append([]byte{versionHashes + 1}, good[1:]...),
		"half of it":      good[:len(good)/2],
		"more than it":    append(bytes.Clone(good), 0),
		"a bomb":          bomb(t),
		"too much":        make([]byte, MaxEncoded+1),
	} {
		if _, err := Decode(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, damage := range map[string]func(r *Table){
		"epoch 0":                       func(r *Table) { r.epoch = 0 },
		"a partition from elsewhere":    func(r *Table) { r.partition = 99 },
		"a hash from elsewhere":         func(r *Table) { r.hash = 99 },
		"an owner that is none":         func(r *Table) { r.owner[3] = 77 },
		"no owner":                      func(r *Table) { r.owner[3], r.step[3], r.since[3] = none, 0, 0 },
		"an owner that left":            func(r *Table) { r.nodes[0].State = Gone },
		"an unknown step":               func(r *Table) { r.step[3] = Recovering + 1 },
		"since a later epoch":           func(r *Table) { r.since[3] = r.epoch + 1 },
		"since never":                   func(r *Table) { r.since[3] = 0 },
		"handed by nobody":              func(r *Table) { r.step[3], r.from[3] = Handing, none },
		"handed by none":                func(r *Table) { r.step[3], r.from[3] = Handing, 77 },
		"nodes out of order":            func(r *Table) { r.nodes[0].Name = "z" },
		"two nodes of a name":           func(r *Table) { r.nodes[0].Name = r.nodes[1].Name },
		"a node without incarnation":    func(r *Table) { r.nodes[0].Incarnation = 0 },
		"a node without weight":         func(r *Table) { r.nodes[0].Weight = 0 },
		"a node in a state from beyond": func(r *Table) { r.nodes[0].State = 9 },
		"a node without address":        func(r *Table) { r.nodes[0].Address = "" },
	} {
		bad := r.edit().table()
		damage(bad)
		if _, err := Decode(Must2(bad.Encode())); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// bomb is a small encoding that decompresses to many octets.
func bomb(t *testing.T) []byte {
	e, err := encoder()
	if err != nil {
		t.Fatal(err)
	}
	return e.EncodeAll(make([]byte, 100<<20), []byte{version})
}

// The encoded size of 256 virtual nodes for each of 1,000 nodes in the worst case: owners, epochs and moves at random,
// which no compressor can shorten.
func TestATableOf1000NodesFitsANodeOfZooKeeper(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	r := Must(Create(256*1000, ByHost, 1)).edit()
	r.epoch = 5000
	for i := range 1000 {
		n := node(fmt.Sprintf("node%04d", i), Unit, uint64(4_294_967_296+i*17))
		n.Address = fmt.Sprintf("ip-10-0-%d-%d.eu-central-1.compute.internal:5672", i/256, i%256)
		n.State = Active
		r.add(n)
	}
	for v := range r.owner {
		r.owner[v], r.since[v] = uint16(rnd.IntN(1000)), uint64(1+rnd.IntN(1000))
	}
	size := func() int {
		t.Helper()
		b, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(b); err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	quiet := size()
	for v := range r.owner {
		if rnd.IntN(4) == 0 {
			r.step[v], r.from[v] = Step(1+rnd.IntN(2)), uint16(rnd.IntN(1000))
		}
	}
	text, err := json.Marshal(r.Runs())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("256,000 virtual nodes on 1,000 nodes: %d octets, %d while a quarter moves; %d as JSON", quiet, size(),
		len(text))
	for v := range r.owner {
		r.since[v] = rnd.Uint64N(1 << 60)
	}
	if _, err := r.Encode(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a table that does not fit: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	r := Must(of(f, 50, 3, Unit, 2*Unit).Join(node("x", Unit, 9)))
	f.Add(Must2(r.Encode())[1:])
	f.Add(r.plain())
	f.Add(Must(Create(1, ByURL, 0)).plain())
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := encoder()
		if err != nil {
			t.Fatal(err)
		}
		// both as it is, and as what was compressed, so that the fuzzer gets to what is inside
		for _, in := range [][]byte{append([]byte{version}, b...), e.EncodeAll(b, []byte{version})} {
			r, err := Decode(in)
			if err != nil {
				if !errors.Is(err, ErrFormat) {
					t.Fatal(err)
				}
				continue
			}
			back, err := Decode(Must2(r.Encode()))
			if err != nil || !same(back, r) {
				t.Fatalf("a table that was read is written as another: %v", err)
			}
			if _, err := r.Owner("h"); err != nil && !errors.Is(err, ErrEmpty) {
				t.Fatal(err)
			}
			for _, n := range r.Nodes() {
				if n.Incarnation > 0 && n.State != Gone {
					if after, err := r.Dead(n.Name, n.Incarnation); err != nil || after.check() != nil {
						t.Fatalf("after the death of %s: %v, %v", n.Name, err, after.check())
					}
				}
			}
		}
	})
}

func TestPartsComeBackFromTheirEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Done{Node: "n", Incarnation: rapid.Uint64().Draw(t, "incarnation")}
		last := -1
		for range rapid.IntRange(0, 300).Draw(t, "parts") {
			last += rapid.IntRange(1, 800).Draw(t, "distance")
			d.Parts = append(d.Parts, Part{Vnode: last, Since: rapid.Uint64Range(0, 1<<62).Draw(t, "since"),
				Step: Step(rapid.IntRange(0, 2).Draw(t, "step"))})
		}
		back, err := DecodeDone("n", Must2(d.Encode()))
		if err != nil || !reflect.DeepEqual(back, d) {
			t.Fatalf("got\n%+v, %v, want\n%+v", back, err, d)
		}
	})
}

func TestDamagedPartsAreRefused(t *testing.T) {
	d := Done{Node: "n", Incarnation: 7, Parts: []Part{{1, 2, Handing}, {MaxVnodes - 1, 9, Recovering}}}
	good := Must2(d.Encode())
	beyond, worse := Done{Parts: []Part{{MaxVnodes, 1, Handing}}}, Done{Parts: []Part{{3, 1, Recovering + 1}}}
	if _, err := beyond.Encode(); err == nil {
		t.Error("a virtual node beyond all is encoded")
	}
	for name, b := range map[string][]byte{
		"nothing":         nil,
		"another version": append([]byte{versionDone + 1}, good[1:]...),
		"half of it":      good[:len(good)/2],
		"more than it":    append(bytes.Clone(good), 0),
		"a bomb":          append([]byte{versionDone}, bomb(t)[1:]...),
		"a step too many": Must2(worse.Encode()),
	} {
		if got, err := DecodeDone("n", b); !errors.Is(err, ErrFormat) || len(got.Parts) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	all := Done{Node: "n", Incarnation: 7}
	for v := range MaxVnodes {
		all.Parts = append(all.Parts, Part{v, uint64(v)*2654435761%1000 + 1, Step(1 + v%2)})
	}
	b, err := all.Encode()
	t.Logf("all %d virtual nodes, of a thousand epochs, are %d octets", MaxVnodes, len(b))
	if err != nil {
		t.Errorf("all virtual nodes at once: %v", err)
	}
	for v := range all.Parts {
		all.Parts[v].Since = uint64(v) * 0x9e3779b97f4a7c15 >> 2
	}
	if _, err := all.Encode(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than a node of ZooKeeper holds: %v", err)
	}
}
