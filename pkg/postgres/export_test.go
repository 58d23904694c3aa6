package postgres

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
)

// Settings are those of the store's sessions.
func Settings() map[string]string { return settings }

// Probes are the values that a look-up probes for both halves.
func Probes(simhash uint64, near int) (upperHalf, lowerHalf []int32) {
	return probes(upper(simhash), near), probes(lower(simhash), near)
}
