package weburl

// CanonicalConfig chooses what Canonical removes. A pattern is a parameter name, or a prefix followed by "*"; letters
// match in either case.
type CanonicalConfig struct {
	// StripParams are query parameters removed whatever their value: tracking, and session ids with a telling name.
	StripParams []string
	// StripTokenParams are query parameters whose name is ambiguous; they are removed when the value looks like a
	// session token: 16 characters or more of [0-9A-Za-z_-], with letters and digits mixed.
	StripTokenParams []string
	// StripPathParams are path parameters (";name=value" in a segment) removed whatever their value.
	StripPathParams []string
	// SortQuery orders query parameters by name. Off by default: order can carry meaning, and a site that varies it is
	// rarer than one whose pages differ by it.
	SortQuery bool
	// MaxLength is the longest canonical URL in bytes; Canonical turns a longer one into the zero URL. 0: no limit.
	MaxLength int
}

// DefaultCanonical returns the configuration of a crawl that says nothing. Each call returns slices of its own.
func DefaultCanonical() CanonicalConfig {
	return CanonicalConfig{
		StripParams: []string{
			// Session ids: PHP, Java, ASP, ColdFusion, osCommerce and Zen Cart.
			"PHPSESSID", "jsessionid", "ASPSESSIONID*", "CFID", "CFTOKEN", "osCsid", "zenid",
			// Campaigns: Google Analytics, Matomo, HubSpot, Mailchimp, Marketo, Vero, Omeda.
			"utm_*", "mtm_*", "pk_campaign", "pk_kwd", "pk_keyword", "pk_source", "pk_medium", "pk_content",
			"_ga", "_gl", "_hsenc", "_hsmi", "hsCtaTracking", "mc_cid", "mc_eid", "mkt_tok", "vero_id", "oly_anon_id",
			"oly_enc_id",
			// Clicks: Google, Facebook, Microsoft, Yandex, X, TikTok, Instagram, LinkedIn, Pinterest.
			"gclid", "gclsrc", "dclid", "gbraid", "wbraid", "srsltid", "fbclid", "msclkid", "yclid", "ysclid", "twclid",
			"ttclid", "igshid", "li_fat_id", "epik",
		},
		StripTokenParams: []string{"sid", "session", "sessionid", "session_id", "sessid"},
		StripPathParams:  []string{"jsessionid", "PHPSESSID", "sid"},
		MaxLength:        4000, // as Zeno
	}
}
