package ring

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// After any sequence of changes the ring is valid, virtual nodes moved only from or to the node that changed, every
// virtual node has an owner while a node is alive, and each node owns its share.
func TestAnySequenceOfChangesKeepsBalanceAndMovesLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vnodes := rapid.IntRange(1, 700).Draw(t, "vnodes")
		equal := rapid.Bool().Draw(t, "equal weights")
		r := must(t, Must(Create(vnodes, ByHost, 1)), nil)
		incarnation := uint64(0)
		for range rapid.IntRange(1, 25).Draw(t, "changes") {
			name := fmt.Sprintf("n%d", rapid.IntRange(0, 9).Draw(t, "node"))
			was, known := r.Node(name)
			before, err := r, error(nil)
			switch op := rapid.SampledFrom([]string{"join", "join", "join", "drain", "dead", "finish", "return"}).Draw(t,
				"change"); {
			case op == "join" && (!known || was.State == Gone):
				incarnation++
				w := Unit
				if !equal {
					w = Weight(rapid.IntRange(1, 4000).Draw(t, "weight"))
				}
				r, err = r.Join(node(name, w, incarnation))
			case op == "return" && known && was.State != Gone:
				incarnation++
				was.Incarnation = incarnation
				r, err = r.Join(was)
				if m := compare(t, before, r); m.Moved > 0 {
					t.Fatalf("%s came back, and %d virtual nodes moved", name, m.Moved)
				}
			case op == "drain" && known && was.State != Gone:
				if r, err = r.Drain(name); errors.Is(err, ErrLast) {
					r, err = before, nil
				}
			case op == "dead" && known && was.State != Gone:
				r, err = r.Dead(name, was.Incarnation)
			case op == "finish":
				r = settled(t, r)
			}
			r = must(t, r, err)
			sound(t, before, r, name)
			balanced(t, r, equal)
		}
	})
}

func sound(t rapid.TB, before, after *Table, name string) {
	t.Helper()
	if err := after.check(); err != nil {
		t.Fatalf("unsound after a change of %s: %v", name, err)
	}
	if after != before && after.Epoch() <= before.Epoch() {
		t.Fatalf("epoch %d after %d", after.Epoch(), before.Epoch())
	}
	for _, f := range compare(t, before, after).Flows {
		if f.From != name && f.To != name && f.From != "" {
			t.Fatalf("%s changed, and %d virtual nodes went from %s to %s", name, f.Vnodes, f.From, f.To)
		}
	}
	for v := range after.owner {
		if a, b := before.Vnode(v), after.Vnode(v); a.Owner != b.Owner && b.Owner != "" && b.Since != after.Epoch() &&
			b.Since <= before.Epoch() {
			t.Fatalf("virtual node %d changed its owner and is said to be there since %d", v, b.Since)
		}
	}
}

// balanced checks that equal nodes differ by one virtual node at most, and that any node is within two of its share.
func balanced(t rapid.TB, r *Table, equal bool) {
	t.Helper()
	most, fewest := spread(r)
	if equal && fewest <= r.Len() && most-fewest > 1 {
		t.Fatalf("equal nodes own %d and %d virtual nodes: %v", most, fewest, r.Counts())
	}
	var total float64
	for _, n := range r.nodes {
		if n.State <= Active {
			total += float64(n.Weight)
		}
	}
	for i, n := range r.Counts() {
		if r.nodes[i].State > Active {
			if n > 0 {
				t.Fatalf("%+v owns %d", r.nodes[i], n)
			}
			continue
		}
		if share := float64(r.Len()) * float64(r.nodes[i].Weight) / total; float64(n) > share+2 || float64(n) < share-2 {
			t.Fatalf("%s owns %d virtual nodes, its share is %.2f: %v", r.nodes[i].Name, n, share, r.Counts())
		}
	}
}

// Must is for tables that cannot fail.
func Must(r *Table, err error) *Table {
	if err != nil {
		panic(err)
	}
	return r
}

func TestNegativeControlABadBalanceIsNoticed(t *testing.T) {
	r := of(t, 100, 4)
	r.owner[0], r.owner[1] = r.owner[99], r.owner[99]
	if failure(func(t rapid.TB) { balanced(t, r, true) }) == "" {
		t.Error("a node with two virtual nodes too many passes")
	}
	if failure(func(t rapid.TB) { sound(t, of(t, 100, 4), r, "n9") }) == "" {
		t.Error("virtual nodes that moved between two others pass")
	}
}

