package manual

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed pages.html
var pagesHTML string

// templates are the frame around every page and what stands in it.
//
//nolint:gochecknoglobals // read only
var templates = template.Must(template.New("pages").Funcs(template.FuncMap{
	"lower": strings.ToLower,
	"join":  strings.Join,
}).Parse(pagesHTML))
