package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// orders are the states that commands give to jobs.
var orders = map[string]postgres.JobState{"pause": postgres.JobPaused, "resume": postgres.JobRunning, "stop": postgres.JobStopped}

// orderJob gives a job of a cluster another state. The frontier looks for it every two seconds.
func orderJob(cmd *cobra.Command, ref *crawlRef, order string) error {
	c, err := ref.cluster.open(cmd.Context())
	if err != nil {
		return err
	}
	defer c.close()
	j, err := c.job(cmd.Context(), crawl.JobID(ref.job))
	if err != nil {
		return err
	}
	id, before, after := j.Info.ID, j.Info.State, orders[order]
	switch before {
	case postgres.JobEnded:
		return fmt.Errorf("job %s has finished: there is nothing to %s", id, order)
	case after:
		cmd.Printf("job %s is %s already\n", id, after)
		return nil
	}
	if err := c.postgres.Jobs().SetState(cmd.Context(), id, after); err != nil {
		return err
	}
	cmd.Printf("job %s is %s; the frontier follows within some seconds\n", id, after)
	return nil
}