// failure returns what f fails with; empty where it passes.
func failure(f func(rapid.TB)) string {
	tb := &recorder{}
	func() {
		defer func() {
			if r := recover(); r != nil && tb.failed == "" {
				panic(r)
			}
		}()
		f(tb)
	}()
	return tb.failed
}

type recorder struct {
	rapid.TB
	failed string
}

func (r *recorder) Helper()        {}
func (r *recorder) Fatal(a ...any) { r.failed = fmt.Sprint(a...); panic(r.failed) }
func (r *recorder) Fatalf(format string, a ...any) {
	r.failed = fmt.Sprintf(format, a...)
	panic(r.failed)
}

func TestAJoinMovesItsShareAndALeaveTheSame(t *testing.T) {
	for _, c := range []struct {
		nodes  int
		weight Weight
	}{{1, Unit}, {2, Unit}, {3, Unit}, {3, 2 * Unit}, {10, Unit}, {10, Unit / 2}, {100, Unit}, {100, 4 * Unit}} {
		r := of(t, PerUnit*(c.nodes+4), c.nodes)
		joined := must(t, Must(r.Join(node("x", c.weight, 1000))), nil)
		there := settled(t, joined)
		ideal := float64(c.weight) / (float64(c.weight) + float64(c.nodes)*float64(Unit))
		for name, m := range map[string]Movement{"join": compare(t, r, joined),
			"leave": compare(t, there, Must(there.Drain("x"))), "death": compare(t, there, Must(there.Dead("x", 1000)))} {
			if q := m.Part() / ideal; q < 0.8 || q > 1.2 {
				t.Errorf("%s of weight %s among %d: moved %.4f, ideal %.4f", name, c.weight, c.nodes, m.Part(), ideal)
			}
		}
	}
}

func TestChangesAreDeterministic(t *testing.T) {
	build := func() *Table {
		r := of(t, 1000, 7, Unit, 3*Unit, Unit/3)
		r = Must(r.Drain("n3"))
		r = Must(r.Dead("n5", 6))
		return Must(r.Join(node("x", 2*Unit, 99)))
	}
	a, b := Must2(build().Encode()), Must2(build().Encode())
	if !slices.Equal(a, b) {
		t.Error("the same changes made two tables")
	}
}

