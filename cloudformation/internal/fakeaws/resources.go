package fakeaws

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/cfn"
	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/spec"
)

// ids are the prefixes of EC2's ids.
var ids = map[string]string{"AWS::EC2::VPC": "vpc", "AWS::EC2::Subnet": "subnet", "AWS::EC2::InternetGateway": "igw",
	"AWS::EC2::RouteTable": "rtb", "AWS::EC2::SecurityGroup": "sg", "AWS::EC2::SecurityGroupIngress": "sgr",
	"AWS::EC2::SecurityGroupEgress": "sgr", "AWS::EC2::Instance": "i", "AWS::EC2::NetworkInterface": "eni",
	"AWS::EC2::Volume": "vol", "AWS::EC2::VolumeAttachment": "va", "AWS::EC2::LaunchTemplate": "lt",
	"AWS::EC2::NatGateway": "nat", "AWS::EC2::VPCEndpoint": "vpce", "AWS::EC2::SubnetRouteTableAssociation": "rtbassoc",
	"AWS::EC2::Route": "r"}

// name gives a resource the physical id that AWS would: an id of EC2's, a name from stack and resource, or the ARN of
// one.
func (s *Server) name(st *stack, r *cfn.Resource, properties map[string]any) string {
	generated := fmt.Sprintf("%s-%s-%s", st.name, r.Name, strings.ToUpper(s.next(12)))
	arn := func(service, rest string) string {
		return "arn:aws:" + service + ":" + Region + ":" + Account + ":" + rest
	}
	if prefix := ids[r.Type]; prefix != "" {
		return prefix + "-" + s.next(17)
	}
	if balancing[r.Type] != "" {
		return s.balancerName(r.Type, generated, properties)
	}
	if own := customName(r.Type, properties); own != "" {
		return own
	}
	switch r.Type {
	case "AWS::S3::Bucket", "AWS::RDS::DBInstance", "AWS::RDS::DBSubnetGroup", "AWS::RDS::DBParameterGroup":
		return strings.ToLower(generated)
	case "AWS::ElastiCache::CacheCluster", "AWS::ElastiCache::SubnetGroup":
		return strings.ToLower(st.name[:3] + "-" + r.Name[:2] + "-" + s.next(12))
	case "AWS::SecretsManager::Secret":
		name := text(properties["Name"])
		if name == "" {
			name = r.Name
		}
		return secretPrefix + name + "-" + s.next(6)
	case "AWS::Logs::LogGroup":
		return text(properties["LogGroupName"])
	case "AWS::IAM::ManagedPolicy":
		return "arn:aws:iam::" + Account + ":policy/" + generated
	case "AWS::SNS::Topic":
		return arn("sns", generated)
	case "AWS::SNS::Subscription":
		return arn("sns", generated+":1")
	case "AWS::EC2::EIP":
		return fmt.Sprintf("203.0.113.%d", len(s.find(r.Type, func(*Object) bool { return true }))+1)
	}
	return generated
}

// customName is the name that the template itself gives a resource, where it does: that of the database's parameters.
func customName(kind string, properties map[string]any) string {
	if kind != "AWS::RDS::DBParameterGroup" {
		return ""
	}
	return strings.ToLower(text(properties["DBParameterGroupName"]))
}

// build gives a new object its attributes and refuses what the services refuse although the schema allows it. Callers
// hold the lock.
func (s *Server) build(o *Object) error {
	p := o.Props
	t, err := spec.Lookup(o.Type)
	if err != nil {
		return err
	}
	for _, a := range t.Attributes() {
		o.Attrs[a] = o.ID // one that nothing below knows better
	}
	if strings.HasPrefix(o.Type, "AWS::EC2::") {
		return s.buildEC2(o, p)
	}
	if balancing[o.Type] != "" {
		return s.buildBalancer(o)
	}
	switch o.Type {
	case "AWS::AutoScaling::AutoScalingGroup":
		return s.needAll("AWS::ElasticLoadBalancingV2::TargetGroup", list(p["TargetGroupARNs"])...)
	case "AWS::RDS::DBSubnetGroup":
		return s.twoZones(p["SubnetIds"])
	case "AWS::RDS::DBInstance":
		o.Attrs["Endpoint.Address"], o.Attrs["Endpoint.Port"] = o.ID+".c1."+Region+".rds.amazonaws.com", "5432"
		if len(text(p["MasterUserPassword"])) < 8 {
			return worded("The parameter MasterUserPassword is not a valid password")
		}
		return s.needAll("AWS::RDS::DBSubnetGroup", p["DBSubnetGroupName"])
	case "AWS::ElastiCache::CacheCluster":
		o.Attrs["ConfigurationEndpoint.Address"],
			o.Attrs["ConfigurationEndpoint.Port"] = o.ID+".cfg.euc1.cache.amazonaws.com", "11211"
		return s.needAll("AWS::ElastiCache::SubnetGroup", p["CacheSubnetGroupName"])
	case "AWS::SecretsManager::Secret":
		return s.buildSecret(o)
	case "AWS::S3::Bucket":
		o.Attrs["Arn"] = "arn:aws:s3:::" + o.ID
		if len(o.ID) > 63 {
			return fmt.Errorf("bucket name %s is too long", o.ID)
		}
		s.buckets[o.ID] = map[string][]byte{}
	case "AWS::Logs::LogGroup":
		o.Attrs["Arn"] = "arn:aws:logs:" + Region + ":" + Account + ":log-group:" + o.ID + ":*"
	case "AWS::IAM::Role", "AWS::IAM::ManagedPolicy":
		return checkDocuments(o)
	}
	return nil
}

