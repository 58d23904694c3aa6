package postgres_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/postgres"
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
	INSERT INTO attempts (job, status, host, at, bytes, duration_us, ttfb_us, attempt, depth, kind, verdict, hash, url)
	SELECT job, 200, host, changed, 0, 0, 0, 0, 0, 0, 1, hash, url FROM urls LIMIT 20000;
	ANALYZE urls; ANALYZE fingerprints; ANALYZE hosts; ANALYZE attempts`

// eagerSQL makes workers cost nothing, as they seem to where a table is large: only the store's own settings keep them away.
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
	hosts, hashes := []int64{1, 2}, []string{"a3cca2b2-aa1e-3b5b-3b5a-ad99a8529074", "a3cca2b2-aa1e-3b5b-3b5a-ad99a8529075"}
	up, low := postgres.Probes(12345678901234567, 3)
	urls, tasks, small := []string{"u", "v"}, [][]byte{nil, nil}, []int16{0, 0}
	id := make([]byte, 24)
	return map[string]planCase{
		"claim":   {postgres.ClaimSQL, []any{job, hosts, hashes, int64(1), now, urls, small, tasks}},
		"exclude": {postgres.ExcludeSQL, []any{job, hosts, hashes, int64(1), now, urls, urls}},
		"finish": {postgres.FinishSQL, []any{job, hosts, hashes, []time.Time{now, now}, []int16{1, 1}, small, []int32{200, 200},
			[]int32{1, 1}, urls}},
		"reopen":   {postgres.ReopenSQL, []any{job, hosts, hashes, now}},
		"look up":  {postgres.LookupSQL, []any{job, hosts, hashes}},
		"near":     {postgres.NearSQL, []any{job, id, int64(12345678901234567), up, low, int16(3)}},
		"original": {postgres.OriginalSQL, []any{job, make([]byte, 32), id}},
		"former":   {postgres.FormerSQL, []any{job, id}},
		"attempts": {postgres.AttemptsSQL, []any{job, hosts[0], hashes[0], 20}},
		"hosts":    {postgres.HostsSQL, []any{[]string{"host1.test", "host2.test"}}},
	}
}

// No statement of a crawl's course may scan a table, neither as the store's sessions plan it nor as the server would by itself.
func TestPlansUseTheIndexes(t *testing.T) {
	url := newDatabase(t)
	s := openAt(t, url)
	check(t, s.Jobs().Put(context.Background(), aJob("plan"))) // makes the partition of its attempts
	execute(t, url, planRows)
	execute(t, url, eagerSQL)
	gathered := 0
	for _, mode := range []string{"store", "server, generic", "server, custom"} {
		conn := connect(t, url)
		for k, v := range sessionOf(mode) {
			_, err := conn.Exec(context.Background(), "SET "+k+" = "+v)
			check(t, err)
		}
		for name, c := range planCases() {
			t.Run(name+"/"+mode, func(t *testing.T) {
				p := plan(t, conn, c)
				wantIndexes(t, p)
				switch parallel := strings.Contains(p, "Gather"); {
				case parallel && mode == "store":
					t.Errorf("parallel workers for a look-up:\n%s", p)
				case parallel:
					gathered++
				}
			})
		}
	}
	if gathered == 0 {
		t.Error("control: the server would not use parallel workers either")
	}
	t.Run("control: without its index the look-up scans", func(t *testing.T) {
		execute(t, url, "DROP INDEX fingerprints_lower")
		if p := plan(t, connect(t, url), planCases()["near"]); len(scans(p)) == 0 {
			t.Errorf("no scan was noticed in\n%s", p)
		}
	})
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
	seqScan  = regexp.MustCompile(`Seq Scan on .*`)
	anyIndex = regexp.MustCompile(`Index (Only )?Scan|Conflict Arbiter Indexes`)
)

func scans(plan string) []string { return seqScan.FindAllString(plan, -1) }

func wantIndexes(t *testing.T, plan string) {
	t.Helper()
	if found := scans(plan); len(found) > 0 || !anyIndex.MatchString(plan) {
		t.Errorf("%q in the plan\n%s", found, plan)
	}
}
