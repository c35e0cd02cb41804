// Package docs holds the pages of this folder, which the program shows under /docs (package manual).
package docs

import "embed"

// Files are the pages, in Markdown, and their pictures.
//
//go:embed *.md adr/*.md guides/*.md reference/*.md images/*
var Files embed.FS
