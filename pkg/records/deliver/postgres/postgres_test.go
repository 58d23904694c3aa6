package postgres_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/delivertest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// table is a place. Tests have tables of their own in one database.
type table struct {
	conn *pgx.Conn
	url  string
	name string
}

var tables atomic.Int64

func newTable(t *testing.T) *table {
	t.Helper()
	url := servicetest.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	p := &table{conn, url, fmt.Sprintf("output_%d_%d", conn.PgConn().PID(), tables.Add(1))}
	t.Cleanup(func() {
		p.Wipe(t)
		_ = conn.Close(t.Context())
	})
	return p
}

func (p *table) Remote(t testing.TB) *deliver.Remote {
	t.Helper()
	r, err := postgres.New(postgres.Options{URL: p.url, Table: p.name, AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	return &deliver.Remote{Receiver: r, Where: "table " + p.name}
}

func (p *table) Rows(t testing.TB) (out []string) {
	t.Helper()
	rows, err := p.conn.Query(t.Context(), "SELECT number, record::text FROM "+p.name+" ORDER BY number")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var n int64
		var text string
		if err := rows.Scan(&n, &text); err != nil || n != int64(len(out)+1) {
			t.Fatalf("row %d behind %d rows, %v", n, len(out), err)
		}
		out = append(out, text)
	}
	var noted int64
	var complete bool
	if err := p.conn.QueryRow(t.Context(),
		"SELECT rows, complete FROM "+p.name+"_outputs WHERE output = 'job/node'").Scan(&noted, &complete); err != nil ||
		noted != int64(len(out)) || !complete {
		t.Fatalf("%d rows; noted: %d, complete %v, %v", len(out), noted, complete, err)
	}
	return out
}

func (p *table) Wipe(t testing.TB) bool {
	t.Helper()
	if _, err := p.conn.Exec(t.Context(), "DROP TABLE IF EXISTS "+p.name+", "+p.name+"_outputs"); err != nil {
		t.Log(err)
	}
	return true
}

func TestSuite(t *testing.T) {
	delivertest.Suite(t, delivertest.Options{Seeds: 2}, func(t *testing.T) delivertest.Place { return newTable(t) })
}

// A value that the database refuses stops nothing: its row says why it has no record.
func TestRowsThatTheDatabaseRefuses(t *testing.T) {
	p := newTable(t)
	to := p.Remote(t)
	to.Job, to.Node, to.Owner = "job", "node", "me"
	if _, err := to.Receiver.Begin(t.Context(), to, 0); err != nil {
		t.Fatal(err)
	}
	b := &deliver.Batch{First: 1, Rows: []deliver.Row{{URL: "https://a.test/1", JSON: []byte(`{"n":1}`)},
		{URL: "https://a.test/2", JSON: []byte(`{"n":1e999999}`)},
		{URL: "https://a.test/3", JSON: []byte(`{"n":"\u0000\ud800","\u0000":1}`)}}}
	for range 2 {
		if err := to.Receiver.Take(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	var faults, rows int
	if err := p.conn.QueryRow(t.Context(), "SELECT count(fault), count(*) FROM "+p.name+
		" WHERE (record IS NULL) = (fault IS NOT NULL)").Scan(&faults, &rows); err != nil ||
		faults != 1 || rows != 3 {
		t.Errorf("%d faults in %d rows, %v", faults, rows, err)
	}
}

func TestAddresses(t *testing.T) {
	for _, opt := range []postgres.Options{{URL: "postgres://u:geheim@h:x/d", Table: "t"},
		{URL: "postgres://u:geheim@h/d", Table: "t; DROP"}, {URL: "::", Table: "t"}} {
		if _, err := postgres.New(opt); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	r, err := postgres.New(postgres.Options{URL: "postgres://u:geheim@127.0.0.1:1/d", Table: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Begin(t.Context(), &deliver.Remote{}, 0); err == nil || !strings.Contains(err.Error(), "loopback") ||
		strings.Contains(err.Error(), "geheim") {
		t.Errorf("a private address: %v", err)
	}
}
