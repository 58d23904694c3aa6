package fakeaws

import (
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/cfn"
)

func (s *Server) buildInstance(o *Object) error {
	p := o.Props
	if p["ImageId"] != Image && len(text(p["ImageId"])) != len(Image) {
		return fmt.Errorf("InvalidAMIID.NotFound: %s", p["ImageId"])
	}
	if err := s.needAll("AWS::IAM::InstanceProfile", p["IamInstanceProfile"]); err != nil {
		return err
	}
	nics := list(p["NetworkInterfaces"])
	if len(nics) != 1 {
		return fmt.Errorf("the fake wants one interface")
	}
	id := text(get(nics[0], "NetworkInterfaceId"))
	if id == "" {
		nic := s.privateInterface(o)
		if err := s.buildInterface(nic, get(nics[0], "SubnetId"), get(nics[0], "GroupSet")); err != nil {
			return err
		}
		nic.Props["SubnetId"], nic.Props["GroupSet"] = get(nics[0], "SubnetId"), get(nics[0], "GroupSet")
		if get(nics[0], "AssociatePublicIpAddress") == true {
			nic.Attrs["public"] = "198.51.100.1"
		}
		id = nic.ID
	}
	nic, err := s.need("AWS::EC2::NetworkInterface", id)
	if err != nil {
		return err
	}
	for _, other := range s.machines {
		if other.interfaceID == id && !other.gone {
			return fmt.Errorf("InvalidNetworkInterface.InUse: %s is currently in use by %s", id, other.ID)
		}
	}
	o.Attrs["PrivateIp"] = nic.Attrs["PrimaryPrivateIpAddress"]
	_, err = s.newMachine(o.ID, text(o.Attrs["PrivateIp"]), id, text(p["IamInstanceProfile"]), p["UserData"])
	return err
}

// privateInterface is one that is made with a machine and goes with it.
func (s *Server) privateInterface(o *Object) *Object {
	id := "eni-" + s.next(17)
	nic := &Object{Type: "AWS::EC2::NetworkInterface", ID: id, Stack: o.Stack, Logical: o.Logical, Props: map[string]any{},
		Attrs: map[string]any{"of": o.ID}}
	s.objects[id] = nic
	return nic
}

func (s *Server) buildAttachment(o *Object) error {
	i, err := s.need("AWS::EC2::Instance", o.Props["InstanceId"])
	if err != nil {
		return err
	}
	v, err := s.need("AWS::EC2::Volume", o.Props["VolumeId"])
	if err != nil {
		return err
	}
	nic := s.objects[s.machines[i.ID].interfaceID]
	if zone := s.objects[text(nic.Props["SubnetId"])].Props["AvailabilityZone"]; zone != v.Props["AvailabilityZone"] {
		return fmt.Errorf("InvalidVolume.ZoneMismatch: The volume '%s' is not in the zone of instance '%s'", v.ID, i.ID)
	}
	return nil
}

// start starts the machines that a new object brings.
func (s *Server) start(_ *stack, _ string, o *Object) error {
	switch o.Type {
	case "AWS::EC2::Instance":
		s.run(s.machines[o.ID])
	case "AWS::AutoScaling::AutoScalingGroup":
		return s.resize(o)
	}
	return nil
}

// members are the machines of a group that live, in the order of their ids.
func (s *Server) members(group string) []*Object {
	return s.find("AWS::EC2::Instance", func(i *Object) bool { return i.Attrs["group"] == group })
}

// resize brings a group to the number of machines it wants.
func (s *Server) resize(group *Object) error {
	var want int
	if _, err := fmt.Sscan(text(group.Props["DesiredCapacity"]), &want); err != nil {
		return err
	}
	for have := len(s.members(group.ID)); have < want; have++ {
		if _, err := s.launch(group); err != nil {
			return err
		}
	}
	for have := s.members(group.ID); len(have) > want; have = have[1:] {
		if err := s.destroy(have[0].ID); err != nil {
			return err
		}
	}
	return nil
}

// launch makes one machine of a group from its launch template.
func (s *Server) launch(group *Object) (*Machine, error) {
	lt, err := s.need("AWS::EC2::LaunchTemplate", get(group.Props["LaunchTemplate"], "LaunchTemplateId"))
	if err != nil {
		return nil, err
	}
	data := asMap(lt.Props["LaunchTemplateData"])
	p := map[string]any{"IamInstanceProfile": get(data["IamInstanceProfile"], "Name"), "ImageId": data["ImageId"],
		"InstanceType": data["InstanceType"], "UserData": data["UserData"], "MetadataOptions": data["MetadataOptions"],
		"BlockDeviceMappings": data["BlockDeviceMappings"]}
	for _, n := range list(data["NetworkInterfaces"]) {
		p["NetworkInterfaces"] = []any{map[string]any{"SubnetId": get(n, "SubnetId"), "GroupSet": get(n, "Groups"),
			"AssociatePublicIpAddress": get(n, "AssociatePublicIpAddress")}}
	}
	o := &Object{Type: "AWS::EC2::Instance", ID: "i-" + s.next(17), Stack: group.Stack, Logical: group.Logical, Props: p,
		Attrs: map[string]any{"group": group.ID}}
	if err := s.buildInstance(o); err != nil {
		return nil, err
	}
	s.objects[o.ID] = o
	s.run(s.machines[o.ID])
	return s.machines[o.ID], nil
}

