package frontier

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// backQueues hands out the names of back queues.
type backQueues struct {
	most int // in use at once; 0: no bound
	used int
	free []string
	made int // the highest number
}

// full reports whether no queue can be had.
func (b *backQueues) full() bool { return b.most > 0 && b.used >= b.most }

func (b *backQueues) take() string {
	b.used++
	if n := len(b.free); n > 0 {
		name := b.free[n-1]
		b.free = b.free[:n-1]
		return name
	}
	b.made++
	return crawl.QueueName{Kind: crawl.QueueBack, Number: b.made}.String()
}

// found notes a queue that was there before this frontier. It is in use until it is given.
func (b *backQueues) found(number int) {
	b.used++
	b.made = max(b.made, number)
}

func (b *backQueues) give(name string) {
	b.used--
	b.free = append(b.free, name)
}

func clampPriority(p int) int {
	if p == 0 {
		return crawl.DefaultPriority
	}
	return min(max(p, crawl.MinPriority), crawl.MaxPriority)
}
