package postgres_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// Rows of a job as the statements would make them, but faster: 10^5 URLs and 10^5 fingerprints.
const planRows = `
	INSERT INTO jobs (id) VALUES ('plan') ON CONFLICT DO NOTHING;
	INSERT INTO urls (job, host, hash, state, changed, url)
	SELECT number, ('x' || substr(md5((n / 20)::text), 1, 16))::bit(64)::bigint, md5(n::text)::uuid, 1 + n % 2, now(), 'http://host.test/' || n
	FROM jobs, generate_series(1, 100000) n WHERE id = 'plan';
	INSERT INTO fingerprints (job, page_type, distance, same_links, simhash, link_sum, page_id, content_id, page_fp, fp_alg, domain, url, sketch)
	SELECT number, 0, 0, false, ('x' || substr(md5(n::text), 1, 16))::bit(64)::bigint, 0, k, k, sha256(k), 'sha256+simhash64', 'host.test',
		'http://host.test/' || n, repeat('x', 128)::bytea
	FROM jobs, generate_series(1, 100000) n, LATERAL (SELECT decode(md5(n::text) || substr(md5('b' || n), 1, 16), 'hex')) AS t (k) WHERE id = 'plan';
	INSERT INTO hosts (key, record) SELECT 'host' || n || '.test', 'x' FROM generate_series(1, 20000) n;
	INSERT INTO following (job, host, hash, url, expected) SELECT job, host, hash, url, now() FROM urls LIMIT 20000;
	INSERT INTO members (node, incarnation, entered, floor) SELECT 'node' || n, n, n, n FROM generate_series(1, 1000) n;
	INSERT INTO resource_bodies (digest, refs, octets, body) SELECT sha256(n::text::bytea), 1, 9, 'x' FROM generate_series(1, 20000) n;
	INSERT INTO resources (job, host, hash, used, expires, octets, resource, digest)
	SELECT job, host, hash, changed, now(), 9, 'x', (SELECT digest FROM resource_bodies LIMIT 1) FROM urls LIMIT 20000;
	INSERT INTO renders (job, host, template, version, stats) SELECT 1, 'host' || n, n, 1, 'x' FROM generate_series(1, 20000) n;
	INSERT INTO attempts (job, status, host, at, bytes, duration_us, ttfb_us, attempt, depth, kind, verdict, hash, url)
	SELECT job, 200, host, changed, 0, 0, 0, 0, 0, 0, 1, hash, url FROM urls LIMIT 20000;
	INSERT INTO revisits (job, visits, host, bucket, hash, state, url) SELECT job, 1, host, status + length(url), hash, 'x', url FROM urls;
	ANALYZE urls; ANALYZE revisits; ANALYZE fingerprints; ANALYZE hosts; ANALYZE attempts; ANALYZE following; ANALYZE members;
	ANALYZE resource_bodies; ANALYZE resources; ANALYZE renders`

// eagerSQL sets the cost of parallel workers to zero, as if the table were large: only the store's own settings prevent
// them.
const eagerSQL = `DO $$ DECLARE s text; BEGIN
	FOREACH s IN ARRAY ARRAY['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size', 'min_parallel_index_scan_size'] LOOP
		EXECUTE format('ALTER DATABASE %I SET %s = 0', current_database(), s);
	END LOOP; END $$`

type planCase struct {
	sql  string
	args []any
}

func planCases() map[string]planCase {
	job, now := int32(1), time.Now()
	jobs, hosts, hashes := []int32{1, 1}, []int64{1, 2},
		[]string{"a3cca2b2-aa1e-3b5b-3b5a-ad99a8529074", "a3cca2b2-aa1e-3b5b-3b5a-ad99a8529075"}
	urls, tasks, small := []string{"u", "v"}, [][]byte{nil, nil}, []int16{0, 0}
	id := make([]byte, 24)
	return map[string]planCase{
		"claim": {postgres.ClaimSQL, []any{job, hosts, hashes, int64(1), now, urls, small, tasks}},
		"exclude": {postgres.ExcludeSQL,
			[]any{job, hosts, hashes, int64(1), now, urls, urls, small, tasks, []int32{1, 1}, urls}},
		"finish": {postgres.FinishSQL,
			[]any{job, hosts, hashes, []time.Time{now, now}, []int16{1, 1}, small, []int32{200, 200},
				[]int32{1, 1}, urls, []int32{1, 1}, urls, tasks, []int32{0, 1}, []bool{true, false}, []bool{true, false}}},
		"revisit put":    {postgres.RevisitPutSQL, []any{job, hosts, hashes, []int32{1, 1}, hosts, tasks, urls}},
		"revisit states": {postgres.RevisitStatesSQL, []any{job, hosts, hashes}},
		"revisit drop":   {postgres.RevisitDropSQL, []any{job, hosts, hashes}},
		"revisit due":    {postgres.RevisitDueSQL, []any{job, int64(9), int64(-1), int64(0), hashes[0], 256}},
		"resource":       {postgres.ResourceSQL, []any{job, int64(1), hashes[0], now, time.Minute}},
		"use":            {postgres.UseSQL, []any{job, int64(1), hashes[0], now, time.Minute}},
		"want":           {postgres.WantSQL, []any{job, hosts, hashes, now, int64(1), 250, time.Minute}},
		"wanted":         {postgres.WantedSQL, []any{job, hosts, hashes, int64(1)}},
		"oldest":         {postgres.OldestSQL, []any{500}},
		"remove":         {postgres.RemoveSQL, []any{jobs, hosts, hashes}},
		"lock bodies":    {postgres.LockBodiesSQL, []any{tasks}},
		"release bodies": {postgres.ReleaseBodiesSQL, []any{tasks, hosts}},
		"unused":         {postgres.UnusedSQL, []any{tasks}},
		"template":       {postgres.TemplateSQL, []any{job, "host", int64(1)}},
		"reopen":         {postgres.ReopenSQL, []any{job, hosts, hashes, now}},
		"look up":        {postgres.LookupSQL, []any{job, hosts, hashes}},
		"near":           {postgres.NearSQL, postgres.NearArgs(job, id, 12345678901234567, 3)},
		"original":       {postgres.OriginalSQL, []any{job, make([]byte, 32), id}},
		"former":         {postgres.FormerSQL, []any{job, id}},
		"attempts":       {postgres.AttemptsSQL, []any{job, hosts[0], hashes[0], 20}},
		"hosts":          {postgres.HostsSQL, []any{[]string{"host1.test", "host2.test"}}},
		"expect":         {postgres.ExpectSQL, []any{jobs, hosts, hashes, now, urls, small, tasks}},
		"claimed":        {postgres.ClaimedSQL, []any{jobs, hosts, hashes, now, []int64{1, 1}, []int32{1, 1}, []int32{0, 0}}},
		"whole":          {postgres.WholeSQL, []any{jobs, hosts, hashes}},
		"forget":         {postgres.ForgetSQL, []any{jobs, hosts, hashes}},
		"admit":          {`SELECT * FROM members WHERE node = $1`, []any{"a"}},
	}
}

