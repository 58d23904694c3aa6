package cloudformation_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// userData are those of the machines that are no crawlers, by their physical ids.
func userData(a *account) map[string]any {
	out := map[string]any{}
	for _, o := range a.Objects("AWS::EC2::Instance") {
		if o.Logical != "Nodes" {
			out[o.ID] = o.Props["UserData"]
		}
	}
	return out
}

// A release whose templates begin every machine in another way replaces the crawlers, and stops none of the others: not the NAT, not MongoDB, not
// three ZooKeepers at once.
func TestAReleaseChangesNoMachineButCrawlers(t *testing.T) {
	t.Parallel()
	a := open(t, nil)
	if status, failures := a.create(nil); status != "CREATE_COMPLETE" {
		t.Fatalf("%s\n%s", status, failures)
	}
	files, err := filepath.Glob("*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d templates, %v", len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		other := strings.NewReplacer("umask 022", "umask 027", "export ROLE=", "export EDITION=2 ROLE=").Replace(string(body))
		a.s3("PUT", bucket+"/v2/cloudformation/"+file, other)
	}
	machines, crawlers := userData(a), crawlersOf(a)
	if len(machines) != 5 {
		t.Fatalf("%d machines beside the crawlers, want bastion, MongoDB and three ZooKeepers", len(machines))
	}
	p := parameters(map[string]string{"Release": "v2"})
	for i := range p {
		p[i] = strings.Replace(p[i], "/"+release+"/cloudformation/", "/v2/cloudformation/", 1)
	}
	a.must("cloudformation", "UpdateStack", p...)
	if status, failures := a.settled(); status != "UPDATE_COMPLETE" {
		t.Fatalf("%s\n%s", status, failures)
	}
	if !reflect.DeepEqual(userData(a), machines) {
		t.Error("the release changed the user data of machines that hold the cluster together: AWS stops and starts them for that, all at once")
	}
	if n := kept(crawlers, crawlersOf(a)); n > 0 {
		t.Errorf("%d crawlers are of the former release", n)
	}
}
