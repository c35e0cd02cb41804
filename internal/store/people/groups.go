package people

import (
	"context"
	"encoding/json"
	"fmt"

	"carillon/internal/store/db"
)

// A person's turns in a group belong to the group's conversation, which has other people too: they are found by their
// author.

// said is a turn of the person in a group.
type said struct {
	Conversation string
	Seq          int64
}

func (s said) key() string { return fmt.Sprintf("%s/%d", s.Conversation, s.Seq) }

// ofGroups restricts turns to those of the company's groups.
const ofGroups = `conversation_id IN (SELECT c.id FROM contact AS k JOIN conversation AS c ON c.contact_id = k.id
	WHERE k.company_id = $1 AND k.widget_id = '' AND k.visitor_id LIKE 'group:%')`

// groups finds the person's turns in groups, with their files.
func (p *Person) groups(ctx context.Context, d *db.DB) error {
	for _, key := range p.Keys {
		type turn struct {
			said
			payload string
		}
		turns, err := db.Collect(ctx, d, "turns in groups", func(scan db.Scan) (t turn, err error) {
			err = scan(&t.Conversation, &t.Seq, &t.payload)
			return t, err
		}, "SELECT conversation_id, seq, payload FROM turn WHERE "+ofGroups+" AND payload LIKE $2 ORDER BY conversation_id, seq",
			p.CompanyID, `%"writer":"`+key+`"%`)
		if err != nil {
			return err
		}
		for _, t := range turns {
			var extra struct {
				Writer string
				File   struct{ ID string }
			}
			if err := json.Unmarshal([]byte(t.payload), &extra); err != nil {
				return err
			}
			if extra.Writer != key { // another person wrote these words
				continue
			}
			p.Said = append(p.Said, t.said)
			if extra.File.ID != "" {
				p.Files = append(p.Files, extra.File.ID)
			}
		}
	}
	return nil
}

// Unquote removes the person's turns in groups from the replies of others and from the previews of the groups.
func (p *Person) Unquote(ctx context.Context, d *db.DB) error {
	for _, s := range p.Said {
		quotes, err := db.Collect(ctx, d, "quotes", func(scan db.Scan) (r record, err error) {
			r = record{key: make([]any, 1), texts: make([]string, 1)}
			err = scan(&r.key[0], &r.texts[0])
			return r, err
		}, "SELECT seq, payload FROM turn WHERE conversation_id = $1 AND payload LIKE $2", s.Conversation,
			fmt.Sprintf(`%%"of":%d,%%`, s.Seq))
		if err != nil {
			return err
		}
		for _, q := range quotes {
			payload, err := withoutQuote(q.texts[0], s.Seq)
			if err != nil {
				return err
			}
			if _, err := d.Exec(ctx, "UPDATE turn SET payload = $1 WHERE conversation_id = $2 AND seq = $3", payload,
				s.Conversation, q.key[0]); err != nil {
				return err
			}
		}
		if _, err := d.Exec(ctx, "UPDATE conversation SET last_text = '' WHERE company_id = $1 AND id = $2 AND last_seq = $3",
			p.CompanyID, s.Conversation, s.Seq); err != nil {
			return err
		}
	}
	return nil
}

func withoutQuote(payload string, of int64) (string, error) {
	var extra map[string]json.RawMessage
	if err := json.Unmarshal([]byte(payload), &extra); err != nil {
		return "", err
	}
	if string(extra["of"]) != fmt.Sprint(of) {
		return payload, nil
	}
	delete(extra, "about")
	text, err := json.Marshal(extra)
	return string(text), err
}
