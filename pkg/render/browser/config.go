package browser

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"time"
)

// Isolations: how the browser is kept from the network.
const (
	// Netns is an empty network namespace, and a proxy that is not there.
	Netns = "netns"
	// Proxy is the proxy that is not there alone. What does not go by a proxy is then kept in by flags only.
	Proxy = "proxy"
)

// Config says which browser is used, and how.
type Config struct {
	// of the browser; empty: the first of chromium, chromium-browser, google-chrome, headless_shell in PATH
	Path      string
	Tabs      int    // pages rendered at once; 0: 1
	Isolation string // Netns or Proxy; empty: Netns
	User      string // who the browser runs as, where we are root; empty: nobody
	Dir       string // where its profile is made; empty: the system's directory for temporary files
	HeapMiB   int    // of a page's scripts; 0: 256
	Logger    *slog.Logger

	noProxy bool // tests: with Netns the namespace alone; with Proxy no isolation at all
}

// Bounds on one browser and one context [docs/design: measured, 200 renders without growth worth naming]. A browser
// starts in a second; one that was not in the page cache yet, at a low priority on a full machine, took more than 30.
const (
	rendersABrowser = 200
	pagesAContext   = 20
	maxPSS          = 3 << 29 // 1.5 GiB
	startTimeout    = 2 * time.Minute
	firstRest       = 5 * time.Second
	longestRest     = 10 * time.Minute
)

func (c Config) filled() (Config, error) {
	if c.Tabs <= 0 {
		c.Tabs = 1
	}
	if c.Isolation == "" {
		c.Isolation = Netns
	}
	if c.Isolation != Netns && c.Isolation != Proxy {
		return c, fmt.Errorf("render.isolation is %q: want %q or %q", c.Isolation, Netns, Proxy)
	}
	if c.User == "" {
		c.User = "nobody"
	}
	if c.Dir == "" {
		c.Dir = os.TempDir()
	}
	if c.HeapMiB <= 0 {
		c.HeapMiB = 256
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	path, err := Find(c.Path)
	c.Path = path
	return c, err
}

// Find returns the path of the browser: path itself, where it is given, or the first that is in PATH. Where there is
// none it returns ErrNoBrowser.
func Find(path string) (string, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome", "headless_shell"}
	if path != "" {
		names = []string{path}
	}
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	if path != "" {
		return "", fmt.Errorf("%s: %w", path, ErrNoBrowser)
	}
	return "", ErrNoBrowser
}

// arguments are the browser's, but for those of its mode.
func (c Config) arguments(dir string) []string {
	args := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + dir, "--no-startup-window", "--no-first-run",
		"--no-default-browser-check", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--disable-component-update", "--disable-client-side-phishing-detection", "--disable-default-apps",
		"--disable-extensions", "--disable-sync", "--disable-breakpad", "--disable-crash-reporter",
		"--disable-domain-reliability", "--disable-hang-monitor", "--disable-prompt-on-repost",
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding", "--disable-field-trial-config", "--disable-back-forward-cache",
		"--disable-print-preview", "--disable-speech-api", "--disable-software-rasterizer",
		"--disable-search-engine-choice-screen", "--metrics-recording-only", "--no-pings", "--no-service-autorun",
		"--dns-prefetch-disable", "--mute-audio", "--hide-scrollbars", "--password-store=basic", "--use-mock-keychain",
		"--force-color-profile=srgb", "--lang=en-US", "--accept-lang=en-US", "--window-size=1280,1696", "--disk-cache-size=1",
		"--media-cache-size=1",
		// A mouse that is fine and can hover: without one a page takes this for a telephone, and shows its menu for those.
		"--blink-settings=primaryPointerType=4,availablePointerTypes=4,primaryHoverType=2,availableHoverTypes=2",
		// All frames of a page are in one process: it is one page's, and it has neither a network nor anything to keep.
		"--disable-site-isolation-trials",
		"--disable-features=" + unwanted,
		fmt.Sprintf("--js-flags=--max-old-space-size=%d", c.HeapMiB),
	}
	if !c.noProxy {
		args = append(args, "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>",
			"--webrtc-ip-handling-policy=disable_non_proxied_udp",
			"--force-webrtc-ip-handling-policy=disable_non_proxied_udp")
	}
	return args
}

// unwanted are features that ask for what nobody asked for, make requests that do not pause, or begin processes early.
const unwanted = "ServiceWorkerAutoPreload,OptimizationHints,OptimizationGuideModelDownloading,MediaRouter,Translate," +
	"NetworkPrediction,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,IsolateOrigins,site-per-process," +
	"SpareRendererForSitePerProcess,Prerender2,SpeculationRulesPrefetchFuture,BackForwardCache,AcceptCHFrame," +
	"InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater,AutofillServerCommunication," +
	"DialMediaRouteProvider,PrivacySandboxSettings4,LensOverlay,WebRtcHideLocalIpsWithMdns,DestroyProfileOnBrowserClose"
