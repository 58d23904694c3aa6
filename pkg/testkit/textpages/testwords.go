package textpages

// The languages of the families for testing.

var english2 = &lang{"en-us", split("the and a of to in you i it for on with that is this be at my so we up if out " +
	"about just get like one will now her him"),
	split("vol kin dra mar lex ton pri ser qua dent ful har bel nor win ster cop val age thor fil gen ry"),
	map[string][]string{
		"related": lines("More on this story|Up next|Keep reading|What to read next|Further reading|Don't miss|From our " +
			"partners"),
		"most":     lines("Top stories|Editor's picks|Just in|What others are reading"),
		"share":    lines("Tweet|Copy link|Email this|Print"),
		"comments": lines("Conversation|Reader responses|Have your say|3 thoughts on this|Post a comment"),
		"reply":    lines("Flag|Permalink|Quote|Upvote"),
		"subscribe": lines("Get the daily briefing. Delivered weekdays, unsubscribe at any time.|Enjoying this? Join " +
			"40,000 readers who get our weekly email."),
		"cookies": lines("This website stores data such as cookies to enable essential functionality, marketing, " +
			"personalization and analytics. You may change your settings at any time."),
		"copyright": lines("Copyright 2019 by the publishers. Use of this site constitutes acceptance of our user " +
			"agreement and privacy statement."),
		"tags":  lines("Posted in|More about|Keywords"),
		"by":    lines("Words by|Posted by|From"),
		"more":  lines("Full story|See all|Find out more|Learn more"),
		"also":  lines("See also:|MORE:|Don't miss:|Recommended:"),
		"ad":    lines("Sponsored content|Story continues below|Paid post"),
		"about": lines("Written by|Contributor|Meet the writer"),
	}}

var french = &lang{"fr", split("de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce " +
	"il sont avec son"),
	split("mai son ver te pou voir é tat mon tag ne chan ce ri que lo cal jou eur fê te blan che"),
	map[string][]string{
		"related":   lines("À lire aussi|Sur le même sujet|Nos autres articles"),
		"most":      lines("Les plus lus|À la une"),
		"share":     lines("Partager|Envoyer par courriel"),
		"comments":  lines("Réactions|Laisser un commentaire|Vos commentaires"),
		"reply":     lines("Répondre|Signaler"),
		"subscribe": lines("Recevez chaque matin notre lettre d'information et ne manquez rien de l'actualité de la région."),
		"cookies": lines("En poursuivant votre navigation, vous acceptez le dépôt de traceurs destinés à vous proposer " +
			"des contenus adaptés."),
		"copyright": lines("Tous droits réservés. Toute reproduction même partielle est interdite sans l'accord de " +
			"l'éditeur."),
		"tags":  lines("Mots-clés :|Thèmes"),
		"by":    lines("Par|Publié par"),
		"more":  lines("Lire la suite|En savoir plus"),
		"also":  lines("Lire aussi :|À voir aussi :"),
		"ad":    lines("Publicité|La suite après la publicité"),
		"about": lines("L'auteur|Qui sommes-nous"),
	}}

var dutch = &lang{"nl", split("de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er " +
	"maar om hem dan zou of wat mijn"),
	split("huis wa ter land stra at ge meen te ver bin ding kra cht dijk sche pen boe ken rij"),
	map[string][]string{
		"related":   lines("Lees ook|Meer over dit onderwerp|Gerelateerd"),
		"most":      lines("Net binnen|Meest bekeken"),
		"share":     lines("Delen|Deel dit bericht"),
		"comments":  lines("Reacties|Plaats een reactie"),
		"reply":     lines("Reageer|Meld misbruik"),
		"subscribe": lines("Schrijf je in voor de nieuwsbrief en ontvang elke ochtend het belangrijkste nieuws van de dag."),
		"cookies": lines("Deze website maakt gebruik van cookies om het gebruik te meten en advertenties te tonen. Klik " +
			"op akkoord als u dat goed vindt."),
		"copyright": lines("Alle rechten voorbehouden. Overname van artikelen alleen na toestemming van de uitgever."),
		"tags":      lines("Trefwoorden:|Onderwerpen"),
		"by":        lines("Door"),
		"more":      lines("Lees verder|Bekijk alles"),
		"also":      lines("Lees ook:|Zie ook:"),
		"ad":        lines("Advertentie"),
		"about":     lines("Over de auteur"),
	}}

var portuguese = &lang{"pt", split("de a o que e do da em um para é com não uma os no se na por mais as dos como mas " +
	"foi ao ele das tem à"),
	split("ção mo ra ter nha cam po bra lei sol da ria mar ten sí vel pra ia no vo ti go"),
	map[string][]string{
		"related":   lines("Leia também|Veja mais|Notícias relacionadas"),
		"most":      lines("Mais lidas|Em destaque"),
		"share":     lines("Compartilhe|Enviar por e-mail"),
		"comments":  lines("Comentários|Deixe o seu comentário"),
		"reply":     lines("Responder|Denunciar"),
		"subscribe": lines("Assine a nossa newsletter e receba todas as manhãs as notícias mais importantes do dia."),
		"cookies": lines("Este site usa cookies para garantir que você tenha a melhor experiência. Ao continuar, você " +
			"concorda."),
		"copyright": lines("Todos os direitos reservados. É proibida a reprodução do conteúdo sem autorização por escrito."),
		"tags":      lines("Assuntos:|Palavras-chave"),
		"by":        lines("Por|Da redação"),
		"more":      lines("Saiba mais|Continue lendo"),
		"also":      lines("Veja também:|Leia mais:"),
		"ad":        lines("Continua depois da publicidade"),
		"about":     lines("Sobre o autor"),
	}}
