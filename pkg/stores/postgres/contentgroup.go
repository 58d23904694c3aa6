package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Claims of new content that meet are sent together: one round trip, one transaction and one commit for all of them. A
// look-up of larger distances takes the server milliseconds: such claims go side by side instead, each over a
// connection of its own. The group's size bounds the locks that it holds: six a claim with a distance of 3.
const (
	groupedNear = 3
	maxClaims   = 16
	groupPart   = 5 // a group may take this part of a call's time: one claim that is kept waiting must not keep the others
)

// newContent is a claim in a group. Its answer may be read when the group is done.
type newContent struct {
	claim *contentClaim
	fresh bool // it was claimed; else the server changed nothing
}

func newContentSet(s *Store) *ContentSet {
	c := &ContentSet{s: s}
	c.group.most, c.group.write = maxClaims, c.claimGroup
	return c
}

// claimGroup claims, of a group, what is new and resembles nothing. As in a single claim, all locks are taken before
// anything is looked at, those of all claims in one order. Claims of one group see each other. An error leaves all of
// them unclaimed.
func (c *ContentSet) claimGroup(ctx context.Context, group []*newContent) (err error) {
	ctx, cancel := context.WithTimeout(ctx, c.s.cfg.Timeout/groupPart)
	defer cancel()
	var locks []int64
	for _, n := range group {
		locks = append(locks, n.claim.locks()...)
	}
	slices.Sort(locks)
	b := &pgx.Batch{} // without BEGIN it is a transaction of its own
	b.Queue(lockSQL, slices.Compact(locks))
	for _, n := range group {
		b.Queue(claimNewSQL, n.claim.newArgs()...)
	}
	fresh := make([]bool, len(group))
	answers := c.s.pool.SendBatch(ctx, b)
	_, err = answers.Exec()
	for i := range group {
		if err == nil {
			err = answers.QueryRow().Scan(&fresh[i])
		}
	}
	if err = errors.Join(err, answers.Close()); err != nil {
		return err
	}
	for i, n := range group {
		n.fresh = fresh[i]
	}
	return nil
}

// claimTogether claims the content with others, if it is new. asked: the server has said whether it is. Where the group
// fails, each claim is tried by itself: one that the server refuses would refuse its neighbours for ever.
func (c *ContentSet) claimTogether(ctx context.Context, t *contentClaim) (fresh, asked bool) {
	if t.near > groupedNear {
		return false, false
	}
	n := &newContent{claim: t}
	if c.group.do(ctx, []*newContent{n}) != nil {
		return false, false
	}
	return n.fresh, true
}
