package cloudformation_test

import (
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
)

// Names that the policies are filled in with, as deploy/aws/stack does.
const (
	cluster = "whirlpool"
	release = "v1"
	bucket  = cluster + "-releases"
	role    = "arn:aws:iam::" + fakeaws.Account + ":role/" + cluster + "-cloudformation"
)

// account is a fake AWS account with the release in its bucket, the roles and the key pair.
type account struct {
	*fakeaws.Server
	t   *testing.T
	key string // the access key of who asks
}

// answer is what the tests read of an answer.
type answer struct {
	Code    string `xml:"Error>Code"`
	Message string `xml:"Error>Message"`
	Status  string `xml:"DescribeStacksResult>Stacks>member>StackStatus"`
	Outputs []struct {
		Key   string `xml:"OutputKey"`
		Value string `xml:"OutputValue"`
	} `xml:"DescribeStacksResult>Stacks>member>Outputs>member"`
	Resources []struct {
		Logical  string `xml:"LogicalResourceId"`
		Physical string `xml:"PhysicalResourceId"`
		Type     string `xml:"ResourceType"`
	} `xml:"DescribeStackResourcesResult>StackResources>member"`
	Events []struct {
		Logical string `xml:"LogicalResourceId"`
		Status  string `xml:"ResourceStatus"`
		Reason  string `xml:"ResourceStatusReason"`
	} `xml:"DescribeStackEventsResult>StackEvents>member"`
	Changes []struct {
		Action      string `xml:"ResourceChange>Action"`
		Logical     string `xml:"ResourceChange>LogicalResourceId"`
		Replacement string `xml:"ResourceChange>Replacement"`
	} `xml:"DescribeChangeSetResult>Changes>member"`
}

// render fills in a policy.
func render(text string) string {
	return strings.NewReplacer("@PARTITION@", "aws", "@ACCOUNT@", fakeaws.Account, "@REGION@", fakeaws.Region, "@CLUSTER@",
		cluster, "@BUCKET@", bucket).Replace(text)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// edit is a change to a file before it is used: what a negative control breaks.
type edit struct{ file, old, new string }

// open makes an account. The edits must find what they change.
func open(t *testing.T, boot func(*fakeaws.Machine) error, edits ...edit) *account {
	t.Helper()
	s, err := fakeaws.New(boot)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	a := &account{s, t, fakeaws.AdminKey}
	used := map[string]bool{}
	source := func(path string) string {
		text := read(t, path)
		for _, e := range edits {
			if e.file == filepath.Base(path) {
				if !strings.Contains(text, e.old) {
					t.Fatalf("%s has no %q", path, e.old)
				}
				text = strings.Replace(text, e.old, e.new, 1)
				used[e.file] = true
			}
		}
		return text
	}
	a.s3("PUT", bucket, "<CreateBucketConfiguration><LocationConstraint>"+fakeaws.Region+
		"</LocationConstraint></CreateBucketConfiguration>")
	for _, path := range templates(t) {
		a.s3("PUT", bucket+"/"+release+"/cloudformation/"+path, source(path))
	}
	a.must("iam", "CreateRole", "RoleName", cluster+"-cloudformation", "AssumeRolePolicyDocument",
		render(source("policies/service-role-trust.json")))
	a.must("iam", "PutRolePolicy", "RoleName", cluster+"-cloudformation", "PolicyName", "cluster", "PolicyDocument",
		render(source("policies/service-role.json")))
	a.must("ec2", "CreateKeyPair", "KeyName", cluster)
	for _, e := range edits {
		if !used[e.file] {
			t.Fatalf("nothing reads %s", e.file)
		}
	}
	return a
}

func templates(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	return paths
}

// call asks the fake, as name and value pairs.
func (a *account) call(service, action string, pairs ...string) (answer, string) {
	a.t.Helper()
	form := url.Values{"Action": {action}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	body := a.send("POST", "/", service, form.Encode())
	var out answer
	if err := xml.Unmarshal([]byte(body), &out); err != nil {
		a.t.Fatalf("%s: %v\n%s", action, err, body)
	}
	return out, body
}

func (a *account) must(service, action string, pairs ...string) answer {
	a.t.Helper()
	out, body := a.call(service, action, pairs...)
	if out.Code != "" || strings.Contains(body, "<Errors>") {
		a.t.Fatalf("%s: %s", action, body)
	}
	return out
}

func (a *account) s3(method, path, body string) { a.send(method, "/"+path, "s3", body) }

func (a *account) send(method, path, service, body string) string {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.URL+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+a.key+"/20261121/"+fakeaws.Region+"/"+service+
		"/aws4_request, Signature=0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 500 {
		a.t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, b, err)
	}
	return string(b)
}

// parameters of a cluster, with changes.
func parameters(changes map[string]string) []string {
	p := map[string]string{"ReleaseBucket": bucket, "Release": release, "BaseRelease": release, "ImageId": fakeaws.Image,
		"BaseImageId": fakeaws.Image, "KeyName": cluster}
	maps.Copy(p, changes)
	out := []string{"StackName", cluster, "RoleARN", role, "Capabilities.member.1", "CAPABILITY_IAM",
		"TemplateURL", "https://" + bucket + ".s3." + fakeaws.Region + ".amazonaws.com/" + release +
			"/cloudformation/whirlpool.yml"}
	for i, k := range slices.Sorted(maps.Keys(p)) {
		n := "Parameters.member." + strconv.Itoa(i+1)
		out = append(out, n+".ParameterKey", k, n+".ParameterValue", p[k])
	}
	return out
}

// create makes the cluster and returns how it ended, with everything that failed on the way.
func (a *account) create(changes map[string]string) (status, failures string) {
	a.t.Helper()
	if out, _ := a.call("cloudformation", "CreateStack", parameters(changes)...); out.Code != "" {
		return out.Code, out.Message
	}
	return a.settled()
}

// settled waits until nothing is under way, and tells the state of the stack and what failed in it and its parts.
func (a *account) settled() (status, failures string) {
	a.t.Helper()
	a.Settle()
	out, _ := a.call("cloudformation", "DescribeStacks", "StackName", cluster)
	parts := []string{cluster}
	resources, _ := a.call("cloudformation", "DescribeStackResources", "StackName", cluster)
	for _, r := range resources.Resources {
		if r.Type == "AWS::CloudFormation::Stack" && r.Physical != "" {
			parts = append(parts, r.Physical)
		}
	}
	var failed []string
	for _, p := range parts {
		events, _ := a.call("cloudformation", "DescribeStackEvents", "StackName", p)
		for _, e := range events.Events {
			if strings.Contains(e.Status, "FAILED") {
				failed = append(failed, e.Logical+" "+e.Status+": "+e.Reason)
			}
		}
	}
	if out.Code != "" {
		return out.Message, strings.Join(failed, "\n")
	}
	return out.Status, strings.Join(failed, "\n")
}
