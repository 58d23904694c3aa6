package member

import (
	"context"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Store is where the table of one ring and the registrations of its nodes are kept.
type Store interface {
	// Open begins a session. It fails where the store cannot be reached before ctx ends.
	Open(ctx context.Context) (Session, error)
}

// Session is a session with the store. The store ends it, and removes its registration, when it has not heard from the
// session for the timeout. A call that fails with an error other than those named may have taken effect.
type Session interface {
	// Timeout is what the store granted.
	Timeout() time.Duration
	// Register registers the node under its name and returns its incarnation, which is greater than all before.
	// ErrTaken: another session has the name. A repeated call in one session returns the same incarnation.
	Register(ctx context.Context, n ring.Node) (incarnation uint64, err error)
	// Registration returns what a node registered; false where it is not registered.
	Registration(ctx context.Context, name string) (ring.Node, bool, error)
	// Ping returns nil if the store as a whole, not only the connected server, knew the session after the call was
	// made, and the registration if there was one. ErrEnded: one of them is gone.
	Ping(ctx context.Context) error
	// Read returns what is stored, and makes Changed tell of later changes.
	Read(ctx context.Context) (View, error)
	// Write replaces the table that was read, or creates one if none was read. It returns ErrConflict if the stored
	// table is a different one by now.
	Write(ctx context.Context, t *ring.Table, over View) error
	// Say keeps what the node of this session has done of moves, in place of what it said before, until the session ends.
	// Nobody is told.
	Say(ctx context.Context, d ring.Done) error
	// Said returns what these nodes have said. Nodes that have said nothing, or what this build cannot read, are left out.
	Said(ctx context.Context, nodes ...string) ([]ring.Done, error)
	// Changed receives a value after the table or the set of registrations may have changed since the last Read.
	Changed() <-chan struct{}
	// Ended is closed when the session is known to be over.
	Ended() <-chan struct{}
	// Close ends the session; what was registered in it goes at once where the store can be reached.
	Close() error
}

// View is what is stored at a moment.
type View struct {
	Table   *ring.Table         // nil: the ring has not been created
	Version int64               // of the table, for Write
	Present map[string]struct{} // names that are registered
}

// What can be wrong with a call.
var (
	ErrEnded    = errors.New("the session with the ring's store is over")
	ErrTaken    = errors.New("the name is registered by another session")
	ErrDenied   = errors.New("the ring's store does not let this program in")
	ErrConflict = errors.New("the table has been changed by another writer")
	ErrFenced   = error(fenced{})
	ErrNoRing   = errors.New("the ring has not been created: the first node that joins does it, or `whirlpool ring " +
		"create`")
)

// fenced is a ring.ErrFenced that this node found out by itself.
type fenced struct{}

func (fenced) Error() string {
	return "this node has not heard from the ring's store for too long, or is no member of it"
}

func (fenced) Is(target error) bool { return target == ring.ErrFenced }

// Change applies change to the newest table, stores the result and returns it; it repeats this if another writer comes
// first. A change that returns its argument stores nothing. ErrNoRing: there is no table.
func Change(ctx context.Context, s Session, change func(*ring.Table) (*ring.Table, error)) (*ring.Table, error) {
	for {
		v, err := s.Read(ctx)
		if err != nil {
			return nil, err
		}
		if v.Table == nil {
			return nil, ErrNoRing
		}
		next, err := change(v.Table)
		if err != nil || next == v.Table {
			return v.Table, err
		}
		if err = s.Write(ctx, next, v); err == nil {
			return next, nil
		}
		if !errors.Is(err, ErrConflict) {
			return nil, err
		}
	}
}
