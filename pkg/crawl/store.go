package crawl

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Digest is a SHA-256.
type Digest [32]byte

// String returns d as "sha256:" and hexadecimal digits.
func (d Digest) String() string { return "sha256:" + hex.EncodeToString(d[:]) }

// IsZero reports whether d is unset.
func (d Digest) IsZero() bool { return d == Digest{} }

// State is where a URL is in its story. A URL that was discovered is in exactly one.
type State uint8

// The states.
const (
	StateUnknown  State = iota
	StateOpen           // claimed, without outcome: it is queued or in flight
	StateDone           // it has its outcome
	StateExcluded       // it will not be fetched, for a reason
)

// String returns the state's name.
func (s State) String() string {
	return [...]string{"unknown", "open", "done", "excluded"}[s&3]
}

// Claimed is the answer of URLSet.Claim for one URL.
type Claimed uint8

// The answers.
const (
	Known  Claimed = iota // another message claimed it
	New                   // claimed now
	Repeat                // claimed before, by the same message: it may or may not have got any further then
)

// URLSet is the memory of the duplicate URL eliminator.
type URLSet interface {
	// Claim claims the URLs of tasks that are not claimed yet, on behalf of message by, and answers for each task in
	// order. The answer is durable when Claim returns. A URL that appears twice in tasks is New once and Known after. A
	// URL that is only excluded can still be claimed. Stores whose queues may be lost keep the whole task, to rebuild
	// the queue. All tasks belong to the job. Claim does not retain the slice.
	Claim(ctx context.Context, job JobID, by MessageID, tasks []Task) ([]Claimed, error)
	// Exclude notes the URLs as excluded unless they are claimed or excluded, and answers for each in order like Claim.
	Exclude(ctx context.Context, job JobID, by MessageID, excl []Exclusion) ([]Claimed, error)
}

// Entry is what the ledger knows of a URL.
type Entry struct {
	Key      weburl.Key
	State    State
	Verdict  Verdict
	Kind     Kind
	Status   int
	Reason   string
	At       time.Time // of the last change
	Attempts int
	// First tells Finish that the URL is claimed and has no outcome yet. A store then writes without looking, and may
	// forget which message claimed the URL. Stores beside a broker look all the same: a broker may deliver a task twice
	// after a lost connection, so First cannot be promised there.
	First bool
	// Epoch is that of the revision of the job by which the outcome came about; 0 is the first.
	Epoch uint32
	// Left holds what is needed to judge an excluded URL again; nil: nothing is stored. Lookup does not return it.
	Left *LeftOut
	// Validators are those of the page as its outcome brought it. Lookup returns them of VerdictDone only.
	Validators Validators
	// Visit is the number of the visit that the outcome is of, from 0.
	Visit uint32
	// Again is the task that visits the URL again, without job and URL; nil: none does. Lookup returns it with the
	// Validators.
	Again *Task
}

// IsPage reports whether the outcome is a page: one that has a record, or a reason for having none.
func (e *Entry) IsPage() bool {
	return e.State == StateDone && BringsPage(e.Kind, e.Verdict, e.Status)
}

// Ledger keeps the outcomes of URLs. It shares its records with URLSet.
type Ledger interface {
	// Finish records final outcomes; done again, it changes nothing but the time. An entry that was never claimed is
	// made. The outcome of a later visit replaces that of an earlier one, and one of an earlier visit changes nothing.
	// But a page stays one: where a later visit finds no page, its number and time are noted, and the outcome that the
	// record came of stays. What is to be kept with Again is stored again by an outcome that is told again.
	Finish(ctx context.Context, job JobID, entries ...Entry) error
	// Reopen takes outcomes back: the URLs are to be fetched again.
	Reopen(ctx context.Context, job JobID, keys ...weburl.Key) error
	// Lookup answers for each key in order; State is StateUnknown for those never heard of.
	Lookup(ctx context.Context, job JobID, keys ...weburl.Key) ([]Entry, error)
	// Tally returns how many URLs are in which state. It costs little: it may be called every second.
	Tally(ctx context.Context, job JobID) (Tally, error)
}

