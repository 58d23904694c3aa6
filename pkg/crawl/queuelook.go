package crawl

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// An audit does not believe that an open URL is queued: it asks the frontiers of all nodes what they hold, which is a
// look. See docs/design/cluster.md.

// Holding is how a frontier holds a URL.
type Holding int16

// How a frontier may hold a URL.
const (
	// HeldQueued: a task of it is in a queue, in memory, or on its way between these.
	HeldQueued  Holding = iota
	HeldLeased          // it is leased: a message of it, or of its outcome, should be under way
	HeldOverdue         // it is leased for longer than any fetch takes
	HeldNowhere         // no frontier has it
)

// HeldURL is a URL that a frontier holds.
type HeldURL struct {
	Key weburl.Key
	How Holding
}

// QueueLook is a look that an audit waits for.
type QueueLook struct {
	ID  int64
	Job JobID
	// Closing asks the frontiers to end it: to say what they noted, and to note no more.
	Closing bool
}

// LookStep is how far a frontier is with a look.
type LookStep int16

// The steps of a look, in their order.
const (
	// LookBegun: it notes all tasks that it moves from now on.
	LookBegun  LookStep = iota + 1
	LookRead            // it has looked through all of its queues
	LookClosed          // all that it noted is stored
	LookFailed
)

// LookAnswer is what a frontier says of a look.
type LookAnswer struct {
	Node string
	Step LookStep
	// Unread counts tasks that were not looked at, because their queues are too long.
	Unread int64
	Fault  string // why it failed
}

// QueueLooker is queues that can be looked into.
type QueueLooker interface {
	// Look hands the tasks of a queue that are not pulled to each, and leaves them where they are; no more than most:
	// it returns how many it did not look at. Nobody may pull from the queue meanwhile.
	Look(ctx context.Context, queue string, most int, each func(*Task)) (unread int64, err error)
}
