package explore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxScan is how many rows, or queued tasks, a page of a list looks at.
const (
	maxScan       = 12_000
	maxScanQueued = 8_000
)

// The parts of the list of tasks, one behind the other.
const (
	phaseActive = iota
	phaseIndexed
	phaseQueued
	phaseEnd
)

// Tasks implements Reader: what is in flight, then what crawl.log tells of, the latest seen first, then the queues.
func (x *Explorer) Tasks(ctx context.Context, id crawl.JobID, f TaskFilter, p Page) (*List[Task], error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	f.Query = asStored(f.Query)
	c, err := cursorFrom(p, listOf("tasks", id, f))
	if err != nil {
		return nil, err
	}
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	q := &taskQuery{ix: ix, f: f, c: c, limit: limitOf(p), out: &List[Task]{Items: []Task{}, Index: ix.Index()}}
	for q.c.Phase < phaseEnd && len(q.out.Items) < q.limit && !q.full {
		if err := q.phase(ctx); err != nil {
			return nil, fmt.Errorf("tasks of execution %q: %w", id, err)
		}
	}
	if q.c.Phase < phaseEnd {
		q.out.Next = q.c.encode()
	}
	return q.out, nil
}

var taskStates = []string{Scheduled, Active, Done, Failed, TimedOut, Interrupted, Excluded}

func (f *TaskFilter) check() error {
	switch {
	case f.State != "" && !slices.Contains(taskStates, f.State):
		return fmt.Errorf("%w: state %q: want one of %s", ErrInvalid, plain(f.State, 40), strings.Join(taskStates, ", "))
	case f.Verdict != "" && verdictNamed(f.Verdict) < 0:
		return fmt.Errorf("%w: verdict %q is not known", ErrInvalid, plain(f.Verdict, 40))
	case f.Kind != "" && kindNamed(f.Kind) < 0:
		return fmt.Errorf("%w: kind %q: want page, robots, sitemap or asset", ErrInvalid, plain(f.Kind, 40))
	case len(f.Query) > 2_000:
		return fmt.Errorf("%w: q is longer than 2,000 bytes", ErrInvalid)
	}
	return nil
}

func verdictNamed(name string) int {
	for v := crawl.VerdictDone; v <= crawl.VerdictInterrupted; v++ {
		if v.String() == name {
			return int(v)
		}
	}
	return -1
}

func kindNamed(name string) int {
	if k, ok := crawl.KindNamed(name); ok {
		return int(k)
	}
	return -1
}

type taskQuery struct {
	ix    *index
	f     TaskFilter
	c     cursor
	limit int
	full  bool // the scan met its bound
	out   *List[Task]
}

func (q *taskQuery) phase(ctx context.Context) error {
	switch q.c.Phase {
	case phaseActive:
		return q.active(ctx)
	case phaseIndexed:
		return q.indexed(ctx)
	}
	return q.queued(ctx)
}

// next goes to the next part of the list.
func (q *taskQuery) next() { q.c = cursor{Of: q.c.Of, Phase: q.c.Phase + 1} }

// live reports whether tasks without an outcome are wanted.
func (q *taskQuery) live(state string) bool {
	return q.ix.source().Live != nil && (q.f.State == "" || q.f.State == state) && q.f.Verdict == "" && q.f.Reason == "" &&
		q.f.Status == 0
}

// active lists all that is in flight, which is little.
func (q *taskQuery) active(ctx context.Context) error {
	defer q.next()
	if !q.live(Active) {
		return nil
	}
	tasks, err := q.ix.source().Live.InFlight(ctx, q.ix.source().ID)
	if err != nil {
		return err
	}
	for i := range tasks {
		if q.f.matches(&tasks[i]) {
			q.out.Items = append(q.out.Items, liveTask(&tasks[i], Active))
		}
	}
	return nil
}

// queued lists the queues. A task that waits for another attempt is in crawl.log, too, and was listed with that.
func (q *taskQuery) queued(ctx context.Context) error {
	if !q.live(Scheduled) {
		q.next()
		return nil
	}
	for scanned := 0; len(q.out.Items) < q.limit && q.c.Phase == phaseQueued; {
		want := q.limit - len(q.out.Items)
		if q.f.narrows() {
			want = 2_000
		}
		tasks, next, err := q.ix.source().Live.Queued(ctx, q.ix.source().ID, q.c.Text, want)
		if err != nil {
			return err
		}
		scanned += len(tasks)
		q.out.Scanned += int64(len(tasks))
		for i := range tasks {
			if tasks[i].Attempt == 0 && q.f.matches(&tasks[i]) {
				q.out.Items = append(q.out.Items, liveTask(&tasks[i], Scheduled))
			}
		}
		if q.c.Text = next; next == "" {
			q.next()
		}
		if scanned >= maxScanQueued || len(tasks) == 0 { // many, or many of other executions
			q.full = true
			return nil
		}
	}
	return nil
}

