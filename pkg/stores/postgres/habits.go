package postgres

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The statements. Rows are written in the order of their hosts, so two writers do not wait for one another in a circle.
const (
	habitsSQL = `
	SELECT a.ord, h.habits FROM unnest($2::bigint[]) WITH ORDINALITY AS a (host, ord) JOIN habits h ON h.job = $1 AND h.host = a.host`
	habitsPutSQL = `
	INSERT INTO habits (job, host, habits) SELECT $1, a.host, a.habits FROM unnest($2::bigint[], $3::bytea[]) AS a (host, habits) ORDER BY a.host
	ON CONFLICT (job, host) DO UPDATE SET habits = excluded.habits`
)

// Habits implements crawl.Revisits.
func (r *Revisits) Habits(ctx context.Context, job crawl.JobID, hosts ...uint64) ([]revisit.Habits, error) {
	return onServersAsk(r.s, hosts, keyOfHost, func(at *Store, part []uint64) ([]revisit.Habits, error) {
		return (&Revisits{at}).habits(ctx, job, part)
	})
}

// keyOfHost is a key of a host: its server has the others.
func keyOfHost(host *uint64) (k weburl.Key) {
	binary.BigEndian.PutUint64(k[:8], *host)
	return k
}

func (r *Revisits) habits(ctx context.Context, job crawl.JobID, hosts []uint64) ([]revisit.Habits, error) {
	out := make([]revisit.Habits, len(hosts))
	if len(hosts) == 0 {
		return out, nil
	}
	numbers := make([]int64, len(hosts))
	for i, h := range hosts {
		numbers[i] = signedHost(h)
	}
	what := fmt.Sprintf("what was learned of %d hosts of job %q", len(hosts), job)
	return out, r.eachStored(ctx, job, what, habitsSQL, []any{numbers}, func(i int64, stored []byte) (err error) {
		out[i], err = revisit.DecodeHabits(stored)
		return err
	})
}

// PutHabits implements crawl.Revisits.
func (r *Revisits) PutHabits(ctx context.Context, job crawl.JobID, hs ...crawl.HostHabits) error {
	return onServers(r.s, hs, func(h *crawl.HostHabits) weburl.Key { return keyOfHost(&h.Host) },
		func(at *Store, part []crawl.HostHabits, _ []int) error {
			return (&Revisits{at}).putHabits(ctx, job, part)
		})
}

func (r *Revisits) putHabits(ctx context.Context, job crawl.JobID, hs []crawl.HostHabits) error {
	if len(hs) == 0 {
		return nil
	}
	hosts, habits := make([]int64, len(hs)), make([][]byte, len(hs))
	for i := range hs {
		hosts[i], habits[i] = signedHost(hs[i].Host), hs[i].Append(nil) //nolint:staticcheck // named, so that a reader sees what it is
	}
	return r.change(ctx, job, fmt.Sprintf("store what was learned of %d hosts", len(hs)), habitsPutSQL,
		[]any{int32(0), hosts, habits})
}
