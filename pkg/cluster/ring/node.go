package ring

import (
	"fmt"
	"net"
	"slices"
	"strconv"
)

// Unit is the weight of an ordinary machine; one with twice its power has 2 × Unit and owns twice as much.
const Unit Weight = 1000

// MaxWeight bounds a node's weight.
const MaxWeight = 1000 * Unit

// Weight is the share of a node among all nodes' weights, in thousandths of a unit.
type Weight uint32

// String returns the weight in units, as in 1.5.
func (w Weight) String() string { return strconv.FormatFloat(float64(w)/float64(Unit), 'f', -1, 64) }

// ParseWeight reads a weight in units, between 0.001 and 1000.
func ParseWeight(s string) (Weight, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err == nil {
		return WeightOf(f)
	}
	return 0, fmt.Errorf("weight %q: want a number of units such as 1 or 0.5", s)
}

// WeightOf returns a weight of so many units, between 0.001 and 1000.
func WeightOf(units float64) (Weight, error) {
	w := units*float64(Unit) + 0.5
	if !(w >= 1 && w < float64(MaxWeight)+1) {
		return 0, fmt.Errorf("weight %v: want units between 0.001 and 1000", units)
	}
	return Weight(w), nil
}

// State is the state of a node in the ring.
type State uint8

// The states of a node.
const (
	Joining  State = iota // it owns, and something of it is still under way to it
	Active                // it owns
	Draining              // it is leaving in order: what it owned is being handed on
	Gone                  // it left, or died and something of it is still being recovered; it owns nothing
)

var stateNames = [...]string{"joining", "active", "draining", "gone"}

// String returns the state's name.
func (s State) String() string {
	if int(s) >= len(stateNames) {
		return "state " + strconv.Itoa(int(s))
	}
	return stateNames[s]
}

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(stateNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("state %q of a node: want one of %q", text, stateNames)
	}
	*s = State(i)
	return nil
}

// Node is a member of the ring.
type Node struct {
	Name    string `json:"name"`    // 1 to 64 of A-Z a-z 0-9 . _ -
	Address string `json:"address"` // host:port of its broker, without user and password
	Weight  Weight `json:"weight"`  // in thousandths
	State   State  `json:"state"`
	// Incarnation distinguishes the registrations of a node: each is greater than the one before. Never 0.
	Incarnation uint64 `json:"incarnation"`
}

// Validate reports what is wrong with the node.
func (n Node) Validate() error {
	if err := CheckName(n.Name); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(n.Address)
	if err != nil || port == "" || len(n.Address) > maxAddress {
		return fmt.Errorf("node %s: address %q: want the host:port of its broker", n.Name, n.Address)
	}
	if n.Weight < 1 || n.Weight > MaxWeight {
		return fmt.Errorf("node %s: weight %s: want 0.001 to 1000", n.Name, n.Weight)
	}
	if n.Incarnation == 0 {
		return fmt.Errorf("node %s: incarnation 0: want one of a registration", n.Name)
	}
	return nil
}

const (
	maxName    = 64
	maxAddress = 255
)

// CheckName reports whether name can be that of a node or a ring: 1 to 64 of A-Z a-z 0-9 . _ - and not only dots.
func CheckName(name string) error {
	dots := true
	for i := range len(name) {
		c := name[i]
		if c != '.' {
			dots = false
		}
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return fmt.Errorf("name %q: want 1 to %d of A-Z a-z 0-9 . _ -", name, maxName)
		}
	}
	if name == "" || len(name) > maxName || dots {
		return fmt.Errorf("name %q: want 1 to %d of A-Z a-z 0-9 . _ -, and not only dots", name, maxName)
	}
	return nil
}