func (s *Server) buildEC2(o *Object, p map[string]any) error {
	switch o.Type {
	case "AWS::EC2::Subnet":
		return s.buildSubnet(o)
	case "AWS::EC2::SecurityGroup":
		o.Attrs["GroupId"] = o.ID
		return s.needAll("AWS::EC2::VPC", p["VpcId"])
	case "AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress":
		groups := []any{p["GroupId"]}
		for _, k := range []string{"SourceSecurityGroupId", "DestinationSecurityGroupId"} {
			if p[k] != nil {
				groups = append(groups, p[k])
			}
		}
		return s.needAll("AWS::EC2::SecurityGroup", groups...)
	case "AWS::EC2::Route":
		return s.buildRoute(o)
	case "AWS::EC2::SubnetRouteTableAssociation":
		if err := s.needAll("AWS::EC2::Subnet", p["SubnetId"]); err != nil {
			return err
		}
		return s.needAll("AWS::EC2::RouteTable", p["RouteTableId"])
	case "AWS::EC2::NetworkInterface":
		return s.buildInterface(o, p["SubnetId"], p["GroupSet"])
	case "AWS::EC2::Instance":
		return s.buildInstance(o)
	case "AWS::EC2::VolumeAttachment":
		return s.buildAttachment(o)
	case "AWS::EC2::EIP":
		return s.buildAddress(o)
	case "AWS::EC2::LaunchTemplate":
		o.Attrs["LatestVersionNumber"], o.Attrs["DefaultVersionNumber"] = "1", "1"
	}
	return nil
}

func (s *Server) buildSubnet(o *Object) error {
	vpc, err := s.need("AWS::EC2::VPC", o.Props["VpcId"])
	if err != nil {
		return err
	}
	mine, err1 := netip.ParsePrefix(text(o.Props["CidrBlock"]))
	whole, err2 := netip.ParsePrefix(text(vpc.Props["CidrBlock"]))
	if err1 != nil || err2 != nil || mine.Bits() > 28 || mine.Bits() < whole.Bits() || !whole.Contains(mine.Addr()) {
		return worded("InvalidSubnet.Range: The CIDR '%s' is invalid.", o.Props["CidrBlock"])
	}
	for _, other := range s.find(o.Type, func(x *Object) bool { return x.Props["VpcId"] == vpc.ID }) {
		if netip.MustParsePrefix(text(other.Props["CidrBlock"])).Overlaps(mine) {
			return fmt.Errorf("InvalidSubnet.Conflict: The CIDR '%s' conflicts with another subnet", mine)
		}
	}
	if !slices.Contains(Zones, text(o.Props["AvailabilityZone"])) {
		return fmt.Errorf("no zone %s", o.Props["AvailabilityZone"])
	}
	return nil
}

func (s *Server) buildRoute(o *Object) error {
	p := o.Props
	if err := s.needAll("AWS::EC2::RouteTable", p["RouteTableId"]); err != nil {
		return err
	}
	for _, r := range s.find(o.Type, func(x *Object) bool { return x.Props["RouteTableId"] == p["RouteTableId"] }) {
		if r.Props["DestinationCidrBlock"] == p["DestinationCidrBlock"] {
			return fmt.Errorf("RouteAlreadyExists: %s", p["DestinationCidrBlock"])
		}
	}
	switch {
	case p["GatewayId"] != nil:
		if len(s.find("AWS::EC2::VPCGatewayAttachment",
			func(x *Object) bool { return x.Props["InternetGatewayId"] == p["GatewayId"] })) == 0 {
			return fmt.Errorf("InvalidParameterValue: route table and network gateway %s belong to different networks",
				p["GatewayId"])
		}
	case p["InstanceId"] != nil:
		return s.needAll("AWS::EC2::Instance", p["InstanceId"])
	case p["NatGatewayId"] != nil:
		return s.needAll("AWS::EC2::NatGateway", p["NatGatewayId"])
	default:
		return fmt.Errorf("a route leads somewhere")
	}
	return nil
}

