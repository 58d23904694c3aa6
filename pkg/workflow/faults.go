package workflow

import (
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// joined is errors.Join, nil where there is none.
func joined(errs []error) error { return errors.Join(errs...) }

// faultsOf turns what is wrong with a definition into faults with their places.
func faultsOf(source string, err error) (out []Fault) {
	for _, f := range jobfile.Faults([]byte(source), err) {
		out = append(out, Fault{Key: f.Key, Line: f.Line, Column: f.Column, Message: f.Message})
	}
	return out
}

// withNodes names the nodes that faults of a pipeline are of, for who shows them there.
func withNodes(faults []Fault, job *crawl.Job) []Fault {
	for i := range faults {
		n := -1
		if _, err := fmt.Sscanf(faults[i].Key, "pipeline.nodes[%d]", &n); err == nil && n >= 0 &&
			n < len(job.Pipeline.Nodes) {
			faults[i].Node = job.Pipeline.Nodes[n].ID
		}
	}
	return faults
}
