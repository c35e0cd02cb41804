package agents

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"golang.org/x/net/html/charset"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent/document"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/egress"
	"carillon/internal/base/resource"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
)

// Knowledge serves the operations on knowledge besides storing it: importing an article and testing a search.
type Knowledge struct {
	Gate    *member.Gate
	Store   *store.Store
	Search  *knowledge.Search
	Pages   *egress.Client // fetches the pages that become articles
	Imports *share.Share
	Uploads *share.Share
	Files   *document.Reader
}

const (
	maxBases       = 100  // searched together
	maxSearched    = 1000 // characters of a query
	searchLimit    = 5
	maxSearchLimit = 20
)

func (x Knowledge) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "POST", "/knowledge/import", auth.MayWriteResources, x.importArticle).Taking(importRequest{}),
		x.Gate.Upload("/knowledge/import/file", auth.MayWriteResources, document.MaxFile+1<<20, x.importFile).Giving(imported{}),
		x.editRoute(),
		member.Write(x.Gate, "PUT", "/knowledge/{id}/synonyms", auth.MayWriteResources, x.setSynonyms).Taking(synonymGroups{}),
		member.Route(x.Gate, "GET", "/knowledge/search", auth.MayReadResources, x.search),
	}
}

// proposal is an imported article that is not stored yet.
type proposal struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	URL   string `json:"url"`
}

// importRequest imports an article from either a page or a text.
type importRequest struct {
	URL      string `json:"url,omitempty"`
	Markdown string `json:"markdown,omitempty"`
}

func (x Knowledge) importArticle(r *http.Request, by member.Member) (proposal, error) {
	o, err := form.Body[importRequest](r)
	if err != nil {
		return proposal{}, err
	}
	address, fromPage, err := o.String("url", "url")
	if err != nil {
		return proposal{}, err
	}
	markdown, fromText, err := o.String("markdown", "markdown")
	if err != nil {
		return proposal{}, err
	}
	if fromPage == fromText {
		return proposal{}, carillon.Invalid("body", "Takes one of url and markdown")
	}
	var a knowledge.Article
	field := "markdown"
	place, err := x.Imports.Take(by.Holder())
	if err != nil {
		return proposal{}, err
	}
	defer place.Release()
	if fromText {
		a = knowledge.FromMarkdown(markdown)
	} else {
		field = "url"
		if a, err = x.fetch(r.Context(), address); err != nil {
			return proposal{}, err
		}
	}
	if a.Text == "" {
		return proposal{}, carillon.Invalid(field, "Must have a text")
	}
	return proposal{a.Title, a.Text, a.URL}, nil
}

// fetch reads an article from a page.
func (x Knowledge) fetch(ctx context.Context, address string) (a knowledge.Article, err error) {
	if fault := resource.AddressFault(address, "Must be an http or https address", "https", "http"); fault != "" {
		return a, carillon.Invalid("url", fault)
	}
	u, err := url.Parse(address)
	if err != nil {
		return a, carillon.Invalid("url", "Must be an http or https address")
	}
	u.Fragment = ""
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil) //nolint:gosec // the client checks the address
	if err != nil {
		return a, carillon.Invalid("url", "Must be an http or https address")
	}
	r.Header.Set("Accept", "text/html, text/markdown, text/plain")
	resp, err := x.Pages.Do(r)
	if err != nil {
		return a, unreadable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return a, carillon.Invalid("url", "The page could not be read: the server responded with "+strconv.Itoa(resp.StatusCode))
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	body, err := charset.NewReader(resp.Body, resp.Header.Get("Content-Type"))
	if err != nil {
		return a, unreadable(err)
	}
	switch kind {
	case "text/html", "application/xhtml+xml":
		a, err = knowledge.FromHTML(body)
	case "text/markdown", "text/plain":
		a, err = knowledge.FromText(body)
	default:
		return a, carillon.Invalid("url", "Must be a page of HTML, Markdown or plain text")
	}
	if err != nil {
		return a, unreadable(err)
	}
	a.URL = u.String()
	return a, nil
}

