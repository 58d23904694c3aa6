package fakeaws

import (
	"reflect"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/cfn"
	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/spec"
)

// target is what an update makes of a stack.
type target struct {
	body       []byte
	template   *cfn.Template
	parameters map[string]string
}

func (s *Server) target(body []byte, given map[string]string) (target, error) {
	t, err := cfn.Parse(body)
	if err != nil {
		return target{}, invalid("%v", err)
	}
	values, err := t.Resolve(given, s.exists)
	if err != nil {
		return target{}, invalid("%v", err)
	}
	return target{body, t, values}, nil
}

// update brings a stack to its target; what fails is brought back. Callers hold the lock.
func (s *Server) update(st *stack, to target) bool {
	before := target{st.body, st.template, st.parameters}
	st.self("UPDATE_IN_PROGRESS", "User Initiated")
	cleanup, err := s.apply(st, to)
	if err == nil {
		st.self("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "")
		s.clean(st, cleanup, false)
		st.self("UPDATE_COMPLETE", "")
		return true
	}
	st.self("UPDATE_ROLLBACK_IN_PROGRESS", err.Error())
	cleanup, err = s.apply(st, before)
	if err != nil {
		st.self("UPDATE_ROLLBACK_FAILED", err.Error())
		return false
	}
	st.self("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS", "")
	s.clean(st, cleanup, true)
	st.self("UPDATE_ROLLBACK_COMPLETE", "")
	return false
}

// apply makes what is missing and changes what differs, and returns what is left over.
func (s *Server) apply(st *stack, to target) (cleanup []*made, err error) {
	st.body, st.template, st.parameters = to.body, to.template, to.parameters
	order, err := to.template.Order(s.backward)
	if err != nil {
		return nil, err
	}
	e := s.env(st, to.template, to.parameters)
	wanted := map[string]bool{}
	for _, name := range order {
		r := to.template.Resources[name]
		yes, err := e.Active(r.Condition)
		if err != nil {
			return nil, err
		}
		if !yes {
			continue
		}
		wanted[name] = true
		old := st.resources[name]
		if old == nil || old.id == "" {
			st.order = slices.DeleteFunc(st.order, func(n string) bool { return n == name })
			if err := s.makeOne(st, e, r); err != nil {
				return nil, err
			}
			continue
		}
		replaced, err := s.change(st, e, r, old)
		if err != nil {
			st.note(old, "UPDATE_FAILED", err.Error())
			return nil, worded("The following resource(s) failed to update: [%s]", name)
		}
		if replaced != nil {
			cleanup = append(cleanup, replaced)
		}
	}
	for _, name := range slices.Backward(st.order) {
		if !wanted[name] {
			cleanup = append(cleanup, st.resources[name])
			delete(st.resources, name)
		}
	}
	st.order = slices.DeleteFunc(st.order, func(n string) bool { return !wanted[n] })
	return cleanup, s.setOutputs(st)
}

// change brings one resource to its new properties: not at all, in place, or by another one that takes its part; the
// former is returned then.
func (s *Server) change(st *stack, e *cfn.Env, r *cfn.Resource, old *made) (*made, error) {
	properties, err := s.evaluate(e, r)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(properties, old.properties) {
		return nil, nil
	}
	if replaces(r.Type, old.properties, properties) {
		if name := customName(r.Type, properties); name != "" && name == old.id {
			return nil, worded("CloudFormation cannot update a stack when a custom-named resource requires replacing. "+
				"Rename %s and update the stack again.", name)
		}
		former := *old
		st.note(old, "UPDATE_IN_PROGRESS",
			"Requested update requires the creation of a new physical resource; hence creating one.")
		old.id = ""
		if err := s.bring(st, e, r, old); err != nil {
			old.id, old.properties = former.id, former.properties
			return nil, err
		}
		if r.CreationPolicy != nil {
			if err := s.await(st, e, r, nil); err != nil {
				return nil, err
			}
		}
		st.note(old, "UPDATE_COMPLETE", "")
		return &former, nil
	}
	st.note(old, "UPDATE_IN_PROGRESS", "")
	if r.Type == stackType {
		return nil, s.changeNested(st, old, properties)
	}
	if err := s.permitted(st, r.Type, "update", old.id, properties); err != nil {
		return nil, err
	}
	old.properties = properties
	s.objects[old.id].Props = properties
	if err := s.altered(st, e, r, s.objects[old.id]); err != nil {
		return nil, err
	}
	st.note(old, "UPDATE_COMPLETE", "")
	return nil, nil
}

func (s *Server) changeNested(st *stack, m *made, properties map[string]any) error {
	child := s.lookup(m.id)
	m.properties = properties
	body, err := s.nestedBody(st, m)
	if err != nil {
		return err
	}
	given := map[string]string{}
	for k, v := range asMap(properties["Parameters"]) {
		given[k] = text(v)
	}
	to, err := s.target(body, given)
	if err != nil {
		return err
	}
	if err := s.permitted(st, stackType, "update", m.id, nil); err != nil {
		return err
	}
	if !s.update(child, to) {
		return worded("Embedded stack %s was not successfully updated: %s", child.id, firstFailure(child))
	}
	st.note(m, "UPDATE_COMPLETE", "")
	return nil
}

// replaces tells whether the difference asks for another resource.
func replaces(kind string, before, after map[string]any) bool {
	t, err := spec.Lookup(kind)
	if err != nil {
		return false
	}
	for _, k := range differences(before, after) {
		if t.Replaces(k) {
			return true
		}
	}
	return false
}

func differences(before, after map[string]any) []string {
	var out []string
	for k := range before {
		if !reflect.DeepEqual(before[k], after[k]) {
			out = append(out, k)
		}
	}
	for k := range after {
		if _, there := before[k]; !there {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// clean deletes what an update left over. A failure is noted and does not fail the update, as at AWS.
func (s *Server) clean(st *stack, left []*made, rollback bool) {
	for _, m := range left {
		if m.retained(rollback) || m.id == "" {
			continue
		}
		st.note(m, "DELETE_IN_PROGRESS", "")
		if err := s.remove(st, m, false); err != nil {
			st.note(m, "DELETE_FAILED", err.Error())
			continue
		}
		st.events = append(st.events, event{stamp(), m.logical, m.id, m.kind, "DELETE_COMPLETE", ""})
	}
}

// changeSet is what an update would do.
type changeSet struct {
	name, id, status, reason string
	to                       target
	changes                  []tree
}

// plan compares a stack with its target without changing anything. What depends on a resource that would be made anew
// cannot be known; it is compared as if the resource stayed.
func (s *Server) plan(st *stack, to target) ([]tree, error) {
	e := s.env(st, to.template, to.parameters)
	var out []tree
	add := func(action, name, kind, id, replacement string) {
		out = append(out, tree{"Type": "Resource",
			"ResourceChange": tree{"Action": action, "LogicalResourceId": name, "ResourceType": kind,
				"PhysicalResourceId": id, "Replacement": replacement}})
	}
	for _, name := range to.template.Names() {
		r := to.template.Resources[name]
		yes, err := e.Active(r.Condition)
		if err != nil {
			return nil, err
		}
		m := st.resources[name]
		switch {
		case yes && m == nil:
			add("Add", name, r.Type, "", "")
		case yes:
			after, err := s.evaluate(e, r)
			if err != nil {
				return nil, err
			}
			if !reflect.DeepEqual(after, m.properties) {
				add("Modify", name, r.Type, m.id,
					map[bool]string{true: "True", false: "False"}[replaces(r.Type, m.properties, after)])
			}
		case m != nil:
			add("Remove", name, r.Type, m.id, "")
		}
	}
	for name, m := range st.resources {
		if to.template.Resources[name] == nil {
			add("Remove", name, m.kind, m.id, "")
		}
	}
	return out, nil
}
