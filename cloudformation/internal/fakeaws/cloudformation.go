package fakeaws

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/cfn"
)

// serveCloudFormation answers the CloudFormation API. Callers hold the lock.
func (s *Server) serveCloudFormation(c call) (any, error) {
	f := c.form
	st := s.lookup(f["StackName"])
	resource := "arn:aws:cloudformation:" + Region + ":" + Account + ":stack/" + f["StackName"] + "/1"
	switch {
	case st != nil:
		resource = st.id
	case f["StackName"] == "":
		resource = "*"
	}
	if err := s.authorize(c, resource); err != nil {
		return nil, err
	}
	switch {
	case c.action == "CreateStack":
		return s.createStack(c)
	case c.action == "ValidateTemplate":
		return s.validate(c)
	case st == nil && c.action == "DeleteStack":
		return tree{}, nil
	case st == nil:
		return nil, invalid("Stack with id %s does not exist", f["StackName"])
	}
	return s.serveStack(c, st)
}

// serveStack answers for a stack that exists. Callers hold the lock.
func (s *Server) serveStack(c call, st *stack) (any, error) {
	f := c.form
	switch c.action {
	case "DescribeStacks":
		return tree{"Stacks": []any{describe(st)}}, nil
	case "DescribeStackEvents":
		return tree{"StackEvents": history(st)}, nil
	case "DescribeStackResource":
		m := st.resources[f["LogicalResourceId"]]
		if m == nil {
			return nil, invalid("Resource %s does not exist for stack %s", f["LogicalResourceId"], st.name)
		}
		return tree{"StackResourceDetail": described(st, m)}, nil
	case "DescribeStackResources", "ListStackResources":
		out := []any{}
		for _, name := range slices.Sorted(maps.Keys(st.resources)) {
			out = append(out, described(st, st.resources[name]))
		}
		return tree{"StackResources": out, "StackResourceSummaries": out}, nil
	case "UpdateTerminationProtection":
		st.protected = f["EnableTerminationProtection"] == "true"
		return tree{"StackId": st.id}, nil
	case "SignalResource":
		if f["Status"] != "SUCCESS" && f["Status"] != "FAILURE" || f["UniqueId"] == "" ||
			st.resources[f["LogicalResourceId"]] == nil {
			return nil, invalid("Resource %s does not exist, or the signal is wrong", f["LogicalResourceId"])
		}
		st.signal(f["LogicalResourceId"], f["UniqueId"], f["Status"] == "SUCCESS")
		s.changed.Broadcast()
		return tree{}, nil
	case "UpdateStack":
		return s.updateStack(c, st)
	case "DeleteStack":
		return s.deleteStack(st)
	case "CreateChangeSet", "DescribeChangeSet", "ExecuteChangeSet", "DeleteChangeSet":
		return s.serveChangeSet(c, st)
	}
	return nil, unknown(c)
}

// template fetches what a request names, as the caller.
func (s *Server) template(c call) ([]byte, error) {
	if body := c.form["TemplateBody"]; body != "" {
		if len(body) > 51_200 {
			return nil, invalid("1 validation error detected: templateBody has more than 51200 bytes")
		}
		return []byte(body), nil
	}
	bucket, key, body, err := s.object(c.form["TemplateURL"])
	if err != nil {
		return nil, err
	}
	return body, s.may(c.key, "s3:GetObject", "arn:aws:s3:::"+bucket+"/"+key)
}

// prepare reads template, parameters, capabilities and role of a request that makes or changes a stack.
func (s *Server) prepare(c call, st *stack) ([]byte, map[string]string, error) {
	f := c.form
	body, err := s.template(c)
	if err != nil {
		return nil, nil, err
	}
	given := map[string]string{}
	for i := 1; f["Parameters.member."+strconv.Itoa(i)+".ParameterKey"] != ""; i++ {
		p := "Parameters.member." + strconv.Itoa(i)
		key := f[p+".ParameterKey"]
		given[key] = f[p+".ParameterValue"]
		if f[p+".UsePreviousValue"] != "true" {
			continue
		}
		if st == nil || st.template.Parameters[key].Name == "" {
			return nil, nil, invalid("Invalid input for parameter key %s. Cannot specify usePreviousValue as true for a "+
				"parameter key not in the previous template", key)
		}
		given[key] = st.parameters[key]
	}
	if f["Capabilities.member.1"] != "CAPABILITY_IAM" && f["Capabilities.member.1"] != "CAPABILITY_NAMED_IAM" {
		return nil, nil, &apiError{http.StatusBadRequest, "InsufficientCapabilitiesException",
			"Requires capabilities : [CAPABILITY_IAM]"}
	}
	if role := f["RoleARN"]; role != "" {
		if err := s.may(c.key, "iam:PassRole", role, "iam:PassedToService", "cloudformation.amazonaws.com"); err != nil {
			return nil, nil, err
		}
		if s.roles[role] == nil {
			return nil, nil, invalid("Role %s is invalid or cannot be assumed", role)
		}
	}
	return body, given, nil
}

func (s *Server) createStack(c call) (any, error) {
	f := c.form
	if old := s.lookup(f["StackName"]); old != nil {
		return nil, &apiError{http.StatusBadRequest, "AlreadyExistsException",
			"Stack [" + f["StackName"] + "] already exists"}
	}
	body, given, err := s.prepare(c, nil)
	if err != nil {
		return nil, err
	}
	st, err := s.newStack(f["StackName"], body, given, f["RoleARN"], nil)
	if err != nil {
		return nil, err
	}
	st.protected = f["EnableTerminationProtection"] == "true"
	st.status = "CREATE_IN_PROGRESS"
	s.stacks = append(s.stacks, st)
	s.background(func() { s.create(st) })
	return tree{"StackId": st.id}, nil
}

