package postgres

import "context"

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
