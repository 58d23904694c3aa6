package cluster_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/controltest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// The real services, with vhosts and databases of the test's own. No node works on the job: what the service promises
// is in the stores.
func TestService(t *testing.T) {
	c := open(t)
	controltest.Run(t, &controltest.Subject{Service: c, Seed: "http://127.0.0.1:1/", Restarts: true,
		Start: func(*testing.T, crawl.JobID) crawl.AttemptLog { return c.Postgres.AttemptLog() }})
}

// A job that is refused must not cost the one that it was to replace.
func TestAJobThatIsRefusedDeletesNothing(t *testing.T) {
	c := open(t)
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.AllowPrivate = "kept", []string{"http://127.0.0.1:1/"}, true
	_, err := c.Submit(t.Context(), control.Submission{Job: &job})
	harness.Check(t, err)
	refused := job
	refused.AllowPrivate = false
	var misuse *control.Misuse
	done, err := c.Submit(t.Context(), control.Submission{Job: &refused, Fresh: true})
	if !errors.As(err, &misuse) || done.Deleted != nil {
		t.Errorf("submitted: %+v, %v; want a refusal, and nothing deleted", done, err)
	}
	if list, err := c.List(t.Context()); err != nil || len(list) != 1 || list[0].State != "running" {
		t.Errorf("listed: %+v, %v; want the job as it was", list, err)
	}
}

// open reaches a cluster of the test's own.
func open(t *testing.T) *cluster.Cluster {
	c, err := cluster.Open(t.Context(), config(t), slog.New(slog.DiscardHandler))
	harness.Check(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// config is the configuration of a node on the real services.
func config(t *testing.T) *process.Config {
	rb := rabbittest.Config(t)
	name := "whirlpool_control_" + strings.ToLower(rand.Text()[:10])
	env := []string{"WHIRLPOOL_RABBITMQ_MANAGEMENT_URL=" + rb.Management, "WHIRLPOOL_POSTGRES_URL=" + database(t, name),
		"WHIRLPOOL_MONGODB_URL=" + servicetest.MongoDB(t), "WHIRLPOOL_MONGODB_DATABASE=" + name,
		"WHIRLPOOL_MEMCACHED_ADDRESSES=", "WHIRLPOOL_ZOOKEEPER_ADDRESSES=", "WHIRLPOOL_FETCH_ALLOW_PRIVATE_JOBS=true"}
	for section, address := range map[string]string{"SUBSYSTEMS": rb.Subsystems, "FRONTIER": rb.Frontier} {
		u, err := url.Parse(address)
		harness.Check(t, err)
		password, _ := u.User.Password()
		env = append(env, "WHIRLPOOL_RABBITMQ_"+section+"_VHOST="+strings.Trim(u.Path, "/"),
			"WHIRLPOOL_RABBITMQ_"+section+"_USER="+u.User.Username(), "WHIRLPOOL_RABBITMQ_"+section+"_PASSWORD="+password,
			"WHIRLPOOL_RABBITMQ_URL=amqp://"+u.Host)
	}
	dropPages(t, name)
	cfg, err := process.Load("", env)
	harness.Check(t, err)
	return cfg
}

// database makes a database that goes when the test ends.
func database(t *testing.T, name string) string {
	ctx, server := context.Background(), servicetest.Postgres(t)
	admin, err := pgx.Connect(ctx, server)
	harness.Check(t, err)
	_, err = admin.Exec(ctx, "CREATE DATABASE "+name)
	harness.Check(t, err)
	t.Cleanup(func() {
		_, err := admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		if err := errors.Join(err, admin.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(server)
	harness.Check(t, err)
	u.Path = "/" + name
	return u.String()
}

// dropPages removes the database of the pages when the test ends.
func dropPages(t *testing.T, name string) {
	client, err := mongo.Connect(options.Client().ApplyURI(servicetest.MongoDB(t)))
	harness.Check(t, err)
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(client.Database(name).Drop(ctx), client.Disconnect(ctx)); err != nil {
			t.Error(err)
		}
	})
}
