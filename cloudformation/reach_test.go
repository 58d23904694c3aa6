package cloudformation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/reach"
)

// roles of what has an address, by the logical name of its resource.
var roles = map[string]string{"Instance": "bastion", "Nodes": "crawler", "PagesInterface": "MongoDB",
	"Database": "PostgreSQL", "Cache": "memcached", "Balancer": "balancer", "Interface1": "ZooKeeper",
	"Interface2": "ZooKeeper", "Interface3": "ZooKeeper", "Ledger1": "ledger", "Ledger2": "ledger", "Ledger3": "ledger",
	"Ledger4": "ledger"}

// reachable is the table of docs/aws.md: who may open a TCP connection to whom, and nobody else may. What goes from a
// private machine to the world passes the NAT, whose own rules bind it to 80 and 443.
//
// Rows of the load balancer and of the ledger are those of a cluster that has one, or servers of its own for the
// other: those are left out that the names tell.
func reachable(t *testing.T, without ...string) string {
	t.Helper()
	_, table, ok := strings.Cut(read(t, "../docs/aws.md"), "<!-- reach: checked by cloudformation/reach_test.go -->\n")
	table, _, ok2 := strings.Cut(table, "\n\n")
	if !ok || !ok2 {
		t.Fatal("docs/aws.md has no table of who reaches whom")
	}
	var out []string
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !slices.ContainsFunc(without, func(name string) bool { return slices.Contains(cells[:2], name) }) {
			out = append(out, strings.Join(cells[:3], " | "))
		}
	}
	return sorted(out)
}

func paths(t *testing.T, a *account) string {
	t.Helper()
	n, err := reach.New(a.Server, roles)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range n.Paths() {
		out = append(out, p.From+" | "+p.To+" | "+p.Ports)
	}
	return sorted(out)
}

func TestWhoReachesWhom(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]map[string]string{"NAT instance": nil, "NAT gateway": {"Nat": "gateway"},
		"studio": {"Studio": "on"}, "certificate without a studio": {"StudioCertificate": certificate,
			"StudioName": "crawl.example.org"}, "load balancer": balanced, "ledger": spread(4, nil)} {
		a := open(t, nil)
		if status, failures := a.create(changes); status != "CREATE_COMPLETE" {
			t.Fatalf("%s\n%s", status, failures)
		}
		without := map[string][]string{"load balancer": {"ledger"}, "ledger": {"balancer"}}[name]
		if without == nil {
			without = []string{"balancer", "ledger"}
		}
		if got, want := paths(t, a), reachable(t, without...); got != want {
			t.Errorf("%s: the templates allow\n%s\n\nthe table of docs/aws.md says\n%s", name, got, want)
		}
	}
}

// Every one of these opens or closes a way. The table must notice.
func TestAWayMoreOrLessIsNoticed(t *testing.T) {
	for name, e := range map[string]edit{
		"a wider span": {"groups.yml", "FromPort: 5432, ToPort: 5432, Description: tunnel",
			"FromPort: 5432, ToPort: 5433, Description: tunnel"},
		"ssh among crawlers": {"groups.yml",
			"GroupId: !Ref Crawler, SourceSecurityGroupId: !Ref Bastion, IpProtocol: tcp, FromPort: 22, ",
			"GroupId: !Ref Crawler, SourceSecurityGroupId: !Ref Crawler, IpProtocol: tcp, FromPort: 22, "},
		"brokers closed": {"groups.yml", "FromPort: 5672, ToPort: 5672", "FromPort: 5671, ToPort: 5671"},
		"database to the world": {"groups.yml", "      SecurityGroupEgress: # without a rule AWS would add one that " +
			"allows everything\n        - { IpProtocol: icmp, FromPort: 0, ToPort: 0, CidrIp: 127.0.0.1/32, Description: " +
			"nothing }\n", ""},
		"election may not go out": {"groups.yml",
			"DestinationSecurityGroupId: !Ref ZooKeeper, IpProtocol: tcp, FromPort: 3888",
			"DestinationSecurityGroupId: !Ref Crawler, IpProtocol: tcp, FromPort: 3888"},
		"crawler in another group": {"whirlpool.yml", "Group: !GetAtt Groups.Outputs.Crawler",
			"Group: !GetAtt Groups.Outputs.ZooKeeper"},
		"a public database": {"stores.yml", "PubliclyAccessible: false", "PubliclyAccessible: true"},
		"a balancer that goes on": {"balancer.yml", "IpProtocol: icmp, FromPort: 0, ToPort: 0, CidrIp: 127.0.0.1/32",
			"IpProtocol: tcp, FromPort: 8711, ToPort: 8711, CidrIp: 0.0.0.0/0"},
		"a balancer without TLS": {"balancer.yml", "FromPort: 443, ToPort: 443, CidrIp", "FromPort: 80, ToPort: 80, CidrIp"},
		"studio to the world": {"groups.yml",
			"GroupId: !Ref Crawler, SourceSecurityGroupId: !Ref Bastion, IpProtocol: tcp, FromPort: 8711",
			"GroupId: !Ref Crawler, SourceSecurityGroupId: !Ref MongoDB, IpProtocol: tcp, FromPort: 8711"},
		"the ledger in another group": {"whirlpool.yml",
			"        DatabaseGroup: !GetAtt Groups.Outputs.Database\n        DataSubnet",
			"        DatabaseGroup: !GetAtt Groups.Outputs.Cache\n        DataSubnet"},
		"a public ledger": {"ledger.yml", "PubliclyAccessible: false", "PubliclyAccessible: true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, nil, e)
			changes := spread(4, nil)
			if e.file == "balancer.yml" {
				changes = spread(4, balanced)
			}
			if strings.HasPrefix(name, "a public") { // and somebody lets the world in
				a = open(t, nil, e, edit{"groups.yml", "GroupId: !Ref Database, SourceSecurityGroupId: !Ref Bastion",
					"GroupId: !Ref Database, CidrIp: 0.0.0.0/0"})
			}
			if status, failures := a.create(changes); status != "CREATE_COMPLETE" {
				t.Fatalf("%s\n%s", status, failures)
			}
			without := []string{"balancer"}
			if e.file == "balancer.yml" {
				without = nil
			}
			if paths(t, a) == reachable(t, without...) {
				t.Error("the table did not notice")
			}
		})
	}
}

