package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// maxBody bounds a request's body: definitions and patches are smaller.
const maxBody = 1 << 20

// Server is the API. It is an http.Handler.
type Server struct {
	Deps
	log     *slog.Logger
	api     huma.API
	mux     *mux
	guard   *guard
	hub     *hub
	answers *answers
	// previews are those that were asked for of late.
	previews *previews
	safe     safe
	secret   []byte // of cursors
	handler  http.Handler
	// patience is how long a reader of a stream may take for a write.
	patience time.Duration
	now      func() time.Time
}

// New makes the API. Its stream of events ends with ctx.
func New(ctx context.Context, d Deps) (*Server, error) {
	s := &Server{Deps: d, log: d.Log, mux: newMux(), now: time.Now, patience: writeTime}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.Vault == nil {
		s.Vault = NewMemory()
	}
	var err error
	s.safe = safe{s.Vault}
	if s.secret, err = secretOf(ctx, s.safe); err != nil {
		return nil, err
	}
	s.guard, s.answers = newGuard(s), newAnswers(s)
	s.hub, s.previews = newHub(ctx, s), newPreviews(ctx, s)
	s.api = humago.New(s.mux, config())
	s.api.UseMiddleware(s.checkRole, s.once, timed)
	s.routes()
	s.handler = s.prefixed(s.wrap(s.sorted(d.Studio)))
	if d.Workflows != nil {
		if err := s.hub.begin(); err != nil {
			return nil, err
		}
		go s.hub.run()
	}
	return s, nil
}

// routes registers all operations.
func (s *Server) routes() {
	s.sessionRoutes()
	s.peopleRoutes()
	s.oidcRoutes()
	s.quotaRoutes()
	s.workflowRoutes()
	s.versionRoutes()
	s.executionRoutes()
	s.crawlRoutes()
	s.changeRoutes()
	s.taskRoutes()
	s.recordRoutes()
	s.compareRoutes()
	s.fileRoutes()
	s.systemRoutes()
	s.eventRoutes()
	s.applyRoutes()
	s.dryRunRoutes()
	s.previewRoutes()
	s.pluginRoutes()
	s.renderingRoutes()
	s.freshnessRoutes()
	s.scheduleRoutes()
	s.alertRoutes()
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// OpenAPI returns the description of all operations as YAML.
func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI().YAML() }

// config is Huma's, without what would answer more than was asked for: no links to schemas, no pages of documentation
// from other origins, no formats but JSON.
func config() huma.Config {
	c := huma.DefaultConfig("Whirlpool", crawl.Version)
	c.Info.Description = "Workflows and executions of the Whirlpool crawler. docs/api.md says how to use it."
	c.CreateHooks, c.DocsPath, c.SchemasPath, c.OpenAPIPath = nil, "", "", "/api/openapi"
	c.RejectUnknownQueryParameters = true
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", nameOf)
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"session": {Type: "apiKey", In: "cookie", Name: "whirlpool",
			Description: "made by POST /api/v1/session; its name ends in the port"},
		"key": {Type: "http", Scheme: "bearer", Description: "an API key: wpk_…"},
	}
	return c
}

// secretOf is the key of cursors. It is kept, so that they hold over a restart.
func secretOf(ctx context.Context, v safe) ([]byte, error) {
	const section, key = "api", "cursors"
	kept, err := v.get(ctx, section, key, time.Time{})
	if err != nil || kept != nil {
		return kept, err
	}
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // it never fails
	return fresh, v.put(ctx, section, key, fresh, time.Time{})
}

type ctxKey int

const (
	keyRequestID ctxKey = iota
	keyURL
	keyIdentity
	keyConnection
	keyWho       // *Identity, for the audit log
	keyOperation // *string, for the audit log
	keyEntry     // *workflow.Audit of a request that changes something
)

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(keyRequestID).(string)
	return id
}

// newRequestID is the id that a client gave, where it is short and plain; else a new one.
func newRequestID(given string) string {
	if len(given) >= 8 && len(given) <= 64 && plainID(given) {
		return given
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

func plainID(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Describe returns the description of all operations as YAML, without a server.
func Describe() ([]byte, error) {
	s, err := New(context.Background(), Deps{})
	if err != nil {
		return nil, err
	}
	return s.OpenAPI()
}
