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

// permitted are the places that compare numbers as text: how many comparisons a file has, and why none of them misses
// a form.
var permitted = map[string]struct {
	n   int
	why string
}{
	"edge/api/template.go":              {2, "senders of the company, by the number that they have"},
	"call/telephone/lines.go":           {1, "lines of one number, of several companies"},
	"send/bulk/check.go":                {3, "the index of a column"},
	"send/bulk/request.go":              {1, "the index of a column"},
	"send/bulk/settings.go":             {2, "the index of a column"},
	"base/destination/destination.go":   {2, "whether a number begins with a prefix"},
	"base/config/provision_company.go":  {1, "a number that a set-up has twice"},
	"send/notify/resend.go":             {2, "recipients of a notification and of its resends: the same request"},
	"edge/panel/channels/numbers.go":    {2, "the number of a sender before and after a change"},
	"edge/panel/system/search.go":       {1, "digits that somebody types, in any part of a number"},
	"edge/panel/calls/phone.go":         {1, "numbers that a list shows once"},
	"edge/panel/channels/senders.go":    {1, "the number of a sender before and after a change"},
	"edge/panel/paneltest/parts.go":     {1, "whether a number begins with a prefix"},
	"queue/lane/pace.go":                {9, "the pause between two messages to one number"},
	"call/handset/heard.go":             {1, "calls of the sandbox's phone, as they were dialled"},
	"call/sip/metatest/peer.go":         {2, "the stand-in of a peer, which is strict about the form"},
	"store/calls/incoming_list.go":      {1, "one form of a line: the others are asked for too"},
	"store/calls/list.go":               {1, "one form of a line: the others are asked for too"},
	"store/chats/chats.go":              {1, "what a teammate changes of a contact"},
	"store/chats/identity.go":           {4, "every form of a line; and whether a contact has a number"},
	"store/chats/open.go":               {2, "whether a contact has a number"},
	"store/erase.go":                    {4, "every form of a line"},
	"store/people/groups.go":            {1, "the contacts of groups"},
	"store/people/mentions.go":          {1, "every form of a line"},
	"store/people/people.go":            {6, "every form of a line; and whether a contact has a number"},
	"store/people/places.go":            {1, "every form of a line"},
	"store/messages/list.go":            {2, "one form of a line: the others are asked for too"},
	"store/messages/notification.go":    {2, "every form of a line"},
	"store/chats/address.go":            {2, "every form of a line; and whether a window has a number"},
	"store/chats/search.go":             {1, "digits that somebody types, in any part of a number; exact numbers by their key"},
	"store/chats/past.go":               {1, "the key of a person in a history"},
	"store/chats/past_build.go":         {1, "the key of a person in a history"},
	"store/chats/phone.go":              {2, "phones of the sandbox"},
	"store/chats/replies.go":            {2, "the key of a person whose messages follow each other"},
	"store/settings/sender_numbers.go":  {3, "numbers of senders"},
	"store/settings/senders.go":         {6, "numbers of senders"},
	"store/settings/sender_write.go":    {5, "numbers of senders"},
	"store/settings/suppression_put.go": {3, "every form of a line"},
	"store/settings/suppressions.go":    {3, "every form of a line; and whether a row has a number"},
	"voice/nodes.go":                    {1, "the node that an event is from"},
	"voice/silero/extract/main.go":      {1, "the number of a field"},
	"send/whatsapp/inbound.go":          {1, "whether a reply asks for a number"},
	"send/whatsapp/reviewbody.go":       {1, "buttons of a template"},
}

// numberSQL matches conditions on numbers in queries.
var numberSQL = regexp.MustCompile(`\b(SELECT|UPDATE|DELETE|WHERE|AND|OR|ON|CASE|WHEN|SET|HAVING|USING)\b[\s\S]*` +
	`\b(number|visitor_id)\b *(=|<>|!=|IN\b|NOT\b|LIKE\b|IS\b|$)|(=|<>|!=|LIKE) *(\w\.)?(number|visitor_id)\b|^(\w\.)?number ` +
	`(=|<>|LIKE) [?$]`)

// TestNothingElseComparesNumbers walks all source files: outside this package no code compares the text of numbers, in
// Go or SQL, except where permitted. People are compared by their keys, which have their own type. The test recognizes
// numbers by the names of variables and fields.
func TestNothingElseComparesNumbers(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		code := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, "./")
		if err != nil || d.IsDir() || !code {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		found[name] = comparisons(file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file, all := range found {
		if p := permitted[file]; len(all) != p.n {
			t.Errorf("%s compares numbers as texts %d times, and may %d times (%s):\n%s", file, len(all), p.n, p.why,
				strings.Join(all, "\n"))
		}
	}
	for file := range permitted {
		if len(found[file]) == 0 {
			t.Errorf("nothing in %s compares numbers any more", file)
		}
	}
}

// comparisons returns the expressions in a file that compare numbers.
func comparisons(file *ast.File) (all []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if code := comparison(n); code != "" {
			all = append(all, strings.Join(strings.Fields(code), " "))
		}
		return true
	})
	return all
}