// The properties that every machine, disk and store must have, read from what was made.
func TestMachinesAndStoresAreClosed(t *testing.T) {
	t.Parallel()
	for _, e := range []edit{{}, {"crawlers.yml", "HttpTokens: required", "HttpTokens: optional"},
		{"zookeeper.yml", "HttpPutResponseHopLimit: 1", "HttpPutResponseHopLimit: 2"},
		{"stores.yml", "StorageEncrypted: true", "StorageEncrypted: false"},
		{"ledger.yml", "StorageEncrypted: true", "StorageEncrypted: false"},
		{"ledger.yml", "\"{{resolve:secretsmanager:${DatabaseSecret}:SecretString:password}}\"", "plain-password-1"},
		{"stores.yml", "Encrypted: true, Delete", "Encrypted: false, Delete"}, {"stores.yml", "      Encrypted: true\n", ""},
		{"crawlers.yml", "AssociatePublicIpAddress: false", "AssociatePublicIpAddress: true"},
		{"access.yml", "BlockPublicAcls: true", "BlockPublicAcls: false"},
		{"network.yml", "MapPublicIpOnLaunch: false # the", "MapPublicIpOnLaunch: true # the"},
		{"stores.yml", "\"{{resolve:secretsmanager:${DatabaseSecret}:SecretString:password}}\"", "plain-password-1"},
		{"balancer.yml", "ELBSecurityPolicy-TLS13-1-2-2021-06", "ELBSecurityPolicy-2016-08"},
		{"balancer.yml", "HealthCheckProtocol: TCP", "HealthCheckProtocol: HTTP"},
		{"groups.yml", "{ GroupId: !Ref MongoDB, SourceSecurityGroupId: !Ref Crawler, Ip",
			"{ GroupId: !Ref MongoDB, CidrIp: 0.0.0.0/0, Ip"}} {
		var edits []edit
		if e.file != "" {
			edits = append(edits, e)
		}
		a := open(t, nil, edits...)
		if status, failures := a.create(spread(4, balanced)); status != "CREATE_COMPLETE" {
			t.Fatalf("%s\n%s", status, failures)
		}
		switch found := weaknesses(a); {
		case e.file == "" && len(found) > 0:
			t.Errorf("%v", found)
		case e.file != "" && len(found) == 0:
			t.Errorf("nobody noticed %q in %s", e.new, e.file)
		}
	}
}

func weaknesses(a *account) (found []string) {
	note := func(bad bool, o *fakeaws.Object, what string) {
		if bad {
			found = append(found, o.Logical+": "+what)
		}
	}
	for _, o := range a.Objects("") {
		p := o.Props
		switch o.Type {
		case "AWS::EC2::Instance":
			m, _ := p["MetadataOptions"].(map[string]any)
			note(m["HttpTokens"] != "required" || m["HttpPutResponseHopLimit"] != 1.0, o,
				"metadata without a token, or for containers")
			disks, _ := p["BlockDeviceMappings"].([]any)
			note(len(disks) == 0, o, "disk not described")
			for _, d := range disks {
				ebs, _ := d.(map[string]any)["Ebs"].(map[string]any)
				note(ebs["Encrypted"] != true, o, "disk not encrypted")
			}
		case "AWS::EC2::Volume":
			note(p["Encrypted"] != true, o, "volume not encrypted")
		case "AWS::EC2::NetworkInterface":
			note(o.Attrs["public"] != nil && roles[o.Logical] != "bastion", o, "public address")
		case "AWS::ElasticLoadBalancingV2::TargetGroup":
			note(p["HealthCheckProtocol"] != "TCP", o,
				"the API refuses requests for the load balancer's address, as health checks are")
		case "AWS::ElasticLoadBalancingV2::Listener":
			policy, _ := p["SslPolicy"].(string)
			note(p["Protocol"] != "TLS" || !strings.Contains(policy, "TLS13-1-2"), o, "no TLS, or one older than 1.2")
		case "AWS::EC2::SecurityGroupIngress":
			note(p["SourceSecurityGroupId"] == nil, o, "lets in addresses, not a group")
		case "AWS::EC2::SecurityGroup":
			in, _ := p["SecurityGroupIngress"].([]any)
			note(len(in) > 0 && o.Logical != "Bastion" && o.Logical != "Group", o, "lets in addresses, not a group")
		case "AWS::EC2::Subnet":
			note(p["MapPublicIpOnLaunch"] != false, o, "gives public addresses")
		case "AWS::RDS::DBInstance":
			secret := slices.ContainsFunc(a.Objects("AWS::SecretsManager::Secret"),
				func(s *fakeaws.Object) bool { return a.Secret(s.ID, "password") == p["MasterUserPassword"] })
			note(p["StorageEncrypted"] != true || p["PubliclyAccessible"] != false || !secret, o,
				"not encrypted, public, or with a password of no secret")
		case "AWS::S3::Bucket":
			b, _ := p["PublicAccessBlockConfiguration"].(map[string]any)
			for _, k := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
				note(b[k] != true, o, k)
			}
			note(p["BucketEncryption"] == nil, o, "not encrypted")
		}
	}
	return found
}
