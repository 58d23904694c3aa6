package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/databasetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// clusterUnderTest is a cluster on the real services, with vhosts and databases of its own.
type clusterUnderTest struct {
	t         *testing.T
	env       []string
	sql       *pgx.Conn
	pages     *mongo.Database
	subsystem string    // AMQP address of its vhost
	node      *exec.Cmd // nil: none runs
	log       safeBuffer
}

func newCluster(t *testing.T) *clusterUnderTest {
	t.Helper()
	if err := serveOnce(); err != nil {
		t.Fatal(err)
	}
	cfg := rabbittest.Config(t)
	c := &clusterUnderTest{t: t, subsystem: cfg.Subsystems}
	name := "whirlpool_cmd_" + strings.ToLower(rand.Text()[:10])
	spool := t.TempDir()
	c.env = append(os.Environ(), "WHIRLPOOL_RABBITMQ_MANAGEMENT_URL="+cfg.Management,
		"WHIRLPOOL_POSTGRES_URL="+c.database(name), "WHIRLPOOL_MONGODB_URL="+servicetest.MongoDB(t),
		"WHIRLPOOL_MONGODB_DATABASE="+name, "WHIRLPOOL_MEMCACHED_ADDRESSES=", "WHIRLPOOL_ZOOKEEPER_ADDRESSES=",
		"WHIRLPOOL_DISK_SPOOL="+spool, "WHIRLPOOL_DISK_LIMIT=1", "WHIRLPOOL_FETCH_ALLOW_PRIVATE=true",
		"WHIRLPOOL_FETCH_DNS="+web.DNSAddr(), "WHIRLPOOL_HTTP_LISTEN=127.0.0.1:0", "WHIRLPOOL_PPROF_LISTEN=",
		"WHIRLPOOL_CONFIG=")
	for section, address := range map[string]string{"SUBSYSTEMS": cfg.Subsystems, "FRONTIER": cfg.Frontier} {
		u, err := url.Parse(address)
		c.check(err)
		password, _ := u.User.Password()
		c.env = append(c.env, "WHIRLPOOL_RABBITMQ_"+section+"_VHOST="+strings.Trim(u.Path, "/"),
			"WHIRLPOOL_RABBITMQ_"+section+"_USER="+u.User.Username(), "WHIRLPOOL_RABBITMQ_"+section+"_PASSWORD="+password,
			"WHIRLPOOL_RABBITMQ_URL=amqp://"+u.Host)
	}
	c.collections(name)
	t.Cleanup(c.stopNode)
	return c
}

func (c *clusterUnderTest) check(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// database makes a database that goes when the test ends, and connects to it.
func (c *clusterUnderTest) database(name string) string {
	address := databasetest.New(c.t, servicetest.Postgres(c.t), name)
	var err error
	c.sql, err = pgx.Connect(context.Background(), address)
	c.check(err)
	return address
}

func (c *clusterUnderTest) collections(name string) {
	client, err := mongo.Connect(options.Client().ApplyURI(servicetest.MongoDB(c.t)))
	c.check(err)
	c.pages = client.Database(name)
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := errors.Join(c.pages.Drop(ctx), client.Disconnect(ctx)); err != nil {
			c.t.Error(err)
		}
	})
}

// run runs the program on the cluster.
func (c *clusterUnderTest) run(args ...string) result {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.t.TempDir(), c.env, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		c.t.Fatalf("whirlpool %s: %v %v\n%s\nnode:\n%s", strings.Join(args, " "), err, ctx.Err(), errs.String(),
			c.log.String())
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// must is run for what has to succeed.
func (c *clusterUnderTest) must(args ...string) string {
	c.t.Helper()
	r := c.run(args...)
	if r.exit != exitOK {
		c.t.Fatalf("whirlpool %s: exit status %d\n%s%s", strings.Join(args, " "), r.exit, r.stdout, r.stderr)
	}
	return r.stdout
}

func (c *clusterUnderTest) startNode() {
	c.node = exec.Command(program, "node")
	c.node.Env, c.node.Stdout, c.node.Stderr = c.env, &c.log, &c.log
	c.check(c.node.Start())
}

// stopNode stops the node in order.
func (c *clusterUnderTest) stopNode() {
	if c.node == nil {
		return
	}
	err := c.node.Process.Signal(syscall.SIGTERM)
	if err = errors.Join(err, c.node.Wait()); err != nil {
		c.t.Errorf("the node did not stop well: %v\n%s", err, c.log.String())
	}
	c.node = nil
}

// exec changes rows behind the programs' backs; it must change some.
func (c *clusterUnderTest) exec(sql string, args ...any) {
	c.t.Helper()
	tag, err := c.sql.Exec(context.Background(), sql, args...)
	c.check(err)
	if tag.RowsAffected() == 0 {
		c.t.Fatalf("%s changed nothing", sql)
	}
}

// text reads one text out of the database.
func (c *clusterUnderTest) text(sql string, args ...any) (s string) {
	c.t.Helper()
	c.check(c.sql.QueryRow(context.Background(), sql, args...).Scan(&s))
	return s
}

// purgeDead empties the dead letters of the subsystems' vhost.
func (c *clusterUnderTest) purgeDead() {
	c.t.Helper()
	conn, err := amqp.Dial(c.subsystem)
	c.check(err)
	defer conn.Close()
	ch, err := conn.Channel()
	c.check(err)
	_, err = ch.QueuePurge("dead", false)
	c.check(err)
}

// bury puts an event into the dead letters of the subsystems' vhost.
func (c *clusterUnderTest) bury(id byte, e crawl.Event) {
	c.t.Helper()
	body, err := crawl.EncodeEvent(e)
	c.check(err)
	c.buryBytes(id, e.Topic(), body)
}

func (c *clusterUnderTest) buryBytes(id byte, topic string, body []byte) {
	c.t.Helper()
	conn, err := amqp.Dial(c.subsystem)
	c.check(err)
	defer conn.Close()
	ch, err := conn.Channel()
	c.check(err)
	c.check(ch.Confirm(false))
	confirm, err := ch.PublishWithDeferredConfirmWithContext(context.Background(), "wh_subsystems", "dead", true, false,
		amqp.Publishing{
			MessageId: crawl.MessageID{id}.String(), ContentType: "application/cbor", DeliveryMode: amqp.Persistent, Body: body,
			Headers: amqp.Table{"x-topic": topic, "x-reason": fmt.Sprint("planted ", id), "x-at": time.Now().UnixMilli()}})
	c.check(err)
	if !confirm.Wait() {
		c.t.Fatal("the broker did not take a dead letter")
	}
}

// safeBuffer keeps what a program that runs writes, for whoever reads it meanwhile.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String is what was written so far.
func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