// Following tracks pages whose links are on their way to be claimed, so that the links survive the loss of a node and
// its broker. Only nodes of a ring use it. Every method may be called again with the same arguments.
type Following interface {
	// Expect notes that the links of tasks, which have their outcomes now, are on their way. It is called before the
	// outcome is recorded.
	Expect(ctx context.Context, tasks ...Task) error
	// Claimed records that a share of a page's links is claimed and that the new ones are queued, or can be found in
	// the ledger, at the nodes that own them. After the last share the page is complete; it is remembered for a while.
	// The first share of a newer epoch starts the count anew, and so does a share of the same epoch that is one of more
	// shares. Shares of an earlier count are then ignored.
	Claimed(ctx context.Context, job JobID, page weburl.URL, s Share) error
	// Unfollowed hands the task of every page in the ranges that was expected before t, and of whose links some are not
	// claimed, to each, over all jobs.
	Unfollowed(ctx context.Context, in []weburl.KeyRange, before time.Time, each func(Task) error) error
	// Forget forgets pages: they are fetched again.
	Forget(ctx context.Context, job JobID, keys ...weburl.Key) error
	// Waiting returns of how many of a job's pages, which were expected, a share is missing.
	Waiting(ctx context.Context, job JobID) (int64, error)
}

// Split is how the links of a page were split: by which table, into how many shares.
type Split struct {
	Page  weburl.URL
	Epoch uint64 // of the table
	Of    int    // shares
}

// Splits says which splits are claimed, where Following is told of them.
type Splits interface {
	// Whole reports of each split whether every share of the page's newest count is claimed, and that count is this
	// split's. What it says of a page that was whole for a while may be false: pages are forgotten.
	Whole(ctx context.Context, job JobID, splits ...Split) ([]bool, error)
}

// Places records which pages were taken back and keep their places in the page budget, because their records may be
// stored already and stay. Every method may be called again with the same arguments.
type Places interface {
	KeepPlaces(ctx context.Context, job JobID, keys ...weburl.Key) error
	LeavePlaces(ctx context.Context, job JobID, keys ...weburl.Key) error
	Places(ctx context.Context, job JobID) ([]weburl.Key, error)
}

// Tally counts a job's URLs.
type Tally struct {
	Claimed  int64            // ever claimed; Claimed - sum of Verdicts = queued or in flight
	Verdicts map[string]int64 // final verdicts by name, pages, robots and sitemaps alike
	Statuses map[int]int64    // final outcomes by HTTP status
	Excluded map[string]int64 // by reason; those claimed first and then over a budget count in Verdicts too
	Pages    int64            // final outcomes of KindPage done with 2xx
}

// Budgets counts what was spent of a limited allowance. It is exact enough to bound a trap, but not for billing: a
// crash may forget the last batch.
type Budgets interface {
	// Spend adds up to n to what was spent under key, keeping it at most limit, and returns how much was granted.
	Spend(ctx context.Context, job JobID, key string, n, limit int) (granted int, err error)
}

// Fingerprint is what content-seen knows a page by.
type Fingerprint struct {
	Job    JobID
	URL    weburl.URL
	Digest Digest
	// LinkSum hashes the resolved links and whether they may be followed: a copy with another one has something to say.
	LinkSum uint64
	Simhash uint64
	Sketch  []byte // of the text's shingles, to confirm a near-duplicate; empty: text too short for the test
}

// Sameness says what a page is to those seen before.
type Sameness uint8

// The grades of sameness.
const (
	Original  Sameness = iota
	ExactCopy          // the same bytes
	NearCopy           // a text that differs little
)

// Seen is content-seen's verdict.
type Seen struct {
	Sameness  Sameness
	Of        weburl.URL // the original; zero for an original
	SameLinks bool       // an exact copy whose links resolve to the same URLs as the original's
	Distance  int        // Hamming distance of the simhashes
}

// ContentSet decides exact and near duplicates, free of races: of copies claimed at once one is the original.
type ContentSet interface {
	// Claim is idempotent for each URL. The same URL and digest get the same answer again; the same URL with another
	// digest replaces the former claim. near is the largest Hamming distance of a candidate, 0 to 7; negative: no
	// near-duplicate test. confirm decides whether a candidate counts.
	Claim(ctx context.Context, fp Fingerprint, near int, confirm func(mine, theirs []byte) bool) (Seen, error)
}

// BodyRef names a body in the spool of one node.
type BodyRef string

