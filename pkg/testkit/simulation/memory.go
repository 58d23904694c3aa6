package simulation

import "runtime"

// Memory is what one node takes, on the average of all.
type Memory struct {
	Programs int64 // frontier, ownership and membership, less the tables that all share here
	Stacks   int64 // of goroutines, as they were a moment before
	Broker   int64 // queues and messages
	Shared   int64 // stores and web, of all nodes
}

// Memory stops the cluster and takes it apart to see what each part held. The cluster is of no use afterwards.
func (c *Cluster) Memory() Memory {
	n := int64(len(c.nodes))
	var m Memory
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	m.Stacks = int64(s.StackInuse) / n
	c.Stop()
	all := heap()
	for _, x := range c.nodes {
		x.member = nil
		x.frontier.Store(nil)
	}
	without := heap()
	for _, x := range c.nodes {
		x.broker, x.queues, x.bus = nil, nil, nil
	}
	m.Shared = heap()
	m.Programs, m.Broker = (all-without)/n, (without-m.Shared)/n
	return m
}

func heap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers held
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}
