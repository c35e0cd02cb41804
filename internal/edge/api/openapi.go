package api

import (
	_ "embed"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed openapi.yaml
var openAPIText []byte

//nolint:gochecknoglobals // converted once from the embedded file
var openAPI = sync.OnceValue(func() []byte {
	text, err := yaml.YAMLToJSON(openAPIText)
	if err != nil {
		panic("openapi.yaml: " + err.Error()) // the file is embedded and covered by a test
	}
	return text
})

// OpenAPI returns the OpenAPI 3.1 description of the interface as JSON, as served at /openapi.json. Tests check every
// response against it (package apitest). Callers must not modify it.
func OpenAPI() []byte { return openAPI() }