// background runs an operation with the lock held.
func (s *Server) background(operation func()) {
	s.done.Go(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		operation()
	})
}

var updatable = []string{"CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"}

func (s *Server) updateStack(c call, st *stack) (any, error) {
	if !slices.Contains(updatable, st.status) {
		return nil, invalid("Stack:%s is in %s state and can not be updated.", st.id, st.status)
	}
	body, given, err := s.prepare(c, st)
	if err != nil {
		return nil, err
	}
	to, err := s.target(body, given)
	if err != nil {
		return nil, err
	}
	if string(body) == string(st.body) && reflect.DeepEqual(to.parameters, st.parameters) {
		return nil, invalid("No updates are to be performed.")
	}
	st.status = "UPDATE_IN_PROGRESS"
	s.background(func() { s.update(st, to) })
	return tree{"StackId": st.id}, nil
}

func (s *Server) deleteStack(st *stack) (any, error) {
	if st.protected {
		return nil, invalid("Stack [%s] cannot be deleted while TerminationProtection is enabled", st.name)
	}
	if st.parent != nil {
		return nil, invalid("the fake deletes nested stacks with their parent only")
	}
	st.status = "DELETE_IN_PROGRESS"
	s.background(func() {
		st.self("DELETE_IN_PROGRESS", "User Initiated")
		if err := s.removeAll(st, false); err != nil {
			st.self("DELETE_FAILED", err.Error())
			return
		}
		st.self("DELETE_COMPLETE", "")
	})
	return tree{}, nil
}

func (s *Server) validate(c call) (any, error) {
	body, err := s.template(c)
	if err != nil {
		return nil, err
	}
	t, err := cfn.Parse(body)
	if err != nil {
		return nil, invalid("%v", err)
	}
	parameters := []any{}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		parameters = append(parameters, tree{"ParameterKey": name, "NoEcho": "false"})
	}
	return tree{"Description": t.Description, "Parameters": parameters}, nil
}

func (s *Server) serveChangeSet(c call, st *stack) (any, error) {
	name := c.form["ChangeSetName"]
	cs := st.changeSets[name]
	if c.action == "CreateChangeSet" {
		body, given, err := s.prepare(c, st)
		if err != nil {
			return nil, err
		}
		to, err := s.target(body, given)
		if err != nil {
			return nil, err
		}
		changes, err := s.plan(st, to)
		if err != nil {
			return nil, err
		}
		cs = &changeSet{name: name, id: st.id + "/" + name, status: "CREATE_COMPLETE", to: to, changes: changes}
		if len(changes) == 0 {
			cs.status, cs.reason = "FAILED",
				"The submitted information didn't contain changes. Submit different information to create a change set."
		}
		st.changeSets[name] = cs
		return tree{"Id": cs.id, "StackId": st.id}, nil
	}
	if cs == nil {
		return nil, &apiError{http.StatusNotFound, "ChangeSetNotFound", "ChangeSet [" + name + "] does not exist"}
	}
	switch c.action {
	case "DescribeChangeSet":
		changes := []any{}
		for _, ch := range cs.changes {
			changes = append(changes, ch)
		}
		return tree{"ChangeSetName": cs.name, "ChangeSetId": cs.id, "StackName": st.name, "Status": cs.status,
			"StatusReason": cs.reason, "Changes": changes}, nil
	case "ExecuteChangeSet":
		if cs.status != "CREATE_COMPLETE" || !slices.Contains(updatable, st.status) {
			return nil, invalid("ChangeSet [%s] cannot be executed", cs.id)
		}
		st.status = "UPDATE_IN_PROGRESS"
		s.background(func() { s.update(st, cs.to) })
	}
	delete(st.changeSets, name)
	return tree{}, nil
}

func describe(st *stack) tree {
	parameters, outputs := []any{}, []any{}
	for _, k := range slices.Sorted(maps.Keys(st.parameters)) {
		v := st.parameters[k]
		if st.template.Parameters[k].NoEcho {
			v = "****"
		}
		parameters = append(parameters, tree{"ParameterKey": k, "ParameterValue": v})
	}
	for _, k := range slices.Sorted(maps.Keys(st.outputs)) {
		outputs = append(outputs, tree{"OutputKey": k, "OutputValue": st.outputs[k]})
	}
	return tree{"StackName": st.name, "StackId": st.id, "StackStatus": st.status, "StackStatusReason": st.reason,
		"CreationTime": stamp(), "Parameters": parameters, "Outputs": outputs, "RoleARN": st.role}
}

func described(st *stack, m *made) tree {
	return tree{"StackName": st.name, "LogicalResourceId": m.logical, "PhysicalResourceId": m.id, "ResourceType": m.kind,
		"ResourceStatus": m.status, "ResourceStatusReason": m.reason, "Timestamp": stamp(), "LastUpdatedTimestamp": stamp()}
}

// history lists events, the newest first.
func history(st *stack) []any {
	out := []any{}
	for i, e := range slices.Backward(st.events) {
		out = append(out, tree{"EventId": strconv.Itoa(i), "StackId": st.id, "StackName": st.name, "Timestamp": e.at,
			"LogicalResourceId": e.logical, "PhysicalResourceId": e.physical, "ResourceType": e.kind, "ResourceStatus": e.status,
			"ResourceStatusReason": e.reason})
	}
	return out
}
