package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// MergeEvery is after how many pages new words are merged.
const MergeEvery = mergeEvery

// Statements whose plans are tested.
var (
	ClaimSQL    = claimSQL
	ExcludeSQL  = excludeSQL
	FinishSQL   = finishSQL
	ReopenSQL   = reopenSQL
	LookupSQL   = lookupSQL
	NearSQL     = nearSQL
	OriginalSQL = originalSQL
	FormerSQL   = formerSQL
	AttemptsSQL = attemptsSQL
	HostsSQL    = hostsSQL
	ExpectSQL   = expectSQL
	ClaimedSQL  = claimedSQL
	WholeSQL    = wholeSQL
	ForgetSQL   = forgetSQL
	StrayedSQL  = strayedSQL

	SearchSQL        = searchSQL
	SearchSettings   = searchSettings
	MergeSQL         = mergeSQL
	MaxRanked        = maxRanked
	JobWord          = jobWord
	RevisitPutSQL    = revisitPutSQL
	RevisitStatesSQL = revisitStatesSQL
	RevisitDropSQL   = revisitDropSQL
	RevisitDueSQL    = revisitDueSQL

	ResourceSQL      = resourceSQL
	UseSQL           = useSQL
	WantSQL          = wantSQL
	WantedSQL        = wantedSQL
	OldestSQL        = oldestSQL
	RemoveSQL        = removeSQL
	LockBodiesSQL    = lockBodiesSQL
	ReleaseBodiesSQL = releaseBodiesSQL
	UnusedSQL        = unusedSQL
	TemplateSQL      = templateSQL

	EntriesAfterSQL = entriesAfterSQL
	LinesFromSQL    = linesFromSQL
	AttemptsFromSQL = attemptsFromSQL
	ReportSettings  = reportSettings
	WalkSettings    = walkSettings
)

// RemoveRetired deletes all rows of pages that are whole, as time would.
func (f *Following) RemoveRetired(ctx context.Context) (n int) {
	f.mu.Lock()
	rows := f.rows
	f.rows = nil
	f.mu.Unlock()
	f.remove(ctx, rows)
	return len(rows)
}

// Settings are those of the store's sessions.
func Settings() map[string]string { return settings }

// NearArgs are the arguments of NearSQL.
var NearArgs = nearArgs

// NearByColumnSQL is a look-up by the job and the halves, as the store must not make it.
const NearByColumnSQL = `SELECT url FROM fingerprints WHERE job = $1 AND page_type = 0 AND sketch IS NOT NULL AND page_id <> $2 AND simhash <> $3 AND
	(simhash >> 32)::integer = ANY ($4::integer[])`

// DownTo takes migrations back, as an operator might before he starts programs of a former version.
func DownTo(ctx context.Context, url string, version int64) error {
	cc, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*cc)
	defer db.Close()
	p, err := newProvider(db, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	_, err = p.DownTo(ctx, version)
	return err
}

// KeyColumns are the columns of a URL's key.
func KeyColumns(k weburl.Key) (host int64, hash string) {
	h := hashOf(k)
	return hostOf(k), uuid(h.Bytes)
}

func uuid(b [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// OpenBy reads open URLs by one pass, or by ranges, whatever costs less.
func (u *URLs) OpenBy(ctx context.Context, ranges bool, in []weburl.KeyRange, each func(crawl.Task) error) error {
	way := byPass
	if ranges {
		way = byRanges
	}
	return u.open(ctx, way, in, func(weburl.URL) bool { return true }, each)
}

// Cheaper reports whether ranges are read from the index of open URLs.
func Cheaper(pages, open float64, in []weburl.KeyRange) bool {
	return cheaper(pages, open, in) == byRanges
}

// BuildOpenIndex is the migration to the index of open URLs, of ledgers of more than small octets while others write.
func BuildOpenIndex(ctx context.Context, db *sql.DB, small int64) error {
	return buildOpenIndex(ctx, db, small, slog.New(slog.DiscardHandler))
}

// Open's statement by ranges and its settings.
const (
	OpenRangesSQL  = openRangesSQL
	RangesSettings = rangesSettings
)

// MoveLedgerBy is MoveLedger in batches of some rows; after is called after each of its statements, and may end it.
func MoveLedgerBy(ctx context.Context, cfg Config, to []string, rows int, tell func(string),
	after func(what string) error) error {
	return (&mover{cfg: cfg, urls: to, rows: rows, tell: tell, after: after}).run(ctx)
}

// CancelMoveBy is CancelMove, with after as MoveLedgerBy.
func CancelMoveBy(ctx context.Context, cfg Config, tell func(string), after func(what string) error) error {
	return (&mover{cfg: cfg, tell: tell, after: after}).cancel(ctx)
}

// PlaceOf is which of n servers has a host, as columns have it.
func PlaceOf(host int64, n int) int { return placeOf(uint64(host)^1<<63, n) }

// Placings says of each table whether it is on the main server alone.
func Placings() map[string]bool {
	out := map[string]bool{}
	for table, of := range placings {
		out[table] = of == onMain
	}
	return out
}

// Misplace makes moves take a table for one of the main server, until restore is called.
func Misplace(table string) (restore func()) {
	was := placings[table]
	placings[table] = onMain
	return func() { placings[table] = was }
}
