package spoken

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTextsAreWrittenAsTheyAreSaid(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"en", "Hello, how are you? It is 5 o'clock.", "Hello, how are you? It is 5 o'clock."},
		{"en", "It costs $5.50, or £1.", "It costs 5 dollars and 50 cents, or 1 pound."},
		{"en", "From $1,234.50 to 2.000 €!", "From 1234 dollars and 50 cents to 2000 euros!"},
		{"en", "$0.99 or $0.01", "99 cents or 1 cent"},
		{"en", "$3 million (USD 5)", "3 million dollars (5 dollars)"},
		{"en", "$10.00.", "10 dollars."},
		{"en", "Today is 2026-11-25.", "Today is November 25, 2026."},
		{"en-GB", "Today is 2026-11-25 or 25/11/2026.", "Today is 25 November 2026 or 25 November 2026."},
		{"en-US", "11/25/2026", "November 25, 2026"},
		{"en-US", "25/11/2026", "25/11/2026"},
		{"en", "2026-13-45 and 10-20", "2026-13-45 and 10-20"},
		{"en", "From 9:00 to 17:30, 9:05 and 8:00 pm, 10:30am.", "From 9 o'clock to 17 30, 9 oh 5 and 8 pm, 10 30am."},
		{"en", "20% off, 2.5 %", "20 percent off, 2.5 percent"},
		{"en", "Write to ana.b_c@mail.example.com.", "Write to ana dot b underscore c at mail dot example dot com."},
		{"en", "See acme.test, e.g. the shop.co.uk", "See acme dot test, e.g. the shop dot co dot uk"},
		{"en", "Call +34 600-111-222 now.", "Call plus 3 4, 6 0 0, 1 1 1, 2 2 2 now."},
		{"en", "Order 12345678 of 2026, 123456", "Order 1 2 3, 4 5 6, 7 8 of 2026, 123456"},
		{"en", "1234567, 1234567", "1 2 3, 4 5, 6 7, 1 2 3, 4 5, 6 7"},
		{"en", "Version 1.2.3 and IP 10.0.0.1 and A$5", "Version 1.2.3 and IP 10.0.0.1 and A$5"},
		{"en", "5€ 6€ 7€", "5 euros 6 euros 7 euros"},
		{"es", "Cuesta 1.234,50 €, con un 20 % menos.", "Cuesta 1234 euros con 50 céntimos, con un 20 por ciento menos."},
		{"es-MX", "Son $99.90 o US$5", "Son 99 pesos con 90 centavos o 5 dólares"},
		{"es-EC", "Son $1", "Son 1 dólar"},
		{"es", "Abrimos a las 9:00 y cerramos a las 20:30 o a las 22:00.", "Abrimos a las 9 y cerramos a las 20 y 30 o a las 22 horas."},
		{"es-419", "El 05/03/2026", "El 5 de marzo de 2026"},
		{"es", "ana-1@correo.es", "ana guion 1 arroba correo punto es"},
		{"es", "2 millones €", "2 millones de euros"},
		{
			"pt-BR", "Custa R$ 1.299,90 até 2026-01-01, das 9:00 às 18:15.",
			"Custa 1299 reais e 90 centavos até 1 de janeiro de 2026, das 9 horas às 18 e 15.",
		},
		{"pt", "R$ 5 mil", "5 mil reais"},
		{"pt", "São 5,50 €", "São 5 euros e 50 centavos"},
		{"de", "Es kostet 5,50 € am 2026-11-25", "Es kostet 5,50 € am 2026-11-25"},
	} {
		if got := Text(c.text, c.language); got != c.want {
			t.Errorf("%s: %q is said %q, want %q", c.language, c.text, got, c.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("It costs $5.50 on 2026-11-25 at 9:00, a@b.com, +34 600 111 222, 20%", "en")
	f.Add("1.234,50 €", "es-MX")
	f.Fuzz(func(t *testing.T, text, language string) {
		got := Text(text, language)
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q is said %q", text, got)
		}
		if len(got) > 40*len(text)+40 {
			t.Errorf("%d bytes of %d", len(got), len(text))
		}
		if !strings.ContainsFunc(text, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' }) && got != text {
			t.Errorf("%q without a number is said %q", text, got)
		}
	})
}