// narrows reports whether the filter leaves out queued tasks.
func (f *TaskFilter) narrows() bool {
	return f.Host != "" || f.Depth != nil || f.Query != "" || f.Kind != ""
}

func (f *TaskFilter) matches(t *crawl.Task) bool {
	return (f.Host == "" || t.URL.HostKey() == f.Host) && (f.Depth == nil || *f.Depth == t.Depth) &&
		(f.Kind == "" || t.Kind.String() == f.Kind) && f.matchesURL(t.URL.String())
}

func (f *TaskFilter) matchesURL(url string) bool {
	switch {
	case f.Query == "":
		return true
	case strings.Contains(f.Query, "://"):
		return strings.HasPrefix(url, f.Query)
	}
	return strings.Contains(url, f.Query)
}

func liveTask(t *crawl.Task, state string) Task {
	return Task{URL: plain(t.URL.String(), maxURL), Key: t.URL.Key().String(), Host: t.URL.HostKey(),
		Kind: t.Kind.String(), State: state, Depth: t.Depth, Attempts: t.Attempt, Priority: t.Priority,
		Referrer: plain(t.Referrer.String(), maxURL)}
}

// Bounds of a URL, and of what a line of crawl.log says for people, in an answer.
const (
	maxURL    = 8 << 10
	maxDetail = 500
)

// indexed lists what crawl.log tells of.
func (q *taskQuery) indexed(ctx context.Context) error {
	if q.f.State == Active {
		q.next()
		return nil
	}
	w, some, err := q.where(ctx)
	if err != nil || !some {
		q.next()
		return err
	}
	if q.c.ID == 0 {
		q.c.ID = math.MaxInt64
	}
	want := q.limit - len(q.out.Items)
	inner := "SELECT * FROM urls u WHERE " + w.narrow + " AND id < ? ORDER BY id DESC LIMIT ?"
	args := append(slices.Clone(w.narrowArgs), q.c.ID, maxScan)
	rows, err := q.ix.tasks(ctx, "SELECT "+taskColumns+" FROM ("+inner+") u JOIN hosts h ON h.id = u.host WHERE "+w.rest+
		" ORDER BY u.id DESC LIMIT ?", append(append(args, w.restArgs...), want)...)
	if err != nil {
		return err
	}
	offs := make([]int64, len(rows))
	for i := range rows {
		offs[i] = rows[i].off
	}
	err = q.ix.eachLogLine(offs, func(i int, l *crawl.LogLine) {
		if l.URL.String() == rows[i].URL {
			rows[i].Detail = plain(l.Detail, maxDetail)
		}
	})
	if err != nil {
		return err
	}
	for i := range rows {
		q.out.Items = append(q.out.Items, rows[i].Task)
	}
	if len(rows) == want {
		q.c.ID = rows[len(rows)-1].id
		return nil
	}
	return q.scanned(ctx, w, args)
}

// scanned notes where a scan stopped that met its bound before the page was full.
func (q *taskQuery) scanned(ctx context.Context, w *where, args []any) error {
	var n, last int64
	err := q.ix.read.QueryRowContext(ctx,
		"SELECT count(*), coalesce(min(id), 0) FROM (SELECT id FROM urls u WHERE "+w.narrow+
			" AND id < ? ORDER BY id DESC LIMIT ?)", args...).Scan(&n, &last)
	if w.rest != "1" {
		q.out.Scanned += n
	}
	if n < maxScan {
		q.next()
		return err
	}
	q.c.ID, q.full = last, true
	return err
}

// where is a condition in two parts: narrow has an index, and rest is looked at row by row.
type where struct {
	narrow, rest         string
	narrowArgs, restArgs []any
}

func (w *where) add(cond string, args ...any) {
	if w.narrow == "" {
		w.narrow, w.narrowArgs = cond, args
		return
	}
	w.also(cond, args...)
}

