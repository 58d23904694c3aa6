package textpages

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lang is what a made language consists of: its small words are real, the others are made of its syllables.
type lang struct {
	code      string
	small     []string
	syllables []string
	say       map[string][]string // what sites say in it, by role
}

var (
	trainingLangs = []*lang{english, german, spanish, russian}
	testLangs     = []*lang{english2, french, dutch, portuguese}
)

func (g *gen) language() *lang {
	langs := trainingLangs
	if g.test {
		langs = testLangs
	}
	if g.chance(50) {
		return langs[0]
	}
	return langs[1+g.n(0, len(langs)-2)]
}

func (g *gen) say(role string) string { return pick(g, g.lang.say[role]...) }

// word makes a word: two of five are small ones.
func (g *gen) word() string {
	if g.chance(40) {
		return pick(g, g.lang.small...)
	}
	var b strings.Builder
	for range g.n(2, 4) {
		b.WriteString(pick(g, g.lang.syllables...))
	}
	return b.String()
}

func (g *gen) words(n int) string {
	w := make([]string, n)
	for i := range w {
		w[i] = g.word()
	}
	return strings.Join(w, " ")
}

func upper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// name is a person's or a thing's.
func (g *gen) name() string { return upper(g.words(1)) + " " + upper(g.word()) }

func (g *gen) title() string { return upper(g.words(g.n(4, 11))) }

func (g *gen) sentence() string {
	s := g.words(g.n(5, 16))
	if g.chance(30) {
		s += ", " + g.words(g.n(3, 10))
	}
	return upper(s) + pick(g, ".", ".", ".", ".", "!", "?")
}

func (g *gen) sentences(n int) string {
	s := make([]string, n)
	for i := range s {
		s[i] = g.sentence()
	}
	return strings.Join(s, " ")
}

func (g *gen) date() string {
	return pick(g, "12", "3", "27", "8") + pick(g, ". ", "/", " ") + pick(g, "Mar", "04", "Sept", "11") + " " + pick(g,
		"2009", "2017", "2021", "2024")
}

func split(s string) []string { return strings.Fields(s) }

func lines(s string) []string { return strings.Split(s, "|") }

var english = &lang{"en", split("the of and to in a is that for it was on are as with they at be this have from or " +
	"had by but not what all were we when your can"),
	split("ra ter con ve mil per sto ling bar der fin mo ta res pla gre sun tic or nel cha bri low hed mer sand"),
	map[string][]string{
		"related":  lines("Related articles|You may also like|More from this section|Recommended|Related stories"),
		"most":     lines("Most read|Popular now|Trending|Latest news"),
		"share":    lines("Share this article|Share|Share on Facebook"),
		"comments": lines("Comments|12 comments|Leave a comment|Join the discussion"),
		"reply":    lines("Reply|Report|Like"),
		"subscribe": lines("Sign up to our newsletter and get the best stories in your inbox every morning.|Subscribe now " +
			"for unlimited access to all of our stories."),
		"cookies": lines("We use cookies to improve your experience on this site. By continuing to browse you agree to " +
			"our use of cookies and our privacy policy."),
		"copyright": lines("© 2024 All rights reserved. No part of this site may be reproduced without written permission " +
			"of the publisher."),
		"tags":  lines("Tags:|Filed under:|Topics"),
		"by":    lines("By|Written by"),
		"more":  lines("Read more|Continue reading|More"),
		"also":  lines("Read also:|Read more:|Related:"),
		"ad":    lines("Advertisement|Ad"),
		"about": lines("About the author|About us"),
	}}

var german = &lang{"de", split("der die das und in zu den ist von mit sich auf für nicht ein eine als auch es an " +
	"werden aus er hat dass sie nach wird bei"),
	split("ge be ver stand lich keit schaf ung haus berg straß en wir licht zeit tag werk mann land hof brück"),
	map[string][]string{
		"related":  lines("Mehr zum Thema|Das könnte Sie auch interessieren|Ähnliche Artikel|Weitere Artikel"),
		"most":     lines("Meistgelesen|Aktuelle Meldungen|Beliebt"),
		"share":    lines("Teilen|Artikel teilen"),
		"comments": lines("Kommentare|Kommentar schreiben|8 Kommentare"),
		"reply":    lines("Antworten|Melden"),
		"subscribe": lines("Melden Sie sich zu unserem Newsletter an und erhalten Sie jeden Morgen die wichtigsten " +
			"Meldungen."),
		"cookies": lines("Wir verwenden Cookies, um Ihnen das beste Erlebnis zu bieten. Wenn Sie fortfahren, stimmen Sie " +
			"dem zu."),
		"copyright": lines("© 2024 Alle Rechte vorbehalten. Nachdruck und Vervielfältigung nur mit Genehmigung des " +
			"Verlages."),
		"tags":  lines("Schlagwörter:|Themen:"),
		"by":    lines("Von"),
		"more":  lines("Weiterlesen|Mehr"),
		"also":  lines("Lesen Sie auch:|Mehr dazu:"),
		"ad":    lines("Anzeige|Werbung"),
		"about": lines("Über den Autor|Über uns"),
	}}

var spanish = &lang{"es", split("de la que el en y a los se del las un por con no una su para es al lo como más o " +
	"pero sus le ha"),
	split("ca sa mi ento ción da dor ra lo per tor nes mar tie rra bue fa so pla za ro jo"),
	map[string][]string{
		"related":   lines("Artículos relacionados|Te puede interesar|Noticias relacionadas"),
		"most":      lines("Lo más leído|Últimas noticias"),
		"share":     lines("Compartir|Compartir en Facebook"),
		"comments":  lines("Comentarios|Deja un comentario"),
		"reply":     lines("Responder|Denunciar"),
		"subscribe": lines("Suscríbete a nuestro boletín y recibe cada mañana las mejores historias en tu correo."),
		"cookies": lines("Utilizamos cookies para mejorar su experiencia. Si continúa navegando acepta nuestra política " +
			"de privacidad."),
		"copyright": lines("© 2024 Todos los derechos reservados. Prohibida la reproducción total o parcial sin permiso."),
		"tags":      lines("Etiquetas:|Temas"),
		"by":        lines("Por"),
		"more":      lines("Leer más|Seguir leyendo"),
		"also":      lines("Lea también:|Más información:"),
		"ad":        lines("Publicidad"),
		"about":     lines("Sobre el autor|Quiénes somos"),
	}}

var russian = &lang{"ru", split("и в не на что с по это как но из у за он от так о же все его для до вы мы бы"),
	split("го ра ста но ви чес кий ние пол мос дор зна ре чь лю бо мир вод зем ля"),
	map[string][]string{
		"related":   lines("Читайте также|Похожие статьи|По теме"),
		"most":      lines("Популярное|Последние новости"),
		"share":     lines("Поделиться"),
		"comments":  lines("Комментарии|Оставить комментарий"),
		"reply":     lines("Ответить|Пожаловаться"),
		"subscribe": lines("Подпишитесь на нашу рассылку и получайте каждое утро самые важные новости на почту."),
		"cookies":   lines("Мы используем файлы cookie, чтобы сделать сайт удобнее. Продолжая, вы соглашаетесь с этим."),
		"copyright": lines("© 2024 Все права защищены. Перепечатка материалов только с разрешения редакции."),
		"tags":      lines("Теги:|Метки:"),
		"by":        lines("Автор"),
		"more":      lines("Читать далее|Подробнее"),
		"also":      lines("Читайте также:"),
		"ad":        lines("Реклама"),
		"about":     lines("Об авторе|О нас"),
	}}
