package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

// What an artifact consists of.
const (
	ArtifactType  = "application/vnd.whirlpool.plugin.v1"
	packageType   = "application/vnd.whirlpool.plugin.v1.tar"
	signatureType = "application/vnd.whirlpool.plugin.v1.minisig"
)

const (
	maxPackage   = repo.MaxPackage + 1<<20 // what is around the files of a package, too
	maxSignature = 8 << 10
)

// errForeign says that a registry has something else than a plug-in, or one that is broken.
var errForeign = errors.New("it is no plug-in that can be used")

func foreign(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errForeign, fmt.Sprintf(format, args...))
}

// Fetch implements repo.Upstream.
func (r *Registry) Fetch(ctx context.Context, use string) (*repo.Package, []byte, error) {
	name, version, _ := strings.Cut(use, "@")
	at, err := r.of(name)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if r.pin != "" {
		version = r.pin
	}
	had, err := manifestOf(ctx, at, version)
	if err != nil {
		return nil, nil, r.fault(use, err)
	}
	p, signature, err := had.read(ctx, at)
	return p, signature, r.fault(use, err)
}

// manifest is one that was checked.
type manifest struct {
	desc      ocispec.Descriptor // of itself
	pack      ocispec.Descriptor
	signature *ocispec.Descriptor // nil: there is none
}

func manifestOf(ctx context.Context, at *remote.Repository, reference string) (*manifest, error) {
	desc, text, err := oras.FetchBytes(ctx, at, reference, oras.FetchBytesOptions{MaxBytes: maxManifest})
	if err != nil {
		return nil, err
	}
	return check(desc, text)
}

// check reads a manifest. Nothing that it names was fetched yet.
func check(desc ocispec.Descriptor, text []byte) (*manifest, error) {
	if desc.MediaType != ocispec.MediaTypeImageManifest {
		return nil, foreign("it is of the type %q", desc.MediaType)
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, foreign("its manifest is no JSON: %v", err)
	}
	if m.ArtifactType != ArtifactType {
		return nil, foreign("its type is %q, want %q", m.ArtifactType, ArtifactType)
	}
	pack, err := layer(m.Layers, packageType, maxPackage)
	if err != nil {
		return nil, err
	}
	if pack == nil {
		return nil, foreign("it has no layer of the type %s", packageType)
	}
	signature, err := layer(m.Layers, signatureType, maxSignature)
	return &manifest{desc, *pack, signature}, err
}

// layer finds the only layer of a type; nil: there is none.
func layer(all []ocispec.Descriptor, of string, limit int64) (*ocispec.Descriptor, error) {
	var found []ocispec.Descriptor
	for _, l := range all {
		if l.MediaType == of {
			found = append(found, l)
		}
	}
	switch {
	case len(found) == 0:
		return nil, nil
	case len(found) > 1:
		return nil, foreign("it has %d layers of the type %s, want one", len(found), of)
	case found[0].Size < 0 || found[0].Size > limit:
		return nil, foreign("its layer of the type %s has %d bytes, want at most %d", of, found[0].Size, limit)
	case found[0].Digest.Validate() != nil || found[0].Digest.Algorithm() != digest.SHA256:
		return nil, foreign("the digest of its layer of the type %s is %q, want one of sha256", of, found[0].Digest)
	}
	return &found[0], nil
}

// whole reports whether the registry has what the manifest names.
func (m *manifest) whole(ctx context.Context, at *remote.Repository) (bool, error) {
	there, err := at.Blobs().Exists(ctx, m.pack)
	if err == nil && there && m.signature != nil {
		there, err = at.Blobs().Exists(ctx, *m.signature)
	}
	return there, err
}

func (m *manifest) read(ctx context.Context, at *remote.Repository) (*repo.Package, []byte, error) {
	data, err := content.FetchAll(ctx, at.Blobs(), m.pack)
	if err != nil {
		return nil, nil, broken(err)
	}
	p, err := repo.Read(data)
	if err != nil {
		return nil, nil, foreign("%v", err)
	}
	if m.signature == nil {
		return p, nil, nil
	}
	signature, err := content.FetchAll(ctx, at.Blobs(), *m.signature)
	return p, signature, broken(err)
}

