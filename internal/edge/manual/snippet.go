package manual

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
)

// snippet is the code of a request in one language.
type snippet struct {
	ID, Name string
	Code     template.HTML // with placeholders for the address and the key
}

// Placeholders in snippets. These characters occur in none of their texts.
const (
	basePlace = "\x01"
	keyPlace  = "\x02"
)

// request is the request that an operation's snippets send.
type request struct {
	method, address string // address below the base, with the query
	token           string // name of the environment variable with the Bearer token; empty if none
	file            bool
	body            string
}

// snippets returns an operation's request in each language, with its required parameters, sent to a base address.
func snippets(base string, o *endpoint) (all []snippet) {
	if len(o.Good) > 0 && o.Good[0].Status == "101" {
		return nil // a WebSocket
	}
	r := request{method: o.Method, address: o.Path}
	var query []string
	header := false
	for _, c := range o.Credentials {
		switch c.Name {
		case "API key":
			query = append(query, "access_key="+keyPlace)
		case "API key in the header X-Access-Key":
			header = true
		case "User's token", "Chat token", "Conversation token":
			r.token = strings.ToUpper(strings.NewReplacer("'s", "", " ", "_").Replace(c.Name))
		}
		if len(query) > 0 || header {
			break
		}
	}
	for _, p := range o.Parameters {
		value := p.Example
		switch {
		case p.Name == "customer_id":
			value = keyPlace
		case value == "":
			value = strings.ToUpper(p.Name)
		default:
			value = url.QueryEscape(value)
		}
		switch {
		case p.In == "path":
			r.address = strings.ReplaceAll(r.address, "{"+p.Name+"}", value)
		case p.In == "query" && p.Required:
			query = append(query, p.Name+"="+value)
		}
	}
	if len(query) > 0 {
		r.address += "?" + strings.Join(query, "&")
	}
	if o.Body != nil {
		r.body, r.file = o.Body.Example, o.Body.Kind == "multipart/form-data"
	}
	for _, l := range []struct {
		id, name, key string
		write         func(r request) string
	}{
		{"curl", "curl", "$ACCESS_KEY", curl},
		{"go", "Go", "$ACCESS_KEY", goCode},
		{"ts", "TypeScript", "${process.env.ACCESS_KEY}", typeScript},
	} {
		code := template.HTMLEscapeString(l.write(r))
		code = strings.ReplaceAll(code, keyPlace, `<span class="key" data-shown="`+l.key+`">`+l.key+`</span>`)
		code = strings.ReplaceAll(code, basePlace, template.HTMLEscapeString(base))
		all = append(all, snippet{l.id, l.name, template.HTML(code)}) //nolint:gosec // escaped above
	}
	return all
}

func curl(r request) string {
	var b strings.Builder
	b.WriteString("curl ")
	if r.method != http.MethodGet {
		b.WriteString("-X " + r.method + " ")
	}
	b.WriteString(`"` + basePlace + r.address + `"`)
	if r.token != "" {
		b.WriteString(" \\\n  -H \"Authorization: Bearer $" + r.token + `"`)
	}
	switch {
	case r.file:
		b.WriteString(" \\\n  -F file=@summer.jpg")
	case r.body != "":
		b.WriteString(" \\\n  -H \"Content-Type: application/json\" \\\n  -d '" + strings.ReplaceAll(r.body, "'", `'\''`) + "'")
	}
	return b.String()
}

func goCode(r request) string {
	var b strings.Builder
	body := "nil"
	switch {
	case r.file:
		b.WriteString("var body bytes.Buffer\nform := multipart.NewWriter(&body)\npart, err := form.CreateFormFile(\"file\", " +
			"\"summer.jpg\")\nif err != nil {\n\treturn err\n}\n" +
			"if _, err := io.Copy(part, picture); err != nil {\n\treturn err\n}\nform.Close()\n")
		body = "&body"
	case r.body != "":
		b.WriteString("body := strings.NewReader(`" + strings.ReplaceAll(r.body, "`", "` + \"`\" + `") + "`)\n")
		body = "body"
	}
	address := `"` + basePlace + r.address + `"`
	if strings.Contains(r.address, keyPlace) {
		address = "os.ExpandEnv(" + address + ")"
	}
	fmt.Fprintf(&b, "req, err := http.NewRequestWithContext(ctx, %q, %s, %s)\nif err != nil {\n\treturn err\n}\n", r.method, address, body)
	if r.token != "" {
		b.WriteString("req.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(\"" + r.token + "\"))\n")
	}
	switch {
	case r.file:
		b.WriteString("req.Header.Set(\"Content-Type\", form.FormDataContentType())\n")
	case r.body != "":
		b.WriteString("req.Header.Set(\"Content-Type\", \"application/json\")\n")
	}
	b.WriteString("res, err := http.DefaultClient.Do(req)\nif err != nil {\n\treturn err\n}\ndefer res.Body.Close()")
	return b.String()
}

func typeScript(r request) string {
	var b strings.Builder
	if r.file {
		b.WriteString("const body = new FormData();\nbody.set(\"file\", picture, \"summer.jpg\");\n")
	}
	quote := `"`
	if strings.Contains(r.address, keyPlace) {
		quote = "`"
	}
	b.WriteString("const res = await fetch(" + quote + basePlace + r.address + quote)
	var options, headers []string
	if r.method != http.MethodGet {
		options = append(options, "method: \""+r.method+"\"")
	}
	if r.token != "" {
		headers = append(headers, "Authorization: `Bearer ${process.env."+r.token+"}`")
	}
	if r.body != "" && !r.file {
		headers = append(headers, `"Content-Type": "application/json"`)
	}
	if len(headers) > 0 {
		options = append(options, "headers: { "+strings.Join(headers, ", ")+" }")
	}
	switch {
	case r.file:
		options = append(options, "body")
	case r.body != "":
		options = append(options, "body: JSON.stringify("+strings.ReplaceAll(r.body, "\n", "\n  ")+")")
	}
	if len(options) > 0 {
		b.WriteString(", {\n  " + strings.Join(options, ",\n  ") + ",\n}")
	}
	b.WriteString(");\n")
	if r.method == http.MethodDelete {
		b.WriteString("if (!res.ok) throw new Error((await res.json()).message);")
	} else {
		b.WriteString("const data = await res.json();\nif (!res.ok) throw new Error(data.message);")
	}
	return b.String()
}
