package textpages

// pool holds the class names that sites give to the elements of a role: those for training pages and, separately, those
// for test pages.
type pool struct{ training, test []string }

func (p pool) of(test bool) []string {
	if test {
		return p.test
	}
	return p.training
}

var pools = map[string]pool{
	"wrap": {lines("wrapper|container|page|site|outer-wrap"), lines("l-page|shell|canvas-inner|viewport|layout")},
	"column": {lines("main-column|content-area|primary|col-md-8|left-col"),
		lines("l-main|column-one|two-thirds|grid-primary|region-content")},
	"article": {lines("article|post|entry|story|hentry"),
		lines("single-item|story-wrapper|node node-full|longform|news-item")},
	"body": {lines("article-body|entry-content|post-content|story-body|article__text|td-post-content"),
		lines("body-copy|rich-text|field-body|story-text|prose|articletxt|wysiwyg")},
	"headline": {lines("entry-title|headline|article-title"), lines("hed|pg-title|story-headline|single-title")},
	"byline":   {lines("byline|post-meta|entry-meta|author"), lines("story-by|dateline|posted-on|attribution")},
	"nav":      {lines("main-nav|menu|navbar|navigation"), lines("primary-links|site-nav|topnav|hamburger|mainmenu")},
	"crumbs":   {lines("breadcrumb|breadcrumbs|crumbs"), lines("you-are-here|trail|pathway|breadcrumb-list")},
	"header":   {lines("site-header|header|masthead|top"), lines("page-head|branding|hdr|logo-row")},
	"sidebar": {lines("sidebar|right-column|side|widget-area|rail"),
		lines("secondary|aside-col|col-right|rightbar|complement|rail-right")},
	"box": {lines("widget|box|module|block"), lines("panel|card-group|pod|promo-unit|component")},
	"related": {lines("related|related-articles|more-stories|recommended|read-also"),
		lines("recirc|also-like|further|story-package|relacionadas|mehr-zum-thema|onward")},
	"teaser": {lines("teaser|card|content|item|story-card|article-preview"),
		lines("tile|promo-item|listing|media-object|post|news-card")},
	"share": {lines("share|social-share|share-buttons|addthis"),
		lines("sharedaddy|social-bar|tools|sharing-links|socials")},
	"tags": {lines("tags|tag-list|post-tags|topics"), lines("taxonomy|keywords|labels|article-tags|filed")},
	"bio": {lines("author-box|author-bio|about-author|author-info"),
		lines("contributor|writer-card|bio|profile-box")},
	"comments": {lines("comments|comments-area|comment-list|disqus"),
		lines("responses|reader-comments|discussion|commentary|kommentare|conversation")},
	"comment": {lines("comment|comment-body|reply"), lines("response|reader-comment|comment-item|talkback")},
	"news": {lines("newsletter|newsletter-signup|subscribe-box|signup"),
		lines("email-capture|nl-inline|optin|subscription|cta-box")},
	"cookies": {lines("cookie-banner|cookie-consent|cookies|gdpr"),
		lines("cc-window|consent-layer|privacy-notice|cmp|onetrust-banner")},
	"footer":  {lines("footer|site-footer|page-footer|bottom"), lines("colophon|page-foot|ftr|foot-links|legal")},
	"ad":      {lines("ad|advert|ad-slot|ads"), lines("dfp|ad-container|sponsored-slot|mpu|leaderboard")},
	"caption": {lines("caption|wp-caption-text|image-caption"), lines("figcap|img-legend|photo-text")},
	"pager":   {lines("pagination|post-navigation|pager|nav-links"), lines("prev-next|page-turn|next-prev|older-newer")},
	"lead":    {lines("lead|intro|standfirst|excerpt"), lines("dek|summary|chapeau|kicker-text")},
	"post":    {lines("post|message|post-body|postbody"), lines("topic-post|comment|reply-item|msg")},
	"user":    {lines("author|user-info|postprofile|poster"), lines("member|avatar-col|user-card|from")},
	"reviews": {lines("reviews|customer-reviews|product-reviews"), lines("ratings-list|feedback-list|opinions")},
	"product": {lines("product|product-detail|product-main|item-page"), lines("pdp|goods|offer-page|sku-view")},
	"desc": {lines("description|product-description|details|tab-content"),
		lines("prod-info|overview|about-item|long-text")},
	"list": {lines("list|items|grid|row"), lines("stack|feed|river|collection")},
}
