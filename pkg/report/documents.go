package report

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// documentTexts explain for people why a document has no record.
var documentTexts = map[string]string{
	crawl.ReasonDocumentBroken:    "a document that is damaged, or not what its media type says",
	crawl.ReasonDocumentEncrypted: "a document that wants a password",
	crawl.ReasonDocumentTime:      "a document that takes longer to read than documents.time",
	crawl.ReasonDocumentMemory:    "a document that takes more memory to read than there is for one",
	crawl.ReasonDocumentCrash:     "a document that what reads it gave up on, or died of",
}
