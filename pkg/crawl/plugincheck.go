package crawl

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"
)

// Bounds of Job.Pipeline.
const (
	maxNodes        = 100
	maxWhen         = 4096     // bytes
	maxSettings     = 64 << 10 // bytes of JSON
	maxSettingDepth = 32
)

var (
	nodeID       = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	pluginUse    = regexp.MustCompile(`^[a-z0-9-]{1,32}/[a-z0-9-]{1,32}@[0-9]{1,6}(\.[0-9]{1,6}\.[0-9]{1,6})?$`)
	pluginDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// checkPipeline finds what is wrong with the nodes, as far as that can be told without their plug-ins.
func checkPipeline(j *Job) (errs []error) {
	if n := len(j.Pipeline.Nodes); n > maxNodes {
		return []error{&KeyError{"pipeline.nodes", fmt.Sprintf("%d nodes: want at most %d", n, maxNodes)}}
	}
	ids := map[string]int{}
	for i := range j.Pipeline.Nodes {
		n := &j.Pipeline.Nodes[i]
		errs = append(errs, n.check(i)...)
		if before, again := ids[n.ID]; again {
			errs = append(errs, &KeyError{nodeKey(i, "id"),
				fmt.Sprintf("%q: pipeline.nodes[%d] has that name too", n.ID, before)})
			continue
		}
		ids[n.ID] = i
	}
	return errs
}

// nodeKey is a key of a node of a pipeline.
func nodeKey(i int, key string) string { return fmt.Sprintf("pipeline.nodes[%d].%s", i, key) }

func (n *PluginNode) check(i int) (errs []error) {
	bad := func(cond bool, key, format string, args ...any) {
		if cond {
			errs = append(errs, &KeyError{nodeKey(i, key), fmt.Sprintf(format, args...)})
		}
	}
	bad(!nodeID.MatchString(n.ID), "id", "%q: want 1 to 32 characters of a-z, 0-9 and -", n.ID)
	bad(!slices.Contains(NodePoints(), n.At), "at",
		"%q: want provider, request, response, document, links, record or output", n.At)
	bad(!pluginUse.MatchString(n.Use), "use", "%q: want OWNER/NAME@VERSION, as in builtin/filter@1 or shop/price@1.2.0",
		n.Use)
	bad(n.Digest != "" && !pluginDigest.MatchString(n.Digest), "digest",
		`%q: want sha256: and 64 digits of 0-9 and a-f, as "whirlpool plugin list" prints it`, n.Digest)
	bad(len(n.When) > maxWhen, "when", "%d bytes: want at most %d", len(n.When), maxWhen)
	bad(n.OnError != "" && !slices.Contains(OnErrors(), n.OnError), "on_error", "%q: want pass, retry, drop or stop",
		n.OnError)
	text, err := json.Marshal(n.With)
	bad(err != nil, "with", "%v", err)
	bad(len(text) > maxSettings, "with", "%d bytes as JSON: want at most %d", len(text), maxSettings)
	return append(errs, n.checkEnd(i)...)
}

// PlainValue makes a value one as JSON has it: a text, a float64, true or false, nil, or lists and objects of them, 32
// levels deep at most.
func PlainValue(v any) (any, error) { return plainSettingAt(v, maxSettingDepth) }

func plainSettingAt(v any, depth int) (any, error) {
	if depth == 0 {
		return nil, fmt.Errorf("lists and objects within each other: want at most %d levels", maxSettingDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			plain, err := plainSettingAt(e, depth-1)
			if err != nil {
				return nil, err
			}
			out[k] = plain
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			plain, err := plainSettingAt(e, depth-1)
			if err != nil {
				return nil, err
			}
			out[i] = plain
		}
		return out, nil
	}
	return plainScalar(v)
}

func plainScalar(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string:
		return v, nil
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case uint64:
		return float64(v), nil
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v, nil
		}
	case time.Time: // YAML reads 2024-01-02 as a time
		return v.Format(time.RFC3339), nil
	}
	return nil, fmt.Errorf("%v: want a text, a number, true or false, a list or an object", v)
}
