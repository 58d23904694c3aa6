package frontier

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Names of the frontier's queues. front.0 holds tasks that were set aside; a restart draws them again.
const (
	frontPrefix = "front."
	backPrefix  = "back."
	laterPrefix = "later."
)

// splitName reads the name of a queue. Only front queues may have a job.
func splitName(name string) (prefix string, number int, job crawl.JobID, err error) {
	for _, prefix := range []string{frontPrefix, backPrefix, laterPrefix, levelPrefix} {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		digits, of, _ := strings.Cut(rest, ".")
		number, err := strconv.Atoi(digits)
		if err != nil || number < 0 || of != "" && prefix != frontPrefix {
			return "", 0, "", fmt.Errorf("frontier: queue %s has no number", name)
		}
		return prefix, number, crawl.JobID(of), nil
	}
	return "", 0, "", fmt.Errorf("frontier: queue %s is none of the frontier's", name)
}

// backQueues hands out the names of back queues.
type backQueues struct {
	free []string
	made int
}

func (b *backQueues) take() string {
	if n := len(b.free); n > 0 {
		name := b.free[n-1]
		b.free = b.free[:n-1]
		return name
	}
	b.made++
	return fmt.Sprintf("%s%d", backPrefix, b.made)
}

func (b *backQueues) give(name string) { b.free = append(b.free, name) }

func clampPriority(p int) int {
	if p == 0 {
		return crawl.DefaultPriority
	}
	return min(max(p, crawl.MinPriority), crawl.MaxPriority)
}
