package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ContentSet decides exact and near duplicates.
//
// A claim is a transaction. It first takes advisory locks for everything that another claim could decide at the same
// time: the URL, the digest, and near+1 blocks of the simhash, of which pages within near bits share at least one.
// Statements after the locks see what the claim that held them before has committed, so of copies claimed at once one
// is the original. Claims that have nothing in common do not wait for each other. All claims of a job must use the same
// near.
//
// Most pages resemble nothing. They are claimed by a call of claim_new_content, which does the same within the server;
// claims that meet share a transaction (claimGroup). If the server finds a page to compare with, it changes nothing,
// and the program does the whole claim.
//
// A copy is judged again when it is claimed again and its original has other content by then. A page whose claim made
// no near-duplicate test is not a candidate in the tests of other pages.
type ContentSet struct {
	s      *Store
	claims atomic.Int64 // of this program
	group  gather[*newContent]
}

var _ crawl.ContentSet = (*ContentSet)(nil)

// maxConfirmed bounds the candidates whose sketches are compared in one claim, the nearest first. A site whose pages
// differ in a few words can gather any number of them.
const maxConfirmed = 64

const (
	beginSQL = `BEGIN ISOLATION LEVEL READ COMMITTED`
	// The order of unnest is that in which the locks are taken: sorted, so that claims do not wait in a circle.
	lockSQL = `SELECT count(pg_advisory_xact_lock(k)) FROM unnest($1::bigint[]) AS k`

	formerSQL = `
		SELECT f.page_fp, f.page_type, f.distance, f.same_links, o.url,
			coalesce(o.page_type = 0 AND CASE f.page_type WHEN 1 THEN o.page_fp = f.page_fp
				ELSE bit_count((o.simhash # f.simhash)::bit(64)) = f.distance END, false)
		FROM fingerprints f LEFT JOIN LATERAL (
			SELECT url, page_type, page_fp, simhash FROM fingerprints WHERE job = f.job AND page_id = f.content_id LIMIT 1
		) o ON true
		WHERE f.job = $1 AND f.page_id = $2`

	originalSQL = `SELECT url, link_sum, page_id FROM fingerprints
		WHERE job = $1 AND page_fp = $2 AND page_type = 0 AND page_id <> $3`

	// The keys of the halves' indexes: see halfKeys.
	upperKey = `CASE WHEN page_type = 0 AND sketch IS NOT NULL THEN (job::bigint << 32) | ((simhash >> 32) & 4294967295) END`
	lowerKey = `CASE WHEN page_type = 0 AND sketch IS NOT NULL THEN (job::bigint << 32) | (simhash & 4294967295) END`

	claimNewSQL = `SELECT claim_new_content($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

	claimContentSQL = `
		INSERT INTO fingerprints (job, page_id, page_type, distance, same_links, simhash, link_sum, content_id, page_fp, fp_alg,
			domain, url, sketch)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (job, page_id) DO UPDATE SET page_type = excluded.page_type, distance = excluded.distance,
			same_links = excluded.same_links, simhash = excluded.simhash, link_sum = excluded.link_sum, claimed = now(),
			content_id = excluded.content_id, page_fp = excluded.page_fp, fp_alg = excluded.fp_alg, domain = excluded.domain,
			url = excluded.url, sketch = excluded.sketch`
)

// nearSQL finds the originals within $5 bits of $2 by either half. An original that is near in both halves is found
// twice, so it asks for twice as many.
var nearSQL = nearBy(upperKey, "$3") + ` UNION ALL ` + nearBy(lowerKey, "$4") +
	fmt.Sprintf(` ORDER BY distance, page_id LIMIT %d`, 2*maxConfirmed)

func nearBy(key, values string) string {
	return `
		SELECT url, page_id, sketch, bit_count((simhash # $2)::bit(64))::smallint AS distance FROM fingerprints
		WHERE (` + key + `) = ANY (` + values + `::bigint[])
			AND bit_count((simhash # $2)::bit(64)) <= $5::smallint AND page_id <> $1`
}

// nearArgs are the arguments of nearSQL; but is the page that is no candidate.
func nearArgs(job int32, but []byte, simhash uint64, near int) []any {
	if but == nil {
		but = []byte{}
	}
	return []any{but, int64(simhash), halfKeys(job, probes(upper(simhash), near)),
		halfKeys(job, probes(lower(simhash), near)), int16(near)}
}

// halfKeys are what the indexes hold for values of a half.
func halfKeys(job int32, halves []int32) []int64 {
	keys := make([]int64, len(halves))
	for i, h := range halves {
		keys[i] = int64(job)<<32 | int64(uint32(h))
	}
	return keys
}

// Claim implements crawl.ContentSet.
func (c *ContentSet) Claim(ctx context.Context, fp crawl.Fingerprint, near int,
	confirm func(mine, theirs []byte) bool) (
	crawl.Seen, error) {
	var t *contentClaim
	err := c.s.do(ctx, fmt.Sprintf("claim the content of %s", fp.URL), func(ctx context.Context) error {
		number, err := c.s.jobs.number(ctx, fp.Job)
		if err != nil {
			return err
		}
		key := fp.URL.Key()
		t = &contentClaim{job: number, id: key[:], fp: fp, near: min(near, maxNear), confirm: confirm}
		fresh, asked := c.claimTogether(ctx, t)
		if fresh {
			return nil
		}
		return c.s.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error { return t.run(ctx, conn, asked) })
	})
	if err != nil {
		return crawl.Seen{}, err
	}
	c.describe(ctx)
	return t.seen, nil
}

// Peek answers as Claim would, and claims nothing: nothing is stored and nobody waits for it.
func (c *ContentSet) Peek(ctx context.Context, fp crawl.Fingerprint, near int, confirm func(mine, theirs []byte) bool) (
	crawl.Seen, error) {
	var t contentClaim
	err := c.s.do(ctx, fmt.Sprintf("compare the content of %s", fp.URL), func(ctx context.Context) (err error) {
		number, known, err := c.s.jobs.find(ctx, fp.Job)
		if err != nil || !known {
			return err
		}
		key, b := fp.URL.Key(), &pgx.Batch{}
		t = contentClaim{job: number, id: key[:], fp: fp, near: min(near, maxNear), confirm: confirm}
		t.ask(b)
		answers := c.s.pool.SendBatch(ctx, b)
		defer func() { err = errors.Join(err, answers.Close()) }()
		return t.read(answers)
	})
	return t.seen, err
}

// describe runs ANALYZE while the table is young. The server's own first run comes a minute after the first rows. Until
// then it plans for an empty table, for which every index is as good as the right one. describe runs after 100, 800,
// 6,400 and 51,200 claims; from there on the server's own runs are frequent enough.
func (c *ContentSet) describe(ctx context.Context) {
	switch c.claims.Add(1) {
	case 100, 800, 6_400, 51_200:
		if _, err := c.s.pool.Exec(ctx, "ANALYZE fingerprints"); err != nil {
			c.s.log.Debug("ANALYZE fingerprints; the server will do it by itself", "error", err)
		}
	}
}

// contentClaim is a claim on its way.
type contentClaim struct {
	job     int32
	id      []byte
	fp      crawl.Fingerprint
	near    int
	confirm func(mine, theirs []byte) bool

	answered  bool // by a claim of the same URL and digest
	contentID []byte
	seen      crawl.Seen
}

func (t *contentClaim) testsNear() bool { return t.near >= 0 && len(t.fp.Sketch) > 0 }

// run claims new content in one round trip, unless a group has asked whether it is new, and other content in two more:
// lock and look; write and commit.
func (t *contentClaim) run(ctx context.Context, conn *pgxpool.Conn, asked bool) error {
	if !asked {
		if fresh, err := t.claimNew(ctx, conn); err != nil || fresh {
			return err
		}
	}
	if err := t.look(ctx, conn); err != nil {
		return errors.Join(err, rollback(conn))
	}
	end := &pgx.Batch{}
	if !t.answered {
		t.write(end)
	}
	end.Queue("COMMIT")
	if err := conn.SendBatch(ctx, end).Close(); err != nil {
		return errors.Join(err, rollback(conn))
	}
	return nil
}

// rollback returns the connection to the pool. Its error matters only while the connection is alive; the pool drops a
// dead one.
//
//nolint:contextcheck // it must roll back when the caller's context has ended, too
func rollback(conn *pgxpool.Conn) error {
	if conn.Conn().IsClosed() || conn.Conn().PgConn().TxStatus() == 'I' {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), cancelGrace)
	defer cancel()
	_, err := conn.Exec(ctx, "ROLLBACK")
	return err
}

// claimNew claims content that nothing resembles. It reports whether it did.
func (t *contentClaim) claimNew(ctx context.Context, conn *pgxpool.Conn) (fresh bool, err error) {
	err = conn.QueryRow(ctx, claimNewSQL, t.newArgs()...).Scan(&fresh)
	return fresh, err
}

// newArgs are the arguments of claimNewSQL.
func (t *contentClaim) newArgs() []any {
	near, up, low := int16(-1), []int64{}, []int64{}
	if t.testsNear() {
		near = int16(t.near)
		up, low = halfKeys(t.job, probes(upper(t.fp.Simhash), t.near)), halfKeys(t.job, probes(lower(t.fp.Simhash), t.near))
	}
	alg, sketch := t.test()
	return []any{t.job, t.id, t.fp.Digest[:], int64(t.fp.Simhash), int64(t.fp.LinkSum), alg, t.fp.URL.RegistrableDomain(),
		t.fp.URL.String(), sketch, t.locks(), near, up, low}
}

func (t *contentClaim) look(ctx context.Context, conn *pgxpool.Conn) (err error) {
	b := &pgx.Batch{}
	b.Queue(beginSQL)
	b.Queue(lockSQL, t.locks())
	t.ask(b)
	answers := conn.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, answers.Close()) }()
	for range 2 {
		if _, err := answers.Exec(); err != nil {
			return err
		}
	}
	return t.read(answers)
}

