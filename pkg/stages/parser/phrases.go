package parser

import (
	"unicode"
	"unicode/utf8"
)

// topic is what a short line announces.
type topic uint8

const (
	noTopic  topic = iota
	others         // other pages: "related articles"
	readers        // what readers wrote: "comments"
	sharing        // "share", "tags", "advertisement": a line and its links
	visitors       // what the site wants of its visitors, who its writers are: "newsletter", "about the author"
)

// phrases are the lines by which sites head what is not the page's text, in lower case, without digits and punctuation.
var phrases = makePhrases()

const maxPhrase = 48 // bytes

// phraseLists are lines that head, or are, what is not the main text, by what it is.
var phraseLists = map[topic][]string{
	others: {"related", "related articles", "related posts", "related stories", "related content", "related news",
		"related topics", "related products", "related links", "related pages", "related reading", "similar articles",
		"similar products", "similar items", "you may also like", "you might also like", "you might like", "you may like",
		"recommended", "recommended for you", "recommended reading", "recommendations", "more from this section", "more from",
		"more stories", "more news", "more articles", "more on this story", "more on this topic", "more like this",
		"most read", "most popular", "most viewed", "popular posts", "popular now", "popular articles", "trending now",
		"latest news", "latest articles", "latest posts", "latest stories", "recent posts", "recent articles", "recent news",
		"top stories", "editors picks", "editor's picks", "featured articles", "read next", "up next", "what to read next",
		"next article", "keep reading", "read also", "also read", "don't miss", "in case you missed it", "see also our",
		"customers also bought", "customers also viewed", "customers who bought this item also bought",
		"customers also liked", "people also bought", "people also viewed", "others also viewed", "recently viewed",
		"recently viewed products", "recently viewed items", "we found other products you might like",
		"complete the look", "shop the look", "pairs well with",
		"you may also be interested in", "you might also be interested in", "similar jobs", "related jobs",
		"recommended jobs", "jobs you may like", "similar vacancies", "similar properties", "similar listings",
		"similar homes", "similar recipes", "related recipes", "similar events", "related events", "related videos",
		"recommended videos", "related questions", "similar questions", "hot network questions", "related searches",
		"similar threads", "related discussions", "more by this author", "more from this author", "more from the author",
		"zuletzt angesehen", "ähnliche jobs", "ähnliche stellenangebote", "ähnliche rezepte", "ähnliche fragen",
		"ähnliche veranstaltungen", "ähnliche objekte", "produits similaires", "produits associés", "offres similaires",
		"recettes similaires", "vous aimerez peut-être aussi", "productos relacionados", "productos similares",
		"empleos similares", "recetas relacionadas", "prodotti correlati", "prodotti simili", "produtos relacionados",
		"produtos similares", "gerelateerde producten", "vergelijkbare vacatures", "похожие товары", "похожие вакансии",
		"с этим товаром покупают", "関連商品", "関連動画", "相关推荐", "猜你喜欢",
		"frequently bought together", "suggested topics", "from our partners", "around the web", "from the web",
		"sponsored links", "promoted stories", "ähnliche artikel", "ähnliche beiträge", "ähnliche produkte",
		"ähnliche themen", "mehr zum thema", "zum thema", "weitere artikel", "weitere meldungen", "weitere themen",
		"weitere nachrichten", "weitere beiträge", "mehr aus dem ressort", "das könnte sie auch interessieren",
		"das könnte dich auch interessieren", "das könnte ihnen auch gefallen", "lesen sie auch",
		"auch interessant", "meistgelesen", "meistgelesene artikel", "am meisten gelesen", "beliebte artikel",
		"aktuelle meldungen", "neueste artikel", "neueste beiträge", "letzte beiträge", "empfohlen", "kunden kauften auch",
		"verwandte artikel", "verwandte themen", "à lire aussi", "lire aussi", "à voir aussi", "sur le même sujet",
		"sur le même thème", "articles similaires", "articles liés", "articles récents", "les plus lus", "à la une",
		"les plus consultés", "vous aimerez aussi", "nos autres articles", "dernières actualités",
		"artículos relacionados", "noticias relacionadas", "relacionados", "relacionadas", "te puede interesar",
		"le puede interesar", "también te puede interesar", "lo más leído", "más leídas", "últimas noticias", "más noticias",
		"entradas recientes", "lea también", "articoli correlati", "potrebbe interessarti", "potrebbe interessarti anche",
		"leggi anche", "i più letti", "ultime notizie", "leia também", "veja também", "veja mais", "notícias relacionadas",
		"artigos relacionados", "mais lidas", "mais lidos", "em destaque", "últimas notícias", "lees ook",
		"meer over dit onderwerp", "gerelateerd", "gerelateerde artikelen", "meest gelezen", "net binnen",
		"читайте также", "похожие статьи", "по теме", "материалы по теме", "популярное", "последние новости", "рекомендуем",
		"читайте далее", "czytaj także", "zobacz także", "polecane", "najczęściej czytane", "läs också", "läs mer",
		"mest lästa", "les også", "læs også", "関連記事", "おすすめ記事", "人気記事", "相关文章", "相关阅读", "推荐阅读", "热门文章", "관련기사"},
	readers: {"comments", "reader comments", "leave a comment", "leave a reply", "add a comment", "post a comment",
		"add comment", "join the discussion", "join the conversation", "have your say", "thoughts on",
		"kommentare", "kommentar schreiben", "leserkommentare", "schreibe einen kommentar",
		"commentaires", "laisser un commentaire", "vos commentaires", "réactions", "vos réactions",
		"comentarios", "deja un comentario", "deja una respuesta", "comentários", "deixe um comentário",
		"deixe o seu comentário", "commenti", "lascia un commento", "reacties", "plaats een reactie", "geef een reactie",
		"комментарии", "комментариев", "оставить комментарий", "komentarze", "dodaj komentarz", "kommentarer", "コメント", "评论",
		"댓글"},
	sharing: {"share", "share this", "share this article", "share this post", "share this story", "share on",
		"share on facebook", "share via", "tweet", "email", "email this", "print", "copy link", "save", "follow us", "tags",
		"tag", "topics in this article", "filed under", "posted in", "tagged", "tagged with", "advertisement", "ad", "ads",
		"sponsored", "sponsored content", "article continues below", "story continues below", "teilen", "artikel teilen",
		"drucken", "anzeige", "werbung", "schlagwörter", "schlagworte", "stichworte", "partager", "imprimer", "publicité",
		"la suite après la publicité", "mots-clés", "compartir", "compartir en facebook", "imprimir", "publicidad",
		"etiquetas", "condividi", "pubblicità", "compartilhe", "compartilhar", "publicidade",
		"continua depois da publicidade", "delen", "deel dit artikel", "advertentie", "trefwoorden",
		"поделиться", "реклама", "теги", "метки", "udostępnij", "reklama", "dela", "annons", "reply", "report", "like",
		"quote", "antworten", "melden", "responder", "répondre", "signaler", "ответить", "reageer", "read more",
		"continue reading", "learn more", "weiterlesen", "mehr", "lire la suite", "en savoir plus", "leer más",
		"seguir leyendo", "lees verder", "leia mais", "saiba mais", "читать далее", "подробнее", "permalink"},
	visitors: {"newsletter", "newsletters", "subscribe", "sign up", "sign up for our newsletter",
		"subscribe to our newsletter", "stay informed", "get our newsletter", "about the author", "about the authors",
		"about author", "über den autor", "über die autorin", "zum autor", "à propos de l'auteur", "l'auteur",
		"sobre el autor", "sobre o autor", "l'autore", "over de auteur", "об авторе", "follow us on", "who is online",
		"your answer", "users browsing this thread", "wer ist online"},
}

func makePhrases() map[string]topic {
	m := map[string]topic{}
	for t, list := range phraseLists {
		for _, s := range list {
			m[s] = t
		}
	}
	return m
}

// topicOf looks a short line up among the phrases.
func topicOf(line []byte) topic {
	if len(line) == 0 || len(line) > maxPhrase {
		return noTopic
	}
	var buf [2 * maxPhrase]byte
	s, space := buf[:0], false
	for len(line) > 0 {
		r, n := rune(line[0]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(line)
		}
		line = line[n:]
		switch {
		case r|0x20 >= 'a' && r|0x20 <= 'z' && !space:
			s = append(s, byte(r|0x20))
		case unicode.IsLetter(r) || (r == '-' || r == '\'') && len(s) > 0:
			if space && len(s) > 0 {
				s = append(s, ' ')
			}
			s, space = utf8.AppendRune(s, unicode.ToLower(r)), false
		case r == '’':
			s = append(s, '\'')
		default:
			space = true
		}
	}
	return phrases[string(s)]
}
