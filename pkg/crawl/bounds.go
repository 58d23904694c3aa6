package crawl

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// KeyError says what is wrong with a key of a job file.
type KeyError struct {
	Key     string // as in "politeness.delay" or "exclude[2]"
	Problem string // the value, and what is wanted instead
}

// Error implements error.
func (e *KeyError) Error() string { return e.Key + " " + e.Problem }

// Base splits the key of a list item, "exclude[2]", into the key of the list and the number of the item, counted from
// 1. For other keys number is empty.
func (e *KeyError) Base() (key, number string) {
	key, index, _ := strings.Cut(strings.TrimSuffix(e.Key, "]"), "[")
	n, err := strconv.Atoi(index)
	if err != nil {
		return e.Key, ""
	}
	return key, "no. " + strconv.Itoa(n+1)
}

// Bound is what a number in a job may be. Durations count in nanoseconds, sizes in bytes.
type Bound struct {
	Min, Max float64
	Means    string // what the least value means, where that is not plain: "0: no limit"
}

// Bounds of numbers that have none of their own. A new key is checked by its kind until bounds names it.
const (
	maxNumber   = 1e12
	maxFactor   = 1e3
	maxSize     = 1 << 30
	maxDuration = 365 * 24 * time.Hour // a moment further away may not fit a clock of nanoseconds
)

// least is what a wait for a server has to be: less can only be a mistake.
const least = float64(time.Millisecond)

// bounds are those of numbers that their kind does not bound well enough, by key.
var bounds = map[string]Bound{
	"max_pages":                      {0, maxNumber, "0: no limit"},
	"max_depth":                      {-1, maxNumber, "-1: no limit"},
	"pages_per_level":                {0, maxNumber, "0: no limit"},
	"pages_per_host":                 {0, maxNumber, "0: no limit, but 10,000 with scope any"},
	"pages_per_domain":               {0, maxNumber, "0: no limit, but 50,000 with scope any"},
	"query_variants":                 {0, maxNumber, "0: no limit"},
	"near_duplicate":                 {-1, 7, "-1: exact copies only"},
	"robots.refresh":                 {0, float64(MaxRobotsRefresh), "0s: 6h"},
	"politeness.delay":               {0, float64(maxDuration), "0s: no waiting"},
	"politeness.ip_delay":            {0, float64(maxDuration), "0s: no waiting"},
	"politeness.host_connections":    {1, 1024, ""},
	"politeness.download_factor":     {0, maxFactor, "0: the download's time does not count"},
	"politeness.popularity":          {0, 1, "0: links to it do not count"},
	"politeness.max_adaptive":        {0, float64(maxDuration), "0s: the download's time does not count"},
	"network.proxy_delay":            {0, float64(maxDuration), "0s: no waiting"},
	"network.proxy_connections":      {0, 65_536, "0: no limit"},
	"bounds.max_time":                {0, float64(maxDuration), "0s: no limit"},
	"bounds.max_bytes":               {0, 1 << 53, "0: no limit"},
	"bounds.rate":                    {0, 1e6, "0: no limit"},
	"bounds.bandwidth":               {0, 1 << 40, "0: no limit"},
	"parallelism":                    {0, 1e6, "0: as many as the program allows"},
	"select.window":                  {0, 10_000, "0: 200"},
	"retry.max":                      {0, 100, "0: no second attempt"},
	"limits.max_body":                {1, maxSize, ""},
	"limits.max_header":              {1 << 10, 16 << 20, ""},
	"limits.redirects":               {0, 100, "0: none is followed"},
	"limits.connect":                 {least, float64(maxDuration), ""},
	"limits.tls_handshake":           {least, float64(maxDuration), ""},
	"limits.first_byte":              {least, float64(maxDuration), ""},
	"limits.idle":                    {least, float64(maxDuration), ""},
	"limits.total":                   {least, float64(maxDuration), ""},
	"limits.min_rate":                {0, maxSize, "0: no limit"},
	"limits.min_rate_window":         {least, float64(maxDuration), ""},
	"limits.links_per_page":          {1, 1e6, ""},
	"limits.max_text":                {1, maxSize, ""},
	"documents.pages":                {-1, maxNumber, "0: 1,000; -1: no limit"},
	"documents.time":                 {0, float64(MaxDocumentTime), "0s: 30s"},
	"lifecycle.max_duration":         {0, float64(maxDuration), "0s: no limit"},
	"lifecycle.retention.executions": {0, maxNumber, "0: all"},
	"lifecycle.retention.days":       {0, 36_500, "0: for ever"},
	"rules.links.weight":             {1, 9, ""},
	"pipeline.nodes.timeout":         {0, float64(MaxPluginTime), "0s: the plug-in's own, or 50ms"},
	"render.timeout":                 {0, float64(MaxRenderTimeout), "0s: 8s"},
	"render.virtual":                 {0, float64(MaxRenderTimeout), "0s: 5s"},
	"render.resources":               {0, MaxRenderResources, "0: 200"},
	"render.bytes":                   {0, 1 << 30, "0: 8MiB"},
	"render.worth":                   {0, float64(maxDuration), "0s: 2s"},
	"revisit.budget":                 {0, 1e9, "0: 10,000"},
	"revisit.max_age":                {0, float64(maxDuration), "0s: 2880h"},
	"revisit.min_interval":           {0, float64(maxDuration), "0s: 10m"},
	"revisit.weights.weight":         {0, maxFactor, ""},
	"revisit.gone":                   {0, 100, "0: 3"},
	"revisit.history":                {0, MaxHistory, "0: none"},
	"topic.threshold":                {0, 0.999, "0: 0.5"},
	"topic.explore":                  {-1, 1, "0: 0.1; -1: none"},
	"topic.patience":                 {-1, float64(maxDuration), "0s: 30s; -1ns: hosts take turns by time alone"},
	"topic.host_trial":               {-1, 1000, "0: 20; -1: hosts are not judged"},
	"assets.max":                     {-1, maxNumber, "0: 100,000; -1: no limit"},
	"assets.per_host":                {-1, maxNumber, "0: 50,000; -1: no limit"},
}

