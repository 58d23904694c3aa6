package cluster_test

import "testing"

// Seven programs find what one machine finds, leave nothing behind, and say that the job has ended.
func TestSevenProgramsFindWhatOneMachineFinds(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	c.startSeven()
	c.seed()
	c.wait()
	c.judge(w)
	for _, p := range c.programs {
		p.Stop(t)
		p.Start(t) // so that the faults of the end are not those of a program that is missing
	}
}
