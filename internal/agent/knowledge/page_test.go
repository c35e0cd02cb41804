package knowledge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAPageBecomesAnArticle(t *testing.T) {
	for page, want := range map[string]Article{
		`<!doctype html><html lang="es-ES"><head><title>Shop | Devoluciones</title><style>p{}</style></head>
			<body><header><h2>Shop</h2></header>
			<nav><a href="/">Home</a></nav><main><h1>Devoluciones &amp; cambios</h1><p>Puede <b>devolver</b>
			todo<br>en 30 días.</p><h2>Reembolso</h2><ul><li><p>tarjeta</p></li><li>PayPal</li></ul>
			<table><tr><td>A</td><td>1</td></tr></table>
			<script>alert(1)</script><form>Suscríbase<input></form><p hidden>secreto</p></main><footer>© Shop</footer></body></html>`: {
			Title: "Devoluciones & cambios", Language: "es-ES",
			Text: "Puede devolver todo\nen 30 días.\n\n## Reembolso\n- tarjeta\n- PayPal\n\nA 1",
		},
		`just text`:                        {Text: "just text"},
		``:                                 {},
		`<title>T</title><body><p>x`:       {Title: "T", Text: "x"},
		`<html lang="&quot;><b>"><p>a<p>b`: {Text: "a\n\nb"},
		`<body><article><header><h1>News</h1></header><p>One</p></article><p>other</p>`: {Title: "News", Text: "One"},
	} {
		got, err := FromHTML(strings.NewReader(page))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", page, err, diff)
		}
	}
}

func TestALargeOrDeepPageIsBounded(t *testing.T) {
	for _, page := range []string{
		strings.Repeat("<div>", 300_000), strings.Repeat("<p>"+strings.Repeat("word ", 100), 1000), strings.Repeat("ñ", 1<<20),
	} {
		a, err := FromHTML(strings.NewReader(page))
		if err == nil && len(a.Text) > MaxText {
			t.Errorf("%d bytes", len(a.Text))
		}
	}
}

func TestMarkdownBecomesAnArticle(t *testing.T) {
	for text, want := range map[string]Article{
		"# Returns #\r\n\r\nWithin 30 days.\r\n\r\n## Refunds\r\nBy card.": {
			Title: "Returns",
			Text:  "Within 30 days.\n\n## Refunds\nBy card.",
		},
		"No heading\n# later": {Text: "No heading\n# later"},
		"":                    {},
		"# Only":              {Title: "Only"},
		"a\x00b":              {Text: "ab"},
	} {
		if diff := cmp.Diff(want, FromMarkdown(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
