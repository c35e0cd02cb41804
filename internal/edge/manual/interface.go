package manual

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
)

// apiHome is the start page of the API reference.
type apiHome struct {
	Text   template.HTML
	Groups []*group
}

// group is a page with the operations of one tag.
type group struct {
	Name, Title string
	Text        template.HTML
	Operations  []*endpoint
}

// endpoint is one operation.
type endpoint struct {
	ID, Method, Path, Summary string
	Text                      template.HTML
	Credentials               []credential
	Parameters                []parameter
	Body                      *content
	Good                      []response
	Errors                    []failure
	Snippets                  []snippet
	Try                       *try
}

// credential is a credential that an operation accepts.
type credential struct {
	Name   string
	Scopes []string
	Text   template.HTML
}

type parameter struct {
	field
	In      string
	Example string
}

// content is a body with an example.
type content struct {
	Kind     string // media type
	Text     template.HTML
	Fields   []field
	Variants []variant
	Example  string
}

type response struct {
	Status, Text string
	Content      *content
}

// failure is one error of an operation.
type failure struct {
	Status, Code string
	Cause        template.HTML
	Example      string
}

// try configures the form for trying an operation.
type try struct {
	Credential string // key, token or none
	Token      string // origin of the token
	Changes    bool   // whether the operation may change something
}

// addInterface adds the pages of the API reference, and returns them in order.
func (lib *library) addInterface(d description) (all []*page) {
	home := &apiHome{Text: inline(d.at("info").text("description"))}
	first := &page{
		path: "api", title: "API", summary: "How requests are signed, and what errors look like.", template: "api", api: home,
	}
	first.parts = []part{{title: "API", text: d.at("info").text("description")}}
	lib.pages[first.path] = first
	all = append(all, first)
	for _, x := range d.list("tags") {
		tag, ok := x.(*object)
		if !ok {
			continue
		}
		name := tag.text("name")
		g := &group{
			Name: name, Title: strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "-", " "), Text: inline(tag.text("description")),
		}
		p := &page{path: "api/" + name, title: g.Title, summary: tag.text("description"), template: "group", group: g}
		p.parts = []part{{title: g.Title, text: tag.text("description")}}
		for _, o := range d.operations(name) {
			g.Operations = append(g.Operations, o)
			p.heads = append(p.heads, head{o.ID, o.Summary})
			p.parts = append(p.parts, part{o.ID, o.Summary, o.Method + " " + o.Path + " " + o.ID + " " + words(o)})
		}
		home.Groups = append(home.Groups, g)
		lib.pages[p.path] = p
		all = append(all, p)
	}
	return all
}

// words returns the names of an operation's fields, for the search index.
func words(o *endpoint) string {
	var b strings.Builder
	for _, p := range o.Parameters {
		b.WriteString(p.Name + " ")
	}
	if o.Body != nil {
		for _, f := range o.Body.Fields {
			b.WriteString(f.Name + " ")
		}
		for _, v := range o.Body.Variants {
			for _, f := range v.Fields {
				b.WriteString(f.Name + " ")
			}
		}
	}
	for _, e := range o.Errors {
		b.WriteString(e.Code + " ")
	}
	return b.String()
}

func (d description) operations(tag string) (all []*endpoint) {
	paths := d.at("paths")
	for _, path := range paths.keys {
		for _, method := range paths.at(path).keys {
			o := paths.at(path).at(method)
			if o != nil && slices.Contains(o.texts("tags"), tag) {
				all = append(all, d.operation(method, path, o))
			}
		}
	}
	return all
}

func (d description) operation(method, path string, o *object) *endpoint {
	x := &endpoint{
		ID: o.text("operationId"), Method: strings.ToUpper(method), Path: path, Summary: o.text("summary"),
		Text:        inline(o.text("description")),
		Credentials: d.credentials(o),
	}
	for _, p := range o.list("parameters") {
		x.Parameters = append(x.Parameters, d.parameter(p.(*object))) //nolint:forcetypeassert // the description is valid
	}
	if b := o.at("requestBody"); b != nil {
		x.Body = d.content(b)
	}
	responses := o.at("responses")
	for _, status := range responses.keys {
		r, _ := d.follow(responses.at(status))
		if status < "4" {
			x.Good = append(x.Good, response{status, r.text("description"), d.content(r)})
		} else {
			x.Errors = append(x.Errors, d.failures(status, r)...)
		}
	}
	x.Try = x.trial(o)
	x.Snippets = snippets(d.base, x)
	return x
}

