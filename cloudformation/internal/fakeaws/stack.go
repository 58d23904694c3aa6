package fakeaws

import (
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/cfn"
)

// stack is a stack and its history.
type stack struct {
	name, id   string
	parent     *stack
	root       *stack
	body       []byte
	template   *cfn.Template
	parameters map[string]string
	role       string
	protected  bool
	status     string
	reason     string
	resources  map[string]*made
	order      []string // names in the order in which they were made
	outputs    map[string]string
	events     []event
	signals    map[string]map[string]bool // logical id → unique id → success
	changeSets map[string]*changeSet
}

// made is a resource of a stack.
type made struct {
	logical, kind, id string
	status, reason    string
	properties        map[string]any
	policy            string // DeletionPolicy
}

type event struct {
	at, logical, physical, kind, status, reason string
}

// note records what became of a resource, or of the stack itself. Callers hold the lock.
func (st *stack) note(m *made, status, reason string) {
	m.status, m.reason = status, reason
	if m.kind == stackType && m.logical == st.name {
		st.status, st.reason = status, reason
	}
	st.events = append(st.events, event{stamp(), m.logical, m.id, m.kind, status, reason})
}

func (st *stack) self(status, reason string) {
	st.note(&made{logical: st.name, kind: stackType, id: st.id}, status, reason)
}

const stackType = "AWS::CloudFormation::Stack"

// newStack reads and checks what a stack is made of. Callers hold the lock.
func (s *Server) newStack(name string, body []byte, given map[string]string, role string,
	parent *stack) (*stack, error) {
	t, err := cfn.Parse(body)
	if err != nil {
		return nil, invalid("%v", err)
	}
	values, err := t.Resolve(given, s.exists)
	if err != nil {
		return nil, invalid("%v", err)
	}
	st := &stack{name: name, id: fmt.Sprintf("arn:aws:cloudformation:%s:%s:stack/%s/%s", Region, Account, name,
		s.next(12)), parent: parent, body: body,
		template: t, parameters: values, role: role, resources: map[string]*made{}, outputs: map[string]string{},
		signals: map[string]map[string]bool{}, changeSets: map[string]*changeSet{}}
	st.root = st
	if parent != nil {
		st.root = parent.root
	}
	return st, nil
}

// lookup finds a stack by name or id; a deleted one only by id. Callers hold the lock.
func (s *Server) lookup(name string) *stack {
	for i := len(s.stacks) - 1; i >= 0; i-- {
		st := s.stacks[i]
		if st.id == name || st.name == name && st.status != "DELETE_COMPLETE" {
			return st
		}
	}
	return nil
}

// env is where a stack's template is evaluated.
func (s *Server) env(st *stack, t *cfn.Template, values map[string]string) *cfn.Env {
	return &cfn.Env{Template: t, Parameters: values, Zones: Zones,
		Pseudo: map[string]string{"AWS::Region": Region, "AWS::AccountId": Account, "AWS::Partition": "aws",
			"AWS::URLSuffix": "amazonaws.com", "AWS::StackName": st.name, "AWS::StackId": st.id},
		Ref: func(logical string) (string, error) {
			if m := st.resources[logical]; m != nil && m.id != "" {
				return m.id, nil
			}
			return "", fmt.Errorf("unresolved reference: %s was not made", logical)
		},
		GetAtt: func(logical, attribute string) (any, error) {
			m := st.resources[logical]
			if m == nil {
				return nil, fmt.Errorf("unresolved reference: %s was not made", logical)
			}
			if m.kind == stackType {
				v, ok := s.lookup(m.id).outputs[strings.TrimPrefix(attribute, "Outputs.")]
				if !ok {
					return nil, worded("Output '%s' not found in stack %s", attribute, m.id)
				}
				return v, nil
			}
			if o := s.objects[m.id]; o != nil && o.Attrs[attribute] != nil {
				return o.Attrs[attribute], nil
			}
			return nil, fmt.Errorf("%s.%s has no value", logical, attribute)
		},
		Secret: func(id, key string) (string, error) { return s.secretField(st, id, key) },
	}
}

// setOutputs evaluates the outputs of a stack that is complete.
func (s *Server) setOutputs(st *stack) error {
	e := s.env(st, st.template, st.parameters)
	st.outputs = map[string]string{}
	for name, o := range st.template.Outputs {
		yes, err := e.Active(o.Condition)
		if err != nil {
			return err
		}
		if !yes {
			continue
		}
		v, err := e.Eval(o.Value)
		if err != nil {
			return fmt.Errorf("output %s: %w", name, err)
		}
		st.outputs[name] = text(v)
	}
	return nil
}
