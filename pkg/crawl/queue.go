package crawl

import (
	"fmt"
	"strconv"
	"strings"
)

// QueueKind is what a queue of the frontier holds. Its text is the first part of the queue's name.
type QueueKind string

// The kinds of the frontier's queues. Names are stored in brokers and state directories: they never change.
const (
	// tasks that were not drawn yet, by priority or level of promise; front.0: those that were set aside
	QueueFront QueueKind = "front"
	QueueBack  QueueKind = "back"  // the rest of one host's tasks
	QueueLater QueueKind = "later" // retries, by their delay in milliseconds
	QueueLevel QueueKind = "level" // tasks that wait for their level, by depth: see OrderBreadth
)

// ShutMark and above is the number of a later queue whose URLs have their outcomes for the time being: they are tried
// again hours later, and a crawl ends without them. The delays of retries are smaller.
const ShutMark = 1 << 40

// QueueName is the name of one of the frontier's queues, in parts: KIND.NUMBER, front.NUMBER.JOB or level.NUMBER.JOB.
type QueueName struct {
	Kind   QueueKind
	Number int   // at least 0
	Job    JobID // of a front queue or a level; empty: of all jobs, or of the one that came first
}

// ParseQueueName reads the name of one of the frontier's queues.
func ParseQueueName(name string) (q QueueName, err error) {
	kind, rest, _ := strings.Cut(name, ".")
	digits, job, _ := strings.Cut(rest, ".")
	q = QueueName{Kind: QueueKind(kind), Job: JobID(job)}
	switch q.Kind {
	case QueueFront, QueueBack, QueueLater, QueueLevel:
	default:
		return QueueName{}, fmt.Errorf("queue %s is none of the frontier's", name)
	}
	if q.Number, err = strconv.Atoi(digits); err != nil || q.Number < 0 ||
		job != "" && q.Kind != QueueFront && q.Kind != QueueLevel {
		return QueueName{}, fmt.Errorf("queue %s has no number", name)
	}
	return q, nil
}

// String returns the name.
func (q QueueName) String() string {
	name := string(q.Kind) + "." + strconv.Itoa(q.Number)
	if q.Job != "" {
		name += "." + string(q.Job)
	}
	return name
}

// Shut reports whether the queue's URLs have their outcomes for the time being; see ShutMark.
func (q QueueName) Shut() bool { return q.Kind == QueueLater && q.Number >= ShutMark }
