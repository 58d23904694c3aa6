// Package fakeaws is a small AWS for tests: enough of the CloudFormation, S3, EC2, IAM, Secrets Manager, SSM, STS and
// Auto Scaling APIs for the real `aws` command to make, change and delete the stack of a cluster on loopback.
//
// It walks the templates as AWS does: parameters are checked, references resolved, resources made in the order of their
// dependencies and checked against AWS's schemas, signals awaited, failures rolled back, deletions ordered and refused
// where something is still used. The caller's and the service role's policies decide what each may do. Nothing costs
// time: a machine that will never signal times out at once. It is test support and keeps everything in memory.
package fakeaws

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/policy"
)

// The account and region that the fake plays.
const (
	Account = "123456789012"
	Region  = "eu-central-1"
	// AdminKey is the access key that may do everything; OperatorKey is that of the user Operator, who may do what was
	// granted.
	AdminKey    = "AKIAADMIN"
	OperatorKey = "AKIAOPERATOR"
	Operator    = "operator"
	// Image is the one machine image there is.
	Image = "ami-0123456789abcdef0"
)

// Server is the fake. Its methods are safe for concurrent use.
type Server struct {
	URL string

	http *http.Server
	log  *slog.Logger
	done sync.WaitGroup // stack operations and machines

	mu       sync.Mutex
	changed  *sync.Cond // something happened that an operation or a machine may wait for
	running  int        // machines that are starting and not waiting
	serial   int
	buckets  map[string]map[string][]byte
	objects  map[string]*Object
	stacks   []*stack
	groups   map[string][]string       // of IAM: users
	attached map[string][]string       // group → policies
	policies map[string]*policy.Policy // by ARN
	roles    map[string]*policy.Policy // by ARN: what is in the role itself
	calls    map[string]int            // service:Action → how often, to tell what was used
	backward bool
	boot     func(m *Machine) error // what a machine does at its start
	machines map[string]*Machine    // by instance id
	secrets  map[string]string      // by ARN
}

// New starts a fake on loopback. Boot is what each machine does when it starts; nil: it looks for its way out and
// signals.
func New(boot func(m *Machine) error) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if boot == nil {
		boot = Simulate
	}
	s := &Server{URL: "http://" + listener.Addr().String(), log: slog.New(slog.DiscardHandler), boot: boot,
		buckets: map[string]map[string][]byte{}, objects: map[string]*Object{}, groups: map[string][]string{},
		attached: map[string][]string{}, policies: map[string]*policy.Policy{}, roles: map[string]*policy.Policy{},
		calls: map[string]int{}, machines: map[string]*Machine{}, secrets: map[string]string{}}
	s.changed = sync.NewCond(&s.mu)
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

// Backward makes the fake make what is independent in the opposite order. To be said before the first stack.
func (s *Server) Backward() { s.backward = true }

// Close ends the fake; operations under way are left.
func (s *Server) Close() error { return s.http.Close() }

// Settle waits until no operation is under way.
func (s *Server) Settle() { s.done.Wait() }

// Calls returns which actions were asked for, as in cloudformation:CreateStack.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for c := range s.calls {
		out = append(out, c)
	}
	return out
}

// apiError is an error as AWS answers it.
type apiError struct {
	status int
	code   string
	text   string
}

func (e *apiError) Error() string { return e.code + ": " + e.text }

func invalid(format string, args ...any) error {
	return &apiError{http.StatusBadRequest, "ValidationError", fmt.Sprintf(format, args...)}
}

// call is one request, with who makes it.
type call struct {
	service, action string
	key             string // access key
	form            map[string]string
	body            map[string]any // of the JSON protocols
}

// ServeHTTP takes requests of all services at one address, told apart by what they were signed for.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, ok := scope(r.Header.Get("Authorization"))
	switch {
	case strings.HasPrefix(r.URL.Path, "/machine/"):
		s.metadata(w, r)
	case !ok:
		http.Error(w, "not signed", http.StatusForbidden)
	case c.service == "s3":
		s.serveS3(w, r, c)
	case r.Header.Get("X-Amz-Target") != "":
		s.serveJSON(w, r, c)
	default:
		s.serveQuery(w, r, c)
	}
}

// scope reads access key and service from a signature of version 4: AWS4-HMAC-SHA256
// Credential=KEY/DATE/REGION/SERVICE/aws4_request, … The signature itself is not checked.
func scope(header string) (call, bool) {
	_, rest, ok := strings.Cut(header, "Credential=")
	credential, _, _ := strings.Cut(rest, ",")
	parts := strings.Split(credential, "/")
	if !ok || len(parts) != 5 {
		return call{}, false
	}
	return call{service: parts[3], key: parts[0]}, true
}

// next returns a fresh number in hexadecimal, n digits of it. Callers hold the lock.
func (s *Server) next(n int) string {
	s.serial++
	return fmt.Sprintf("%0*x", n, s.serial+0xabc0)
}

// worded is an error in AWS's own words, capitals and full stops as they are.
func worded(format string, args ...any) error { return fmt.Errorf(format, args...) }
