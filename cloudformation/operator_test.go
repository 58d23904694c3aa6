package cloudformation_test

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
)

// Each policy of the operators is missed when it is not there. (That all seven together suffice is shown by the
// commands of the docs.)
func TestAnOperatorMayDoOnlyWhatWasGranted(t *testing.T) {
	a := open(t, nil)
	a.must("iam", "CreateGroup", "GroupName", "operators")
	a.must("iam", "AddUserToGroup", "GroupName", "operators", "UserName", fakeaws.Operator)
	a.key = fakeaws.OperatorKey
	grant := func(name string) {
		a.key = fakeaws.AdminKey
		a.must("iam", "CreatePolicy", "PolicyName", name, "PolicyDocument", render(read(t, "policies/user-"+name+".json")))
		a.must("iam", "AttachGroupPolicy", "GroupName", "operators", "PolicyArn",
			"arn:aws:iam::"+fakeaws.Account+":policy/"+name)
		a.key = fakeaws.OperatorKey
	}
	for _, step := range []struct{ refused, grant string }{
		{"cloudformation:CreateStack", "cloudformation"},
		{"s3:GetObject", "cloudformation-s3"},
		{"iam:PassRole", "cloudformation-role"},
	} {
		if out, _ := a.call("cloudformation", "CreateStack", parameters(nil)...); out.Code != "AccessDenied" ||
			!strings.Contains(out.Message, step.refused) {
			t.Fatalf("before %s: %s %s", step.grant, out.Code, out.Message)
		}
		grant(step.grant)
	}
	if status, failures := a.create(nil); status != "CREATE_COMPLETE" {
		t.Fatalf("%s\n%s", status, failures)
	}
	for _, c := range [][]string{{"iam", "CreateRole", "RoleName", "mine"},
		{"iam", "PutRolePolicy", "RoleName", cluster + "-cloudformation"},
		{"ec2", "CreateKeyPair", "KeyName", cluster + "-2"}, {"cloudformation", "DeleteStack", "StackName", "another"}} {
		if _, body := a.call(c[0], c[1], c[2:]...); !strings.Contains(body, "AccessDenied") {
			t.Errorf("%v: %s", c, body)
		}
	}
}

// A machine acts under its own role: it may do what its start takes, and nothing of the others.
func TestMachinesMayDoOnlyTheirPart(t *testing.T) {
	t.Parallel()
	a := open(t, nil)
	if status, failures := a.create(nil); status != "CREATE_COMPLETE" {
		t.Fatalf("%s\n%s", status, failures)
	}
	ids := map[string]string{} // of machines, by role
	for _, o := range a.Objects("AWS::EC2::Instance") {
		ids[map[string]string{"Instance": "bastion", "Pages": "mongodb", "Member1": "zookeeper",
			"Nodes": "crawler"}[o.Logical]] = o.ID
	}
	archive := a.Objects("AWS::S3::Bucket")[0].ID
	for _, c := range []struct {
		role, method, path string
		allowed            bool
	}{
		{"bastion", "GET", bucket + "/" + release + "/cloudformation/network.yml", true},
		{"bastion", "PUT", bucket + "/" + release + "/node.tar.gz", false},
		{"bastion", "PUT", archive + "/warc/a", false},
		{"crawler", "PUT", archive + "/warc/i-1/a.warc.gz", true},
		{"crawler", "PUT", archive + "/a", false},
		{"crawler", "GET", archive + "/warc/i-1/a.warc.gz", false},
		{"crawler", "DELETE", archive + "/warc/i-1/a.warc.gz", false},
		{"mongodb", "GET", archive + "/warc/i-1/a.warc.gz", false},
	} {
		a.key = "ASIA" + ids[c.role]
		if body := a.send(c.method, "/"+c.path, "s3", "x"); strings.Contains(body, "AccessDenied") == c.allowed {
			t.Errorf("%s %s %s: %s", c.role, c.method, c.path, body)
		}
	}
	for name, may := range map[string]bool{"oidc": true, "other": false} {
		if got := a.May(ids["crawler"], "secretsmanager:GetSecretValue",
			"arn:aws:secretsmanager:"+fakeaws.Region+":"+fakeaws.Account+":secret:"+cluster+"/"+name+"-AbCdEf"); got != may {
			t.Errorf("a crawler reads the secret %s: %v", name, got)
		}
	}
	for _, c := range []struct{ role, secret string }{{"bastion", "database"}, {"zookeeper", "pages"},
		{"mongodb", "database"}, {"mongodb", "broker"}, {"bastion", "studio"}, {"mongodb", "studio"}} {
		for _, o := range a.Objects("AWS::SecretsManager::Secret") {
			if strings.Contains(o.ID, "/"+c.secret+"-") && a.May(ids[c.role], "secretsmanager:GetSecretValue", o.ID) {
				t.Errorf("%s may read %s", c.role, c.secret)
			}
		}
	}
}
