package cloudformation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
)

// ids are the physical ids of the objects of a type.
func ids(a *account, kind string) []string {
	var out []string
	for _, o := range a.Objects(kind) {
		out = append(out, o.ID)
	}
	return out
}

// crawlersOf are the machines of the group.
func crawlersOf(a *account) []string {
	var out []string
	for _, o := range a.Objects("AWS::EC2::Instance") {
		if o.Logical == "Nodes" {
			out = append(out, o.ID)
		}
	}
	return out
}

func kept(before, after []string) (n int) {
	for _, id := range before {
		if slices.Contains(after, id) {
			n++
		}
	}
	return n
}

// What a change of a parameter makes anew and what it leaves: machines with data are never made anew by what is changed
// every day.
func TestWhatAChangeReplaces(t *testing.T) {
	for name, c := range map[string]struct {
		changes       map[string]string
		status        string
		crawlers, was int // after the change, and how many of those were there before
	}{
		"scale out":             {map[string]string{"Crawlers": "5"}, "UPDATE_COMPLETE", 5, 3},
		"scale in":              {map[string]string{"Crawlers": "1"}, "UPDATE_COMPLETE", 1, 1},
		"another image":         {map[string]string{"ImageId": "ami-0fedcba9876543210"}, "UPDATE_COMPLETE", 3, 0},
		"without monitoring":    {map[string]string{"Monitoring": "false"}, "UPDATE_COMPLETE", 3, 0},
		"with rendering":        {map[string]string{"Rendering": "on"}, "UPDATE_COMPLETE", 3, 0},
		"larger stores":         {map[string]string{"PageStorage": "100", "DatabaseStorage": "200"}, "UPDATE_COMPLETE", 3, 3},
		"an address for alarms": {map[string]string{"AlarmEmail": "you@example.com"}, "UPDATE_COMPLETE", 3, 3},
		"to a NAT gateway":      {map[string]string{"Nat": "gateway"}, "UPDATE_COMPLETE", 3, 3},
		// the new machine cannot have the interface that the old one still holds: refused, and everything is as it was
		"another base image": {map[string]string{"BaseImageId": "ami-0fedcba9876543210"}, "UPDATE_ROLLBACK_COMPLETE", 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, nil)
			if status, failures := a.create(nil); status != "CREATE_COMPLETE" {
				t.Fatalf("%s\n%s", status, failures)
			}
			before, stores := crawlersOf(a), slices.Concat(ids(a, "AWS::RDS::DBInstance"), ids(a, "AWS::EC2::Volume"),
				ids(a, "AWS::EC2::NetworkInterface"), ids(a, "AWS::SecretsManager::Secret"))
			stores = slices.DeleteFunc(stores,
				func(id string) bool { return strings.HasPrefix(id, "eni-") && ofCrawlers(a, id) })
			a.must("cloudformation", "CreateChangeSet", append(parameters(c.changes), "ChangeSetName", "next")...)
			seen := a.must("cloudformation", "DescribeChangeSet", "StackName", cluster, "ChangeSetName", "next")
			if len(seen.Changes) == 0 {
				t.Error("the change set is empty")
			}
			if got := crawlersOf(a); kept(before, got) != len(before) {
				t.Error("looking changed something")
			}
			a.must("cloudformation", "ExecuteChangeSet", "StackName", cluster, "ChangeSetName", "next")
			if status, failures := a.settled(); status != c.status {
				t.Fatalf("%s, want %s\n%s", status, c.status, failures)
			}
			after := crawlersOf(a)
			if len(after) != c.crawlers || kept(before, after) != c.was {
				t.Errorf("%d crawlers, %d of them from before; want %d and %d", len(after), kept(before, after), c.crawlers, c.was)
			}
			var now []string
			for _, o := range a.Objects("") {
				now = append(now, o.ID)
			}
			if lost := len(stores) - kept(stores, now); lost > 0 && name != "another base image" {
				t.Errorf("%d of what holds data, addresses and secrets are gone", lost)
			}
			if out, _ := a.call("cloudformation", "UpdateStack",
				parameters(map[string]string{"Size": "huge"})...); out.Code != "ValidationError" {
				t.Errorf("a size that does not exist: %s", out.Message)
			}
			a.must("cloudformation", "DeleteStack", "StackName", cluster)
			if status, failures := a.settled(); !strings.Contains(status, "does not exist") {
				t.Errorf("it cannot be deleted any more: %s\n%s", status, failures)
			}
		})
	}
}

// ofCrawlers tells interfaces that come and go with crawlers and the bastion.
func ofCrawlers(a *account, id string) bool {
	return slices.ContainsFunc(a.Objects("AWS::EC2::NetworkInterface"),
		func(o *fakeaws.Object) bool { return o.ID == id && o.Attrs["of"] != nil })
}

func TestRequestsThatAWSRefuses(t *testing.T) {
	t.Parallel()
	a := open(t, nil)
	for name, c := range map[string]struct {
		without, want string // a parameter of the request that is left out
		changes       map[string]string
	}{
		"no capability":      {without: "Capabilities.member.1", want: "CAPABILITY_IAM"},
		"eleven crawlers":    {changes: map[string]string{"Crawlers": "11"}, want: "need LedgerServers"},
		"unknown key pair":   {changes: map[string]string{"KeyName": "nobody"}, want: "does not exist"},
		"a network too wide": {changes: map[string]string{"VpcCidr": "10.0.0.0/24"}, want: "must match pattern"},
		"unknown parameter":  {changes: map[string]string{"Crawler": "3"}, want: "do not exist in the template"},
	} {
		p := parameters(c.changes)
		if i := slices.Index(p, c.without); i >= 0 && i%2 == 0 {
			p = slices.Delete(p, i, i+2)
		}
		if out, _ := a.call("cloudformation", "CreateStack", p...); !strings.Contains(out.Message, c.want) {
			t.Errorf("%s: %s %q", name, out.Code, out.Message)
		}
	}
	if status, failures := a.create(nil); status != "CREATE_COMPLETE" {
		t.Fatalf("%s\n%s", status, failures)
	}
	for name, c := range map[string]struct{ action, want string }{"twice": {"CreateStack", "already exists"},
		"nothing new": {"UpdateStack", "No updates"}} {
		if out, _ := a.call("cloudformation", c.action, parameters(nil)...); !strings.Contains(out.Message, c.want) {
			t.Errorf("%s: %q", name, out.Message)
		}
	}
	a.must("cloudformation", "UpdateTerminationProtection", "StackName", cluster, "EnableTerminationProtection", "true")
	if out, _ := a.call("cloudformation", "DeleteStack", "StackName", cluster); !strings.Contains(out.Message,
		"TerminationProtection") {
		t.Errorf("deleted although protected: %q", out.Message)
	}
}
