package fakeaws

import (
	"io"
	"net/http"
	"strconv"
	"strings"
)

// serveEC2 answers what the commands of the docs ask of EC2. Callers hold the lock.
func (s *Server) serveEC2(c call) (any, error) {
	f, resource := c.form, "*"
	if strings.HasSuffix(c.action, "KeyPair") {
		resource = ec2Key(f["KeyName"])
	}
	var keys []string
	if c.action == "CreateSnapshot" {
		resource = "arn:aws:ec2:" + Region + "::snapshot/*"
		keys = []string{"aws:RequestTag/" + f["TagSpecification.1.Tag.1.Key"], f["TagSpecification.1.Tag.1.Value"]}
	}
	if err := s.authorize(c, resource, keys...); err != nil {
		return nil, err
	}
	switch c.action {
	case "CreateKeyPair":
		if s.objects["key/"+f["KeyName"]] != nil {
			return nil, &apiError{http.StatusBadRequest, "InvalidKeyPair.Duplicate", "The keypair already exists"}
		}
		s.objects["key/"+f["KeyName"]] = &Object{Type: "key", ID: "key/" + f["KeyName"]}
		return tree{"keyName": f["KeyName"],
			"keyMaterial": "-----BEGIN OPENSSH PRIVATE KEY-----\nfake\n-----END OPENSSH PRIVATE KEY-----"}, nil
	case "DeleteKeyPair":
		delete(s.objects, "key/"+f["KeyName"])
		return tree{"return": "true"}, nil
	case "DescribeInstances":
		return s.describeInstances(f), nil
	case "CreateSnapshot":
		v := s.objects[f["VolumeId"]]
		if v == nil {
			return nil, &apiError{http.StatusBadRequest, "InvalidVolume.NotFound", f["VolumeId"]}
		}
		if err := s.may(c.key, "ec2:CreateSnapshot", "arn:aws:ec2:"+Region+":"+Account+":volume/"+v.ID,
			"aws:ResourceTag/aws:cloudformation:stack-name", v.Stack); err != nil {
			return nil, err
		}
		return tree{"snapshotId": "snap-" + s.next(17), "volumeId": v.ID, "status": "pending", "startTime": stamp()}, nil
	case "DescribeVolumes":
		out := []any{}
		for _, v := range s.find("AWS::EC2::Volume", func(*Object) bool { return true }) {
			out = append(out, tree{"volumeId": v.ID, "size": text(v.Props["Size"]), "encrypted": text(v.Props["Encrypted"])})
		}
		return tree{"volumeSet": out}, nil
	}
	return nil, unknown(c)
}

func ec2Key(name string) string { return "arn:aws:ec2:" + Region + ":" + Account + ":key-pair/" + name }

func (s *Server) describeInstances(f map[string]string) tree {
	group := ""
	for i := 1; f["Filter."+strconv.Itoa(i)+".Name"] != ""; i++ {
		if f["Filter."+strconv.Itoa(i)+".Name"] == "tag:aws:autoscaling:groupName" {
			group = f["Filter."+strconv.Itoa(i)+".Value.1"]
		}
	}
	out := []any{}
	for _, i := range s.find("AWS::EC2::Instance",
		func(o *Object) bool { return group == "" || o.Attrs["group"] == group }) {
		out = append(out, tree{"reservationId": "r-1",
			"instancesSet": []any{tree{"instanceId": i.ID, "privateIpAddress": text(i.Attrs["PrivateIp"]),
				"imageId": text(i.Props["ImageId"]), "instanceType": text(i.Props["InstanceType"])}}})
	}
	return tree{"reservationSet": out}
}

// serveRDS makes snapshots.
func (s *Server) serveRDS(c call) (any, error) {
	id, snapshot := c.form["DBInstanceIdentifier"], c.form["DBSnapshotIdentifier"]
	for _, arn := range []string{under("rds", "db:")(id), under("rds", "snapshot:")(snapshot)} {
		if err := s.authorize(c, arn); err != nil {
			return nil, err
		}
	}
	if c.action != "CreateDBSnapshot" {
		return nil, unknown(c)
	}
	if _, err := s.need("AWS::RDS::DBInstance", id); err != nil {
		return nil, &apiError{http.StatusNotFound, "DBInstanceNotFound", err.Error()}
	}
	return tree{"DBSnapshot": tree{"DBSnapshotIdentifier": snapshot, "DBInstanceIdentifier": id, "Status": "creating"}},
		nil
}

// serveAutoScaling takes the answer to a lifecycle hook.
func (s *Server) serveAutoScaling(c call) (any, error) {
	if err := s.authorize(c, under("autoscaling",
		"autoScalingGroup:1:autoScalingGroupName/")(c.form["AutoScalingGroupName"])); err != nil {
		return nil, err
	}
	if c.action != "CompleteLifecycleAction" {
		return nil, unknown(c)
	}
	g, err := s.need("AWS::AutoScaling::AutoScalingGroup", c.form["AutoScalingGroupName"])
	if err != nil {
		return nil, err
	}
	for _, h := range list(g.Props["LifecycleHookSpecificationList"]) {
		if get(h, "LifecycleHookName") == c.form["LifecycleHookName"] && s.machines[c.form["InstanceId"]] != nil {
			return tree{}, nil
		}
	}
	return nil, invalid("No active Lifecycle Action found with instance ID %s", c.form["InstanceId"])
}

// metadata is the instance metadata service of a machine, version 2 only, at /machine/ID/latest/…: a machine under test
// is given that as the service's address. It gives the machine the key of its own role.
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	id, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/machine/"), "/")
	if path == "latest/api/token" {
		if r.Method != http.MethodPut || r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") == "" {
			http.Error(w, "version 2 asks with PUT", http.StatusBadRequest)
			return
		}
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "3600")
		_, _ = io.WriteString(w, "token-"+id)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.machines[id]
	if m == nil || r.Header.Get("X-Aws-Ec2-Metadata-Token") != "token-"+id {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	switch strings.TrimPrefix(path, "latest/meta-data/") {
	case "instance-id":
		_, _ = io.WriteString(w, m.ID)
	case "local-ipv4":
		_, _ = io.WriteString(w, m.Address)
	case "autoscaling/target-lifecycle-state":
		_, _ = io.WriteString(w, map[bool]string{false: "InService", true: "Terminated"}[m.leaving])
	case "placement/availability-zone/":
		_, _ = io.WriteString(w, Zones[0])
	case "iam/security-credentials/":
		_, _ = io.WriteString(w, "role")
	case "iam/security-credentials/role":
		_, _ = io.WriteString(w, `{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":"`+m.MachineKey()+
			`","SecretAccessKey":"secret","Token":"t","Expiration":"2099-01-01T00:00:00Z","LastUpdated":"2026-01-01T00:00:00Z"}`)
	default:
		http.NotFound(w, r)
	}
}
