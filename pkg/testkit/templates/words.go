package templates

import "strings"

// Words that pages are made of.
var (
	nouns = strings.Fields(`anchor basket candle drawer engine fabric garden hammer island jacket kettle ladder mirror needle
		orchard pillow quarry ribbon saddle teapot umbrella violin window yarn zipper bottle carpet desk elbow feather glove harbour
		inkwell jungle kitchen lantern meadow notebook ocean paddle quilt river shelter tunnel valley wagon bridge copper dragon`)
	firstNames = strings.Fields("Ada Björn Chloé Dmitri Elif Farid Grace Hanna Ivan Jürgen Keiko Liam Maya Noor Olu " +
		"Petra Quentin Rosa Søren Tariq")
	lastNames = strings.Fields("Abel Brandt Corrêa Dubois Eriksen Fischer García Haddad Ito Jansen Kowalski Larsen " +
		"Müller Novak Okafor Price Quist Rossi Sato")
	cities = strings.Fields("Delft Gouda Leiden Zürich Genève Oslo Porto Kraków Lyon Turin Basel Bergen Málaga Tartu " +
		"Vilnius Utrecht")
	brands = strings.Fields("Acme Brüll Corvus Dynamo Esker Fjord Gallo Helio Ionix Juno Kestrel Lumen Mistral")
	topics = strings.Fields("politics science travel culture health economy sports weather music books cinema schools")
	skills = []string{"Go", "SQL & NoSQL", "Kubernetes", "C++", "Writing", "Team work", "Driving licence", "French",
		"First aid", "Linux", "Statistics"}
	features = []string{"Water-proof", "Two years of guarantee", "Made of oak", "Fits <all> sizes", "Washable at 30 °C",
		"Energy class A", "Folds flat", "Quiet", "With battery", "Recycled"}
	adTexts = []string{"Buy our umbrella", "Learn Go in a day", "Cheap flights to Oslo", "Your ad here", "Win a kettle"}
)