var (
	durationType = reflect.TypeFor[Duration]()
	sizeType     = reflect.TypeFor[Size]()
)

// BoundOf returns the bounds of a key whose value has type t. ok is false if t is not a number. An item of a list has
// the bounds of the list.
func BoundOf(key string, t reflect.Type) (b Bound, ok bool) {
	switch {
	case t == durationType:
		b = Bound{Max: float64(maxDuration)}
	case t == sizeType:
		b = Bound{Max: maxSize}
	case t.Kind() == reflect.Float64:
		b = Bound{Max: maxFactor}
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		b = Bound{Max: maxNumber}
	default:
		return b, false
	}
	if own, has := bounds[key]; has {
		b = own
	}
	return b, true
}

// Format writes a number as a value of the type is written in a job file.
func Format(n float64, t reflect.Type) string {
	switch t {
	case durationType:
		return shortDuration(time.Duration(n))
	case sizeType:
		return Size(n).String()
	}
	if n >= maxNumber {
		return "1e12"
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// shortDuration writes 1h0m0s as 1h.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Range says in words what the bound permits.
func (b Bound) Range(t reflect.Type) string { return Format(b.Min, t) + " to " + Format(b.Max, t) }

// checkNumbers finds the numbers of a job that are out of bounds.
func checkNumbers(v reflect.Value, path, key string) (errs []error) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if name := KeyOf(v.Type().Field(i)); name != "" {
				errs = append(errs, checkNumbers(v.Field(i), join(path, name), join(key, name))...)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			errs = append(errs, checkNumbers(v.Index(i), fmt.Sprintf("%s[%d]", path, i), key)...)
		}
	default:
		if b, ok := BoundOf(key, v.Type()); ok && !b.holds(v) {
			errs = append(errs, &KeyError{path, fmt.Sprintf("%v: want %s", v.Interface(), b.want(v.Type()))})
		}
	}
	return errs
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// KeyOf is a field's key in a job file; empty: it has none.
func KeyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// holds reports whether a number is within the bound.
func (b Bound) holds(v reflect.Value) bool {
	n := math.NaN()
	switch {
	case v.CanInt():
		n = float64(v.Int())
	case v.CanUint():
		n = float64(v.Uint())
	case v.CanFloat():
		n = v.Float()
	}
	return n >= b.Min && n <= b.Max
}

func (b Bound) want(t reflect.Type) string {
	if b.Means != "" {
		return b.Range(t) + " (" + b.Means + ")"
	}
	return b.Range(t)
}