func (s *Server) buildInterface(o *Object, subnet, groups any) error {
	sub, err := s.need("AWS::EC2::Subnet", subnet)
	if err != nil {
		return err
	}
	for _, g := range list(groups) {
		sg, err := s.need("AWS::EC2::SecurityGroup", g)
		if err != nil {
			return err
		}
		if sg.Props["VpcId"] != sub.Props["VpcId"] {
			return fmt.Errorf("security group %s and subnet %s belong to different networks", sg.ID, sub.ID)
		}
	}
	o.Attrs["PrimaryPrivateIpAddress"], err = s.address(sub)
	o.Attrs["Id"] = o.ID
	return err
}

func (s *Server) buildAddress(o *Object) error {
	o.Attrs["AllocationId"] = "eipalloc-" + s.next(17)
	if len(s.find("AWS::EC2::VPCGatewayAttachment", func(*Object) bool { return true })) == 0 {
		return fmt.Errorf("the network has no internet gateway")
	}
	if o.Props["InstanceId"] == nil {
		return nil
	}
	m := s.machines[text(o.Props["InstanceId"])]
	if m == nil {
		return fmt.Errorf("InvalidInstanceID.NotFound: %s", o.Props["InstanceId"])
	}
	s.objects[m.interfaceID].Attrs["public"] = o.ID
	return nil
}

func (s *Server) twoZones(subnets any) error {
	zones := map[any]bool{}
	for _, id := range list(subnets) {
		sub, err := s.need("AWS::EC2::Subnet", id)
		if err != nil {
			return err
		}
		zones[sub.Props["AvailabilityZone"]] = true
	}
	if len(zones) < 2 {
		return worded("DB Subnet Group doesn't meet availability zone coverage requirement: it covers %d", len(zones))
	}
	return nil
}

// buildSecret makes a secret's text; its characters are fixed by the serial number, not random.
func (s *Server) buildSecret(o *Object) error {
	g, _ := o.Props["GenerateSecretString"].(map[string]any)
	if name := text(o.Props["Name"]); name != "" {
		for arn := range s.secrets {
			if strings.HasPrefix(arn, secretPrefix+name+"-") {
				return worded("The operation failed because the secret %s already exists.", name)
			}
		}
	}
	o.Attrs["Id"] = o.ID
	value := map[string]any{}
	if err := json.Unmarshal([]byte(text(g["SecretStringTemplate"])), &value); err != nil {
		return fmt.Errorf("SecretStringTemplate: %w", err)
	}
	length, _ := g["PasswordLength"].(float64)
	value[text(g["GenerateStringKey"])] = strings.Repeat("Ab3", 32)[:max(int(length), 32)-8] + s.next(8)
	b, err := json.Marshal(value)
	s.secrets[o.ID] = string(b)
	return err
}

// secretField is what a dynamic reference stands for.
func (s *Server) secretField(st *stack, arn, key string) (string, error) {
	if err := s.roleMay(st, "secretsmanager:GetSecretValue", arn); err != nil {
		return "", err
	}
	var value map[string]string
	if err := json.Unmarshal([]byte(s.secrets[arn]), &value); err != nil {
		return "", worded("Secrets Manager can't find the specified secret %s", arn)
	}
	return value[key], nil
}

// checkDocuments parses the policies of a role or managed policy.
func checkDocuments(o *Object) error {
	documents := []any{o.Props["PolicyDocument"], o.Props["AssumeRolePolicyDocument"]}
	for _, p := range list(o.Props["Policies"]) {
		documents = append(documents, get(p, "PolicyDocument"))
	}
	for _, d := range documents {
		if d != nil && document(d) == nil {
			return fmt.Errorf("MalformedPolicyDocument in %s", o.ID)
		}
	}
	if o.Type == "AWS::IAM::Role" {
		o.Attrs["Arn"] = "arn:aws:iam::" + Account + ":role/" + o.ID
	}
	return nil
}
