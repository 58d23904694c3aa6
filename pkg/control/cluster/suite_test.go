package cluster_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/controltest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/databasetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/repotest"
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

// Of those who give further seeds to a job at once, or change settings of it, nobody undoes what another did.
func TestNobodyUndoesWhatAnotherDoesAtOnce(t *testing.T) {
	c := open(t)
	const n = 8
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			seed := fmt.Sprintf("http://127.0.0.1:1/%d", i)
			job := crawl.DefaultJob()
			job.ID, job.Seeds, job.AllowPrivate = "shared", []string{seed}, true
			_, err := c.Submit(t.Context(), control.Submission{Job: &job, Known: func(now *crawl.Job) (*crawl.Job, error) {
				next := *now
				next.Seeds = append(slices.Clone(now.Seeds), seed)
				return &next, nil
			}})
			if err == nil {
				_, err = c.Revise(t.Context(), "shared", func(now *crawl.Job) (*crawl.Job, error) {
					next := *now
					next.MaxPages++
					return &next, nil
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	job, _, err := c.Postgres.Jobs().Current(t.Context(), "shared")
	harness.Check(t, err)
	if len(job.Seeds) != n || job.MaxPages != crawl.DefaultJob().MaxPages+n {
		t.Errorf("%d seeds, max_pages %d; want %d and %d", len(job.Seeds), job.MaxPages, n, crawl.DefaultJob().MaxPages+n)
	}
}

// A job whose plug-ins the cluster does not have, or nobody approved, is refused by name before anything is stored or
// deleted; one that it has is stored with their digests, which an edit keeps.
func TestPluginsOfAJobAreCheckedAndPinned(t *testing.T) {
	cfg := config(t)
	cfg.Plugins.Store, cfg.Plugins.Dir = process.PluginsInPostgres, t.TempDir()
	c := openWith(t, cfg)
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.AllowPrivate = "plugged", []string{"http://127.0.0.1:1/"}, true
	_, err := c.Submit(t.Context(), control.Submission{Job: &job})
	harness.Check(t, err)
	with := func(use string) *crawl.Job {
		next := job
		next.Pipeline.Nodes = []crawl.PluginNode{{ID: "v", At: crawl.AtDocument, Use: use}}
		return &next
	}
	refused := func(use, why string) {
		t.Helper()
		change := func(*crawl.Job) (*crawl.Job, error) { return with(use), nil }
		_, submit := c.Submit(t.Context(), control.Submission{Job: with(use)})
		done, fresh := c.Submit(t.Context(), control.Submission{Job: with(use), Fresh: true})
		_, revise := c.Revise(t.Context(), job.ID, change)
		for what, err := range map[string]error{"submit": submit, "fresh": fresh, "revise": revise} {
			if misuse := (*control.Misuse)(nil); !errors.As(err, &misuse) ||
				!strings.Contains(err.Error(), "pipeline.nodes[0].use") || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v; want %q", what, err, why)
			}
		}
		if now, _, err := c.Postgres.Jobs().Current(t.Context(), job.ID); err != nil || now.Epoch > 1 || done.Deleted != nil {
			t.Errorf("%+v, %v, deleted %v", now, err, done.Deleted)
		}
	}
	refused("shop/v@1.0.0", "there is no plug-in shop/v@1.0.0")
	d, err := node.OpenPlugins(cfg.Plugins, c.Postgres)
	harness.Check(t, err)
	t.Cleanup(func() { harness.Check(t, d.Close()) })
	p := repotest.Pack(t, "shop/v@1.0.0", `{"action":"pass"}`)
	harness.Check(t, d.Push(t.Context(), p, nil))
	refused("shop/v@1.0.0", "nobody has signed or approved it")
	harness.Check(t, d.Approve(t.Context(), p.Digest, "ann"))
	done, err := c.Submit(t.Context(), control.Submission{Job: with("shop/v@1.0.0")})
	if err != nil || done.Job.Pipeline.Nodes[0].Digest != p.Digest {
		t.Fatalf("%+v, %v", done, err)
	}
	if again, err := c.Submit(t.Context(), control.Submission{Job: with("shop/v@1.0.0")}); err != nil ||
		len(again.Changes) > 0 {
		t.Errorf("the same job again changes %+v, %v", again.Changes, err)
	}
}

// open reaches a cluster of the test's own.
func open(t *testing.T) *cluster.Cluster { return openWith(t, config(t)) }

func openWith(t *testing.T, cfg *process.Config) *cluster.Cluster {
	c, err := cluster.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
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
	env := []string{"WHIRLPOOL_RABBITMQ_MANAGEMENT_URL=" + rb.Management,
		"WHIRLPOOL_POSTGRES_URL=" + databasetest.New(t, servicetest.Postgres(t), name),
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
