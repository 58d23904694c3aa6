package fakeaws

import (
	"fmt"
	"strings"
)

// balancing are the types of load balancers, and what their ARNs begin with. Names of theirs are ours, so that the
// policies can tell them from others; AWS takes 32 characters, and no second one of the same name.
var balancing = map[string]string{"AWS::ElasticLoadBalancingV2::LoadBalancer": "loadbalancer/net/",
	"AWS::ElasticLoadBalancingV2::TargetGroup": "targetgroup/",
	"AWS::ElasticLoadBalancingV2::Listener":    "listener/net/"}

const balancingPrefix = "arn:aws:elasticloadbalancing:" + Region + ":" + Account + ":"

// balancerName is the ARN of a load balancer, a target group or a listener. Callers hold the lock.
func (s *Server) balancerName(kind, generated string, properties map[string]any) string {
	name := text(properties["Name"])
	if of := text(properties["LoadBalancerArn"]); of != "" { // a listener's ARN has its load balancer's in it
		name = strings.TrimPrefix(of, balancingPrefix+balancing["AWS::ElasticLoadBalancingV2::LoadBalancer"])
	}
	if name == "" {
		name = generated[max(0, len(generated)-32):]
	}
	return balancingPrefix + balancing[kind] + name + "/" + s.next(16)
}

// buildBalancer refuses what the service refuses. Callers hold the lock.
func (s *Server) buildBalancer(o *Object) error {
	full := strings.TrimPrefix(o.ID, balancingPrefix)
	name := text(o.Props["Name"])
	if len(name) > 32 || strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") ||
		strings.HasPrefix(name, "internal-") {
		return fmt.Errorf("the name %q: at most 32 letters, digits and hyphens, no hyphen at an end, not internal-", name)
	}
	same := func(x *Object) bool { return name != "" && x.Props["Name"] == name && x.ID != o.ID }
	for _, other := range s.find(o.Type, same) {
		return fmt.Errorf("a load balancer or target group with the name %s exists: %s", name, other.ID)
	}
	switch o.Type {
	case "AWS::ElasticLoadBalancingV2::LoadBalancer":
		o.Attrs["LoadBalancerFullName"] = strings.TrimPrefix(full, "loadbalancer/")
		o.Attrs["DNSName"] = name + "-" + s.next(16) + ".elb." + Region + ".amazonaws.com"
		return s.placeBalancer(o)
	case "AWS::ElasticLoadBalancingV2::TargetGroup":
		o.Attrs["TargetGroupFullName"] = full
		return s.needAll("AWS::EC2::VPC", o.Props["VpcId"])
	}
	return s.buildListener(o)
}

// placeBalancer gives a load balancer its addresses: one of its subnet's, and where it faces the internet a public one,
// for which its network needs a gateway.
func (s *Server) placeBalancer(o *Object) error {
	subnets := list(o.Props["Subnets"])
	if len(subnets) == 0 {
		return fmt.Errorf("at least one subnet must be specified")
	}
	if text(o.Props["Type"]) != "network" {
		return worded("At least two subnets in two different Availability Zones must be specified, of 32 addresses each: " +
			"the fake knows network load balancers only")
	}
	if err := s.buildInterface(o, subnets[0], o.Props["SecurityGroups"]); err != nil {
		return err
	}
	if o.Props["Scheme"] != "internet-facing" {
		return nil
	}
	o.Attrs["public"] = "203.0.113.200"
	if !s.leadsOut(text(subnets[0])) {
		return fmt.Errorf("InvalidSubnet: VPC of %s has no internet gateway", subnets[0])
	}
	return nil
}

// leadsOut reports whether a subnet's default route is an internet gateway.
func (s *Server) leadsOut(subnet string) bool {
	for _, a := range s.find("AWS::EC2::SubnetRouteTableAssociation",
		func(x *Object) bool { return x.Props["SubnetId"] == subnet }) {
		if len(s.find("AWS::EC2::Route", func(r *Object) bool {
			return r.Props["RouteTableId"] == a.Props["RouteTableId"] && r.Props["GatewayId"] != nil
		})) > 0 {
			return true
		}
	}
	return false
}

func (s *Server) buildListener(o *Object) error {
	if err := s.needAll("AWS::ElasticLoadBalancingV2::LoadBalancer", o.Props["LoadBalancerArn"]); err != nil {
		return err
	}
	if tls := text(o.Props["Protocol"]) == "TLS"; tls != (len(list(o.Props["Certificates"])) == 1) {
		return worded("A certificate must be specified for TLS listeners, and for those alone")
	}
	for _, action := range list(o.Props["DefaultActions"]) {
		if err := s.needAll("AWS::ElasticLoadBalancingV2::TargetGroup", get(action, "TargetGroupArn")); err != nil {
			return err
		}
	}
	return nil
}