// Bodies is the body spool: bodies wait here between stages, off the bus.
type Bodies interface {
	// Put spools what it reads from r.
	Put(ctx context.Context, r io.Reader) (BodyRef, error)
	// Open returns the body, ErrNoBody if it was released, or ErrBodyLost if that is not certain. Reading a damaged
	// body also ends with ErrBodyLost.
	Open(ctx context.Context, ref BodyRef) (io.ReadCloser, error)
	// Share gives a user (a name of a-z, 0-9, - and .) a reference of its own to a body. Each reference is opened and
	// released without regard to the others; the body goes with the last. The same user gets the same reference again.
	// The error is that of Open where the body is not there.
	Share(ctx context.Context, ref BodyRef, user string) (BodyRef, error)
	// Release forgets the reference, and the body with the last one. Releasing it twice is no error.
	Release(ctx context.Context, ref BodyRef) error
}

// Bodied is an event that carries a reference to a page's body. Its handler may open the body; the runner of the
// stages releases it.
type Bodied interface {
	Event
	// BodyRef is the reference, which the caller may change.
	BodyRef() *BodyRef
}

// BodyRef implements Bodied.
func (p *Page) BodyRef() *BodyRef { return &p.Body }

// BodyRef implements Bodied.
func (d *Document) BodyRef() *BodyRef { return &d.Page.Body }

// Host is what is remembered of a host between the times it is active.
type Host struct {
	Key string `cbor:"1,keyasint"`
	// no request may start earlier: what the host asked for, back-off
	Next time.Time `cbor:"2,keyasint,omitempty"`
	// end of the last request
	LastContact time.Time `cbor:"3,keyasint,omitempty"`
	// when it last asked for rest
	SlowedAt time.Time `cbor:"4,keyasint,omitempty"`
	// current rest, doubled each time
	Backoff time.Duration `cbor:"5,keyasint,omitempty"`
	// connection failures in a row
	Failures int `cbor:"6,keyasint,omitempty"`
	// last known address
	Addr     netip.Addr `cbor:"7,keyasint,omitempty"`
	Requests int64      `cbor:"8,keyasint,omitempty"`
	// at most two: http and https
	Origins []Origin `cbor:"9,keyasint,omitempty"`
	// what the job of a request gave the host afterwards
	Rest Rest `cbor:"10,keyasint,omitzero"`
	// the way by which it failed: see Network.Way
	FailedBy string `cbor:"11,keyasint,omitempty"`
}

// Rest is how long a host rests, from all jobs, after a request. If the job is known, the rest is computed with the
// delay that the job has now.
type Rest struct {
	Job JobID `cbor:"1,keyasint,omitempty"`
	// the request
	Ended time.Time `cbor:"2,keyasint,omitempty"`
	// what counts of its time: see Politeness.Counts
	Took time.Duration `cbor:"3,keyasint,omitempty"`
	// the job's delay counts so many times; 0: once
	Gaps uint8 `cbor:"4,keyasint,omitempty"`
	// as it was when the request ended, for those who do not know the job
	Least time.Duration `cbor:"5,keyasint,omitempty"`
}

// End is when the rest ends for those who do not know the job.
func (r *Rest) End() time.Time {
	if r.Ended.IsZero() {
		return time.Time{}
	}
	return r.Ended.Add(r.Least)
}

// Origin is what the frontier remembers of an origin's robots.txt.
type Origin struct {
	Name       string        `cbor:"1,keyasint"` // scheme://host[:port]
	Expires    time.Time     `cbor:"2,keyasint"`
	CrawlDelay time.Duration `cbor:"3,keyasint,omitempty"`
}

// By is how long the rest lasts under job j as it is now, whose delay for the host is gap: at least factor × download
// time, bounded (Heydon and Najork 1999). With a delay of 0 only gap counts, but by the preset mercator.
func (r *Rest) By(j *Job, gap time.Duration) time.Duration {
	p := &j.Politeness
	gap *= time.Duration(max(r.Gaps, 1))
	if !p.Adapts() {
		return gap
	}
	return max(gap, min(time.Duration(p.DownloadFactor*float64(r.Took)), p.MaxAdaptive.D()))
}

