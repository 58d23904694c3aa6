package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// problemBase is where docs/api.md describes the types of problems.
const problemBase = "https://whirlpool-crawler.org/problems/"

// Huma's errors and ours have one form, and lists are never null: it has package variables for both.
func init() {
	huma.DefaultArrayNullable = false
	// Huma's own words with the key "name" in them read as if something had no name.
	validation.MsgExpectedRequiredProperty = "the key %q is missing"
	validation.MsgUnexpectedProperty = "there is no such key"
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return problem(context.Background(), status, msg, errs...)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		return problem(ctx.Context(), status, msg, errs...)
	}
}

// problem is an error as RFC 9457 has it. Its instance is the id of the request.
func problem(ctx context.Context, status int, detail string, errs ...error) *huma.ErrorModel {
	p := &huma.ErrorModel{Status: status, Title: http.StatusText(status), Detail: detail, Instance: requestID(ctx)}
	p.Type = problemBase + strings.ReplaceAll(strings.ToLower(p.Title), " ", "-")
	for _, err := range errs {
		if err != nil {
			p.Add(err)
		}
	}
	for _, e := range p.Errors {
		e.Value = shortValue(e.Value)
	}
	p.Detail = helpful(status, detail, p.Errors)
	return p
}

// shortValue keeps answers to wrong input short: a megabyte of input is not sent back.
func shortValue(v any) any {
	data, err := json.Marshal(v)
	if err != nil || len(data) > 200 {
		return nil
	}
	return v
}

// helpful says what to do where Huma says only what is wrong.
func helpful(status int, detail string, errs []*huma.ErrorDetail) string {
	switch {
	case detail == "validation failed" && len(errs) > 0:
		return fmt.Sprintf("%s: %s: correct it and send it again", errs[0].Location, errs[0].Message)
	case status == http.StatusRequestEntityTooLarge:
		return fmt.Sprintf("a body may have %d bytes, that of POST /plugins %d: send less", maxBody, maxUpload)
	case status == http.StatusInternalServerError:
		return "an error of the server, whose log tells it under this instance: try again, and report it if it stays"
	case detail == "":
		return strings.ToLower(http.StatusText(status))
	}
	return detail
}

// writeProblem writes a problem where Huma does not.
func writeProblem(w http.ResponseWriter, r *http.Request, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problem(r.Context(), status, detail)) // the client has gone
}

// statusOf are the statuses of errors that can be told apart.
var statusOf = []struct {
	err    error
	status int
}{
	{workflow.ErrNotFound, http.StatusNotFound},
	{explore.ErrNotFound, http.StatusNotFound},
	{workflow.ErrStale, http.StatusPreconditionFailed},
	{workflow.ErrConflict, http.StatusConflict},
	{explore.ErrCursor, http.StatusBadRequest},
	{explore.ErrInvalid, http.StatusUnprocessableEntity},
	{report.ErrURL, http.StatusBadRequest},
	{trial.ErrBusy, http.StatusTooManyRequests},
	{context.DeadlineExceeded, http.StatusServiceUnavailable},
	{context.Canceled, statusGone},
}

// statusGone says that the client has gone: the answer is not read.
const statusGone = 499

// failed makes a problem of an error of a handler.
func failed(ctx context.Context, log *slog.Logger, err error) error {
	var status huma.StatusError
	var invalid *workflow.Invalid
	var misuse *control.Misuse
	switch {
	case errors.As(err, &status):
		return err
	case overQuota(err) != nil:
		return quotaProblem(ctx, overQuota(err))
	case errors.As(err, &invalid):
		return problem(ctx, http.StatusUnprocessableEntity, err.Error(), faultsOf(invalid)...)
	case errors.As(err, &misuse), crawl.IsPermanent(err):
		return problem(ctx, http.StatusUnprocessableEntity, err.Error())
	}
	for _, s := range statusOf {
		if errors.Is(err, s.err) {
			return problem(ctx, s.status, detailOf(s.status, err))
		}
	}
	log.Error("a request failed", "request", requestID(ctx), "error", err)
	return problem(ctx, http.StatusInternalServerError, "")
}

func detailOf(status int, err error) string {
	if status == http.StatusServiceUnavailable {
		return fmt.Sprintf("it took longer than %v: ask for less, or try again", handlerTime)
	}
	return err.Error()
}

func faultsOf(e *workflow.Invalid) []error {
	out := make([]error, 0, len(e.Faults))
	for _, f := range e.Faults {
		at := f.Key
		if f.Line > 0 {
			at = strings.TrimPrefix(fmt.Sprintf("%s:%d:%d", at, f.Line, f.Column), ":")
		}
		out = append(out, &huma.ErrorDetail{Location: at, Message: f.Message})
	}
	return out
}
