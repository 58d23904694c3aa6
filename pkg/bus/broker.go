package bus

import "fmt"

// What a broker tells about itself. The bus of one process tells nothing of this.

// Depth is what one queue of a broker holds and does.
type Depth struct {
	Vhost, Queue   string
	Ready, Unacked int64
	// Published, Delivered and Acked are messages per second, lately.
	Published, Delivered, Acked float64
	Consumers                   int
}

// Letter is a dead letter as it lies in a broker. Message.Event is nil where the body cannot be decoded.
type Letter struct {
	DeadLetter
	Vhost string
	Body  []byte
}

// Program is a program that is connected to a broker.
type Program struct {
	Name        string `json:"name"`
	Host        string `json:"host"` // from where, as the broker sees it
	Connections int    `json:"connections"`
}

// WholeProgram is the name of the program that plays all roles, and hands events on in memory between them.
const WholeProgram = "node"

// PeerProgram begins the name of the program by which another node publishes to a broker; the node's name follows.
const PeerProgram = "peer "

// Alarm is why a broker takes no messages at the moment: while there is one, publishers wait.
type Alarm struct {
	Node     string `json:"node"`     // of the broker
	Resource string `json:"resource"` // memory or disk
}

// String tells the alarm for people.
func (a Alarm) String() string { return a.Resource + " alarm of " + a.Node }

// QueuePolicy is a policy of a broker by which it drops or refuses messages that we count on, in its words.
type QueuePolicy struct {
	Node   string `json:"node,omitempty"` // of the ring, whose broker has it
	Vhost  string `json:"vhost"`
	Name   string `json:"name"`   // with what it is: policy NAME, operator policy NAME
	Limits string `json:"limits"` // max-length 5, message-ttl 1000
}

// String tells the policy for people.
func (p QueuePolicy) String() string {
	at := ""
	if p.Node != "" {
		at = ", node " + p.Node
	}
	return fmt.Sprintf("%s of vhost %s%s (%s)", p.Name, p.Vhost, at, p.Limits)
}
