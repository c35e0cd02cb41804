package api

import (
	"strings"
	"testing"
)

func TestAPersonIsFoundAndErasedForItsCompanyAlone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		const ana = `{"number":"34600111222"}`
		r.want("POST", "/suppressions", "ck_ours", `{"number":"34600111222","reason":"asked by Ana"}`, 200, "asked by Ana")
		r.want("POST", "/people", "ck_ours", ana, 200,
			`{"identities":["34600111222"],"contacts":[],"conversations":0,"notifications":0,"calls":0}`)
		r.want("POST", "/people", "ck_ours", `{"number":"+34 600"}`, 400, `"field":"number"`)
		r.want("POST", "/people", "ck_ours", `{"contact_id":"0190a2b4-0000-7000-8000-000000000009"}`, 404, "not_found")
		r.want("POST", "/people/erase", "ck_theirs", ana, 200, `"rows":{`)
		r.want("GET", "/suppressions", "ck_ours", "", 200, "asked by Ana")
		text := r.want("POST", "/people/export", "ck_ours", ana, 200, "person.json")
		if !strings.HasPrefix(text, "PK") {
			t.Errorf("the archive begins %.20q", text)
		}
		r.want("POST", "/people/erase", "ck_ours", ana, 200, `"suppression":1`)
		r.want("GET", "/suppressions", "ck_ours", "", 200, `{"data":[],"next_cursor":null}`)
		r.want("POST", "/people/erase", "", ana, 401, "unauthorized")
	})
}