// broken says of bytes that are gone, or do not fit their digest or size, that they never will be good.
func broken(err error) error {
	if errors.Is(err, errdef.ErrNotFound) {
		return foreign("the registry has lost a layer of it: publish it again")
	}
	if errors.Is(err, content.ErrMismatchedDigest) || errors.Is(err, content.ErrTrailingData) ||
		errors.Is(err, content.ErrInvalidDescriptorSize) {
		return foreign("%v", err)
	}
	return err
}

// Publish puts a package into the registry, with its minisign signature; empty: none. It returns the address of what
// is there then, pinned. The same again changes nothing, but may add a signature. The error is repo.ErrTaken where the
// version is there with other content; of two that publish one version at a time, a registry keeps the later one.
func (r *Registry) Publish(ctx context.Context, p *repo.Package, signature []byte) (string, error) {
	d := p.Descriptor
	at, err := r.of(d.Name)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	address := strings.TrimSuffix(r.String(), "/") + "/" + d.Name + ":" + d.Version
	had, err := manifestOf(ctx, at, d.Version)
	whole := false
	if err == nil {
		whole, err = had.whole(ctx, at)
	}
	switch err := r.fault(d.Use(), err); {
	case err == nil && string(had.pack.Digest) != p.Digest:
		return "", fmt.Errorf("%w: %s is there already with other content (%s): give it another in plugin.toml",
			repo.ErrTaken, address, had.pack.Digest)
	case err == nil && whole && (len(signature) == 0 || had.signature != nil &&
		had.signature.Digest == digest.FromBytes(signature)):
		return address + "@" + string(had.desc.Digest), nil
	case errors.Is(err, errForeign):
		return "", fmt.Errorf("%s is something else already: %w", address, err)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	desc, err := push(ctx, at, p, signature)
	for again := 0; again < tries && losesBlobs(err); again++ {
		desc, err = push(ctx, at, p, signature)
	}
	return address + "@" + string(desc.Digest), r.fault(d.Use(), err)
}

// losesBlobs says that a registry did not find what it had confirmed. Docker's, with its files on a disk, does so for a
// moment where two write the same blob at a time, and all artifacts have their empty configuration in common.
func losesBlobs(err error) bool {
	var answer *errcode.ErrorResponse
	return errors.As(err, &answer) && slices.ContainsFunc(answer.Errors, func(e errcode.Error) bool {
		return e.Code == errcode.ErrorCodeManifestBlobUnknown || e.Code == errcode.ErrorCodeDigestInvalid ||
			e.Code == errcode.ErrorCodeBlobUnknown
	})
}

type blob struct {
	desc ocispec.Descriptor
	data []byte
}

// push writes the layers and then the manifest: what is cut off is not seen.
func push(ctx context.Context, at *remote.Repository, p *repo.Package, signature []byte) (ocispec.Descriptor, error) {
	d := p.Descriptor
	config := ocispec.DescriptorEmptyJSON
	blobs := []blob{{config, config.Data}, {of(packageType, p.Bytes, p.FileName()), p.Bytes}}
	if len(signature) > 0 {
		blobs = append(blobs, blob{of(signatureType, signature, p.FileName()+".minisig"), signature})
	}
	var layers []ocispec.Descriptor
	for i, b := range blobs {
		there, err := at.Blobs().Exists(ctx, b.desc)
		if err == nil && !there {
			err = at.Blobs().Push(ctx, b.desc, bytes.NewReader(b.data))
		}
		if err != nil {
			return ocispec.Descriptor{}, err
		}
		if i > 0 {
			layers = append(layers, b.desc)
		}
	}
	notes := map[string]string{ocispec.AnnotationTitle: d.Name, ocispec.AnnotationVersion: d.Version,
		ocispec.AnnotationDescription: d.Summary}
	if d.License != "" {
		notes[ocispec.AnnotationLicenses] = d.License
	}
	text, err := json.Marshal(ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: ocispec.MediaTypeImageManifest, ArtifactType: ArtifactType, Config: config, Layers: layers,
		Annotations: notes})
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	desc := content.NewDescriptorFromBytes(ocispec.MediaTypeImageManifest, text)
	return desc, at.Manifests().PushReference(ctx, desc, bytes.NewReader(text), d.Version)
}

func of(mediaType string, data []byte, name string) ocispec.Descriptor {
	desc := content.NewDescriptorFromBytes(mediaType, data)
	desc.Annotations = map[string]string{ocispec.AnnotationTitle: name} // how tools that fetch the layer call the file
	return desc
}