func (d description) credentials(o *object) (all []credential) {
	schemes := d.at("components").at("securitySchemes")
	for _, x := range o.list("security") {
		alternative, ok := x.(*object)
		if !ok {
			continue
		}
		for _, name := range alternative.keys {
			i := slices.IndexFunc(all, func(c credential) bool { return c.Name == credentialNames[name] })
			if i < 0 {
				i = len(all)
				all = append(all, credential{Name: credentialNames[name], Text: inline(schemes.at(name).text("description"))})
			}
			for _, scope := range alternative.texts(name) {
				if !slices.Contains(all[i].Scopes, scope) {
					all[i].Scopes = append(all[i].Scopes, scope)
				}
			}
		}
	}
	return all
}

// credentialNames are the display names of the description's security schemes.
//
//nolint:gochecknoglobals,gosec // read only, and no credentials
var credentialNames = map[string]string{
	"accessKey": "API key", "accessKeyHeader": "API key in the header X-Access-Key", "companyToken": "Company token",
	"userToken": "User's token", "chatToken": "Chat token",
	"conversationToken": "Conversation token", "verifyToken": "Verify token", "signature": "Signature",
}

func (d description) parameter(p *object) parameter {
	p, _ = d.follow(p)
	x := parameter{field: d.field(p.text("name"), p.at("schema"), nil), In: p.text("in")}
	x.Required = p.get("required") == true
	x.Notes = append([]string{map[string]string{"path": "in the path", "query": "in the query", "header": "header"}[x.In]}, x.Notes...)
	if s := p.text("description"); s != "" {
		x.Text = inline(s)
	}
	switch e := p.get("example"); {
	case e != nil:
		x.Example = plainValue(e)
	case len(x.Values) > 0 && x.Required:
		x.Example = x.Values[0]
	}
	return x
}

// content returns the body of a request or response in its first media type.
func (d description) content(of *object) *content {
	kinds := of.at("content")
	if kinds == nil || len(kinds.keys) == 0 {
		return nil
	}
	media := kinds.at(kinds.keys[0])
	c := &content{Kind: kinds.keys[0]}
	c.Text, c.Fields, c.Variants = d.body(media.at("schema"), nil)
	if e := media.get("example"); e != nil {
		c.Example = pretty(e)
	}
	return c
}

// failures returns the possible errors of a status with their causes.
func (d description) failures(status string, r *object) (all []failure) {
	media := r.at("content").at("application/json")
	if media == nil {
		return []failure{{Status: status, Code: http.StatusText(number(status)), Cause: inline(r.text("description"))}}
	}
	schema, _ := d.follow(media.at("schema"))
	forms := []*object{schema}
	if several := schema.list("oneOf"); several != nil {
		forms = nil
		for _, x := range several {
			f, _ := d.follow(x.(*object)) //nolint:forcetypeassert // the description is valid
			forms = append(forms, f)
		}
	}
	for _, f := range forms {
		code := f.at("properties").at("error").text("const")
		x := failure{Status: status, Code: code, Cause: inline(f.text("description"))}
		if e := media.get("example"); e != nil {
			x.Example = pretty(e)
		} else if e := media.at("examples").at(code); e != nil {
			x.Example = pretty(e.get("value"))
		}
		all = append(all, x)
	}
	return all
}

func number(status string) (n int) {
	_, _ = fmt.Sscan(status, &n) // statuses are numbers
	return n
}

// trial returns the form for trying an operation, or nil if a form cannot send it: operations with a WebSocket,
// stream, file or provider signature, and those with a key in the address, which the browser would keep in its
// history.
func (o *endpoint) trial(described *object) *try {
	inAddress := slices.ContainsFunc(o.Parameters, func(p parameter) bool { return p.Name == "customer_id" })
	provider := slices.Contains(described.texts("tags"), "provider")
	file := o.Body != nil && o.Body.Kind != "application/json"
	page := len(o.Good) == 0 || o.Good[0].Status == "101" || o.Good[0].Content != nil && o.Good[0].Content.Kind != "application/json"
	if inAddress || provider || file || page {
		return nil
	}
	t := &try{Credential: "none", Changes: o.Method != http.MethodGet}
	for _, c := range o.Credentials {
		switch c.Name {
		case "API key", "API key in the header X-Access-Key":
			t.Credential = "key"
			return t
		case "User's token", "Chat token", "Conversation token":
			t.Credential, t.Token = "token", c.Name
		}
	}
	return t
}
