package cluster

import (
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// checkPrivate refuses a job whose seeds can be seen to be out of reach, and says which setting is missing.
func checkPrivate(cfg *process.Config, job *crawl.Job) error {
	permitted := cfg.Fetch.AllowPrivate || cfg.Fetch.PrivateJobs
	if job.AllowPrivate && !permitted {
		return control.Misusef("the job asks for private addresses, and this configuration does not permit them: " +
			"fetch.allow_private_jobs: true in the configuration of every node (WHIRLPOOL_FETCH_ALLOW_PRIVATE_JOBS; " +
			"with compose FETCH_ALLOW_PRIVATE_JOBS=true in .env)")
	}
	if cfg.Fetch.AllowPrivate || job.AllowPrivate {
		return nil
	}
	seeds, err := job.SeedURLs()
	if err != nil {
		return err
	}
	for _, u := range seeds {
		if err := netguard.CheckHost(u.Hostname()); err != nil {
			return control.Misusef("seed %s: %w; --allow-private permits that", u, err)
		}
	}
	return nil
}

// Check refuses a job that the cluster cannot crawl: with seeds that are out of reach, or an order that it has not.
func (c *Cluster) Check(job *crawl.Job) error {
	if err := checkPrivate(c.Config, job); err != nil {
		return err
	}
	return checkOrder(job)
}
