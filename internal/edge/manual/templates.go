package manual

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed pages.html
var pagesHTML string

// templates are the layout of every page and its contents.
//
//nolint:gochecknoglobals // read only
var templates = template.Must(template.New("pages").Funcs(template.FuncMap{
	"lower": strings.ToLower,
	"join":  strings.Join,
}).Parse(pagesHTML))
