package frontier

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

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
	return crawl.QueueName{Kind: crawl.QueueBack, Number: b.made}.String()
}

func (b *backQueues) give(name string) { b.free = append(b.free, name) }

func clampPriority(p int) int {
	if p == 0 {
		return crawl.DefaultPriority
	}
	return min(max(p, crawl.MinPriority), crawl.MaxPriority)
}
