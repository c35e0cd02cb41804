package agents

import (
	"errors"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/meaning"
	"carillon/internal/base/resource"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/resources"
)

// Embeddings serves the server with which a base is searched by meaning, and the progress of its vectors.
type Embeddings struct {
	Gate    *member.Gate
	Store   *store.Store
	Vectors *meaning.Vectors
	Trials  *share.Share
}

func (x Embeddings) Routes() []httpio.Route {
	const path = "/knowledge/{id}/embeddings"
	return []httpio.Route{
		member.Route(x.Gate, "GET", path, auth.MayReadResources, member.With(baseID, x.state)),
		member.Write(x.Gate, "PUT", path, auth.MayWriteResources, member.With(baseID, x.put)).Taking(embeddingsRequest{}),
		member.Write(x.Gate, "DELETE", path, auth.MayWriteResources, member.With(baseID, x.remove)),
		member.Route(x.Gate, "POST", path+"/try", auth.MayWriteResources, member.With(baseID, x.try)).Taking(embeddingsRequest{}),
		member.Write(x.Gate, "POST", path+"/make", auth.MayWriteResources, member.With(baseID, x.ask)),
	}
}

// baseID reads the id of a base from the path. Errors: not_found for an invalid id.
func baseID(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if !resource.ValidIdentifier(id) {
		return "", carillon.Absent("Knowledge")
	}
	return id, nil
}

// vectorState is the progress of a base's vectors in a response.
type vectorState struct {
	Server     *knowledge.Embeddings `json:"server"` // null: the base is searched by words alone; the rest is empty then
	Made       int                   `json:"made"`   // passages with vectors
	Total      int                   `json:"total"`
	Dimensions int                   `json:"dimensions"` // 0 if unknown
	Making     bool                  `json:"making"`     // now, or at once
	MadeAt     *string               `json:"made_at"`    // null before the first success
	DueAt      *string               `json:"due_at"`     // of the next attempt or look
	Fault      string                `json:"fault"`      // of the last attempt; empty if it succeeded
	Detail     string                `json:"detail"`
	FaultAt    *string               `json:"fault_at"`
	// Searching is the current fault of questions, because of which searches go by words alone; null if there is
	// none.
	Searching *searchFault `json:"searching"`
}

// searchFault is the reason why a search goes by words alone.
type searchFault struct {
	Fault  string  `json:"fault"`
	Detail string  `json:"detail"`
	Base   string  `json:"base,omitempty"`
	Since  *string `json:"since,omitempty"`
}

func (x Embeddings) state(r *http.Request, by member.Member, id string) (vectorState, error) {
	stored, err := x.base(r, by, id)
	if err != nil {
		return vectorState{}, err
	}
	row := vectorState{Server: stored.Embeddings}
	if row.Server == nil {
		return row, nil
	}
	row.Server.APIKey = ""
	s, err := x.Store.Vectors.State(r.Context(), resources.VectorKey{CompanyID: by.CompanyID, ID: id}, time.Now())
	if err != nil {
		return vectorState{}, err
	}
	row.Made, row.Total, row.Dimensions, row.Making, row.Fault, row.Detail = s.Made, s.Total, s.Dimensions, s.Making, s.Fault, s.Detail
	row.MadeAt, row.DueAt = auth.TimeOrNull(s.MadeAt), auth.TimeOrNull(s.DueAt)
	if s.Fault != "" {
		row.FaultAt = auth.TimeOrNull(s.FaultAt)
	}
	f, since, err := x.Vectors.Failing(r.Context(), by.CompanyID, id)
	if f != nil {
		row.Searching = &searchFault{Fault: f.Code, Detail: f.Detail, Since: auth.TimeOrNull(since)}
	}
	return row, err
}

// base reads a base with its secret. Errors: not_found.
func (x Embeddings) base(r *http.Request, by member.Member, id string) (*knowledge.Base, error) {
	stored, err := x.Store.Resources.Resource(r.Context(), by.CompanyID, knowledge.Kind(), id)
	b, _ := stored.(*knowledge.Base)
	return b, err
}