// also adds a condition that has no index.
func (w *where) also(cond string, args ...any) {
	w.restArgs = append(w.restArgs, args...)
	if w.rest != "" {
		w.rest += " AND "
	}
	w.rest += cond
}

// where makes a condition of the filter. some is false where nothing can match. The most selective part comes first.
func (q *taskQuery) where(ctx context.Context) (w *where, some bool, err error) {
	w = &where{}
	f := &q.f
	if u, err := weburl.Parse(f.Query); err == nil && strings.Contains(f.Query, "://") && f.Host == "" &&
		strings.Count(f.Query, "/") > 2 {
		f.Host = u.HostKey()
	}
	if f.Host != "" {
		var id int64
		if err := q.ix.lookUp(ctx, "SELECT id FROM hosts WHERE key = ?", f.Host, &id); err != nil || id == 0 {
			return nil, false, err
		}
		w.add("u.host = ?", id)
	}
	if f.Reason != "" {
		id, err := wordID(ctx, q.ix.read, f.Reason)
		if err != nil || id == 0 {
			return nil, false, err
		}
		w.add("u.reason = ? AND u.reason > 0", id)
	}
	if f.Status >= 100 {
		w.add("u.status = ? AND u.status > 0", f.Status)
	}
	if f.Verdict != "" {
		w.add("u.verdict = ?", verdictNamed(f.Verdict))
	}
	if f.State != "" {
		w.add("u.state = ?", slices.Index(stateNames[:], f.State))
	}
	if f.Depth != nil {
		w.add("u.depth = ?", *f.Depth)
	}
	if w.narrow == "" {
		w.narrow = "1"
	}
	f.addRest(w)
	return w, true, nil
}

// addRest adds what has no index.
func (f *TaskFilter) addRest(w *where) {
	if f.Status > 0 && f.Status < 100 {
		w.add("u.status BETWEEN ? AND ?", f.Status*100, f.Status*100+99)
	}
	if f.Kind != "" {
		w.add("u.kind = ?", kindNamed(f.Kind))
	}
	switch {
	case f.Query == "":
	case strings.Contains(f.Query, "://"):
		w.add("substr(u.url, 1, ?) = ?", len([]rune(f.Query)), f.Query)
	default:
		w.add("instr(u.url, ?) > 0", f.Query)
	}
	if w.rest == "" {
		w.rest = "1"
	}
}

// indexedTask is a task with its number in the index.
type indexedTask struct {
	Task
	id, referrer, off int64
}

const taskColumns = "u.id, u.url, h.key, u.kind, u.depth, u.state, u.verdict, u.status, (SELECT word FROM words " +
	"WHERE id = u.reason), u.attempts, u.at, u.us, u.bytes, u.epoch, u.priority, u.referrer, u.off, EXISTS(SELECT 1 " +
	"FROM records r WHERE r.hash = u.hash), (SELECT url FROM urls f WHERE f.hash = u.referrer)"

func (x *index) tasks(ctx context.Context, query string, args ...any) (list []indexedTask, err error) {
	err = each(ctx, x.read, query, args, func(scan func(...any) error) error {
		t, err := scanTask(scan)
		list = append(list, t)
		return err
	})
	return list, err
}

func scanTask(scan func(...any) error) (t indexedTask, err error) {
	var kind, state, verdict int
	var reason, referrer *string
	var at, us int64
	err = scan(&t.id, &t.URL, &t.Host, &kind, &t.Depth, &state, &verdict, &t.Status, &reason, &t.Attempts, &at, &us,
		&t.Bytes, &t.Epoch, &t.Priority, &t.referrer, &t.off, &t.Record, &referrer)
	if err != nil {
		return t, err
	}
	t.Kind, t.Verdict, t.Key = crawl.Kind(kind).String(), crawl.Verdict(verdict).String(), keyOf(t.URL)
	t.State = stateNames[max(0, min(state, len(stateNames)-1))]
	t.At, t.MS = time.UnixMilli(at).UTC(), float64(us)/1000
	if reason != nil {
		t.Reason = *reason
	}
	if referrer != nil {
		t.Referrer = plain(*referrer, maxURL)
	}
	t.URL = plain(t.URL, maxURL)
	return t, nil
}

// lookUp reads one value; it stays as it is where there is none.
func (x *index) lookUp(ctx context.Context, query string, arg, into any) error {
	return each(ctx, x.read, query, []any{arg}, func(scan func(...any) error) error { return scan(into) })
}