// Must2 is for encodings that cannot fail.
func Must2(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestChangesThatAreRefused(t *testing.T) {
	one, two := of(t, 64, 1), of(t, 64, 2)
	bad := node("x", Unit, 1)
	bad.Address = "no port"
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"drain of the only node":     {errOf(one.Drain("n0")), ErrLast},
		"drain of nobody":            {errOf(one.Drain("n1")), ErrUnknown},
		"death of nobody":            {errOf(one.Dead("n1", 1)), ErrUnknown},
		"death of a later life":      {errOf(two.Dead("n1", 1)), ErrUnknown},
		"death of no life":           {errOf(two.Dead("n1", 0)), ErrUnknown},
		"an earlier registration":    {errOf(Must(two.Join(node("n1", Unit, 9))).Join(node("n1", Unit, 8))), ErrStale},
		"an address without port":    {errOf(two.Join(bad)), nil},
		"another's address":          {errOf(two.Join(Node{"x", "n1:5672", Unit, 0, 9})), ErrAddress},
		"a name that is a path":      {errOf(two.Join(node("a/b", Unit, 1))), nil},
		"a name of dots":             {errOf(two.Join(node("..", Unit, 1))), nil},
		"no weight":                  {errOf(two.Join(node("x", 0, 1))), nil},
		"a ring without anything":    {errOf(Create(0, ByHost, 1)), nil},
		"a ring that is too large":   {errOf(Create(MaxVnodes+1, ByHost, 1)), nil},
		"a partition from elsewhere": {errOf(Create(1, 9, 1)), nil},
	} {
		if c.err == nil || c.want != nil && !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	for name, c := range map[string]struct{ before, after *Table }{
		"the same registration": {two, Must(two.Join(node("n1", Unit, 2)))},
		"draining twice":        {Must(two.Drain("n1")), Must(Must(two.Drain("n1")).Drain("n1"))},
		"forgetting a member":   {two, two.Forget("n1")},
	} {
		if m := compare(t, c.before, c.after); m.Moved > 0 || c.before.Epoch() != c.after.Epoch() {
			t.Errorf("%s: epoch %d after %d", name, c.after.Epoch(), c.before.Epoch())
		}
	}
}

func errOf(_ *Table, err error) error { return err }

func TestANodeThatLeftIsRememberedWhileItIsRegistered(t *testing.T) {
	r := settled(t, Must(of(t, 64, 3).Drain("n1")))
	if n, _ := r.Node("n1"); n.State != Gone {
		t.Fatalf("n1 is %s", n.State)
	}
	same := Must(r.Reconcile(Seen{Registered: []Node{node("n1", Unit, 2)}, Present: set("n0", "n1", "n2")}))
	if same != r {
		t.Error("its old registration brought it back")
	}
	if again := Must(r.Join(node("n1", Unit, 9))); again.Counts()[1] == 0 {
		t.Error("its new registration does not bring it back")
	}
	if forgot := Must(r.Reconcile(Seen{Present: set("n0", "n2")})); len(forgot.Nodes()) != 2 {
		t.Errorf("nodes %v", names(forgot))
	}
}

func set(names ...string) map[string]struct{} {
	s := map[string]struct{}{}
	for _, n := range names {
		s[n] = struct{}{}
	}
	return s
}

func TestTheLastNodesThatDrainStayWhenTheOthersDie(t *testing.T) {
	r := Must(of(t, 64, 3).Drain("n1"))
	r = Must(Must(r.Dead("n0", 1)).Dead("n2", 3))
	if n, _ := r.Node("n1"); n.State == Draining || settled(t, r).Counts()[0] != 64 {
		t.Errorf("n1 is %s, counts %v", n.State, r.Counts())
	}
	if r = Must(r.Dead("n1", 2)); len(r.Nodes()) > 0 {
		t.Errorf("nodes %v", names(r))
	}
	if _, err := r.Owner("h"); !errors.Is(err, ErrEmpty) {
		t.Errorf("an owner of an empty ring: %v", err)
	}
	back := Must(r.Join(node("n1", Unit, 50)))
	if _, regain := back.Duties("n1"); len(regain) != 64 {
		t.Errorf("the first node after all had died recovers %d virtual nodes of 64", len(regain))
	}
}

func TestAnotherWeightMovesTheDifference(t *testing.T) {
	r := of(t, 900, 3)
	heavy := Must(r.Join(node("n0", 2*Unit, 1)))
	if got := heavy.Counts(); !slices.Equal(got, []int{450, 225, 225}) || compare(t, r, heavy).Moved != 150 {
		t.Errorf("counts %v", got)
	}
	light := Must(settled(t, heavy).Join(node("n0", Unit, 2)))
	if got := light.Counts(); !slices.Equal(got, []int{300, 300, 300}) {
		t.Errorf("counts %v", got)
	}
}

func TestARenamedNodeJoinsWhenItsOldNameIsDead(t *testing.T) {
	r := of(t, 64, 2)
	renamed := Node{"x", "n1:5672", Unit, 0, 9}
	seen := Seen{Registered: []Node{renamed}, Present: set("n0", "x")}
	if waits, err := r.Reconcile(seen); waits != r || !errors.Is(err, ErrAddress) {
		t.Errorf("beside its old name: epoch %d, %v", waits.Epoch(), err)
	}
	seen.Dead = map[string]uint64{"n1": 2}
	next, err := r.Reconcile(seen)
	if again, _ := next.Reconcile(seen); err != nil || again != next {
		t.Errorf("after its old name has died: %v, and again epoch %d after %d", err, again.Epoch(), next.Epoch())
	}
	if n, ok := next.Node("x"); !ok || n.State != Joining {
		t.Errorf("nodes %v", next.Nodes())
	}
}

func TestReconcileAsksForNothingTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := of(t, rapid.IntRange(1, 300).Draw(t, "vnodes"), rapid.IntRange(0, 5).Draw(t, "nodes"))
		s := Seen{Present: map[string]struct{}{}, Dead: map[string]uint64{}}
		for i := range 8 {
			name := fmt.Sprintf("n%d", i)
			switch rapid.IntRange(0, 3).Draw(t, "registration") {
			case 0:
				n := node(name, Unit, uint64(rapid.IntRange(1, 20).Draw(t, "incarnation")))
				n.Address = node(fmt.Sprintf("n%d", rapid.SampledFrom([]int{i, i, 1, 6}).Draw(t, "address")), Unit, 1).Address
				s.Registered = append(s.Registered, n)
				s.Present[name] = struct{}{}
			case 1:
				s.Present[name] = struct{}{}
			case 2:
				s.Dead[name] = uint64(i + 1)
			}
		}
		next, _ := r.Reconcile(s)
		if err := next.check(); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(s.Registered)
		if again, _ := next.Reconcile(s); again != next {
			t.Fatalf("seen again, it leads from epoch %d to %d", next.Epoch(), again.Epoch())
		}
	})
}
