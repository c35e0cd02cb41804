// Package site reads web sites into knowledge: first when a site is added, then once a day, and when somebody asks for it.
//
//	due ─▶ claimed by one node ─▶ robots.txt ─▶ sitemap, or links ─▶ pages, one at a time with a pause
//	    ─▶ compared with the last look ─▶ articles added, changed and removed in one transaction ─▶ due tomorrow
//
// A page is asked for only if it has changed. An article that a person edited is not overwritten, and one that a person
// removed does not come back. A site that fails, or loses more than half of its pages, keeps its articles, and says so.
package site

import (
	"net/url"
	"path"
	"strconv"
	"strings"

	"carillon/internal/base/resource"
)

// Site is a web site whose pages are articles of a base.
type Site struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"` // the address unless given
	Knowledge string   `json:"knowledge"`
	Address   string   `json:"address"`
	Include   []string `json:"include"` // prefixes of the paths to read, by default the path of the address
	Exclude   []string `json:"exclude"`
	MaxPages  int      `json:"max_pages"`
}

const (
	defaultPages = 200
	maxPages     = 2000
	maxPrefixes  = 50
	maxPrefix    = 300
	maxSites     = 100 // of a company
)

// Kind returns the resource kind of sites.
func Kind() resource.Kind {
	return resource.Kind{
		Name: "site", Plural: "sites", Phrase: "a site", Most: maxSites, New: func() resource.Resource { return &Site{} },
	}
}

// Key implements resource.Resource.
func (s *Site) Key() (id, name *string) { return &s.ID, &s.Name }

// References implements resource.Referrer.
func (s *Site) References() []resource.Reference {
	return []resource.Reference{{Field: "knowledge", Kind: "knowledge", To: &s.Knowledge}}
}

// Validate implements resource.Resource.
func (s *Site) Validate() error {
	var c resource.Check
	c.UUID("id", &s.ID)
	c.Required("knowledge", s.Knowledge)
	if u, err := url.Parse(s.Address); err == nil && u.Host != "" {
		u.Fragment = ""
		if u.Path == "" {
			u.Path = "/"
		}
		s.Address = u.String()
	}
	c.Address("address", s.Address)
	if s.Name == "" {
		s.Name = s.Address[:min(len(s.Address), 200)]
	}
	c.Name("name", s.Name)
	s.Include, s.Exclude = resource.List(s.Include), resource.List(s.Exclude)
	for field, list := range map[string][]string{"include": s.Include, "exclude": s.Exclude} {
		c.That(len(list) <= maxPrefixes, field, "Must have at most "+strconv.Itoa(maxPrefixes)+" entries")
		for i, prefix := range list {
			c.That(strings.HasPrefix(prefix, "/") && len(prefix) <= maxPrefix && !strings.ContainsAny(prefix, " \r\n\t?#"),
				resource.Index(field, i), "Must be the beginning of a path, such as /help/")
		}
	}
	if s.MaxPages == 0 {
		s.MaxPages = defaultPages
	}
	c.That(s.MaxPages >= 1 && s.MaxPages <= maxPages, "max_pages", "Must be from 1 to "+strconv.Itoa(maxPages))
	return c.Err()
}

// below returns the prefix of the paths below an address: its folder, or itself if it has no file.
func below(p string) string {
	if path.Ext(p) != "" {
		p = p[:strings.LastIndexByte(p, '/')+1]
	}
	if p == "" {
		return "/"
	}
	return p
}

// covers reports whether a path is to be read.
func (s *Site) covers(p, start string) bool {
	if p == "" {
		p = "/"
	}
	include := s.Include
	if len(include) == 0 {
		include = []string{below(start)}
	}
	return begins(p, include) && !begins(p, s.Exclude)
}

func begins(p string, prefixes []string) bool {
	for _, prefix := range prefixes {
		rest, ok := strings.CutPrefix(p, prefix)
		if ok && (rest == "" || strings.HasSuffix(prefix, "/") || rest[0] == '/' || rest[0] == '.') {
			return true
		}
	}
	return false
}
