package e2e_test

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// ending is the final line of a URL in crawl.log.
type ending struct {
	verdict crawl.Verdict
	reason  string
	status  int
}

// hostileOutcomes is how each hostile URL has to end. What can be read at all is a page, cut at limits.max_body; a
// target of a redirect is a URL of its own, so that the redirect itself is done, unless it leads back to where it
// began.
var hostileOutcomes = map[string]ending{
	"/bomb/br":                    {crawl.VerdictDone, "", 200},
	"/bomb/deflate":               {crawl.VerdictDone, "", 200},
	"/bomb/gzip":                  {crawl.VerdictDone, "", 200},
	"/bomb/gzip-twice":            {crawl.VerdictDone, "", 200},
	"/bomb/sitemap.xml.gz":        {crawl.VerdictRefused, crawl.ReasonMediaType, 200},
	"/bomb/zstd":                  {crawl.VerdictDone, "", 200},
	"/broken/chunk-cut":           {crawl.VerdictFailed, crawl.ReasonBroken, 200},
	"/broken/chunk-overflow":      {crawl.VerdictFailed, crawl.ReasonBroken, 200},
	"/broken/chunk-size":          {crawl.VerdictFailed, crawl.ReasonBroken, 200},
	"/broken/closed":              {crawl.VerdictFailed, crawl.ReasonBroken, 0},
	"/broken/cookies":             {crawl.VerdictRefused, crawl.ReasonHeaderTooLarge, 0},
	"/broken/field":               {crawl.VerdictDone, "", 200},
	"/broken/field-nul":           {crawl.VerdictDone, "", 200},
	"/broken/http-0.9":            {crawl.VerdictFailed, crawl.ReasonBroken, 0},
	"/broken/length-chunked":      {crawl.VerdictDone, "", 200},
	"/broken/length-huge":         {crawl.VerdictFailed, crawl.ReasonBroken, 200},
	"/broken/length-long":         {crawl.VerdictFailed, crawl.ReasonBroken, 200},
	"/broken/length-negative":     {crawl.VerdictDone, "", 200},
	"/broken/length-short":        {crawl.VerdictDone, "", 200},
	"/broken/length-two":          {crawl.VerdictFailed, crawl.ReasonBroken, 0},
	"/broken/reset":               {crawl.VerdictFailed, crawl.ReasonBroken, 200},
	"/broken/status-000":          {crawl.VerdictRefused, crawl.ReasonBroken, 0},
	"/broken/status-999":          {crawl.VerdictFailed, crawl.ReasonStatus, 999},
	"/broken/status-line":         {crawl.VerdictDone, "", 200},
	"/broken/status-number":       {crawl.VerdictFailed, crawl.ReasonBroken, 0},
	"/content/attributes":         {crawl.VerdictDone, "", 200},
	"/content/charset":            {crawl.VerdictDone, "", 200},
	"/content/charset-unknown":    {crawl.VerdictDone, "", 200},
	"/content/encoding":           {crawl.VerdictRefused, crawl.ReasonEncoding, 200},
	"/content/links":              {crawl.VerdictDone, "", 200},
	"/content/long-link":          {crawl.VerdictDone, "", 200},
	"/content/malformed":          {crawl.VerdictDone, "", 200},
	"/content/nested":             {crawl.VerdictDone, "", 200},
	"/content/no-type":            {crawl.VerdictDone, "", 200},
	"/content/not-gzip":           {crawl.VerdictDone, "", 200},
	"/content/nul":                {crawl.VerdictDone, "", 200},
	"/content/type":               {crawl.VerdictDone, "", 200},
	"/endless/body":               {crawl.VerdictDone, "", 200},
	"/endless/chunks":             {crawl.VerdictDone, "", 200},
	"/endless/header-line":        {crawl.VerdictRefused, crawl.ReasonHeaderTooLarge, 0},
	"/endless/headers":            {crawl.VerdictRefused, crawl.ReasonHeaderTooLarge, 0},
	"/endless/informational":      {crawl.VerdictRefused, crawl.ReasonHeaderTooLarge, 0},
	"/redirect/empty":             {crawl.VerdictRefused, crawl.ReasonRedirectTarget, 302},
	"/redirect/file":              {crawl.VerdictRefused, crawl.ReasonRedirectTarget, 302},
	"/redirect/fro":               {crawl.VerdictFailed, crawl.ReasonRedirectLoop, 302},
	"/redirect/gopher":            {crawl.VerdictRefused, crawl.ReasonRedirectTarget, 302},
	"/redirect/grow":              {crawl.VerdictDone, "", 302},
	"/redirect/long":              {crawl.VerdictRefused, crawl.ReasonRedirectTarget, 302},
	"/redirect/loop":              {crawl.VerdictFailed, crawl.ReasonRedirectLoop, 302},
	"/redirect/loopback":          {crawl.VerdictDone, "", 302},
	"/redirect/loopback-6":        {crawl.VerdictDone, "", 302},
	"/redirect/loopback-hex":      {crawl.VerdictDone, "", 302},
	"/redirect/loopback-number":   {crawl.VerdictDone, "", 302},
	"/redirect/metadata":          {crawl.VerdictDone, "", 302},
	"/redirect/metadata-6":        {crawl.VerdictDone, "", 302},
	"/redirect/nonsense":          {crawl.VerdictRefused, crawl.ReasonRedirectTarget, 302},
	"/redirect/script":            {crawl.VerdictRefused, crawl.ReasonRedirectTarget, 302},
	"/redirect/to":                {crawl.VerdictFailed, crawl.ReasonRedirectLoop, 302},
	"/slow/body":                  {crawl.VerdictFailed, crawl.ReasonTooSlow, 200},
	"/slow/header":                {crawl.VerdictFailed, crawl.ReasonTimeout, 0},
	"/slow/never":                 {crawl.VerdictFailed, crawl.ReasonTimeout, 0},
	"/slow/stall":                 {crawl.VerdictFailed, crawl.ReasonTimeout, 200},
	"robots.txt /bomb/gzip":       {crawl.VerdictDone, "", 200},
	"robots.txt /bomb/zstd":       {crawl.VerdictDone, "", 200},
	"robots.txt /broken/closed":   {crawl.VerdictBlocked, crawl.ReasonRobotsDown, 0},
	"robots.txt /endless/body":    {crawl.VerdictDone, "", 200},
	"robots.txt /endless/headers": {crawl.VerdictBlocked, crawl.ReasonRobotsDown, 0},
	"robots.txt /slow/never":      {crawl.VerdictBlocked, crawl.ReasonRobotsDown, 0},
}
