package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// jobSecrets are the secrets of a job, of its output and of channels of alerts. They are in the environment of the
// programs alone.
var jobSecrets = map[string]string{"JOB_PASSWORD": "Jp7-hunter&=2%+geheim", "JOB_HEADER": "header-Zq9-secret",
	"JOB_BEARER": "bearer-Ty5-secret",
	"JOB_COOKIE": "given-Wp3-secret", "JOB_HOOK": "hook-Lk8-secret-0123456789", "JOB_SMTP": "smtp-Rt4-secret",
	"JOB_OUTPUT": "output-Vb2-secret-0123456789"}

const oidcSecret = "oidc-Mn6-secret-0123456789"

// guarded is a site of members that notes which secrets it was shown.
type guarded struct {
	*fakeweb.Members
	mu    sync.Mutex
	shown map[string]bool
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	for name, secret := range jobSecrets {
		if strings.Contains(fmt.Sprint(r.Header), secret) {
			g.shown[name] = true
		}
	}
	g.mu.Unlock()
	g.Members.ServeHTTP(w, r)
}

// Secrets of jobs, outputs, alerts, of the issuer that signs people in, and keys: the programs use them, and no log, no
// event, no answer, no table, no record, no archive and no file has one.
func TestSecretsAreNowhere(t *testing.T) {
	w := newWorld(t)
	site := &guarded{Members: fakeweb.NewMembers("alice", jobSecrets["JOB_PASSWORD"], 12, 0), shown: map[string]bool{}}
	web, hooks := httptest.NewServer(site), &receiver{}
	hook := httptest.NewServer(hooks)
	t.Cleanup(web.Close)
	t.Cleanup(hook.Close)
	for name, value := range jobSecrets {
		w.env = append(w.env, name+"="+value)
	}
	w.env = append(w.env, "WHIRLPOOL_DISK_WARC="+filepath.Join(w.dir, "warc"), "WHIRLPOOL_LOG_LEVEL=debug",
		"WHIRLPOOL_OIDC_ISSUER="+web.URL,
		"WHIRLPOOL_OIDC_CLIENT_ID=whirlpool", "WHIRLPOOL_OIDC_CLIENT_SECRET="+oidcSecret)
	w.start("node", "whirlpool", []string{"node"}, nil)
	_, c := w.copyOf("one")
	said := &heard{}
	ctx, stop := context.WithCancel(t.Context())
	streamed := make(chan struct{})
	go func() {
		defer close(streamed)
		_ = c.Stream(ctx, []string{"executions", "workflows", "agents", "logs:DEBUG"},
			func(e client.StreamEvent) error { said.add(fmt.Sprintf("%+v %s", e, e.Data)); return nil })
	}()
	keys := w.people(c, hook.URL)
	w.crawlMembers(c, web.URL, hook.URL)
	w.readAll(c, said)
	stop()
	<-streamed
	secrets := slices.Concat(keys, []string{adminKey, oidcSecret})
	for _, s := range jobSecrets {
		secrets = append(secrets, s)
	}
	site.mu.Lock()
	if shown := site.shown; !shown["JOB_HEADER"] || !shown["JOB_BEARER"] || !shown["JOB_COOKIE"] ||
		len(site.Seen()) == 0 || hooks.signed() < 2 {
		t.Errorf("used were %v, and %d messages were signed: the test proves little", shown, hooks.signed())
	}
	site.mu.Unlock()
	w.noneIn(secrets, said.String())
}

// heard is what was read from the API, or what a program prints.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.WriteString(text + "\n")
}

// Write implements io.Writer.
func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

// String returns all of it.
func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// receiver counts signed messages.
type receiver struct {
	mu sync.Mutex
	n  int
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.HasPrefix(req.Header.Get("Webhook-Signature"), "v1,") {
		r.n++
	}
}