// unreadable converts the error of fetching a page.
func unreadable(err error) error {
	var denied *egress.DeniedError
	switch {
	case errors.As(err, &denied):
		return carillon.Invalid("url", "The page may not be read: "+denied.Reason)
	case errors.Is(err, egress.ErrBodyTooLarge):
		return carillon.Invalid("url", "The page is too large")
	}
	e := carillon.Invalid("url", "The page could not be read")
	e.Err = err
	return e
}

// searched is a passage in the response to a search.
type searched struct {
	Knowledge string  `json:"knowledge"`
	Title     string  `json:"title"`
	Text      string  `json:"text"`
	URL       string  `json:"url"`
	Score     float64 `json:"score"`
	Answers   bool    `json:"answers"` // the built-in agent answers with it
	Offered   bool    `json:"offered"` // it offers it as a choice
	// Similarity is that of its meaning, from -1 to 1; absent if it is not known.
	Similarity float64 `json:"similarity,omitempty"`
}

// searchShown is the result of a search.
type searchShown struct {
	Results []searched `json:"results"`
	// Meaning is true if a base was searched by meaning too, and WordsAlone the reason why another was not.
	Meaning    bool         `json:"meaning"`
	WordsAlone *searchFault `json:"words_alone,omitempty"`
}

func (x Knowledge) search(r *http.Request, by member.Member) (searchShown, error) {
	q := r.URL.Query()
	query := knowledge.Query{CompanyID: by.CompanyID, Language: q.Get("language"), Limit: searchLimit, Knowledge: q["knowledge"]}
	var err error
	if query.Text, err = form.Query(q, "q", maxSearched); err != nil {
		return searchShown{}, err
	}
	if query.Text == "" {
		return searchShown{}, carillon.Missing("q")
	}
	if query.Language != "" && !resource.ValidLanguage(query.Language) {
		return searchShown{}, carillon.Invalid("language", "Must be a language such as es or pt-BR")
	}
	if text := q.Get("limit"); text != "" {
		if query.Limit, err = strconv.Atoi(text); err != nil || query.Limit < 1 || query.Limit > maxSearchLimit {
			return searchShown{}, carillon.BadFormat(
				"limit", carillon.Shorten(text), "Whole number from 1 to "+strconv.Itoa(maxSearchLimit), searchLimit,
			)
		}
	}
	if query.Knowledge, err = x.bases(r.Context(), by, query.Knowledge); err != nil {
		return searchShown{}, err
	}
	found, near, err := x.Search.Look(r.Context(), query)
	if err != nil {
		return searchShown{}, err
	}
	results := []searched{}
	answers, offers := knowledge.Decide(found)
	for i, h := range found {
		results = append(results, searched{
			h.Knowledge, h.Title, h.Text, h.URL, h.Score, answers && i == 0, slices.Contains(offers, i), h.Similarity,
		})
	}
	response := searchShown{Results: results, Meaning: near.Used}
	if near.Fault != "" {
		response.WordsAlone = &searchFault{Fault: near.Fault, Detail: near.Detail, Base: near.Base}
	}
	return response, nil
}

// bases returns the ids of the knowledge to search: the named ones, or else all of the company's.
func (x Knowledge) bases(ctx context.Context, by member.Member, named []string) ([]string, error) {
	if len(named) == 0 {
		return x.Store.Resources.KnowledgeIDs(ctx, by.CompanyID, maxBases)
	}
	if len(named) > maxBases {
		return nil, carillon.Invalid("knowledge", "At most "+strconv.Itoa(maxBases)+" ids")
	}
	for _, id := range named {
		if !resource.ValidIdentifier(id) {
			return nil, carillon.Invalid("knowledge", "Must be the id of knowledge")
		}
	}
	return named, nil
}
