package spoken

// words are the words of one language.
type words struct {
	at, dot, dash, underscore, plus string
	percent                         string
	and                             string // between an hour and its minutes; may be empty
	months                          [12]string
	cents                           string // between an amount and its cents
	of                              string // between a scale such as million and a currency
	currencies                      map[string]currency
}

// currency holds the singular and plural names of a currency.
type currency struct{ one, many, cent, cents string }

var languages = map[string]words{ //nolint:gochecknoglobals // read only
	"en": {
		at: "at", dot: "dot", dash: "dash", underscore: "underscore", plus: "plus", percent: "percent", cents: "and",
		months: [12]string{
			"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
		},
		currencies: map[string]currency{
			"USD": {"dollar", "dollars", "cent", "cents"}, "EUR": {"euro", "euros", "cent", "cents"},
			"GBP": {"pound", "pounds", "penny", "pence"},
			"BRL": {"real", "reais", "centavo", "centavos"}, "peso": {"peso", "pesos", "centavo", "centavos"},
			"PEN": {"sol", "soles", "centimo", "centimos"},
		},
	},
	"es": {
		at: "arroba", dot: "punto", dash: "guion", underscore: "guion bajo", plus: "más", percent: "por ciento", and: "y",
		cents: "con", of: "de",
		months: [12]string{
			"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
		},
		currencies: map[string]currency{
			"USD": {"dólar", "dólares", "centavo", "centavos"}, "EUR": {"euro", "euros", "céntimo", "céntimos"},
			"GBP": {"libra", "libras", "penique", "peniques"},
			"BRL": {"real", "reales", "centavo", "centavos"}, "peso": {"peso", "pesos", "centavo", "centavos"},
			"PEN": {"sol", "soles", "céntimo", "céntimos"},
		},
	},
	"pt": {
		at: "arroba", dot: "ponto", dash: "hífen", underscore: "sublinhado", plus: "mais", percent: "por cento", and: "e",
		cents: "e", of: "de",
		months: [12]string{
			"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro",
		},
		currencies: map[string]currency{
			"USD": {"dólar", "dólares", "centavo", "centavos"}, "EUR": {"euro", "euros", "centavo", "centavos"},
			"GBP": {"libra", "libras", "pêni", "pence"},
			"BRL": {"real", "reais", "centavo", "centavos"}, "peso": {"peso", "pesos", "centavo", "centavos"},
			"PEN": {"sol", "sóis", "centavo", "centavos"},
		},
	},
}

// pesos are the languages whose countries write the peso as $.
var pesos = map[string]bool{ //nolint:gochecknoglobals // read only
	"es-mx": true, "es-co": true, "es-ar": true, "es-cl": true, "es-uy": true, "es-do": true, "es-cu": true,
}

// codes maps currency symbols, and codes that share a name, to currencies.
var codes = map[string]string{ //nolint:gochecknoglobals // read only
	"US$": "USD", "R$": "BRL", "S/": "PEN", "€": "EUR", "£": "GBP", "MXN": "peso", "COP": "peso", "ARS": "peso", "CLP": "peso",
}