func (r *receiver) signed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// people makes keys, channels, a link, and a sign-in; it returns the secrets that were answered.
func (w *world) people(c *client.Client, hook string) (secrets []string) {
	t, ctx := w.t, w.t.Context()
	k, err := c.NewKey(ctx, api.KeyToMake{Name: "ci", Role: "operator"})
	harness.Check(t, err)
	again, err := c.RotateKey(ctx, k.ID)
	harness.Check(t, err)
	link, err := c.LoginURL(ctx, "viewer")
	harness.Check(t, err)
	_, token, _ := strings.Cut(link.URL, "#token=")
	harness.Check(t, c.SetAlertChannel(ctx, notify.Channel{Name: "hook", Kind: "webhook", URL: hook,
		Secrets: []string{"${JOB_HOOK}"}}))
	harness.Check(t, c.SetAlertChannel(ctx, notify.Channel{Name: "mail", Kind: "email", From: "a@example.org",
		To:   []string{"b@example.org"},
		Host: "127.0.0.1", Port: 1, User: "u", Password: "${JOB_SMTP}"}))
	for _, name := range []string{"hook", "mail"} {
		_, err := c.TestAlertChannel(ctx, name)
		harness.Check(t, err)
	}
	_, _ = w.get(c.Server() + "/api/v1/auth/login") // the issuer is none: the failure must not tell the secret either
	for _, secret := range []string{k.Key, again.Key, token} {
		if len(secret) < 40 {
			t.Errorf("a secret has %d letters", len(secret))
		}
	}
	return []string{k.Key, again.Key, token}
}

// crawlMembers crawls the site as a member, and delivers what was found.
func (w *world) crawlMembers(c *client.Client, site, hook string) {
	t, ctx := w.t, w.t.Context()
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope = "members", []string{site + "/"}, crawl.ScopeHost
	job.AllowPrivate, job.MaxDepth = true, -1
	job.Politeness.Delay, job.Politeness.IPDelay = 0, 0
	job.Login = crawl.Login{URL: site + "/login", Fields: map[string]string{"name": "alice",
		"password": "${JOB_PASSWORD}"}, Check: crawl.LoginCheck{CSS: "a.logout"}}
	job.Headers = []crawl.HeaderRule{{Name: "X-Api-Key", Value: "${JOB_HEADER}"}}
	job.Auth = []crawl.AuthRule{{Bearer: "${JOB_BEARER}"}}
	job.Cookie = []crawl.CookieRule{{Name: "given", Value: "${JOB_COOKIE}"}}
	job.Pipeline = crawl.Pipeline{Nodes: []crawl.PluginNode{{ID: "hook", At: crawl.AtOutput, Use: "builtin/webhook@1",
		With: crawl.Settings{"url": hook, "secrets": []any{"${JOB_OUTPUT}"}}}}}
	source, err := jobfile.Marshal(&job)
	harness.Check(t, err)
	_, err = c.CreateWorkflow(ctx, api.NewWorkflow{Source: string(source), Slug: "members"})
	harness.Check(t, err)
	e, err := c.Run(ctx, "members", workflow.Overrides{})
	harness.Check(t, err)
	harness.Until(t, patience, "it ends", func() bool {
		now, err := c.Execution(ctx, e.ID)
		harness.Check(t, err)
		if now.State.Ended() && (now.State != workflow.Succeeded || now.Stats.Pages < 12) {
			t.Errorf("it ended as %s (%s): %+v", now.State, now.Reason, now.Stats)
		}
		return now.State.Ended()
	})
	cmd := exec.CommandContext(ctx, filepath.Join(w.exes, "whirlpool"), "export", "--cluster", "--job", string(e.ID),
		"--outputs", filepath.Join(w.dir, "out"))
	cmd.Env = w.env
	out, err := cmd.CombinedOutput()
	harness.Check(t, os.WriteFile(filepath.Join(w.dir, "export.log"), out, 0o600))
	if err != nil {
		t.Errorf("export: %v\n%s", err, out)
	}
}

// get reads an address with the admin's key, again whenever it says that this key asks too often.
func (w *world) get(address string) (int, []byte) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		harness.Check(w.t, err)
		req.Header.Set("Authorization", "Bearer "+adminKey)
		resp, err := http.DefaultClient.Do(req)
		harness.Check(w.t, err)
		data, err := io.ReadAll(resp.Body)
		harness.Check(w.t, errors.Join(err, resp.Body.Close()))
		if resp.StatusCode != http.StatusTooManyRequests {
			return resp.StatusCode, data
		}
		wait, err := time.ParseDuration(resp.Header.Get("Retry-After") + "s")
		harness.Check(w.t, err)
		time.Sleep(wait)
	}
}

// readAll reads whatever there is to be read with the names of the workflow and its execution.
func (w *world) readAll(c *client.Client, said *heard) {
	t := w.t
	var description struct{ Paths map[string]map[string]any }
	data, err := os.ReadFile("../../api/openapi.yaml")
	harness.Check(t, err)
	harness.Check(t, yaml.Unmarshal(data, &description))
	read := 0
	for path, methods := range description.Paths {
		path = strings.NewReplacer("{ex}", "members-1", "{wf}", "members", "{n}", "1").Replace(path)
		if methods["get"] == nil || strings.Contains(path, "{") || strings.HasSuffix(path, "/events") &&
			!strings.Contains(path, "members") {
			continue
		}
		status, data := w.get(c.Server() + path)
		said.add(fmt.Sprintf("%s %d %s", path, status, data))
		if status == http.StatusOK {
			read++
		}
	}
	for _, path := range []string{"/", "/users", "/settings", "/alerts"} { // pages of the studio
		_, data := w.get(c.Server() + path)
		said.add(string(data))
	}
	if read < 25 {
		t.Errorf("only %d paths could be read: the test proves little", read)
	}
}

