package fakeaws

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Object is something that exists in the account: what a stack made.
type Object struct {
	Type    string
	ID      string // physical id, what Ref gives
	Logical string // in the template
	Stack   string // name of the stack
	Props   map[string]any
	Attrs   map[string]any // what Fn::GetAtt gives
}

// Objects returns all that exist, of one type or of all.
func (s *Server) Objects(kind string) []*Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(kind, func(*Object) bool { return true })
}

// find returns the objects of a type in the order of their ids. Callers hold the lock.
func (s *Server) find(kind string, want func(*Object) bool) []*Object {
	var out []*Object
	for _, o := range s.objects {
		if (kind == "" || o.Type == kind) && want(o) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *Object) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// need returns an object that must exist.
func (s *Server) need(kind string, id any) (*Object, error) {
	if o := s.objects[text(id)]; o != nil && o.Type == kind {
		return o, nil
	}
	return nil, fmt.Errorf("%s '%s' does not exist", kind, text(id))
}

func (s *Server) needAll(kind string, ids ...any) error {
	for _, id := range ids {
		if _, err := s.need(kind, id); err != nil {
			return err
		}
	}
	return nil
}

// Zones of the region.
var Zones = []string{Region + "a", Region + "b", Region + "c"}

// exists answers for parameters of AWS types.
func (s *Server) exists(kind, id string) bool {
	switch kind {
	case "AWS::EC2::KeyPair::KeyName":
		return s.objects["key/"+id] != nil
	case "AWS::EC2::Image::Id":
		return strings.HasPrefix(id, "ami-")
	}
	o := s.objects[id]
	return o != nil && o.Type == strings.TrimSuffix(kind, "::Id")
}

// address gives the next free address of a subnet. AWS keeps the first four and the last.
func (s *Server) address(subnet *Object) (string, error) {
	p, err := netip.ParsePrefix(text(subnet.Props["CidrBlock"]))
	if err != nil {
		return "", err
	}
	a := p.Addr()
	for range 4 {
		a = a.Next()
	}
	for ; p.Contains(a.Next()); a = a.Next() {
		if len(s.find("AWS::EC2::NetworkInterface",
			func(o *Object) bool { return o.Attrs["PrimaryPrivateIpAddress"] == a.String() })) == 0 {
			return a.String(), nil
		}
	}
	return "", fmt.Errorf("InsufficientFreeAddressesInSubnet: %s has no free address", subnet.ID)
}

// mentions tells whether a value has this text anywhere.
func mentions(v any, id string) bool {
	switch x := v.(type) {
	case string:
		return x == id
	case []any:
		return slices.ContainsFunc(x, func(e any) bool { return mentions(e, id) })
	case map[string]any:
		for _, e := range x {
			if mentions(e, id) {
				return true
			}
		}
	}
	return false
}

// Secret returns a field of a secret's text, empty where there is none.
func (s *Server) Secret(arn, key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var value map[string]string
	if json.Unmarshal([]byte(s.secrets[arn]), &value) != nil {
		return ""
	}
	return value[key]
}