// altered does what a change in place brings beside the new properties.
func (s *Server) altered(st *stack, e *cfn.Env, r *cfn.Resource, o *Object) error {
	switch o.Type {
	case "AWS::EC2::LaunchTemplate":
		var version int
		if _, err := fmt.Sscan(text(o.Attrs["LatestVersionNumber"]), &version); err != nil {
			return err
		}
		o.Attrs["LatestVersionNumber"] = fmt.Sprint(version + 1)
	case "AWS::AutoScaling::AutoScalingGroup":
		return s.roll(st, e, r, o)
	}
	return nil
}

// roll replaces the machines of a group that are of another version of its template, one after the other, each after
// the one before has signalled; then it resizes the group.
func (s *Server) roll(st *stack, e *cfn.Env, r *cfn.Resource, group *Object) error {
	if r.UpdatePolicy["AutoScalingRollingUpdate"] != nil {
		lt := s.objects[text(get(group.Props["LaunchTemplate"], "LaunchTemplateId"))]
		for _, old := range s.members(group.ID) {
			if old.Props["UserData"] == get(lt.Props["LaunchTemplateData"], "UserData") &&
				old.Props["ImageId"] == get(lt.Props["LaunchTemplateData"], "ImageId") {
				continue
			}
			if err := s.destroy(old.ID); err != nil {
				return err
			}
			m, err := s.launch(group)
			if err != nil {
				return err
			}
			if err := s.await(st, e, r, []string{m.ID}); err != nil {
				return err
			}
		}
	}
	return s.resize(group)
}

// destroy deletes an object, if nothing that lives needs it. Callers hold the lock.
func (s *Server) destroy(id string) error {
	o := s.objects[id]
	if o == nil {
		return nil
	}
	switch o.Type {
	case "AWS::AutoScaling::AutoScalingGroup":
		for _, i := range s.members(id) {
			if err := s.destroy(i.ID); err != nil {
				return err
			}
		}
	case "AWS::EC2::VPCGatewayAttachment":
		if len(s.find("AWS::EC2::NetworkInterface", func(n *Object) bool { return n.Attrs["public"] != nil })) > 0 {
			return fmt.Errorf("DependencyViolation: Network %s has some mapped public address(es)", o.Props["VpcId"])
		}
	case "AWS::EC2::EIP":
		if m := s.machines[text(o.Props["InstanceId"])]; m != nil && s.objects[m.interfaceID] != nil {
			delete(s.objects[m.interfaceID].Attrs, "public")
		}
	case "AWS::SecretsManager::Secret":
		delete(s.secrets, id)
	case "AWS::S3::Bucket":
		if len(s.buckets[id]) > 0 {
			return worded("The bucket you tried to delete is not empty")
		}
		delete(s.buckets, id)
	}
	if users := s.find("", func(x *Object) bool {
		return x.ID != id && x.Attrs["of"] != id && x.Type != "snapshot" &&
			uses(x, o)
	}); len(users) > 0 {
		return fmt.Errorf("DependencyViolation: %s is used by %s %s (%s)", id, users[0].Type, users[0].ID, users[0].Logical)
	}
	if m := s.machines[id]; m != nil {
		m.gone = true
		s.changed.Broadcast()
		if nic := s.objects[m.interfaceID]; nic != nil && nic.Attrs["of"] == id {
			delete(s.objects, nic.ID)
		}
	}
	delete(s.objects, id)
	return nil
}

// loose are types whose mention of another object does not hold it: a route to a machine becomes a black hole, an alarm
// has no data.
var loose = []string{"AWS::EC2::Route", "AWS::CloudWatch::Alarm", "AWS::EC2::LaunchTemplate", "AWS::S3::BucketPolicy"}

// uses tells whether one object holds another, so that AWS refuses to delete that one.
func uses(x, o *Object) bool {
	if slices.Contains(loose, x.Type) || o.Type == "AWS::EC2::SecurityGroupIngress" ||
		o.Type == "AWS::EC2::SecurityGroupEgress" {
		return false
	}
	for k, v := range x.Props {
		if k != "UserData" && mentions(v, o.ID) {
			return true
		}
	}
	return false
}
