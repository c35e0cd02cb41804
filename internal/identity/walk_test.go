package identity_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// permitted are the comparisons of numbers as texts that the program has: how many a file has, and why none of them misses a form.
var permitted = map[string]struct {
	n   int
	why string
}{
	"api/template.go":                    {2, "senders of the company, by the number that they have"},
	"app/lines.go":                       {1, "lines of one number, of several companies"},
	"bulk/check.go":                      {2, "the index of a column"},
	"bulk/faults.go":                     {1, "the index of a column"},
	"bulk/request.go":                    {2, "the index of a column"},
	"bulk/settings.go":                   {1, "the index of a column"},
	"call/destination/destination.go":    {1, "whether a number begins with a prefix"},
	"config/provision_company.go":        {1, "a number that a set-up has twice"},
	"notify/resend.go":                   {4, "recipients of a notification and of its resends: the same request"},
	"panel/numbers.go":                   {2, "the number of a sender before and after a change"},
	"panel/phone.go":                     {1, "numbers that a list shows once"},
	"panel/sender.go":                    {1, "the number of a sender before and after a change"},
	"queue/lane/pace.go":                 {9, "the pause between two messages to one number"},
	"sandbox/heard.go":                   {1, "calls of the sandbox's phone, as they were dialled"},
	"store/calls/incoming_list.go":       {1, "one form of a line: the others are asked for too"},
	"store/calls/list.go":                {1, "one form of a line: the others are asked for too"},
	"store/chats/chats.go":               {1, "what a teammate changes of a contact"},
	"store/chats/identity.go":            {4, "every form of a line; and whether a contact has a number"},
	"store/chats/open.go":                {2, "whether a contact has a number"},
	"store/erase.go":                     {4, "every form of a line"},
	"store/people/people.go":             {6, "every form of a line; and whether a contact has a number"},
	"store/people/places.go":             {1, "every form of a line"},
	"store/list.go":                      {2, "one form of a line: the others are asked for too"},
	"store/replies/address.go":           {2, "every form of a line; and whether a window has a number"},
	"store/replies/phone.go":             {2, "phones of the sandbox"},
	"store/replies/replies.go":           {2, "the key of a person whose messages follow each other"},
	"store/senders/numbers.go":           {4, "numbers of senders"},
	"store/senders/senders.go":           {6, "numbers of senders"},
	"store/senders/write.go":             {5, "numbers of senders"},
	"store/suppressions/optout.go":       {1, "every form of a line"},
	"store/suppressions/put.go":          {2, "every form of a line"},
	"store/suppressions/suppressions.go": {4, "every form of a line; and whether a row has a number"},
	"voice/silero/extract/main.go":       {1, "the number of a field"},
	"whatsapp/reviewbody.go":             {1, "buttons of a template"},
}

// numberSQL are conditions on numbers in queries.
var numberSQL = regexp.MustCompile(`\b(SELECT|UPDATE|DELETE|WHERE|AND|CASE|SET)\b[\s\S]*\b(number|visitor_id) *(=|<>|IN\b|$)|^x?\.?number = [?$]`)

// TestNothingElseComparesNumbers walks the call sites: outside of this package nothing compares the text of a number with another, in Go or
// in SQL, but for what is permitted. People are compared by their keys, which are of another type.
func TestNothingElseComparesNumbers(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../identity/") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if code := comparison(n); code != "" {
				file := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
				found[file] = append(found[file], strings.Join(strings.Fields(code), " "))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file, all := range found {
		if p := permitted[file]; len(all) != p.n {
			t.Errorf("%s compares numbers as texts %d times, and may %d times (%s):\n%s", file, len(all), p.n, p.why, strings.Join(all, "\n"))
		}
	}
	for file := range permitted {
		if len(found[file]) == 0 {
			t.Errorf("nothing in %s compares numbers any more", file)
		}
	}
}

// comparison is the code of a node that compares numbers; "": it does not.
func comparison(n ast.Node) string {
	switch x := n.(type) {
	case *ast.BinaryExpr:
		if _, constant := x.Y.(*ast.BasicLit); (x.Op == token.EQL || x.Op == token.NEQ) && !constant && (isNumber(x.X) || isNumber(x.Y)) && name(x.Y) != "nil" {
			return name(x.X) + " " + x.Op.String() + " " + name(x.Y)
		}
	case *ast.IndexExpr:
		if isNumber(x.Index) {
			return name(x.X) + "[" + name(x.Index) + "]"
		}
	case *ast.CallExpr:
		if f := name(x.Fun); slices.Contains([]string{"slices.Contains", "slices.Index", "strings.EqualFold", "strings.Compare", "cmp.Compare"}, f) {
			for _, a := range x.Args {
				if isNumber(a) {
					return f + "(… " + name(a) + ")"
				}
			}
		}
	case *ast.BasicLit:
		if x.Kind == token.STRING && numberSQL.MatchString(strings.Trim(x.Value, "\"`")) && strings.ContainsAny(x.Value, " ") {
			return x.Value
		}
	}
	return ""
}

// isNumber reports whether an expression is named as a number of a telephone is.
func isNumber(x ast.Expr) bool {
	n := strings.ToLower(name(x))
	n = n[strings.LastIndexByte(n, '.')+1:]
	if n == "isnumber" || n == "inboundnumber" { // a function, and a kind of message
		return false
	}
	return strings.HasSuffix(n, "number") || n == "from" && strings.Contains(name(x), "in.")
}

// name is the name of an identifier or a selector.
func name(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return name(x.X) + "." + x.Sel.Name
	case *ast.IndexExpr:
		return name(x.X) + "[…]"
	case *ast.CallExpr:
		return name(x.Fun) + "(…)"
	}
	return "…"
}
