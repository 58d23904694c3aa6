package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

const (
	// maxUpload bounds the body that pushes a plug-in: base64 of the largest package, which has a header of 512 octets and
	// as much padding for each file, and the words around it.
	maxUpload  = (repo.MaxPackage+1<<20)/3*4 + 64<<10
	uploadTime = 5 * time.Minute
	uploadPath = base + "/plugins"
)

// ErrNoRepository says that a server has no plug-ins but those that come with the program.
var ErrNoRepository = errors.New("this server has no repository of plug-ins")

// NewPlugin is a plug-in that is pushed: its package, or where a registry has it.
type NewPlugin struct {
	Package   []byte `json:"package,omitempty" doc:"the bytes of the package that whirlpool plugin build makes, in base64"`
	Signature string `json:"signature,omitempty" maxLength:"2000" doc:"minisign signature of the package: the text of its file"`
	Source    string `json:"source,omitempty" maxLength:"1000" doc:"instead of both: oci://HOST/PATH/OWNER/NAME:VERSION of a registry of containers"`
}

// Disabling says why a plug-in must not be used.
type Disabling struct {
	Why string `json:"why,omitempty" maxLength:"500" doc:"for those who see it fail"`
}

func (s *Server) pluginChanges() {
	add(s, route{method: http.MethodPost, path: "/plugins", id: "pushPlugin", role: Operator, status: http.StatusCreated,
		upload: true, text: "Put a plug-in into the repository. A version never changes; the same again changes nothing. " +
			"Its tests do not run here"}, s.pushPlugin)
	add(s, route{method: http.MethodPost, path: "/plugins/{owner}/{name}/{version}:approve", id: "approvePlugin",
		role: Admin, text: "Say that crawls may use a plug-in"}, s.approvePlugin)
	add(s, route{method: http.MethodPost, path: "/plugins/{owner}/{name}/{version}:disable", id: "disablePlugin",
		role: Admin, text: "Say that a plug-in must not be used any more: running crawls notice it within ten seconds"},
		s.disablePlugin)
}

func (s *Server) pushPlugin(ctx context.Context, in *struct{ Body NewPlugin }) (*body[Plugin], error) {
	if in.Body.Source != "" {
		return s.takePlugin(ctx, &in.Body)
	}
	p, err := repo.Read(in.Body.Package)
	if err != nil {
		return nil, wrongSetting("body.package", err.Error())
	}
	noteChange(ctx, map[string]any{"use": p.Descriptor.Use(), "digest": p.Digest, "signed": in.Body.Signature != ""})
	return s.changePlugin(ctx, p.Descriptor.Use(), func(d *repo.Repository) error {
		err := d.Push(ctx, p, []byte(in.Body.Signature))
		if errors.Is(err, repo.ErrSignature) {
			return wrongSetting("body.signature", err.Error())
		}
		return err
	})
}

// takePlugin pushes what a registry has.
func (s *Server) takePlugin(ctx context.Context, in *NewPlugin) (*body[Plugin], error) {
	switch {
	case len(in.Package) > 0 || in.Signature != "":
		return nil, wrongSetting("body.source", "there is a package or a signature, too: want one of the two")
	case s.Plugins == nil:
		return nil, problem(ctx, http.StatusNotFound, "this server knows no plug-ins")
	}
	from, use, err := s.Plugins.Registry(in.Source)
	if err != nil {
		return nil, wrongSetting("body.source", err.Error())
	}
	f, err := repo.Fetch(ctx, from, use)
	if err != nil {
		return nil, wrongSetting("body.source", err.Error())
	}
	noteChange(ctx, map[string]any{"use": use, "digest": f.Digest, "signed": len(f.Signature) > 0, "source": in.Source})
	return s.changePlugin(ctx, use, func(d *repo.Repository) error {
		err := d.Keep(ctx, f)
		if errors.Is(err, repo.ErrSignature) {
			return wrongSetting("body.source", err.Error())
		}
		return err
	})
}

func (s *Server) approvePlugin(ctx context.Context, in *PluginPath) (*body[Plugin], error) {
	return s.changePlugin(ctx, in.use(), func(d *repo.Repository) error {
		digest, err := d.Digest(ctx, in.use())
		if err != nil {
			return err
		}
		return d.Approve(ctx, digest, identityOf(ctx).Actor)
	})
}

func (s *Server) disablePlugin(ctx context.Context, in *struct {
	PluginPath
	Body Disabling
}) (*body[Plugin], error) {
	return s.changePlugin(ctx, in.use(), func(d *repo.Repository) error {
		digest, err := d.Digest(ctx, in.use())
		if err != nil {
			return err
		}
		return d.Disable(ctx, digest, identityOf(ctx).Actor, in.Body.Why)
	})
}

// changePlugin changes the repository, and tells what there is afterwards.
func (s *Server) changePlugin(ctx context.Context, use string, do func(*repo.Repository) error) (*body[Plugin], error) {
	if s.Plugins == nil {
		return nil, problem(ctx, http.StatusNotFound, "this server knows no plug-ins")
	}
	if strings.HasPrefix(use, builtin.Owner+"/") {
		return nil, problem(ctx, http.StatusConflict, use+" comes with the program: it can be neither approved nor disabled")
	}
	var item repo.Item
	err := s.Plugins.Change(ctx, func(d *repo.Repository) error {
		err := do(d)
		if err == nil {
			item, err = d.Show(ctx, use)
		}
		return err
	})
	switch {
	case errors.Is(err, repo.ErrTaken), errors.Is(err, ErrNoRepository):
		return nil, problem(ctx, http.StatusConflict, err.Error())
	case errors.Is(err, repo.ErrUnknown):
		return nil, problem(ctx, http.StatusNotFound, "there is no plug-in "+use+": GET /plugins lists what there is")
	case errors.Is(err, repo.ErrUnavailable):
		s.log.Error("the repository of plug-ins cannot be asked", "error", err)
		return nil, problem(ctx, http.StatusServiceUnavailable,
			"the repository of plug-ins cannot be asked now: try it again")
	case err != nil:
		return nil, err
	}
	return &body[Plugin]{pluginOf(&item)}, nil
}

// noteChange tells the audit log what a request changes, where its body says nothing to people.
func noteChange(ctx context.Context, change any) {
	a, _ := ctx.Value(keyEntry).(*workflow.Audit)
	text, err := json.Marshal(change)
	if a != nil && err == nil {
		a.Change = text
	}
}

// isUpload reports whether a request's body may be larger than those of others, and is not kept.
func isUpload(r *http.Request) bool { return r.URL.Path == uploadPath && r.Method == http.MethodPost }
