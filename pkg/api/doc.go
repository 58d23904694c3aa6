// Package api is what other programs and the studio use: HTTP under /api/v1, described by OpenAPI 3.1, and one
// stream of events.
//
// Its duties, in order:
//
//  1. Let nobody in who may not: every operation declares a role, and a request is asked for its host, its origin and
//     its session or key before anything of it is read.
//  2. Cost little, whatever the client does: bodies, lists, times and buffers are bounded, and a reader that does not
//     read is
//     dropped.
//  3. Say what is wrong and what to do: every error is a problem (RFC 9457) with a detail for people.
//  4. Make it safe to ask twice: ETags, idempotency keys, and actions that state a wish.
//
// A handler decodes, makes one call of workflow.Service, explore.Reader or Crawls, and encodes. The types of bodies are
// those of these packages. api/openapi.yaml is written by `go generate ./pkg/api` and compared by a test.
package api

//go:generate go run ./openapi ../../api/openapi.yaml
