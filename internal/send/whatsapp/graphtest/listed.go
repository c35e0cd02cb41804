package graphtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxListed is the number of templates per page.
const maxListed = 1000

// defaultFields are the members of a list without the parameter fields.
const defaultFields = "name,parameter_format,components,language,status,category,id"

// allFields are the members that a list may contain.
const allFields = defaultFields + ",previous_category,correct_category,rejected_reason,quality_score,sub_category," +
	"library_template_name,message_send_ttl_seconds,cta_url_link_tracking_opted_out,degrees_of_freedom_spec,source"

// SetListed replaces the templates that the account got in another way, as the channel shows them. They follow the
// others in the list, and have no review here.
func (ts *templates) SetListed(nodes ...json.RawMessage) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.listed = nodes
}

// list returns a page of the account's templates with the requested members.
func (ts *templates) list(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	q := r.URL.Query()
	fields := strings.Split(defaultFields, ",")
	if q.Has("fields") {
		fields = strings.Split(q.Get("fields"), ",")
	}
	known := strings.Split(allFields, ",")
	for _, f := range fields {
		if !slices.Contains(known, f) {
			return invalid("Tried accessing nonexisting field (" + f + ")")
		}
	}
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 || limit > maxListed {
		limit = 25
	}
	all := ts.nodes()
	at, _ := strconv.Atoi(q.Get("after"))
	found := []map[string]any{}
	for ; at < len(all) && len(found) < limit; at++ {
		name, _ := all[at]["name"].(string)
		if strings.Contains(name, q.Get("name")) && (q.Get("language") == "" || q.Get("language") == all[at]["language"]) {
			found = append(found, only(all[at], fields))
		}
	}
	paging := map[string]any{"cursors": map[string]string{"after": strconv.Itoa(at)}}
	if at < len(all) {
		paging["next"] = "http://" + r.Host + r.URL.Path
	}
	respond(w, 200, map[string]any{"data": found, "paging": paging})
	return nil
}

// nodes returns all templates as the channel shows them.
func (ts *templates) nodes() []map[string]any {
	var all []map[string]any
	for _, t := range ts.all {
		b, _ := json.Marshal(view(t))
		all = append(all, object(b))
	}
	for _, raw := range ts.listed {
		all = append(all, object(raw))
	}
	return all
}

func object(raw []byte) map[string]any {
	var o map[string]any
	_ = json.Unmarshal(raw, &o) // a test gives objects
	return o
}

func only(node map[string]any, fields []string) map[string]any {
	shown := map[string]any{"id": node["id"]}
	for _, f := range fields {
		if v, ok := node[f]; ok {
			shown[f] = v
		}
	}
	return shown
}

// listedNode returns a template of listed by its id; nil if there is none.
func (ts *templates) listedNode(id string) map[string]any {
	for _, raw := range ts.listed {
		if o := object(raw); o["id"] == id {
			return o
		}
	}
	return nil
}

// QualityScoreBody returns the body of a callback about a template's quality, under the name of a field.
func (s *Server) QualityScoreBody(field string, id int64, name, language, score string) []byte {
	return s.envelope(field, map[string]any{
		"message_template_id": id, "message_template_name": name, "message_template_language": language,
		"previous_quality_score": "GREEN", "new_quality_score": score,
	})
}

// CategoryBody returns the body of a callback about a template's category. With a coming category it is the notice a day
// ahead, and current is the category until then.
func (s *Server) CategoryBody(id int64, name, language, current, coming string, at int64) []byte {
	value := map[string]any{
		"message_template_id": id, "message_template_name": name, "message_template_language": language, "new_category": current,
	}
	if coming != "" {
		value["correct_category"], value["category_update_timestamp"] = coming, at
	} else {
		value["previous_category"] = "UTILITY"
	}
	return s.envelope("template_category_update", value)
}

// PartsBody returns the body of a callback about a template whose parts were changed at the channel.
func (s *Server) PartsBody(id int64, name, language, body string) []byte {
	return s.envelope("message_template_components_update", map[string]any{
		"message_template_id": id, "message_template_name": name, "message_template_language": language,
		"message_template_element": body,
	})
}
