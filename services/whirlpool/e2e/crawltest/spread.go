package crawltest

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/databasetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// Spread is a ledger on several databases, each of which stands for a server.
type Spread struct {
	t       *testing.T
	server  string
	names   []string
	Servers []string // URLs
}

// NewSpread makes n databases.
func NewSpread(t *testing.T, env map[string]string, n int) *Spread {
	t.Helper()
	s := &Spread{t: t, server: env["WHIRLPOOL_TEST_POSTGRES"]}
	name := "ledger_" + strings.ToLower(rand.Text()[:10])
	for i := range n {
		s.names = append(s.names, fmt.Sprintf("%s_%d", name, i+1))
		address, err := databasetest.Make(t.Context(), s.server, s.names[i])
		harness.Check(t, err)
		s.Servers = append(s.Servers, address)
	}
	return s
}

// Setting names the databases for programs.
func (s *Spread) Setting() string { return "WHIRLPOOL_POSTGRES_LEDGER=" + strings.Join(s.Servers, ",") }

// Cut ends the connections to one of the databases, and while allows none.
func (s *Spread) Cut(i int, while func()) {
	s.t.Helper()
	allow := func(yes bool) {
		SQL(s.t, s.server, fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS %t", s.names[i], yes))
	}
	allow(false)
	defer allow(true)
	SQL(s.t, s.server, fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'",
		s.names[i]))
	while()
}

// URLs counts those of each database.
func (s *Spread) URLs() (n []int) {
	s.t.Helper()
	for _, server := range s.Servers {
		n = append(n, Value[int](s.t, server, "SELECT count(*) FROM urls"))
	}
	return n
}

// Value reads one value from a database.
func Value[T any](t *testing.T, server, query string) (v T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server)
	harness.Check(t, err)
	defer conn.Close(t.Context())
	harness.Check(t, conn.QueryRow(t.Context(), query).Scan(&v))
	return v
}
