package ring

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// world simulates nodes that act on the table they last read, which may be old. It checks the two invariants: no two
// nodes contact hosts of one virtual node, and no queued URL is without a node that will lease it.
type world struct {
	t     rapid.TB
	table *Table
	next  uint64 // incarnation
	nodes map[string]*actor
	said  map[string]Done // what nodes say that they have done; folded at any time, also when they are dead
	// forge changes what was said before it is folded; nil: nothing does.
	forge func(*Table, *Done)
	// by virtual node: the node in whose broker each queued URL is; absent: only the ledger knows it
	urls []map[int]string
}

// actor is a living node.
type actor struct {
	view   *Table
	leases map[int]bool // virtual nodes that it has requests in flight for
}

const urlsOfVnode = 3

func newWorld(t rapid.TB, vnodes int) *world {
	w := &world{t: t, table: Must(Create(vnodes, ByHost, 1)), nodes: map[string]*actor{}, said: map[string]Done{},
		urls: make([]map[int]string, vnodes)}
	for v := range w.urls {
		w.urls[v] = map[int]string{}
	}
	return w
}

// join registers a node, or one anew that lives.
func (w *world) join(name string) {
	w.next++
	w.table = must(w.t, Must(w.table.Join(node(name, Unit, w.next))), nil)
	if w.nodes[name] == nil {
		w.nodes[name] = &actor{leases: map[int]bool{}}
	}
	w.nodes[name].view = w.table
}

// restart is a crash and a start within the grace time: requests are over, queues are there.
func (w *world) restart(name string) {
	w.nodes[name].leases = map[int]bool{}
	w.join(name)
}

// die: its requests are over, what is in its broker is lost, and the others find out.
func (w *world) die(name string) {
	n, _ := w.table.Node(name)
	delete(w.nodes, name)
	for _, urls := range w.urls {
		for u, at := range urls {
			if at == name {
				delete(urls, u)
			}
		}
	}
	if n.State != Gone {
		w.table = Must(w.table.Dead(name, n.Incarnation))
	}
}

func (w *world) lease(name string, v int) {
	a := w.nodes[name]
	if !a.view.MayLease(name, v) {
		return
	}
	a.leases[v] = true
	for other, o := range w.nodes {
		if other != name && o.leases[v] {
			w.t.Fatalf("%s leases from virtual node %d, and so does %s; the table says %+v", name, v, other, w.table.Vnode(v))
		}
	}
}

// fold makes one table of all that nodes have said so far. Its readers have to look.
func (w *world) fold() {
	var all []Done
	for _, name := range sortedKeys(w.said, func(a, b string) bool { return a < b }) {
		d := w.said[name]
		if w.forge != nil {
			d.Parts = slices.Clone(d.Parts)
			w.forge(w.table, &d)
		}
		all = append(all, d)
	}
	w.table, _ = w.table.Finish(all...)
}

// finish tells the table what a node has done, and the node reads it, or (says) leaves that to whoever folds.
func (w *world) finish(name string, d Done, says bool) {
	if says {
		w.said[name] = Done{name, d.Incarnation, append(w.said[name].Parts, d.Parts...)}
		return
	}
	w.table, _ = w.table.Finish(d)
	w.nodes[name].view = w.table // who changes the table has read it
}

// work performs one duty of a node, as its table has it: it finishes handing over a virtual node, or reads one from the
// ledger.
func (w *world) work(name string, pick int) {
	a := w.nodes[name]
	me, _ := a.view.Node(name)
	hand, regain := a.view.Duties(name)
	if len(hand) > 0 {
		v := hand[pick%len(hand)]
		delete(a.leases, v.Index)
		w.finish(name, Done{name, me.Incarnation, []Part{v.Part()}}, pick%2 == 1)
		return
	}
	if len(regain) > 0 {
		v := regain[pick%len(regain)]
		// else what it reads is a copy that helps nobody
		if now := w.table.Vnode(v.Index); now.Owner == name && now.Since == v.Since {
			for u := range urlsOfVnode {
				w.urls[v.Index][u] = name
			}
		}
		w.finish(name, Done{name, me.Incarnation, []Part{v.Part()}}, pick%2 == 1)
	}
}

// look checks what holds at every moment: what is settled is at its owner, completely.
func (w *world) look() {
	if err := w.table.check(); err != nil {
		w.t.Fatal(err)
	}
	for i := range w.table.Len() {
		v := w.table.Vnode(i)
		if v.Step != Settled || v.Owner == "" {
			continue
		}
		for u := range urlsOfVnode {
			if at := w.urls[i][u]; at != v.Owner {
				w.t.Fatalf("URL %d of virtual node %d is at %q, and its owner %s leases already", u, i, at, v.Owner)
			}
		}
	}
}

