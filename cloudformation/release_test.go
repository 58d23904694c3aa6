package cloudformation_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/cfn"
)

// userData are the user data of the machines that a crawler's release must leave alone, by the machine's name in its
// template.
func userData(a *account) map[string]string {
	out := map[string]string{}
	for _, o := range a.Objects("AWS::EC2::Instance") {
		if o.Logical != "Nodes" {
			out[o.Logical] = fmt.Sprint(o.Props["UserData"])
		}
	}
	return out
}

// TestAReleaseStopsNoBaseMachine upgrades to a release whose crawlers start in another way. AWS stops a machine whose
// user data change, and NAT, MongoDB and three ZooKeepers at once are an outage.
func TestAReleaseStopsNoBaseMachine(t *testing.T) {
	t.Parallel()
	a := open(t, nil)
	if status, failures := a.create(nil); status != "CREATE_COMPLETE" {
		t.Fatalf("%s\n%s", status, failures)
	}
	before := userData(a)
	if len(before) != 5 {
		t.Fatalf("base machines: %d, want 5", len(before))
	}
	for _, path := range templates(t) {
		text := read(t, path)
		if path == "whirlpool.yml" {
			first := strings.Replace(text, `note "$ROLE of release $RELEASE"`, `note "$ROLE of the next release $RELEASE"`, 1)
			if first == text {
				t.Fatal("the crawlers' first steps have no such line")
			}
			text = first
		}
		a.s3("PUT", bucket+"/v2/cloudformation/"+path, text)
	}
	p := parameters(map[string]string{"Release": "v2"})
	for i, v := range p {
		p[i] = strings.Replace(v, "/"+release+"/cloudformation/", "/v2/cloudformation/", 1)
	}
	crawlers := crawlersOf(a)
	a.must("cloudformation", "UpdateStack", p...)
	if status, failures := a.settled(); status != "UPDATE_COMPLETE" {
		t.Fatalf("%s\n%s", status, failures)
	}
	if n := kept(crawlers, crawlersOf(a)); n != 0 {
		t.Errorf("%d crawlers are of the release before", n)
	}
	for name, after := range userData(a) {
		if after != before[name] {
			t.Errorf("the release gives %s other user data: AWS stops it for that", name)
		}
	}
}

// TestBaseUserDataStayAsTheyAre: what stands here was given to machines that run. A changed text stops NAT, MongoDB
// and all ZooKeepers of every cluster at its next upgrade: see the comment above `User` in whirlpool.yml for what to do
// instead.
func TestBaseUserDataStayAsTheyAre(t *testing.T) {
	parsed := func(path string) *cfn.Template {
		tpl, err := cfn.Parse([]byte(read(t, path)))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return tpl
	}
	user, _ := parsed("whirlpool.yml").Mappings["User"].(map[string]any)
	base, _ := user["base"].(map[string]any)
	texts := map[string]string{}
	for name, text := range base {
		texts["first steps "+name] = fmt.Sprint(text)
	}
	for path, names := range map[string][]string{"bastion.yml": {"Instance"}, "stores.yml": {"Pages"},
		"zookeeper.yml": {"Member1", "Member2", "Member3"}} {
		for _, name := range names {
			texts[name] = fmt.Sprint(parsed(path).Resources[name].Properties["UserData"])
		}
	}
	var got []string
	for name, text := range texts {
		sum := sha256.Sum256([]byte(text))
		got = append(got, name+" "+hex.EncodeToString(sum[:8]))
	}
	slices.Sort(got)
	want := []string{"Instance d0bc8046479b4a07", "Member1 bb2423fb7ae58e4c", "Member2 fb6586fb17999617",
		"Member3 50c415d334b8d37d", "Pages e1cccf6c8fb9072a", "first steps v1 a66034efcc3f2de7"}
	if !slices.Equal(got, want) {
		t.Errorf("user data of machines that are not to be stopped:\n%s\nwant:\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

// TestAFailedCreationLeavesNoArchive: the archive outlives its cluster, but not one that never stood.
func TestAFailedCreationLeavesNoArchive(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]int{"RetainExceptOnCreate": 0, "Retain": 1} { // the second is the control
		a := open(t, nil, edit{"access.yml", "DeletionPolicy: RetainExceptOnCreate", "DeletionPolicy: " + policy},
			edit{"alarms.yml", "Type: AWS::CloudWatch::Alarm", "Type: AWS::CloudWatch::Alarms"})
		if status, failures := a.create(nil); !strings.HasPrefix(status, "ROLLBACK_COMPLETE") {
			t.Fatalf("%s\n%s", status, failures)
		}
		if got := len(a.Objects("AWS::S3::Bucket")); got != want {
			t.Errorf("%s: a failed creation leaves %d archives, want %d", policy, got, want)
		}
	}
}

// Templates and policies work in every partition of AWS, China's and the government's too, and name no version of the
// database that AWS withdraws: minor versions go after months, and a cluster could not be created any more.
func TestNothingIsOfOnePartitionOrMinorVersion(t *testing.T) {
	policies, _ := filepath.Glob(filepath.Join("policies", "*.json"))
	if len(policies) == 0 {
		t.Fatal("no policies")
	}
	minor := regexp.MustCompile(`EngineVersion: "?\d+\.`)
	find := func(text string) (found []string) {
		for _, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "arn:aws:") || minor.MatchString(line) {
				found = append(found, strings.TrimSpace(line))
			}
		}
		return found
	}
	for _, path := range append(templates(t), policies...) {
		if found := find(read(t, path)); len(found) > 0 {
			t.Errorf("%s: %q", path, found)
		}
	}
	control := "EngineVersion: \"15.8\"\nResource: \"arn:aws:s3:::a\"\nEngineVersion: \"15\""
	if got := find(control); len(got) != 2 {
		t.Errorf("control: found %q", got)
	}
}
