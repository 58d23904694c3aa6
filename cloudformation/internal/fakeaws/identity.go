package fakeaws

import (
	"net/http"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/policy"
)

// authorize decides whether the caller may do this; keys are condition keys beside the region. Callers hold the lock.
func (s *Server) authorize(c call, resource string, keys ...string) error {
	action := prefix(c.service) + ":" + c.action
	s.calls[action]++
	return s.may(c.key, action, resource, keys...)
}

func (s *Server) may(key, action, resource string, keys ...string) error {
	var who string
	var policies []*policy.Policy
	switch m := s.machineOf(key); {
	case key == AdminKey:
		return nil
	case m != nil:
		who, policies = "machine "+m.ID, s.profilePolicies(m.profile)
	case key == OperatorKey:
		who, policies = "user "+Operator, s.userPolicies(Operator)
	default:
		return &apiError{http.StatusForbidden, "InvalidClientTokenId",
			"The security token included in the request is invalid."}
	}
	if !policy.Allowed(policies, request(action, resource, keys...)) {
		return &apiError{http.StatusForbidden, "AccessDenied",
			who + " is not authorized to perform: " + action + " on resource: " + resource}
	}
	return nil
}

// May tells whether the role of a machine allows something.
func (s *Server) May(machine, action, resource string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.may("ASIA"+machine, action, resource) == nil
}

func request(action, resource string, keys ...string) policy.Request {
	r := policy.Request{Action: action, Resource: resource,
		Keys: map[string]string{"aws:RequestedRegion": Region, "aws:SecureTransport": "true"}}
	for i := 0; i+1 < len(keys); i += 2 {
		r.Keys[keys[i]] = keys[i+1]
	}
	return r
}

// prefix is how policies call a service.
func prefix(service string) string {
	if service == "monitoring" {
		return "cloudwatch"
	}
	return service
}

func (s *Server) userPolicies(user string) []*policy.Policy {
	var out []*policy.Policy
	for group, users := range s.groups {
		if slices.Contains(users, user) {
			for _, arn := range s.attached[group] {
				out = append(out, s.policies[arn])
			}
		}
	}
	return out
}

// profilePolicies are those of the role in an instance profile.
func (s *Server) profilePolicies(profile string) []*policy.Policy {
	p := s.objects[profile]
	if p == nil {
		return nil
	}
	var out []*policy.Policy
	for _, role := range list(p.Props["Roles"]) {
		r := s.objects[text(role)]
		if r == nil {
			continue
		}
		for _, arn := range list(r.Props["ManagedPolicyArns"]) {
			if m := s.objects[text(arn)]; m != nil {
				out = append(out, document(m.Props["PolicyDocument"]))
			}
		}
		for _, inline := range list(r.Props["Policies"]) {
			out = append(out, document(get(inline, "PolicyDocument")))
		}
	}
	return slices.DeleteFunc(out, func(p *policy.Policy) bool { return p == nil })
}

// serveIAM answers what grants need. Callers hold the lock.
func (s *Server) serveIAM(c call) (any, error) {
	f := c.form
	role := "arn:aws:iam::" + Account + ":role/" + f["RoleName"]
	if err := s.authorize(c, role); err != nil {
		return nil, err
	}
	switch c.action {
	case "CreateRole":
		return s.createRole(f, role)
	case "PutRolePolicy":
		p, err := policyOf(f["PolicyDocument"], 10_240)
		if err != nil {
			return nil, err
		}
		s.roles[role] = p
		return tree{}, nil
	case "CreateGroup":
		s.groups[f["GroupName"]] = nil
		return tree{"Group": tree{"Path": "/", "GroupName": f["GroupName"], "GroupId": "AGPA1",
			"Arn": "arn:aws:iam::" + Account + ":group/" + f["GroupName"], "CreateDate": stamp()}}, nil
	case "CreatePolicy":
		p, err := policyOf(f["PolicyDocument"], 6_144)
		if err != nil {
			return nil, err
		}
		arn := "arn:aws:iam::" + Account + ":policy/" + f["PolicyName"]
		s.policies[arn] = p
		return tree{"Policy": tree{"PolicyName": f["PolicyName"], "Arn": arn}}, nil
	case "AttachGroupPolicy":
		if s.policies[f["PolicyArn"]] == nil || len(s.attached[f["GroupName"]]) >= 10 {
			return nil, &apiError{http.StatusNotFound, "NoSuchEntity",
				"Policy " + f["PolicyArn"] + " does not exist, or the group has ten"}
		}
		s.attached[f["GroupName"]] = append(s.attached[f["GroupName"]], f["PolicyArn"])
		return tree{}, nil
	case "AddUserToGroup":
		if _, there := s.groups[f["GroupName"]]; !there {
			return nil, &apiError{http.StatusNotFound, "NoSuchEntity", "no group " + f["GroupName"]}
		}
		s.groups[f["GroupName"]] = append(s.groups[f["GroupName"]], f["UserName"])
		return tree{}, nil
	}
	return nil, unknown(c)
}

func (s *Server) createRole(f map[string]string, role string) (any, error) {
	if _, there := s.roles[role]; there {
		return nil, &apiError{http.StatusConflict, "EntityAlreadyExists",
			"Role with name " + f["RoleName"] + " already exists."}
	}
	if !strings.Contains(f["AssumeRolePolicyDocument"], "cloudformation.amazonaws.com") {
		return nil, invalid("CloudFormation may not assume this role")
	}
	if _, err := policy.Parse([]byte(f["AssumeRolePolicyDocument"])); err != nil {
		return nil, &apiError{http.StatusBadRequest, "MalformedPolicyDocument", err.Error()}
	}
	s.roles[role] = &policy.Policy{}
	return tree{"Role": tree{"Path": "/", "RoleName": f["RoleName"], "RoleId": "AROA1", "Arn": role,
		"CreateDate": stamp()}}, nil
}

// policyOf parses a policy document, of so many characters at most.
func policyOf(document string, most int) (*policy.Policy, error) {
	p, err := policy.Parse([]byte(document))
	if err != nil || len(compact(document)) > most {
		return nil, &apiError{http.StatusBadRequest, "MalformedPolicyDocument", "too large, or " + text(err)}
	}
	return p, nil
}

func unknown(c call) error {
	return &apiError{http.StatusBadRequest, "InvalidAction", "the fake does not know " + c.service + ":" + c.action}
}