// step does one thing at random.
func (w *world) step(draw func(n int) int) {
	alive := sortedKeys(w.nodes, func(a, b string) bool { return a < b })
	if len(alive) == 0 {
		w.join("n0")
		return
	}
	name := alive[draw(len(alive))]
	switch k := draw(22); {
	case k == 0:
		w.join(fmt.Sprintf("n%d", draw(6)))
	case k == 1:
		w.die(name)
	case k == 2:
		if next, err := w.table.Drain(name); err == nil {
			w.table = next
		}
	case k == 3:
		w.restart(name)
	case k < 7:
		w.nodes[name].view = w.table
	case k < 12:
		w.lease(name, draw(w.table.Len()))
	case k >= 20:
		w.fold()
	default:
		w.work(name, draw(8))
	}
}

// Nodes join, leave, die and restart while virtual nodes are on their way, and each acts on a table that may be old.
func TestNoTwoNodesLeaseAndNothingIsLostHoweverChangesMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, rapid.IntRange(1, 6).Draw(t, "vnodes"))
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			w.step(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
			w.look()
		}
		w.settle()
	})
}

// settle lets the living nodes see the table and do what they owe. Then nothing may move any more.
func (w *world) settle() {
	for range 40 * w.table.Len() * (len(w.nodes) + 1) {
		for _, name := range sortedKeys(w.nodes, func(a, b string) bool { return a < b }) {
			w.nodes[name].view = w.table
			w.work(name, 0)
			w.look()
		}
	}
	if m := w.table.Moving(); len(w.nodes) > 0 && len(m) > 0 {
		w.t.Fatalf("virtual node %+v is still on its way", m[0])
	}
}

// Without one of the rules the test above must fail.
func TestNegativeControlMoves(t *testing.T) {
	for name, broken := range map[string]func(w *world, a *Table){
		"handing is not waited for": func(w *world, _ *Table) {
			for v, s := range w.table.step {
				if s == Handing {
					w.table.step[v] = Recovering
				}
			}
		},
		"the ledger is not read by who is handed it": func(w *world, before *Table) {
			for v, s := range w.table.step {
				if s == Recovering && before.step[v] == Handing && before.since[v] == w.table.since[v] {
					w.table.step[v] = Settled
				}
			}
		},
		"the ledger is not read after a death": func(w *world, before *Table) {
			for v, s := range w.table.step {
				if s == Recovering && before.step[v] == Settled {
					w.table.step[v] = Settled
				}
			}
		},
		"a second move does not wait for the first owner": func(w *world, before *Table) {
			for v, s := range w.table.step {
				if s == Handing && before.step[v] == Handing && before.since[v] != w.table.since[v] {
					w.table.step[v] = Recovering
				}
			}
		},
		"what comes back is not let go of": func(w *world, _ *Table) {
			for v, s := range w.table.step {
				if s == Handing && w.table.from[v] == w.table.owner[v] {
					w.table.step[v] = Recovering
				}
			}
		},
		"nothing is broken": nil,
	} {
		failed := failure(func(tb rapid.TB) {
			for seed := range 1000 {
				x := uint64(seed)*2654435761 + 1
				w := newWorld(tb, 3)
				for range 150 {
					before := w.table
					w.step(func(n int) int { x = x*6364136223846793005 + 1442695040888963407; return int(x>>33) % n })
					if broken != nil && w.table != before {
						w.table = w.table.edit().table()
						broken(w, before)
					}
					w.look()
				}
				if broken == nil {
					w.settle()
				}
			}
		})
		t.Logf("%s: %s", name, failed)
		if (failed == "") != (broken == nil) {
			t.Errorf("%s, and the test says %q", name, failed)
		}
	}
}

// TestNegativeControlFolding: what a node said of one move does not count for the next.
func TestNegativeControlFolding(t *testing.T) {
	failed := failure(func(tb rapid.TB) {
		for seed := range 1000 {
			x := uint64(seed)*2654435761 + 1
			w := newWorld(tb, 3)
			w.forge = func(now *Table, d *Done) {
				if n, ok := now.Node(d.Node); ok {
					d.Incarnation = n.Incarnation
				}
				for i, p := range d.Parts {
					d.Parts[i].Since = now.Vnode(p.Vnode).Since
				}
			}
			for range 150 {
				w.step(func(n int) int { x = x*6364136223846793005 + 1442695040888963407; return int(x>>33) % n })
				w.look()
			}
		}
	})
	if failed == "" {
		t.Error("parts of earlier moves were counted, and nothing was lost or leased twice")
	}
}
