package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// MoveLedger moves the ledger of a cluster from the servers of cfg.Ledger to others, in their order; none: the main
// server alone. Programs of the cluster must not run. If it is interrupted, by whatever, call it again with the same
// arguments: it goes on. tell gets lines for people, now and then.
//
// Its steps, of which the main server notes how far it is (ledger_move):
//   - Marked: every database gets to know of the move. From here on no program starts, and one that runs is refused at
//     its next look at a job.
//   - Copied: the rows of each part of the hosts that gets another server, in batches. A batch and how far it reached
//     are one transaction, so none is there twice. Rows are compared afterwards.
//   - Switched: the new list counts. What was moved is deleted where it was, and tallies are counted from the rows.
//   - Cleaned: only the marks are left. Without that of the main server programs start again, on the new list.
//
// Until the list is switched nothing is changed at the servers that have rows; afterwards nothing is copied.
func MoveLedger(ctx context.Context, cfg Config, to []string, tell func(line string)) error {
	return (&mover{cfg: cfg, urls: to, tell: tell, rows: moveBatch, after: func(string) error { return nil }}).run(ctx)
}

// moveStep is how far a move is.
type moveStep int16

const (
	stepMark moveStep = iota // databases are being marked
	stepCopy
	stepClean
	stepUnmark
	stepCancel // the move is being given up
)

// mover is a call of MoveLedger.
type mover struct {
	cfg   Config
	urls  []string // of the new servers
	tell  func(string)
	rows  int                     // of a batch
	after func(what string) error // tests end a move after any of its statements

	opened   []opened // each database once
	main     *Store
	from, to []*Store // the servers by their places
	mark     moveMark
	parts    []segment

	mu     sync.Mutex
	counts map[string]int64 // rows that were copied, by table
	begun  time.Time
	told   time.Time
}

func (m *mover) run(ctx context.Context) (err error) {
	defer m.close(ctx)
	if err := m.open(ctx); err != nil {
		return err
	}
	begun, err := m.readMark(ctx)
	switch {
	case err != nil:
		return err
	case begun && m.mark.step == stepCancel:
		return errors.New("the move is being given up: run `whirlpool ledger move --cancel` again, to its end")
	case begun:
		m.say("going on with the move that was begun from %s to %s", listText(m.mark.fromAt), listText(m.mark.toAt))
		if err = m.identify(ctx); len(m.cfg.Ledger) != len(m.mark.from) || len(m.urls) != len(m.mark.to) {
			err = m.otherMove()
		}
	default:
		err = m.check(ctx)
	}
	if err == nil {
		err = m.noPrograms(ctx)
	}
	if err == nil && !begun {
		err = m.begin(ctx)
	}
	if err != nil {
		return err
	}
	m.parts = segmentsOf(m.from, m.to)
	for _, step := range []struct {
		step moveStep
		do   func(context.Context) error
	}{{stepMark, m.markAll}, {stepCopy, m.copyAll}, {stepClean, m.cleanAll}, {stepUnmark, m.unmarkAll}} {
		if m.mark.step == step.step && err == nil {
			err = step.do(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("%w\nThe move is not complete: run the command again to continue it", err)
	}
	m.say("The ledger is on %s now.", listText(m.mark.toAt))
	return nil
}

// copyAll is the step up to the switch of the list.
func (m *mover) copyAll(ctx context.Context) error {
	if err := m.settle(ctx); err != nil {
		return err
	}
	m.counts, m.begun, m.told = map[string]int64{}, time.Now(), time.Now()
	err := m.eachTarget(ctx, func(ctx context.Context, at *Store) error {
		for _, table := range tablesThatAre(byHash, byHost, inNotes) {
			if err := m.copyTable(ctx, table, at); err != nil {
				return fmt.Errorf("copy %s to %s: %w", table, at.address(), err)
			}
		}
		return nil
	})
	if err == nil {
		m.say("copied: %s", m.countsText())
		err = m.copyToEach(ctx)
	}
	if err == nil {
		err = m.compareAll(ctx)
	}
	if err != nil {
		return err
	}
	return m.switchList(ctx)
}

// cleanAll is the step after it.
func (m *mover) cleanAll(ctx context.Context) error {
	m.say("deleting what was moved where it was")
	for _, o := range m.opened {
		if err := m.enlistAt(ctx, o.Store); err != nil {
			return fmt.Errorf("list of servers at %s: %w", o.address(), err)
		}
	}
	err := m.side(ctx, func(ctx context.Context, at *Store) error {
		if err := m.clean(ctx, at); err != nil {
			return fmt.Errorf("delete what was moved at %s: %w", at.address(), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.setStep(ctx, stepUnmark)
}

func (m *mover) unmarkAll(ctx context.Context) error { return m.unmark(ctx, len(m.urls)) }

// moversAtOnce is how many databases are written to at once. moverConns is the connections to each: as many as may read
// from it, its own, and that of its locks.
const (
	moversAtOnce = 8
	moverConns   = moversAtOnce + 3
)

// side calls each for all databases, some at once.
func (m *mover) side(ctx context.Context, each func(context.Context, *Store) error) error {
	calls, ctx := errgroup.WithContext(ctx)
	calls.SetLimit(moversAtOnce)
	for _, o := range m.opened {
		calls.Go(func() error { return each(ctx, o.Store) })
	}
	return calls.Wait()
}

// eachTarget is side for the databases that get rows.
func (m *mover) eachTarget(ctx context.Context, each func(context.Context, *Store) error) error {
	return m.side(ctx, func(ctx context.Context, at *Store) error {
		if len(m.incoming(at)) == 0 {
			return nil
		}
		return each(ctx, at)
	})
}

// incoming is the segments that a database gets.
func (m *mover) incoming(at *Store) []segment {
	return segmentsThat(m.parts, func(g *segment) bool { return g.moves() && g.to == at })
}

// outgoing is the segments that a database loses.
func (m *mover) outgoing(at *Store) []segment {
	return segmentsThat(m.parts, func(g *segment) bool { return g.moves() && g.from == at })
}

func (m *mover) say(format string, args ...any) { m.tell(fmt.Sprintf(format, args...)) }

// tellEvery is how often progress is told.
const tellEvery = 5 * time.Second

// count notes rows that were copied.
func (m *mover) count(table string, rows int64) {
	m.mu.Lock()
	m.counts[table] += rows
	tell := time.Since(m.told) >= tellEvery
	if tell {
		m.told = time.Now()
	}
	m.mu.Unlock()
	if tell {
		m.say("copying: %s", m.countsText())
	}
}

func (m *mover) countsText() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var parts []string
	var sum int64
	for _, table := range tablesThatAre(byHash, byHost, inNotes) {
		if n := m.counts[table]; n > 0 {
			parts, sum = append(parts, fmt.Sprintf("%s %d", table, n)), sum+n
		}
	}
	if sum == 0 {
		return "no rows"
	}
	return fmt.Sprintf("%s rows (%.0f a second)", strings.Join(parts, ", "), float64(sum)/time.Since(m.begun).Seconds())
}

// listText names servers for people.
func listText(at []string) string {
	if len(at) == 0 {
		return "the main server alone"
	}
	return strings.Join(at, ", ")
}
