package cluster_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

const (
	membersPassword = "Xq7-hunter&=%2+geheim"
	membersKey      = "k-4711-secret-key"
)

// Two fetchers share a log-in, by a form, whose session ends again and again; they are killed. Nobody logs in twice for
// one session, nothing of what strangers see is stored, and no secret stands anywhere.
func TestMembersOnlyByTwoFetchers(t *testing.T) {
	long(t)
	const pages, expire, kills = 100, 20, 4
	site := fakeweb.NewMembers("alice", membersPassword, pages, expire)
	srv := httptest.NewServer(site)
	t.Cleanup(srv.Close)
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.MaxDepth = "members", []string{srv.URL + "/"}, crawl.ScopeHost, -1
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(5*time.Millisecond), crawl.Duration(time.Millisecond)
	job.Login = crawl.Login{URL: srv.URL + "/login",
		Fields: map[string]string{"name": "alice", "password": "${MEMBERS_PASSWORD}"},
		Check:  crawl.LoginCheck{CSS: "a.logout"}}
	job.Headers = []crawl.HeaderRule{{Name: "X-Api-Key", Value: "${MEMBERS_KEY}"}}
	warc := filepath.Join(t.ArtifactDir(), "warc")
	c := newCluster(t, crawltest.Listen(t, fakeweb.Plain(1, 1), fakeweb.Options{}), &job,
		"MEMBERS_PASSWORD="+membersPassword, "MEMBERS_KEY="+membersKey, "WHIRLPOOL_DISK_WARC="+warc)
	c.startSeven()
	second := c.add("fetcher2", filepath.Join(programs, "fetcher"), nil, "WHIRLPOOL_DISK_WARC="+warc+"2")
	second.Start(t)
	c.seed()
	for i := range kills {
		until(t, patience, "requests", func() bool { return len(site.Seen()) >= (i+1)*pages/(kills+1) || c.stuck() })
		c.killed("fetcher", c.program("fetcher"))
		c.killed("fetcher2", second)
	}
	c.wait()

	got := c.Results(c.job.ID)
	for i := range pages {
		if p := got.Pages[fmt.Sprintf("%s/members/%d", srv.URL, i)]; p.Title != fmt.Sprintf("Members' page %d", i) {
			t.Errorf("page %d: %+v", i, p)
		}
	}
	if len(got.Twice) > 0 {
		t.Errorf("stored twice: %q", got.Twice)
	}
	logins, refused, logouts := site.Counts()
	if logins < pages/expire || logins > pages/expire+2*kills+5 || refused > 0 || logouts > 0 {
		t.Errorf("%d log-ins, %d refused, %d log-outs", logins, refused, logouts)
	}
	t.Logf("%d requests, %d log-ins, %d kills", len(site.Seen()), logins, 2*kills)
	c.secretsNowhere(membersPassword, membersKey)
}

// secretsNowhere looks for secrets in all that the programs have written: files and every row of PostgreSQL.
func (c *cluster) secretsNowhere(secrets ...string) {
	c.t.Helper()
	look := func(where string, data []byte) {
		for _, s := range secrets {
			if bytes.Contains(data, []byte(s)) || bytes.Contains(data, []byte(hex.EncodeToString([]byte(s)))) {
				c.t.Errorf("%s has the secret %q", where, s)
			}
		}
	}
	check(c.t, filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			look(path, data)
			return err
		}
		return err
	}))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.Config(c.env).Postgres.Address().Reveal())
	check(c.t, err)
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`)
	check(c.t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	check(c.t, err)
	jars := 0
	for _, table := range tables {
		rows, err := conn.Query(ctx, `SELECT t::text FROM "`+table+`" t`)
		check(c.t, err)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		check(c.t, err)
		for _, text := range texts {
			look("table "+table, []byte(text))
		}
		if table == "jars" {
			jars = len(texts)
		}
	}
	if jars != 1 || len(tables) < 10 {
		c.t.Errorf("%d jars in %d tables", jars, len(tables))
	}
}
