package ring

import (
	"errors"
	"fmt"
)

// Token identifies the writer of something and the epoch that it knew. It is sent with every write, so that the
// receiver can refuse the writes of a node that has lost its place since.
type Token struct {
	Node        string
	Incarnation uint64
	Epoch       uint64 // of the table that the writer acted on
}

// ErrFenced says that a write came from a node that does not own what it writes about any more.
var ErrFenced = errors.New("fenced: the writer's place in the ring is not what it believes")

// Token returns what a node writes under this table; false where it is no member.
func (t *Table) Token(node string) (Token, bool) {
	n, ok := t.Node(node)
	if !ok || n.Incarnation == 0 {
		return Token{}, false
	}
	return Token{Node: node, Incarnation: n.Incarnation, Epoch: t.epoch}, true
}

// Admits reports whether a write about a virtual node still counts: nil, or ErrFenced with the reason. It counts while
// the writer's incarnation is a member and is either the owner, since no later than the token's epoch, or the previous
// owner that has not let go yet.
//
// A table older than the token's cannot tell. The receiver then reads the ring again, or lets the write wait.
func (t *Table) Admits(k Token, vnode int) error {
	i, ok := t.find(k.Node)
	switch {
	case !ok || t.nodes[i].Incarnation != k.Incarnation || k.Incarnation == 0:
		return fmt.Errorf("node %s, incarnation %d: %w", k.Node, k.Incarnation, ErrFenced)
	case int(t.owner[vnode]) == i && t.step[vnode] != Handing && t.since[vnode] <= k.Epoch:
		return nil
	case t.step[vnode] == Handing && int(t.from[vnode]) == i:
		return nil
	}
	return fmt.Errorf("node %s at epoch %d, virtual node %d of %s since %d: %w", k.Node, k.Epoch, vnode,
		t.name(t.owner[vnode]), t.since[vnode], ErrFenced)
}