// noneIn looks for secrets, as they are and as they are written in URLs, in base64 and in hexadecimal.
func (w *world) noneIn(secrets []string, said string) {
	var forms [][]byte
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte(s)),
			hex.EncodeToString([]byte(s))} {
			forms = append(forms, []byte(form))
		}
	}
	size, found := 0, map[string]bool{} // where the crawl left something else: the look is a look
	look := func(name string, data []byte) {
		size += len(data)
		if bytes.Contains(data, []byte("/members/")) {
			kind, _, _ := strings.Cut(name, " ")
			found[kind] = true
		}
		for _, form := range forms {
			if at := bytes.Index(data, form); at >= 0 {
				w.t.Errorf("%s has the secret %q: %q", name, form, data[max(0, at-100):min(len(data), at+len(form)+20)])
			}
		}
	}
	look("answers and events", []byte(said))
	files := w.files(look)
	rows := w.tables(look)
	w.t.Logf("%d bytes of answers, %d files and %d rows", size, files, rows)
	if files < 8 || rows < 100 || !found["answers"] || !found["table"] || !found["collection"] || !found["unpacked"] ||
		!found["file"] {
		w.t.Errorf("%d files and %d rows were looked at, and traces of the crawl are in %v: the test proves little", files,
			rows, found)
	}
}

// files are all files of the programs: logs, spool, archives, copies.
func (w *world) files(look func(string, []byte)) (n int) {
	harness.Check(w.t, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
			return nil // the programs go on
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		n++
		look("file "+path, data)
		if z, errZip := gzip.NewReader(bytes.NewReader(data)); errZip == nil {
			plain, _ := io.ReadAll(z) // an archive that is being written has no end
			look("unpacked "+path, plain)
		}
		return err
	}))
	return n
}

// tables are all rows of the database, and all documents.
func (w *world) tables(look func(string, []byte)) (n int) {
	t, ctx := w.t, w.t.Context()
	db := w.connect()
	rows,
		err := db.Query(ctx,
		`SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) FROM information_schema.tables
		WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`)
	harness.Check(t, err)
	names, err := texts(rows)
	harness.Check(t, err)
	for _, name := range names {
		rows, err := db.Query(ctx, "SELECT t::text FROM "+name+" t")
		harness.Check(t, err)
		all, err := texts(rows)
		harness.Check(t, err)
		n += len(all)
		look("table "+name, []byte(strings.Join(all, "\n")))
	}
	return n + w.documents(look)
}

// connect opens the database of the cluster.
func (w *world) connect() *pgx.Conn {
	w.t.Helper()
	address := ""
	for _, pair := range w.env {
		if value, ok := strings.CutPrefix(pair, "WHIRLPOOL_POSTGRES_URL="); ok {
			address = value
		}
	}
	db, err := pgx.Connect(context.Background(), address)
	harness.Check(w.t, err)
	w.t.Cleanup(func() { _ = db.Close(context.Background()) })
	return db
}

func texts(rows pgx.Rows) ([]string, error) { return pgx.CollectRows(rows, pgx.RowTo[string]) }

// documents are those of all collections: records, and lines that the programs logged.
func (w *world) documents(look func(string, []byte)) (n int) {
	t, ctx := w.t, w.t.Context()
	db, err := mongo.Connect(options.Client().ApplyURI(servicetest.MongoDB(t)))
	harness.Check(t, err)
	defer func() { harness.Check(t, db.Disconnect(context.Background())) }()
	names, err := db.Database(w.name).ListCollectionNames(ctx, bson.D{})
	harness.Check(t, err)
	for _, name := range names {
		cursor, err := db.Database(w.name).Collection(name).Find(ctx, bson.D{})
		harness.Check(t, err)
		for cursor.Next(ctx) {
			n++
			look("collection "+name, cursor.Current)
			look("collection "+name, []byte(cursor.Current.String()))
		}
		harness.Check(t, errors.Join(cursor.Err(), cursor.Close(ctx)))
	}
	if len(names) < 2 {
		t.Errorf("collections %q: the test proves little", names)
	}
	return n
}
