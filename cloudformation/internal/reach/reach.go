// Package reach tells from what a stack made who may reach whom: by security groups in both directions, routes, and
// public addresses.
package reach

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
)

// World is the other side of the internet gateway.
const World = "world"

// Path is a way from one kind of machine to another.
type Path struct{ From, To, Ports string }

// node is what has an address: machines, the database, the cache, the load balancer.
type node struct {
	name    string
	address netip.Addr
	groups  []string
	public  bool
}

// rule is one rule of a group.
type rule struct {
	protocol  string
	from, to  int
	cidr, via string // one of the two: addresses, or members of a group
}

// Network is what paths are computed from.
type Network struct {
	nodes   []node
	ingress map[string][]rule // by group
	egress  map[string][]rule
	names   map[string]string // of roles, by logical name
}

// New reads what a fake account holds. Names gives machines their roles by the logical name of their resource.
func New(s *fakeaws.Server, names map[string]string) (*Network, error) {
	n := &Network{ingress: map[string][]rule{}, egress: map[string][]rule{}, names: names}
	for _, o := range s.Objects("") {
		switch o.Type {
		case "AWS::EC2::SecurityGroup":
			for _, v := range list(o.Props["SecurityGroupIngress"]) {
				n.ingress[o.ID] = append(n.ingress[o.ID], read(v, "Source"))
			}
			out := list(o.Props["SecurityGroupEgress"])
			for _, v := range out {
				n.egress[o.ID] = append(n.egress[o.ID], read(v, "Destination"))
			}
			if len(out) == 0 { // AWS adds this one
				n.egress[o.ID] = append(n.egress[o.ID], rule{"-1", 0, 65535, "0.0.0.0/0", ""})
			}
		case "AWS::EC2::SecurityGroupIngress":
			g := text(o.Props["GroupId"])
			n.ingress[g] = append(n.ingress[g], read(o.Props, "Source"))
		case "AWS::EC2::SecurityGroupEgress":
			g := text(o.Props["GroupId"])
			n.egress[g] = append(n.egress[g], read(o.Props, "Destination"))
		case "AWS::EC2::NetworkInterface", "AWS::RDS::DBInstance", "AWS::ElastiCache::CacheCluster",
			"AWS::ElasticLoadBalancingV2::LoadBalancer":
			if err := n.add(o); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(n.nodes, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	return n, nil
}

func (n *Network) add(o *fakeaws.Object) error {
	name, ok := n.names[o.Logical]
	if !ok {
		return fmt.Errorf("%s %s has an address and no role is known for it", o.Type, o.Logical)
	}
	// that of services is chosen by AWS; inside the network in any case
	x := node{name: name, address: netip.MustParseAddr("10.0.0.30")}
	for _, key := range []string{"GroupSet", "VPCSecurityGroups", "VpcSecurityGroupIds", "SecurityGroups"} {
		for _, g := range list(o.Props[key]) {
			x.groups = append(x.groups, text(g))
		}
	}
	if a, ok := o.Attrs["PrimaryPrivateIpAddress"].(string); ok {
		x.address = netip.MustParseAddr(a)
	}
	x.public = o.Attrs["public"] != nil || o.Props["PubliclyAccessible"] == true
	if len(x.groups) == 0 {
		return fmt.Errorf("%s has no security group", o.Logical)
	}
	n.nodes = append(n.nodes, x)
	return nil
}

func read(v any, side string) rule {
	m, _ := v.(map[string]any)
	r := rule{protocol: text(m["IpProtocol"]), cidr: text(m["CidrIp"]), via: text(m[side+"SecurityGroupId"])}
	r.from, r.to = number(m["FromPort"]), number(m["ToPort"])
	if r.protocol == "-1" {
		r.from, r.to = 0, 65535
	}
	return r
}

// Paths returns every way over TCP between two roles, and from and to the world, each once, in order.
func (n *Network) Paths() []Path {
	world := node{name: World, address: netip.MustParseAddr("192.0.2.1"), public: true}
	seen := map[Path]bool{}
	var out []Path
	for _, from := range append(slices.Clone(n.nodes), world) {
		for _, to := range append(slices.Clone(n.nodes), world) {
			if from.name == World && (to.name == World || !to.public) {
				continue
			}
			if p := (Path{from.name, to.name, n.ports(from, to)}); p.Ports != "" && !seen[p] && !itself(from, to) {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b Path) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return out
}

func itself(a, b node) bool { return a.name == b.name && a.address == b.address }

// ports lists the TCP ports on which one may connect to the other: allowed out there and in here.
func (n *Network) ports(from, to node) string {
	var spans [][2]int
	for _, e := range n.rules(n.egress, from, to) {
		for _, i := range n.rules(n.ingress, to, from) {
			if lo, hi := max(e[0], i[0]), min(e[1], i[1]); lo <= hi {
				spans = append(spans, [2]int{lo, hi})
			}
		}
	}
	return join(spans)
}

// rules gives the spans of ports that the rules of one node's groups allow with the other. The world has no rules.
func (n *Network) rules(side map[string][]rule, of, with node) [][2]int {
	if of.name == World {
		return [][2]int{{0, 65535}}
	}
	var out [][2]int
	for _, g := range of.groups {
		for _, r := range side[g] {
			if r.protocol != "tcp" && r.protocol != "-1" && r.protocol != "6" {
				continue
			}
			if slices.Contains(with.groups, r.via) || r.cidr != "" && netip.MustParsePrefix(r.cidr).Contains(with.address) {
				out = append(out, [2]int{r.from, r.to})
			}
		}
	}
	return out
}

// join writes spans of ports: 22 80-81, or all.
func join(spans [][2]int) string {
	slices.SortFunc(spans, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	var merged [][2]int
	for _, s := range spans {
		if last := len(merged) - 1; last >= 0 && s[0] <= merged[last][1]+1 {
			merged[last][1] = max(merged[last][1], s[1])
			continue
		}
		merged = append(merged, s)
	}
	var words []string
	for _, s := range merged {
		switch {
		case s == [2]int{0, 65535}:
			words = append(words, "all")
		case s[0] == s[1]:
			words = append(words, fmt.Sprint(s[0]))
		default:
			words = append(words, fmt.Sprintf("%d-%d", s[0], s[1]))
		}
	}
	return strings.Join(words, " ")
}

func list(v any) []any { l, _ := v.([]any); return l }

func text(v any) string { s, _ := v.(string); return s }

func number(v any) int { f, _ := v.(float64); return int(f) }
