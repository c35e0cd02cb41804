package config

import (
	"path/filepath"

	"github.com/goccy/go-yaml/ast"
)

// secret reads a text, or resolves {env: NAME} or {file: PATH}. Its problems contain neither the value nor a name
// inside such a mapping, which may be a misplaced secret.
func (f *form) secret(name string) string {
	x, ok := f.find(name)
	if !ok {
		return ""
	}
	if s, indirect := f.indirect(x); indirect {
		return s
	}
	s, _ := f.textOf(x)
	return s
}

// indirect reads {env: NAME} and {file: PATH}. It returns false if the field is not a mapping.
func (f *form) indirect(x field) (string, bool) {
	switch x.value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		return "", false
	}
	if f.r.values {
		f.wrong(x, "must be a text: {env: NAME} and {file: PATH} are for the files of a set-up")
		return "", true
	}
	inner, _ := f.r.form(x.value, x.name, x.path) // always a mapping here
	env, file := inner.text("env"), inner.text("file")
	if len(inner.fields) != 1 || env == "" && file == "" {
		f.wrong(x, "must be a text, {env: NAME} or {file: PATH}")
		return "", true
	}
	if env != "" {
		s, set := f.r.env(env)
		if !set || s == "" {
			f.wrong(x, "names the environment variable "+shortened(env)+", which is not set")
		}
		return s, true
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(f.r.name), file)
	}
	s, err := f.r.readFile(file)
	if err != nil {
		f.wrong(x, "cannot be read from its file: "+err.Error())
	}
	return s, true
}