// A crawl begins with tables that statistics know nothing of, and the plans made then stay in use for minutes.
func TestPlansOfABeginningCrawlUseTheIndexes(t *testing.T) {
	url := newDatabase(t)
	openAt(t, url)
	conn := connect(t, url)
	for k, v := range postgres.Settings() {
		_, err := conn.Exec(context.Background(), "SELECT set_config($1, $2, false)", k, v)
		check(t, err)
	}
	for name, c := range planCases() {
		if name == "attempts" || name == "reopen" {
			continue // the table has no partition yet; nothing is visited again before there are statistics
		}
		t.Run(name, func(t *testing.T) { wantIndexes(t, plan(t, conn, c)) })
	}
	t.Run("control: with the job as a column the whole job is read", func(t *testing.T) {
		if p := plan(t, conn, nearByColumn()); len(scans(p)) == 0 {
			t.Errorf("no scan was noticed in\n%s", p)
		}
	})
}

// No statement of a running crawl may scan a whole table, neither with the settings of the store's sessions nor with
// the server's defaults.
func TestPlansUseTheIndexes(t *testing.T) {
	url := newDatabase(t)
	s := openAt(t, url)
	check(t, s.Jobs().Put(context.Background(), aJob("plan"))) // makes the partition of its attempts
	execute(t, url, planRows)
	execute(t, url, eagerSQL)
	for _, mode := range []string{"store", "server, generic", "server, custom"} {
		conn := connect(t, url)
		for k, v := range sessionOf(mode) {
			_, err := conn.Exec(context.Background(), "SELECT set_config($1, $2, false)", k, v)
			check(t, err)
		}
		for name, c := range planCases() {
			t.Run(name+"/"+mode, func(t *testing.T) {
				p := plan(t, conn, c)
				wantIndexes(t, p)
				if mode == "store" && strings.Contains(p, "Gather") {
					t.Errorf("parallel workers for a look-up:\n%s", p)
				}
			})
		}
	}
	t.Run("control: the server would use parallel workers", func(t *testing.T) {
		if p := plan(t, connect(t, url), nearByColumn()); !strings.Contains(p, "Gather") {
			t.Errorf("no parallel workers in\n%s", p)
		}
	})
	t.Run("control: without its index the look-up scans", func(t *testing.T) {
		execute(t, url, "DROP INDEX fingerprints_lower")
		if p := plan(t, connect(t, url), planCases()["near"]); len(scans(p)) == 0 {
			t.Errorf("no scan was noticed in\n%s", p)
		}
	})
}

// nearByColumn is a look-up as the store must not make it.
func nearByColumn() planCase {
	return planCase{postgres.NearByColumnSQL, []any{int32(1), make([]byte, 24), int64(5), []int32{1, 2}}}
}

func sessionOf(mode string) map[string]string {
	switch mode {
	case "store":
		return postgres.Settings()
	case "server, generic":
		return map[string]string{"plan_cache_mode": "force_generic_plan"}
	}
	return map[string]string{"plan_cache_mode": "force_custom_plan"}
}

func connect(t *testing.T, url string) *pgx.Conn {
	conn, err := pgx.Connect(context.Background(), url)
	check(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func plan(t *testing.T, conn *pgx.Conn, c planCase) string {
	t.Helper()
	rows, err := conn.Query(context.Background(), "EXPLAIN (COSTS OFF) "+c.sql, c.args...)
	check(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	check(t, err)
	return strings.Join(lines, "\n")
}

var (
	// An index without a condition, or with one on the job alone, is read from end to end.
	wholeScan = regexp.MustCompile(`(?m)Seq Scan on .*|Index Cond: \(job = [^ ]+\)$|Index Scan using .*\n\s+Filter.*`)
	anyIndex  = regexp.MustCompile(`Index (Only )?Scan|Conflict Arbiter Indexes`)
)

func scans(plan string) []string { return wholeScan.FindAllString(plan, -1) }

func wantIndexes(t *testing.T, plan string) {
	t.Helper()
	if found := scans(plan); len(found) > 0 || !anyIndex.MatchString(plan) {
		t.Errorf("%q in the plan\n%s", found, plan)
	}
}
