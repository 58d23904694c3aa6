package cloudformation_test

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
)

// What stays after a deletion: the archive and the snapshots of both databases.
func TestAClusterIsCreatedAndDeleted(t *testing.T) {
	for name, changes := range map[string]map[string]string{
		"defaults":      nil,
		"t2.micro":      {"Size": "t2.micro"},
		"NAT gateway":   {"Nat": "gateway"},
		"one crawler":   {"Crawlers": "1"},
		"ten crawlers":  {"Crawlers": "10"},
		"studio":        {"Studio": "on"},
		"load balancer": balanced,
		"every setting": {"CrawlerType": "c7i.large", "CrawlerDisk": "50", "DatabaseStorage": "100", "PageStorage": "500",
			"Monitoring": "false", "Rendering": "on", "VpcCidr": "172.16.8.64/26", "AdminCidr": "198.51.100.7/32",
			"AlarmEmail": "you@example.com", "Registry": "registry.example.com/crawler/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, nil)
			if name == "backward" {
				a.Backward()
			}
			if status, failures := a.create(changes); status != "CREATE_COMPLETE" {
				t.Fatalf("%s\n%s", status, failures)
			}
			a.must("cloudformation", "DeleteStack", "StackName", cluster)
			if status, failures := a.settled(); !strings.Contains(status, "does not exist") {
				t.Fatalf("after the deletion: %s\n%s", status, failures)
			}
			var left []string
			for _, o := range a.Objects("") {
				left = append(left, o.Type+" "+o.Logical)
			}
			want := "AWS::S3::Bucket Archive\nkey \nsnapshot Database\nsnapshot PagesVolume"
			if got := sorted(left); got != want {
				t.Errorf("left over:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// Each of these templates is wrong in a way that AWS refuses, or that leaves a cluster that does not come up. The fake
// must not take it.
func TestABrokenClusterIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit edit
		want string // in the reason
	}{
		"unknown property": {edit{"network.yml", "EnableDnsSupport: true", "EnableDnsSupports: true"},
			"EnableDnsSupports"},
		"wrong type":       {edit{"stores.yml", "Port: 11211", "Port: memcached"}, "Port"},
		"missing property": {edit{"stores.yml", "      NumCacheNodes: 1\n", ""}, "NumCacheNodes"},
		"read-only property": {edit{"stores.yml", "Engine: postgres\n", "Engine: postgres\n      DBInstanceArn: a\n"},
			"read only"},
		"unknown type": {edit{"network.yml", "Type: AWS::EC2::VPC\n", "Type: AWS::EC2::Vpc\n"},
			"Unrecognized resource types"},
		"unknown reference": {edit{"network.yml", "VpcId: !Ref Vpc, Internet", "VpcId: !Ref Vpx, Internet"},
			"unresolved reference to Vpx"},
		"unknown attribute": {edit{"stores.yml", "Database.Endpoint.Address", "Database.Endpoint.Adresse"},
			"no attribute"},
		"unknown output": {edit{"whirlpool.yml", "!GetAtt Network.Outputs.CrawlerSubnet",
			"!GetAtt Network.Outputs.CrawlersSubnet"}, "not found"},
		"cycle": {edit{"network.yml", "Type: AWS::EC2::VPC\n",
			"Type: AWS::EC2::VPC\n    DependsOn: Storage\n"}, "circular"},
		"an alias": {edit{"network.yml", "Type: AWS::EC2::InternetGateway",
			"Type: &a AWS::EC2::InternetGateway"}, "aliases"},
		"subnets that overlap": {edit{"network.yml", "!Select [1, !Cidr", "!Select [0, !Cidr"}, "conflicts"},
		"one zone for RDS":     {edit{"network.yml", "!Select [1, !GetAZs", "!Select [0, !GetAZs"}, "zone coverage"},
		"parameter not passed": {edit{"whirlpool.yml", "        KeyName: !Ref KeyName\n        Nat", "        Nat"},
			"must have values"},
		"parameter not known": {edit{"whirlpool.yml", "        Nat: !Ref Nat\n",
			"        Nat: !Ref Nat\n        Nut: a\n"}, "do not exist in the template"},
		"route before the gateway": {edit{"network.yml", "    DependsOn: GatewayAttachment\n", ""},
			"belong to different networks"},
		"MongoDB waits for a volume that waits for it": {edit{"stores.yml", "  Pages:\n    Type: AWS::EC2::Instance\n",
			"  Pages:\n    Type: AWS::EC2::Instance\n    CreationPolicy: { ResourceSignal: { Count: 1 } }\n"},
			"Failed to receive 1 resource signal"},
		"bastion without an address": {edit{"bastion.yml", "AssociatePublicIpAddress: true",
			"AssociatePublicIpAddress: false"}, "Failed to receive 1 resource signal"},
		"a NAT that forwards nothing": {edit{"bastion.yml", "!If [ByInstance, false, true]", "true"},
			"Failed to receive"},
		"machines before their way out": {edit{"whirlpool.yml", "    DependsOn: Bastion\n    Properties",
			"    Properties"}, "Failed to receive"},
		"template that is not uploaded": {edit{"whirlpool.yml", "/cloudformation/alarms.yml",
			"/cloudformation/alarm.yml"}, "S3 error"},
		"action that the service role lacks": {edit{"service-role.json", "\"ec2:CreateVpcEndpoint\",\n", ""},
			"ec2:CreateVpcEndpoint"},
		"option group that it may not use": {edit{"service-role.json",
			"        \"arn:@PARTITION@:rds:@REGION@:@ACCOUNT@:og:default*\",\n", ""}, "rds:CreateDBInstance"},
		"role that may not be passed": {edit{"service-role.json", "ec2.amazonaws.com", "ec3.amazonaws.com"},
			"iam:PassRole"},
		"load balancer that may not be made": {edit{"service-role.json", "\"elasticloadbalancing:CreateLoadBalancer\",\n",
			""}, "elasticloadbalancing:CreateLoadBalancer"},
		"load balancer of another name": {edit{"balancer.yml", "Name: !Ref Cluster\n      Type",
			"Name: x\n      Type"}, "elasticloadbalancing:"},
		"load balancer away from the world": {edit{"whirlpool.yml",
			"Subnet: !GetAtt Network.Outputs.PublicSubnet\n        Crawlers",
			"Subnet: !GetAtt Network.Outputs.DataSubnet\n        Crawlers"}, "no internet gateway"},
		"parameters of the ledger under another name": {edit{"ledger.yml", "!Sub \"${Cluster}-ledger\"", "x-ledger"},
			"rds:CreateDBParameterGroup"},
		"load balancer of the kind of two zones": {edit{"balancer.yml", "Type: network", "Type: application"},
			"two different Availability Zones"},
		"TLS without a certificate": {edit{"balancer.yml", "      Certificates: [{ CertificateArn: !Ref Certificate }]\n",
			""}, "certificate"},
		"secret of another name": {edit{"access.yml", "Name: !Sub \"${Cluster}/pages\"", "Name: !Sub \"x/pages\""},
			"secretsmanager:CreateSecret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, nil, c.edit)
			status, failures := a.create(balanced)
			if status == "CREATE_COMPLETE" { // what lacks a dependency fails only in the other order
				a = open(t, nil, c.edit)
				a.Backward()
				status, failures = a.create(balanced)
			}
			if status == "CREATE_COMPLETE" || !strings.Contains(failures, c.want) {
				t.Fatalf("%s\n%s\nwant %q", status, failures, c.want)
			}
			if strings.HasPrefix(status, "ROLLBACK") {
				if status != "ROLLBACK_COMPLETE" {
					t.Errorf("rolled back to %s", status)
				}
				for _, o := range a.Objects("") {
					if o.Type != "key" {
						t.Errorf("the rollback left %s %s", o.Type, o.Logical)
					}
				}
			}
		})
	}
}

func TestAMachineThatFailsRollsTheClusterBack(t *testing.T) {
	for name, boot := range map[string]func(*fakeaws.Machine) error{
		"signals failure": func(m *fakeaws.Machine) error { return signalled(m, m.Settings["ROLE"] != "zookeeper") },
		"never signals": func(m *fakeaws.Machine) error {
			if m.Settings["ROLE"] == "crawler" {
				return fakeaws.ErrSilent
			}
			return fakeaws.Simulate(m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, boot)
			if status, failures := a.create(nil); status != "ROLLBACK_COMPLETE" {
				t.Fatalf("%s\n%s", status, failures)
			}
		})
	}
}

func signalled(m *fakeaws.Machine, success bool) error {
	if success {
		return fakeaws.Simulate(m)
	}
	return m.Signal(false)
}