// embeddingsRequest sets the server of a base. Without a key, the stored one is kept if the server is the same.
type embeddingsRequest struct {
	BaseURL        string `json:"base_url"`
	Model          string `json:"model"`
	APIKey         string `json:"api_key,omitempty"`
	QuestionPrefix string `json:"question_prefix,omitempty"`
	PassagePrefix  string `json:"passage_prefix,omitempty"`
}

// server reads the server in a body.
func (x Embeddings) server(r *http.Request) (*knowledge.Embeddings, error) {
	o, err := form.Body[embeddingsRequest](r)
	if err != nil {
		return nil, err
	}
	e := &knowledge.Embeddings{}
	for name, to := range map[string]*string{
		"base_url": &e.BaseURL, "model": &e.Model, "api_key": &e.APIKey, "question_prefix": &e.QuestionPrefix,
		"passage_prefix": &e.PassagePrefix,
	} {
		if *to, _, err = o.String(name, name); err != nil {
			return nil, err
		}
	}
	var c resource.Check
	e.Check(&c, "")
	return e, c.Err()
}

// put sets the server of a base. Without a key, the stored one is kept if the server is the same.
func (x Embeddings) put(r *http.Request, by member.Member, id string) (vectorState, error) {
	e, err := x.server(r)
	if err != nil {
		return vectorState{}, err
	}
	if err := x.edit(r, by, id, e); err != nil {
		return vectorState{}, err
	}
	x.Vectors.Wake()
	return x.state(r, by, id)
}

// remove removes the server of a base, which is then searched by words alone. Its vectors are removed in the
// background.
func (x Embeddings) remove(r *http.Request, by member.Member, id string) (httpio.None, error) {
	err := x.edit(r, by, id, nil)
	x.Vectors.Wake()
	return nil, err
}

func (x Embeddings) edit(r *http.Request, by member.Member, id string, e *knowledge.Embeddings) error {
	return resources.Edit(r.Context(), x.Store.Resources, by.CompanyID, knowledge.Kind(), id, func(stored resource.Resource) error {
		base, ok := stored.(*knowledge.Base)
		if !ok {
			return errors.New("knowledge has another type")
		}
		base.Embeddings = nil
		if e != nil {
			given := *e // a repeated transaction starts over
			base.Embeddings = &given
		}
		return nil
	})
}

// triedServer is the result of a trial request.
type triedServer struct {
	Dimensions int    `json:"dimensions,omitempty"`
	MS         int64  `json:"ms"`
	Fault      string `json:"fault,omitempty"`
	Detail     string `json:"detail,omitempty"`
}

// try asks a server for one vector. Without a key, the stored one is sent if the server is the same.
func (x Embeddings) try(r *http.Request, by member.Member, id string) (triedServer, error) {
	e, err := x.server(r)
	if err != nil {
		return triedServer{}, err
	}
	stored, err := x.base(r, by, id)
	if err != nil {
		return triedServer{}, err
	}
	resource.KeepSecrets(&knowledge.Base{Embeddings: e}, stored)
	place, err := x.Trials.Take(by.Holder())
	if err != nil {
		return triedServer{}, err
	}
	defer place.Release()
	dimensions, took, err := x.Vectors.Try(r.Context(), e)
	if f := new(meaning.Fault); errors.As(err, &f) {
		return triedServer{Fault: f.Code, Detail: f.Detail, MS: took.Milliseconds()}, nil
	}
	return triedServer{Dimensions: dimensions, MS: took.Milliseconds()}, err
}

// ask makes the vectors of a base due immediately.
func (x Embeddings) ask(r *http.Request, by member.Member, id string) (vectorState, error) {
	if _, err := form.Object(r); err != nil {
		return vectorState{}, err
	}
	if err := x.Store.Vectors.Ask(r.Context(), resources.VectorKey{CompanyID: by.CompanyID, ID: id}, time.Now()); err != nil {
		return vectorState{}, err
	}
	x.Vectors.Wake()
	return x.state(r, by, id)
}