// TestTheWalkSeesComparisons checks that comparison finds typical comparisons.
func TestTheWalkSeesComparisons(t *testing.T) {
	for _, code := range []string{
		`return in.From == m.Number`, `return m.From != to`, `return strings.EqualFold(in.From, m.Number)`,
		`return strings.HasSuffix(in.From, tail)`,
		`return slices.Contains(all, in.From)`, `return sentTo[in.From]`, `x := map[string]bool{in.From: true}`, `switch in.From { }`,
		`switch { case in.From == x.To: }`, `switch to { case m.Number: }`, `return same(in.From, m.Number)`,
		`return cmp.Compare(m.WaID, to)`,
		`return caller == to`, `q := "SELECT id FROM message WHERE number = $1"`, `q := "UPDATE x SET a = 1 WHERE $1 = number"`,
		`q := "SELECT a FROM message AS m JOIN contact AS k ON k.number = m.number"`, `q := "SELECT a FROM x WHERE number LIKE $1 || '%'"`,
		`q := "SELECT a FROM x WHERE number NOT IN (SELECT b FROM y)"`, `q := "DELETE FROM x WHERE number " + d.In(2)`,
		`q := "x.number = ?" + " "`,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n\nfunc f() {\n"+code+"\n}\n", parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		if len(comparisons(file)) == 0 {
			t.Errorf("the walk does not see %s", code)
		}
	}
}

// comparison returns the code of a node that compares numbers, or "".
func comparison(n ast.Node) string {
	switch x := n.(type) {
	case *ast.BinaryExpr:
		_, constant := x.Y.(*ast.BasicLit)
		if (x.Op == token.EQL || x.Op == token.NEQ) && !constant && (isNumber(x.X) || isNumber(x.Y)) && name(x.Y) != "nil" {
			return name(x.X) + " " + x.Op.String() + " " + name(x.Y)
		}
	case *ast.IndexExpr:
		if isNumber(x.Index) {
			return name(x.X) + "[" + name(x.Index) + "]"
		}
	case *ast.SwitchStmt:
		if x.Tag != nil && isNumber(x.Tag) {
			return "switch " + name(x.Tag)
		}
	case *ast.CaseClause:
		if i := slices.IndexFunc(x.List, isNumber); i >= 0 {
			return "case " + name(x.List[i])
		}
	case *ast.KeyValueExpr: // an entry of a map; struct fields are not selectors
		if _, member := x.Key.(*ast.Ident); !member && isNumber(x.Key) {
			return name(x.Key) + ": …"
		}
	case *ast.CallExpr:
		if comparing.MatchString(name(x.Fun)) {
			if i := slices.IndexFunc(x.Args, isNumber); i >= 0 {
				return name(x.Fun) + "(… " + name(x.Args[i]) + ")"
			}
		}
		var numbers []string
		for _, a := range x.Args {
			if isNumber(a) && !slices.Contains(numbers, name(a)) {
				numbers = append(numbers, name(a))
			}
		}
		if len(numbers) > 1 && !writing.MatchString(name(x.Fun)) { // a helper that compares them
			return name(x.Fun) + "(" + strings.Join(numbers, ", ") + ")"
		}
	case *ast.BasicLit:
		if x.Kind == token.STRING && numberSQL.MatchString(strings.Trim(x.Value, "\"`")) && strings.ContainsAny(x.Value, " ") {
			return x.Value
		}
	}
	return ""
}

// comparing matches functions that compare texts.
var comparing = regexp.MustCompile(`^(strings|slices|cmp)\.` +
	`(Contains|Index|Equal|EqualFold|Compare|BinarySearch|HasPrefix|HasSuffix|CutPrefix|CutSuffix)$`)

// writing matches functions that take several numbers but compare none.
var writing = regexp.MustCompile(`^(cmp\.Or|strings\.NewReplacer|fmt\..*|append)$`)

// isNumber reports whether an expression is named like a telephone number.
func isNumber(x ast.Expr) bool {
	n := name(x)
	owner := ""
	if i := strings.LastIndexByte(n, '.'); i >= 0 {
		owner, n = n[:i], n[i+1:]
	}
	switch {
	case n == "isNumber", n == "kindNumber", n == "InboundNumber", owner == "json", owner == "identity": // functions and kinds
		return false
	case n == "From": // the sender of a message
		return true
	}
	n = strings.ToLower(n)
	return strings.HasSuffix(n, "number") || slices.Contains([]string{"phone", "waid", "caller", "callee", "msisdn", "recipientid"}, n)
}

// name returns the name of an identifier or selector.
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
