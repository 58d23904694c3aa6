package fakeaws

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/cfn"
)

// Machine is an instance that starts.
type Machine struct {
	ID, Address string
	UserData    string
	Settings    map[string]string // what the user data export first: ROLE, STACK and so on
	Server      *Server
	interfaceID string
	profile     string
	gone        bool
	leaving     bool
}

// Leave lets the machine see that its group wants to end it.
func (m *Machine) Leave() {
	m.Server.mu.Lock()
	defer m.Server.mu.Unlock()
	m.leaving = true
}

// ErrSilent is what a machine answers that never tells anybody how it went.
var ErrSilent = errors.New("no signal was sent")

var setting = regexp.MustCompile(`\b([A-Z_]+)=(?:'([^'\n]*)'|([^'\s]*))`)

// newMachine makes a machine of an instance's properties or a launch template's data.
func (s *Server) newMachine(id, address, nic, profile string, userData any) (*Machine, error) {
	b, err := base64.StdEncoding.DecodeString(text(userData))
	if err != nil || len(b) > 16_384 {
		return nil, worded("User data is limited to 16384 bytes, in Base64: %d", len(b))
	}
	m := &Machine{ID: id, Address: address, UserData: string(b), Settings: map[string]string{}, Server: s,
		interfaceID: nic, profile: profile}
	for _, f := range setting.FindAllStringSubmatch(m.UserData, -1) {
		if _, there := m.Settings[f[1]]; !there {
			m.Settings[f[1]] = f[2] + f[3]
		}
	}
	s.machines[id] = m
	return m, nil
}

// run starts a machine in the background.
func (s *Server) run(m *Machine) {
	s.running++
	s.done.Go(func() {
		err := s.boot(m)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
		if st := s.lookup(m.Settings["STACK"]); st != nil && !errors.Is(err, ErrSilent) && err != nil {
			st.signal(m.Settings["RESOURCE"], m.ID, false)
		}
		s.changed.Broadcast()
	})
}

// Simulate is a machine that does nothing but find its way out, wait for the volume that its user data name, and signal
// success.
func Simulate(m *Machine) error {
	if err := m.WayOut(); err != nil {
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	if v := m.Settings["VOLUME"]; v != "" {
		if err := m.AwaitVolume(v); err != nil {
			return err
		}
	}
	return m.Signal(true)
}

// Signal tells the stack how the start went.
func (m *Machine) Signal(success bool) error {
	s := m.Server
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.lookup(m.Settings["STACK"])
	if st == nil {
		return fmt.Errorf("no stack %q", m.Settings["STACK"])
	}
	st.signal(m.Settings["RESOURCE"], m.ID, success)
	s.changed.Broadcast()
	return nil
}

// AwaitVolume waits until a volume is attached to the machine, or the machine is no more.
func (m *Machine) AwaitVolume(volume string) error {
	s := m.Server
	s.mu.Lock()
	defer s.mu.Unlock()
	for !m.gone {
		attached := s.find("AWS::EC2::VolumeAttachment", func(o *Object) bool {
			return o.Props["VolumeId"] == volume && o.Props["InstanceId"] == m.ID
		})
		if len(attached) > 0 {
			return nil
		}
		s.running--
		s.changed.Broadcast()
		s.changed.Wait()
		s.running++
	}
	return ErrSilent
}

// WayOut tells whether the machine reaches the web: through an internet gateway with a public address, or through a NAT
// that does.
func (m *Machine) WayOut() error {
	m.Server.mu.Lock()
	defer m.Server.mu.Unlock()
	return m.Server.wayOut(m.interfaceID, 0)
}

func (s *Server) wayOut(nic string, depth int) error {
	n := s.objects[nic]
	if n == nil || depth > 2 {
		return fmt.Errorf("no interface %s", nic)
	}
	route := s.defaultRoute(text(n.Props["SubnetId"]))
	switch {
	case route == nil:
		return fmt.Errorf("%s has no default route", n.Props["SubnetId"])
	case route.Props["GatewayId"] != nil:
		if n.Attrs["public"] == nil {
			return fmt.Errorf("%s has no public address", nic)
		}
		return nil
	case route.Props["InstanceId"] != nil:
		nat := s.machines[text(route.Props["InstanceId"])]
		if nat == nil || s.objects[nat.ID].Props["SourceDestCheck"] != false {
			return fmt.Errorf("the instance %s forwards nothing", route.Props["InstanceId"])
		}
		return s.wayOut(nat.interfaceID, depth+1)
	}
	return s.needAll("AWS::EC2::NatGateway", route.Props["NatGatewayId"])
}

// defaultRoute is the route to 0.0.0.0/0 of a subnet.
func (s *Server) defaultRoute(subnet string) *Object {
	for _, a := range s.find("AWS::EC2::SubnetRouteTableAssociation",
		func(o *Object) bool { return o.Props["SubnetId"] == subnet }) {
		for _, r := range s.find("AWS::EC2::Route", func(o *Object) bool {
			return o.Props["RouteTableId"] == a.Props["RouteTableId"] && o.Props["DestinationCidrBlock"] == "0.0.0.0/0"
		}) {
			return r
		}
	}
	return nil
}

func (st *stack) signal(logical, unique string, success bool) {
	if st.signals[logical] == nil {
		st.signals[logical] = map[string]bool{}
	}
	st.signals[logical][unique] = success
}

// await waits for the signals of a resource: those its creation policy counts, or one of each machine named. When no
// machine is left that could send one, the time is over.
func (s *Server) await(st *stack, e *cfn.Env, r *cfn.Resource, from []string) error {
	want := len(from)
	if from == nil {
		policy, err := e.Properties(r.CreationPolicy)
		if err != nil {
			return err
		}
		if _, err := fmt.Sscan(text(get(policy["ResourceSignal"], "Count")), &want); err != nil {
			return fmt.Errorf("CreationPolicy of %s: Count: %w", r.Name, err)
		}
	}
	for {
		good := 0
		for unique, success := range st.signals[r.Name] {
			if len(from) > 0 && from[0] != unique {
				continue
			}
			if !success {
				return worded("Received FAILURE signal with UniqueId %s", unique)
			}
			good++
		}
		if good >= want {
			return nil
		}
		if s.running == 0 {
			return worded("Failed to receive %d resource signal(s) within the specified duration", want-good)
		}
		s.changed.Wait()
	}
}

// machineOf finds the machine whose role an access key is of. Callers hold the lock.
func (s *Server) machineOf(key string) *Machine {
	const prefix = "ASIA"
	if len(key) <= len(prefix) || key[:len(prefix)] != prefix {
		return nil
	}
	return s.machines[key[len(prefix):]]
}

// MachineKey is the access key of a machine's role.
func (m *Machine) MachineKey() string { return "ASIA" + m.ID }
