package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// getScreenshot answers with the picture of a page that was rendered. The pictures of a cluster lie on the machine that
// rendered them: only where that directory is shared is there one here.
func (s *Server) getScreenshot(ctx context.Context, in *RecordPath) (*huma.StreamResponse, error) {
	rec, err := s.Explore.Record(ctx, in.job(), in.Key)
	if err != nil {
		return nil, err
	}
	name, err := screenshotOf(rec.Record)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, fmt.Errorf("%w: the page has no screenshot: set render.screenshot in the definition, and the next "+
			"execution keeps them", workflow.ErrNotFound)
	}
	dir, err := s.dir(ctx, in.job())
	if err != nil {
		return nil, err
	}
	f, err := openIn(dir, name)
	if err != nil {
		return nil, fmt.Errorf("%w: the screenshot %s is not here: on a cluster it lies beside the WARC files of the node "+
			"that rendered the page", workflow.ErrNotFound, name)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	//nolint:contextcheck // the request has its own
	return stream(func(w http.ResponseWriter, r *http.Request) {
		defer f.Close()
		attach(w, in.Key[:min(len(in.Key), 16)]+".webp", "image/webp") // an <img> shows it all the same
		http.ServeContent(&patient{ResponseWriter: w}, r, "", info.ModTime(), f)
	}), nil
}

// screenshotOf reads the name of the picture out of a record as it is in pages.jsonl; empty: it has none.
func screenshotOf(record []byte) (string, error) {
	var r struct {
		Rendered struct {
			Screenshot string `json:"screenshot"`
		} `json:"rendered"`
	}
	if err := json.Unmarshal(record, &r); err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	return r.Rendered.Screenshot, nil
}
