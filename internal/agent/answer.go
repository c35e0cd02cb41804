package agent

import (
	"regexp/syntax"
	"slices"
	"strings"

	"carillon/internal/agent/knowledge"
)

// AnswerKind returns the kind of answer that a question with this name and type expects: email, date or name, or "" for
// anything else.
func AnswerKind(name, kind string) string {
	words := knowledge.Words(strings.ReplaceAll(name, "_", " "))
	has := func(any ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(any, w) })
	}
	switch {
	case kind == "date":
		return kind
	case kind != "text":
		return ""
	case has("email", "mail", "correo"):
		return "email"
	case has("date", "day", "birthday", "fecha", "dia", "data"):
		return "date"
	case has("name", "surname", "street", "address", "city", "nombre", "apellido", "calle", "direccion", "nome", "sobrenome", "rua",
		"endereco"):
		return "name"
	}
	return ""
}

// digits returns the number of digits of every text that has the parameter's form, or 0 if it varies or has no digits.
func (p *Parameter) digits() int {
	if p.Type != "text" || p.Pattern == "" {
		return 0
	}
	parsed, err := syntax.Parse(p.Pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	n, fixed := digitsOf(parsed.Simplify())
	if !fixed {
		return 0
	}
	return n
}

// digitsOf counts the digits of a form. fixed is false if texts of the form have different numbers of them.
func digitsOf(x *syntax.Regexp) (n int, fixed bool) {
	switch x.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary:
		return 0, true
	case syntax.OpLiteral:
		for _, r := range x.Rune {
			if r >= '0' && r <= '9' {
				n++
			}
		}
		return n, true
	case syntax.OpCharClass:
		digit := len(x.Rune) == 2 && x.Rune[0] >= '0' && x.Rune[1] <= '9'
		if digit {
			return 1, true
		}
		for i := 0; i+1 < len(x.Rune); i += 2 {
			if x.Rune[i] <= '9' && x.Rune[i+1] >= '0' {
				return 0, false
			}
		}
		return 0, true
	case syntax.OpCapture:
		return digitsOf(x.Sub[0])
	case syntax.OpQuest:
		n, fixed = digitsOf(x.Sub[0])
		return n, fixed && n == 0
	case syntax.OpConcat:
		for _, sub := range x.Sub {
			m, ok := digitsOf(sub)
			if !ok {
				return 0, false
			}
			n += m
		}
		return n, true
	default:
		return 0, false
	}
}