// Hosts keeps host records, over all jobs.
type Hosts interface {
	// Hosts returns the records in the order of keys. Of a host that was never put it has the key and nothing else.
	Hosts(ctx context.Context, keys ...string) ([]Host, error)
	PutHosts(ctx context.Context, hosts ...Host) error
}

// RobotsState says what robots.txt of an origin allows (RFC 9309, 2.3.1).
type RobotsState uint8

// The states of a robots.txt.
const (
	RobotsRules       RobotsState = iota // its rules apply
	RobotsAllowAll                       // 4xx: there are none
	RobotsDisallowAll                    // 5xx, 429 or unreachable: nothing may be fetched
)

// Robots is the robots.txt of an origin.
type Robots struct {
	Origin    string      `cbor:"1,keyasint"`
	State     RobotsState `cbor:"2,keyasint,omitempty"`
	Status    int         `cbor:"3,keyasint,omitempty"`
	Body      []byte      `cbor:"4,keyasint,omitempty"`
	FetchedAt time.Time   `cbor:"5,keyasint"`
	Expires   time.Time   `cbor:"6,keyasint"`
	// the job that asked for it; empty: an earlier build stored it. Of one that could not be had it is the way by which
	// it was asked for: see Network.Way
	Job string `cbor:"7,keyasint,omitempty"`
}

// RobotsStore keeps robots.txt files, over all jobs.
type RobotsStore interface {
	Robots(ctx context.Context, origin string) (r Robots, found bool, err error)
	PutRobots(ctx context.Context, r Robots) error
}

// Pages stores content.
type Pages interface {
	// Put stores the record of a URL; it is durable when Put returns. A record that is stored already stays as it is.
	Put(ctx context.Context, r *Record) error
	// Replace stores the record of a visit in the place of the one of an earlier visit (Record.Visit), or as the
	// first; it is durable when Replace returns. One of the same or a later visit stays as it is: a message that
	// comes again, or late, changes nothing.
	Replace(ctx context.Context, r *Record) error
	// Amend changes the record of a visit: change gets what is stored. It must give the same when it is called again
	// with its own result, since messages come again, and it may be called more than once. URL and visit stay as they
	// are. found is false, and nothing is changed, where the record of that visit is not stored: it is missing, or
	// another visit's.
	Amend(ctx context.Context, job JobID, u weburl.URL, visit int, change func(*Record)) (found bool, err error)
	// Mark is Amend of the record of the visit or of an earlier one: of the one that is stored when the visit finds
	// something about it.
	Mark(ctx context.Context, job JobID, u weburl.URL, visit int, change func(*Record)) (found bool, err error)
}

// AttemptLog is crawl.log: one line an attempt or a skipped URL.
type AttemptLog interface {
	Append(ctx context.Context, lines ...LogLine) error
}

// Archive keeps raw exchanges (WARC).
type Archive interface {
	Write(ctx context.Context, x *Exchange) error
}

// Jobs finds jobs by their ids. What it returns is shared: callers must not change it.
type Jobs interface {
	// Job returns the job as it is now.
	Job(ctx context.Context, id JobID) (*Job, error)
	// JobAt returns the job as it was at an epoch (EpochOf). An epoch that is not stored, or not known yet, is a
	// permanent error: work that began under one revision is never finished under another.
	JobAt(ctx context.Context, id JobID, epoch uint32) (*Job, error)
}

// StaticJobs is a fixed set of jobs.
type StaticJobs map[JobID]*Job

// Job implements Jobs.
func (s StaticJobs) Job(_ context.Context, id JobID) (*Job, error) {
	if j, ok := s[id]; ok {
		return j, nil
	}
	return nil, Permanent(fmt.Errorf("job %q is unknown here", id))
}

// JobAt implements Jobs. There is one revision of a job.
func (s StaticJobs) JobAt(ctx context.Context, id JobID, epoch uint32) (*Job, error) {
	j, err := s.Job(ctx, id)
	if err == nil && EpochOf(epoch) != EpochOf(j.Epoch) {
		return nil, LostRevision(id, epoch)
	}
	return j, err
}

// LostRevision is the error for a revision of a job that is not kept.
func LostRevision(id JobID, epoch uint32) error {
	return Permanent(fmt.Errorf("job %q: its revision %d is not known: what was begun under it is not finished under "+
		"another", id, EpochOf(epoch)))
}
