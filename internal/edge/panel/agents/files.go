package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent/document"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/resource"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/resources"
)

// imported are the articles of a file, which are not stored yet.
type imported struct {
	File     string              `json:"file"`
	Articles []knowledge.Article `json:"articles"`
}

// importFile reads the articles of a file in the part named file of a multipart body.
func (x Knowledge) importFile(w http.ResponseWriter, r *http.Request, by member.Member) error {
	place, err := x.Uploads.Take(by.Holder())
	if err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	defer place.Release()
	in, err := httpio.Upload(w, r, "file", document.MaxFile)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	all, err := x.Files.Read(r.Context(), by.CompanyID, in.Name, content)
	if err != nil {
		return refusedFile(err)
	}
	return httpio.JSON(w, http.StatusOK, imported{all[0].File, all})
}

// refusedFile converts the error of reading a file: fault is the reason as a word, line the row of a table.
func refusedFile(err error) error {
	var f *document.Fault
	if !errors.As(err, &f) {
		return err
	}
	e := carillon.Invalid("file", f.Error())
	e.Details = append(e.Details, carillon.Detail{Key: "fault", Value: string(f.Reason)})
	if f.Row > 0 {
		e.Details = append(e.Details, carillon.Detail{Key: "line", Value: f.Row})
	}
	if f.Detail != "" {
		e.Details = append(e.Details, carillon.Detail{Key: "detail", Value: f.Detail})
	}
	return e
}

// maxEdit bounds the body of a change of articles: a base may be larger than the body that a resource is written with.
const maxEdit = 8 << 20

// editRoute changes articles of a base without sending all of it.
func (x Knowledge) editRoute() httpio.Route {
	route := member.Write(x.Gate, "POST", "/knowledge/{id}/articles", auth.MayWriteResources, x.edit).Taking(articlesRequest{})
	route.MaxBody = maxEdit
	return route
}

// articlesLeft is the response to a change of a base's articles.
type articlesLeft struct {
	Articles int `json:"articles"` // of the base
}

// givenArticle is an article in a request.
type givenArticle struct {
	Title     string   `json:"title"`
	Text      string   `json:"text"`
	URL       string   `json:"url,omitempty"`
	Language  string   `json:"language,omitempty"`
	Questions []string `json:"questions,omitempty"`
	File      string   `json:"file,omitempty"`
	Site      string   `json:"site,omitempty"`
}

// articlesRequest adds and removes articles.
type articlesRequest struct {
	Add    []givenArticle `json:"add,omitempty"`
	Remove []givenArticle `json:"remove,omitempty"`
}

// edit adds and removes articles. An article is removed if it is stored as given, and an added one takes the place of
// the removed one of the same index in the lists. Errors: conflict if an article to remove was changed meanwhile.
func (x Knowledge) edit(r *http.Request, by member.Member) (articlesLeft, error) {
	o, err := form.Body[articlesRequest](r)
	if err != nil {
		return articlesLeft{}, err
	}
	add, err := articlesIn(o, "add")
	if err != nil {
		return articlesLeft{}, err
	}
	remove, err := articlesIn(o, "remove")
	if err != nil {
		return articlesLeft{}, err
	}
	if len(add)+len(remove) == 0 {
		return articlesLeft{}, carillon.Invalid("body", "Must have articles to add or to remove")
	}
	n := 0
	err = x.editBase(r, by, func(base *knowledge.Base) error {
		for i, old := range remove {
			at := slices.IndexFunc(base.Articles, func(a knowledge.Article) bool { return reflect.DeepEqual(a, old) })
			switch {
			case at < 0:
				return carillon.InConflict("The article was changed meanwhile: " + carillon.Shorten(old.Title))
			case i < len(add):
				base.Articles[at] = add[i]
			default:
				base.Articles = slices.Delete(base.Articles, at, at+1)
			}
		}
		base.Articles = append(base.Articles, add[min(len(remove), len(add)):]...)
		n = len(base.Articles)
		return nil
	})
	if err != nil {
		return articlesLeft{}, err
	}
	return articlesLeft{n}, nil
}

// editBase changes the base of a request. Errors: not_found, and that of edit.
func (x Knowledge) editBase(r *http.Request, by member.Member, edit func(base *knowledge.Base) error) error {
	id := r.PathValue("id")
	if !resource.ValidIdentifier(id) {
		return carillon.Absent("Knowledge")
	}
	return resources.Edit(r.Context(), x.Store.Resources, by.CompanyID, knowledge.Kind(), id, func(stored resource.Resource) error {
		base, ok := stored.(*knowledge.Base)
		if !ok {
			return errors.New("knowledge has another type")
		}
		return edit(base)
	})
}

// articlesIn reads a list of articles as a base has them.
func articlesIn(o *jsonbody.Object, field string) (all []knowledge.Article, err error) {
	list := o.Find(field)
	if _, present, err := list.Array(field); err != nil || !present {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(list.Raw()))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, carillon.Invalid(field, "Must be a list of articles, with the fields that a base has")
	}
	for i := range all {
		if len(all[i].Questions) == 0 {
			all[i].Questions = nil // as it is read from the base
		}
	}
	return all, nil
}