// ask asks what the claim is decided by.
func (t *contentClaim) ask(b *pgx.Batch) {
	b.Queue(formerSQL, t.job, t.id)
	b.Queue(originalSQL, t.job, t.fp.Digest[:], t.id)
	if t.testsNear() {
		b.Queue(nearSQL, nearArgs(t.job, t.id, t.fp.Simhash, t.near)...)
	}
}

// read decides by the answers.
func (t *contentClaim) read(answers pgx.BatchResults) error {
	if err := t.readFormer(answers); err != nil || t.answered {
		return err
	}
	if found, err := t.readOriginal(answers); err != nil || found || !t.testsNear() {
		return err
	}
	return t.readNear(answers)
}

// locks are the names of what the claim decides about. Names that meet by chance only wait for each other.
func (t *contentClaim) locks() []int64 {
	names := []int64{t.lock('u', t.id), t.lock('d', t.fp.Digest[:])}
	if t.testsNear() {
		for i, block := range blocks(t.fp.Simhash, t.near+1) {
			names = append(names, t.lock('s', binary.BigEndian.AppendUint64([]byte{byte(t.near), byte(i)}, block)))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (t *contentClaim) lock(kind byte, name []byte) int64 {
	var buf [64]byte
	b := binary.BigEndian.AppendUint32(append(buf[:0], "content"...), uint32(t.job))
	return int64(xxh3.Hash(append(append(b, kind), name...)))
}

// readFormer reads what an earlier claim of the URL got. It is the answer where the page has the same content, and the
// original of a copy still has what it was compared with.
func (t *contentClaim) readFormer(answers pgx.BatchResults) error {
	var digest []byte
	var stands bool
	var pageType, distance int16
	var sameLinks bool
	var of *string
	err := answers.QueryRow().Scan(&digest, &pageType, &distance, &sameLinks, &of, &stands)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil || !bytes.Equal(digest, t.fp.Digest[:]) {
		return err
	}
	seen := crawl.Seen{Sameness: crawl.Sameness(pageType), Distance: int(distance), SameLinks: sameLinks}
	if t.answered = stands || seen.Sameness == crawl.Original; !t.answered {
		return nil // it is judged anew
	}
	if t.seen = seen; seen.Sameness == crawl.Original {
		return nil
	}
	t.seen.Of, err = weburl.Parse(text(of))
	return err
}

func (t *contentClaim) readOriginal(answers pgx.BatchResults) (found bool, err error) {
	var url string
	var linkSum int64
	err = answers.QueryRow().Scan(&url, &linkSum, &t.contentID)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	t.seen = crawl.Seen{Sameness: crawl.ExactCopy, SameLinks: uint64(linkSum) == t.fp.LinkSum}
	t.seen.Of, err = weburl.Parse(url)
	return true, err
}

func (t *contentClaim) readNear(answers pgx.BatchResults) error {
	rows, err := answers.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	var last []byte
	for asked := 0; rows.Next() && asked < maxConfirmed; {
		var url string
		var id, sketch []byte
		var distance int16
		if err := rows.Scan(&url, &id, &sketch, &distance); err != nil {
			return err
		}
		if bytes.Equal(id, last) {
			continue
		}
		last, asked = id, asked+1
		if t.confirm == nil || t.confirm(t.fp.Sketch, sketch) {
			t.contentID, t.seen = id, crawl.Seen{Sameness: crawl.NearCopy, Distance: int(distance)}
			t.seen.Of, err = weburl.Parse(url)
			return err
		}
	}
	return rows.Err()
}

// Values of fp_alg.
const (
	algExact = "sha256"
	algNear  = "sha256+simhash64"
)

// test says how the content is compared with other content, and by what.
func (t *contentClaim) test() (alg string, sketch []byte) {
	if t.testsNear() {
		return algNear, t.fp.Sketch
	}
	return algExact, nil
}

func (t *contentClaim) write(b *pgx.Batch) {
	content := t.contentID
	if t.seen.Sameness == crawl.Original {
		content = t.id
	}
	alg, sketch := t.test()
	domain := t.fp.URL.RegistrableDomain()
	b.Queue(claimContentSQL, t.job, t.id, int16(t.seen.Sameness), int16(t.seen.Distance), t.seen.SameLinks,
		int64(t.fp.Simhash), int64(t.fp.LinkSum), content, t.fp.Digest[:], alg, domain, t.fp.URL.String(), sketch)
}
