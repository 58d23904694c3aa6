// Package oci keeps plug-ins in a registry of containers, as an artifact each, beside whatever else a team has there.
//
// The plug-in OWNER/NAME@VERSION of a registry oci://HOST/PATH is HOST/PATH/OWNER/NAME:VERSION: a manifest of the type
// [ArtifactType] (OCI image specification 1.1, "Guidelines for Artifact Usage"), with the package as one layer, and its
// minisign signature, if there is one, as another. The digest of the layer is that of the package.
//
// A registry gives no promise that a tag keeps its meaning, and nothing to write a tag only where there is none. So it
// is no repo.Store: a repository takes packages from it ([repo.Upstream]), and pins what it took.
//
// Its duties:
//
//  1. [Open] and [Split] read addresses.
//  2. [Registry.Fetch] trusts nothing of what a registry says: sizes are bounded, digests verified, and packages read
//     as foreign bytes.
//  3. [Registry.Publish] never changes what a version means, as far as a registry allows that.
//
// Docker's configuration says who may read or write a registry ($DOCKER_CONFIG or ~/.docker/config.json, its
// helpers too), where `docker login` and its like write it; a password goes to its own host only.
package oci
