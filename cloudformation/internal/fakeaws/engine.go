package fakeaws

import (
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/cfn"
	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/spec"
)

// create makes a stack's resources, each after those it needs; what fails is rolled back. It reports whether it
// succeeded. Callers hold the lock, which is released while signals are awaited.
func (s *Server) create(st *stack) bool {
	st.self("CREATE_IN_PROGRESS", "User Initiated")
	err := s.makeAll(st)
	if err == nil {
		err = s.setOutputs(st)
	}
	if err == nil {
		st.self("CREATE_COMPLETE", "")
		return true
	}
	st.self("ROLLBACK_IN_PROGRESS", err.Error())
	if err := s.removeAll(st, true); err != nil {
		st.self("ROLLBACK_FAILED", err.Error())
		return false
	}
	st.self("ROLLBACK_COMPLETE", "")
	return false
}

func (s *Server) makeAll(st *stack) error {
	order, err := st.template.Order(s.backward)
	if err != nil {
		return err
	}
	e := s.env(st, st.template, st.parameters)
	for _, name := range order {
		r := st.template.Resources[name]
		yes, err := e.Active(r.Condition)
		if err != nil {
			return err
		}
		if !yes {
			continue
		}
		if err := s.makeOne(st, e, r); err != nil {
			return err
		}
	}
	return nil
}

// makeOne makes one resource, and waits for the signals that its creation policy wants.
func (s *Server) makeOne(st *stack, e *cfn.Env, r *cfn.Resource) error {
	m := &made{logical: r.Name, kind: r.Type, policy: r.DeletionPolicy}
	st.resources[r.Name] = m
	st.order = append(st.order, r.Name)
	st.note(m, "CREATE_IN_PROGRESS", "")
	err := s.bring(st, e, r, m)
	if err == nil && r.CreationPolicy != nil {
		err = s.await(st, e, r, nil)
	}
	if err != nil {
		st.note(m, "CREATE_FAILED", err.Error())
		return worded("The following resource(s) failed to create: [%s]", r.Name)
	}
	st.note(m, "CREATE_COMPLETE", "")
	s.changed.Broadcast()
	return nil
}

// bring evaluates a resource, checks it, and makes it.
func (s *Server) bring(st *stack, e *cfn.Env, r *cfn.Resource, m *made) error {
	properties, err := s.evaluate(e, r)
	if err != nil {
		return err
	}
	m.properties = properties
	if r.Type == stackType {
		return s.createNested(st, m)
	}
	id := s.name(st, r, properties)
	if err := s.permitted(st, r.Type, "create", id, properties); err != nil {
		return err
	}
	o := &Object{Type: r.Type, ID: id, Logical: r.Name, Stack: st.name, Props: properties, Attrs: map[string]any{}}
	if err := s.build(o); err != nil {
		return err
	}
	if s.objects[o.ID] != nil {
		return fmt.Errorf("AlreadyExists: %s", o.ID)
	}
	s.objects[o.ID] = o
	m.id = o.ID
	return s.start(st, r.Name, o)
}

// evaluate gives a resource's properties as AWS would take them, or what is wrong with them.
func (s *Server) evaluate(e *cfn.Env, r *cfn.Resource) (map[string]any, error) {
	properties, err := e.Properties(r.Properties)
	if err != nil {
		return nil, err
	}
	if properties == nil {
		properties = map[string]any{}
	}
	t, err := spec.Lookup(r.Type)
	if err != nil {
		return nil, err
	}
	properties, err = t.Check(properties)
	if err != nil {
		return nil, worded("Properties validation failed for resource %s: %w", r.Name, err)
	}
	return properties, nil
}

// createNested makes the stack that a resource is.
func (s *Server) createNested(st *stack, m *made) error {
	given := map[string]string{}
	for k, v := range asMap(m.properties["Parameters"]) {
		given[k] = text(v)
	}
	body, err := s.nestedBody(st, m)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%s-%s", st.name, m.logical, s.next(10))
	if err := s.permitted(st, stackType, "create", "arn:aws:cloudformation:"+Region+":"+Account+":stack/"+name+"/1",
		nil); err != nil {
		return err
	}
	child, err := s.newStack(name, body, given, st.role, st)
	if err != nil {
		return err
	}
	s.stacks = append(s.stacks, child)
	m.id = child.id
	if !s.create(child) {
		return worded("Embedded stack %s was not successfully created: %s", child.id, firstFailure(child))
	}
	return nil
}

// nestedBody fetches the template of a nested stack as the service role.
func (s *Server) nestedBody(st *stack, m *made) ([]byte, error) {
	bucket, key, body, err := s.object(text(m.properties["TemplateURL"]))
	if err != nil {
		return nil, err
	}
	return body, s.roleMay(st, "s3:GetObject", "arn:aws:s3:::"+bucket+"/"+key)
}

func firstFailure(st *stack) string {
	for _, e := range st.events {
		if e.status == "CREATE_FAILED" || e.status == "UPDATE_FAILED" {
			return e.logical + ": " + e.reason
		}
	}
	return st.reason
}

// removeAll deletes a stack's resources in the reverse of the order they were made, but for those that their policy
// retains.
func (s *Server) removeAll(st *stack, rollback bool) error {
	for _, name := range slices.Backward(st.order) {
		m := st.resources[name]
		if m == nil || m.id == "" || m.status == "DELETE_COMPLETE" {
			continue
		}
		if m.retained(rollback) {
			st.note(m, "DELETE_SKIPPED", "")
			continue
		}
		st.note(m, "DELETE_IN_PROGRESS", "")
		if err := s.remove(st, m, rollback); err != nil {
			st.note(m, "DELETE_FAILED", err.Error())
			return worded("The following resource(s) failed to delete: [%s]", name)
		}
		st.note(m, "DELETE_COMPLETE", "")
	}
	return nil
}

// retained reports whether the resource outlives its deletion. RetainExceptOnCreate is for what a failed operation has
// just made, which goes; what has the policy Retain stays even then.
func (m *made) retained(rollback bool) bool {
	return m.policy == "Retain" || m.policy == "RetainExceptOnCreate" && !rollback
}

func (s *Server) remove(st *stack, m *made, rollback bool) error {
	if err := s.permitted(st, m.kind, "delete", m.id, m.properties); err != nil {
		return err
	}
	if m.kind != stackType {
		if m.policy == "Snapshot" && !rollback {
			id := "snapshot-of-" + m.id
			s.objects[id] = &Object{Type: "snapshot", ID: id, Stack: st.name, Logical: m.logical,
				Props: map[string]any{"of": m.id}}
		}
		return s.destroy(m.id)
	}
	child := s.lookup(m.id)
	child.self("DELETE_IN_PROGRESS", "")
	if err := s.removeAll(child, rollback); err != nil {
		child.self("DELETE_FAILED", err.Error())
		return err
	}
	child.self("DELETE_COMPLETE", "")
	return nil
}

func asMap(v any) map[string]any { m, _ := v.(map[string]any); return m }
