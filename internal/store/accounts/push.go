package accounts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// MaxSubscriptions bounds the browsers of a member that get web push messages.
const MaxSubscriptions = 10

// Subscription is a browser that gets web push messages for a member of a company, as long as its session lasts.
type Subscription struct {
	ID        string
	CompanyID string
	AccountID string
	SessionID string
	Endpoint  string // URL of the browser's push service; its knowledge is a right to send
	P256DH    string // the browser's public key, base64url
	Auth      string // the browser's secret, base64url
	Agent     string // User-Agent
	Language  string
	CreatedAt time.Time
}

// sealedSubscription is the sealed part of a subscription.
type sealedSubscription struct {
	Endpoint string `json:"endpoint"`
	P256DH   string `json:"p256dh"`
	Auth     string `json:"auth"`
}

// NoticeChoice is a member's choice of notices. Quiet hours are minutes of the day in Zone; equal minutes mean none.
type NoticeChoice struct {
	Push      bool
	Mail      bool
	QuietFrom int
	QuietTo   int
	Zone      string // IANA name; UTC if it is empty
	Language  string // en, es, pt
}

// NewNoticeChoice returns the choice of a member who made none.
func NewNoticeChoice() NoticeChoice { return NoticeChoice{Push: true, Mail: true, Language: "en"} }

// Notices is the SQL of notices to members: their choices, the browsers, and the installation's key for web push.
type Notices struct {
	d    *db.DB
	seal *configure.Sealer
}

// NewNotices returns the notices of a database.
func NewNotices(d *db.DB, seal *configure.Sealer) *Notices { return &Notices{d, seal} }

const pushKey = "push_key/vapid"

// PushKey returns the installation's key for web push. New makes a pair; the pair of the first node that stores one stays.
func (s *Notices) PushKey(
	ctx context.Context, now time.Time, create func() (private, public string, err error),
) (private, public string, err error) {
	private, public, err = s.storedKey(ctx)
	if err != nil || public != "" {
		return private, public, err
	}
	private, public, err = create()
	if err != nil {
		return "", "", err
	}
	if _, err = s.d.Exec(ctx, "INSERT INTO push_key (name, public, sealed, created_at) VALUES ('vapid', $1, $2, $3) ON CONFLICT DO NOTHING",
		public, s.seal.Seal(pushKey, []byte(private)), db.Millis(now)); err != nil {
		return "", "", db.Wrap(err, "store the key for web push")
	}
	return s.storedKey(ctx)
}

func (s *Notices) storedKey(ctx context.Context) (private, public string, err error) {
	var sealed string
	err = s.d.Row(ctx, []any{&public, &sealed}, "SELECT public, sealed FROM push_key WHERE name = 'vapid'")
	if err != nil {
		return "", "", db.Wrap(db.Ignore(err), "read the key for web push")
	}
	plain, err := s.seal.Open(pushKey, sealed)
	return string(plain), public, err
}

func subscriptionRow(id string) string { return "push_subscription/" + id }

// Subscribe stores a subscription and sets its id. It replaces the endpoint's earlier subscription, also another
// account's: a browser has one. Errors: limit_exceeded.
func (s *Notices) Subscribe(ctx context.Context, x *Subscription) error {
	x.ID = carillon.NewID(x.CreatedAt)
	plain, err := json.Marshal(sealedSubscription{x.Endpoint, x.P256DH, x.Auth})
	if err != nil {
		return err
	}
	digest := configure.Digest(x.Endpoint)
	return db.Wrap(s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if !tx.SQLite() { // the company must not get its key in the meantime (configure.Reseal)
			if _, err := tx.Exec(ctx, "SELECT 1 FROM company WHERE id = $1 FOR SHARE", x.CompanyID); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM push_subscription WHERE digest = $1", digest); err != nil {
			return err
		}
		var n int
		if err := tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM push_subscription WHERE company_id = $1 AND account_id = $2", x.CompanyID,
			x.AccountID); err != nil {
			return err
		}
		if n >= MaxSubscriptions {
			return &carillon.Error{
				Code: carillon.LimitExceeded, Message: "Too many browsers get notifications: remove one first",
				Details: carillon.Details{{Key: "limit", Value: MaxSubscriptions}, {Key: "used", Value: n}},
			}
		}
		sealed, err := s.seal.SealOf(ctx, tx, x.CompanyID, subscriptionRow(x.ID), plain)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO push_subscription
			(id, company_id, account_id, session_id, digest, sealed, agent, language, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, x.ID, x.CompanyID, x.AccountID, x.SessionID, digest,
			sealed, x.Agent, x.Language, db.Millis(x.CreatedAt))
		return err
	}), "store a push subscription")
}

// Subscriptions returns the subscriptions of a member whose sessions are active, oldest first.
func (s *Notices) Subscriptions(ctx context.Context, companyID, accountID string, now time.Time) ([]Subscription, error) {
	return db.Collect(ctx, s.d, "push subscriptions", func(scan db.Scan) (Subscription, error) {
		return s.scan(companyID, scan)
	}, "SELECT "+subscriptionColumns+` FROM push_subscription AS p
		JOIN session AS s ON s.id = p.session_id AND s.ended_at = 0 AND s.expires_at > $3
		WHERE p.company_id = $1 AND p.account_id = $2 ORDER BY p.id LIMIT $4`, companyID, accountID, db.Millis(now), MaxSubscriptions)
}

//nolint:gochecknoglobals // read-only
var subscriptionColumns = "p.id, p.account_id, p.session_id, p.sealed, " + configure.KeyOf("p.company_id") +
	", p.agent, p.language, p.created_at"

// SealedSubscriptions are the addresses and keys of browsers.
func SealedSubscriptions() configure.Sealed {
	return configure.Sealed{Table: "push_subscription", Key: []string{"id"}, Row: func(_ string, key []any) string {
		return subscriptionRow(fmt.Sprint(key[0]))
	}}
}

// scan reads a subscription of a company; dest are further columns.
func (s *Notices) scan(companyID string, scan db.Scan, dest ...any) (x Subscription, err error) {
	var sealed, by string
	var created int64
	own := []any{&x.ID, &x.AccountID, &x.SessionID, &sealed, &by, &x.Agent, &x.Language, &created}
	if err := scan(append(own, dest...)...); err != nil {
		return x, err
	}
	plain, err := s.seal.OpenOf(companyID, by, subscriptionRow(x.ID), sealed)
	if err != nil {
		return x, fmt.Errorf("open push subscription %s: %w", x.ID, err)
	}
	var of sealedSubscription
	err = json.Unmarshal(plain, &of)
	x.CompanyID, x.CreatedAt = companyID, db.Instant(created)
	x.Endpoint, x.P256DH, x.Auth = of.Endpoint, of.P256DH, of.Auth
	return x, err
}

// MemberBrowser is a subscription of a member, with the member's role and choice.
type MemberBrowser struct {
	Subscription
	Role   string
	Choice NoticeChoice
}

// maxBrowsers bounds the browsers of a company that get one message.
const maxBrowsers = 1000

// Browsers returns the subscriptions of a company's current members whose sessions are active, by member.
func (s *Notices) Browsers(ctx context.Context, companyID string, now time.Time) ([]MemberBrowser, error) {
	return db.Collect(ctx, s.d, "push subscriptions", func(scan db.Scan) (b MemberBrowser, err error) {
		c := &b.Choice
		b.Subscription, err = s.scan(companyID, scan, &b.Role, &c.Push, &c.Mail, &c.QuietFrom, &c.QuietTo, &c.Zone, &c.Language)
		return b, err
	}, "SELECT "+subscriptionColumns+`, m.role, COALESCE(c.push, TRUE), COALESCE(c.mail, TRUE), COALESCE(c.quiet_from, 0),
			COALESCE(c.quiet_to, 0), COALESCE(c.zone, ''), COALESCE(c.language, 'en') FROM push_subscription AS p
		JOIN session AS s ON s.id = p.session_id AND s.ended_at = 0 AND s.expires_at > $2
		JOIN membership AS m ON m.account_id = p.account_id AND m.company_id = p.company_id
		LEFT JOIN notice_choice AS c ON c.company_id = p.company_id AND c.account_id = p.account_id
		WHERE p.company_id = $1 ORDER BY p.company_id, p.account_id, p.id LIMIT $3`, companyID, db.Millis(now), maxBrowsers)
}

// Unsubscribe deletes a member's subscription, and reports whether there was one.
func (s *Notices) Unsubscribe(ctx context.Context, companyID, accountID, id string) (bool, error) {
	n, err := s.d.Exec(ctx, "DELETE FROM push_subscription WHERE id = $1 AND company_id = $2 AND account_id = $3", id, companyID,
		accountID)
	return n > 0, db.Wrap(err, "delete a push subscription")
}

// Choice returns a member's choice of notices.
func (s *Notices) Choice(ctx context.Context, companyID, accountID string) (NoticeChoice, error) {
	c := NewNoticeChoice()
	err := s.d.Row(ctx, []any{&c.Push, &c.Mail, &c.QuietFrom, &c.QuietTo, &c.Zone, &c.Language},
		"SELECT push, mail, quiet_from, quiet_to, zone, language FROM notice_choice WHERE company_id = $1 AND account_id = $2", companyID,
		accountID)
	return c, db.Wrap(db.Ignore(err), "read a choice of notices")
}

// SetChoice stores a member's choice of notices.
func (s *Notices) SetChoice(ctx context.Context, companyID, accountID string, c NoticeChoice) error {
	_, err := s.d.Exec(ctx, `INSERT INTO notice_choice (company_id, account_id, push, mail, quiet_from, quiet_to, zone, language)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (company_id, account_id) DO UPDATE SET push = excluded.push,
		mail = excluded.mail, quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to, zone = excluded.zone,
		language = excluded.language`,
		companyID, accountID, c.Push, c.Mail, c.QuietFrom, c.QuietTo, c.Zone, c.Language)
	return db.Wrap(err, "store a choice of notices")
}
