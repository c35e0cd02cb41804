package notice

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/mail"
	"carillon/internal/base/config"
	"carillon/internal/base/language"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
)

const (
	// ConnectedFor is the time for which a visitor counts as connected after the last sign of an open chat. A sign comes
	// twice a minute.
	ConnectedFor = 90 * time.Second
	// lease is the time after which another node sends a claimed e-mail. It exceeds the time for one e-mail.
	lease = 2 * time.Minute
	// The e-mails with replies, per day.
	repliesToVisitor = 30
	repliesOfCompany = 1000
	maxQuoted        = 500 // characters of the quoted question
	maxBefore        = 50  // turns in which the question is looked for
)

// backoff are the pauses after failed attempts; after the last one, the e-mail has failed.
//
//nolint:gochecknoglobals // read only
var backoff = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour}

// The reasons of failed e-mails.
const (
	reasonRefused   = "mail_refused"
	reasonExhausted = "attempts_exhausted"
	reasonLimit     = "mail_limit"
	reasonNoAddress = "no_address"
)

// visitors sends the replies that are due to visitors who left.
func (n *Notices) visitors(ctx context.Context) error {
	if n.o.Mailer == nil {
		return nil
	}
	due, err := n.o.Store.Mails.Due(ctx, n.now(), maxSweep)
	failed := []error{err}
	for _, x := range due {
		failed = append(failed, n.reply(ctx, x))
	}
	return errors.Join(failed...)
}

// reply sends the next e-mail of a conversation, unless the visitor has seen the replies or is still connected.
func (n *Notices) reply(ctx context.Context, x chats.MailDue) error {
	now := n.now()
	c, err := n.o.Store.Chats.Find(ctx, x.CompanyID, x.ConversationID)
	if err != nil {
		return err
	}
	contact, err := n.o.Store.Contacts.ContactOf(ctx, x.CompanyID, c.ContactID)
	if err != nil {
		return err
	}
	if c.SeenSeq > 0 {
		if err := n.o.Store.Mails.Seen(ctx, x, c.SeenSeq, now); err != nil {
			return err
		}
	}
	if now.Sub(contact.SeenAt) < ConnectedFor {
		if err := n.o.Store.Mails.Postpone(ctx, x, now, now.Add(chats.MailPause)); err != nil {
			return err
		}
	}
	batch, err := n.o.Store.Mails.Claim(ctx, x, now, now.Add(lease))
	if err != nil || len(batch) == 0 {
		return err
	}
	n.show(x, batch, "sending", "")
	state, reason, due, err := n.attempt(ctx, c, contact, batch)
	if err != nil {
		return err // the lease ends, and the e-mail is sent again
	}
	if err := n.o.Store.Mails.Finish(ctx, x, batch, state, reason, n.now(), due); err != nil {
		return err
	}
	n.show(x, batch, state, reason)
	return nil
}

// attempt sends an e-mail, and returns the state of its replies and the time of the next attempt.
func (n *Notices) attempt(
	ctx context.Context, c *chats.Conversation, contact *chats.Contact, batch []chats.MailReply,
) (state, reason string, due time.Time, err error) {
	if contact.Email == "" {
		return "failed", reasonNoAddress, due, nil
	}
	if batch[0].Attempt == 1 {
		for name, most := range map[string]int{
			"mails/reply/" + configure.Digest(config.FoldEmail(contact.Email)): repliesToVisitor,
			"mails/replies/" + c.CompanyID:                                     repliesOfCompany,
		} {
			err := n.o.Limits.AllowToday(ctx, name, most)
			if carillon.IsCode(err, carillon.RateLimitExceeded) {
				return "failed", reasonLimit, due, nil
			}
			if err != nil {
				return "", "", due, err
			}
		}
	}
	x, err := n.replyMail(ctx, c, batch)
	if err != nil {
		return "", "", due, err
	}
	x.To = contact.Email
	err = n.o.Mailer.Send(ctx, *x)
	tries := int(batch[0].Attempt)
	switch {
	case err == nil:
		return "sent", "", due, nil
	case mail.Refused(err):
		n.o.Log.WarnContext(ctx, "the mail server refused a reply to a visitor", "conversation", c.ID, "error", err)
		return "failed", reasonRefused, due, nil
	case tries > len(backoff):
		return "failed", reasonExhausted, due, nil
	}
	n.o.Log.WarnContext(ctx, "a reply to a visitor was not sent yet", "conversation", c.ID, "error", err)
	return "queued", "", n.now().Add(backoff[tries-1]), nil
}

// replyMail builds the e-mail of a batch. Its Message-ID is the same at every attempt.
func (n *Notices) replyMail(ctx context.Context, c *chats.Conversation, batch []chats.MailReply) (*mail.Message, error) {
	company, err := n.o.Store.Accounts.Company(ctx, c.CompanyID)
	if err != nil {
		return nil, err
	}
	first, last := batch[0].Seq, batch[len(batch)-1].Seq
	turns, err := n.o.Store.Chats.Turns(ctx, c.CompanyID, c.ID, first-1, int(last-first)+1)
	if err != nil {
		return nil, err
	}
	turns = slices.DeleteFunc(turns, func(t chats.Turn) bool {
		return !slices.ContainsFunc(batch, func(m chats.MailReply) bool { return m.Seq == t.Seq })
	})
	before, err := n.o.Store.Chats.TurnsBefore(ctx, c.CompanyID, c.ID, first, maxBefore)
	if err != nil {
		return nil, err
	}
	link, err := n.back(ctx, c)
	if err != nil {
		return nil, err
	}
	x := composed(company.Name, quoted(before), link, c.Language, turns)
	x.ID = c.ID + "." + strconv.FormatInt(batch[0].Batch, 10)
	return x, nil
}

// quoted returns the visitor's last text.
func quoted(turns []chats.Turn) string {
	for _, t := range slices.Backward(turns) {
		if t.Author == chats.Visitor && t.Kind != chats.KindEvent && t.Text != "" {
			if runes := []rune(t.Text); len(runes) > maxQuoted {
				return string(runes[:maxQuoted-1]) + "…"
			}
			return t.Text
		}
	}
	return ""
}

// back returns the address of the page on which the visitor wrote, if the widget is allowed there by name. Other addresses
// come only from the visitor, and so does the e-mail address: anyone could be sent a link to anywhere.
func (n *Notices) back(ctx context.Context, c *chats.Conversation) (string, error) {
	u, err := url.Parse(c.Page)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || c.WidgetID == "" {
		return "", nil //nolint:nilerr // no page
	}
	origins, err := n.o.Origins(ctx, c.CompanyID, c.WidgetID)
	if err != nil || !slices.ContainsFunc(origins, func(o string) bool { return strings.EqualFold(o, u.Scheme+"://"+u.Host) }) {
		return "", err
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return u.String(), nil
}

// composed returns the e-mail with the replies of turns, as text and as HTML.
func composed(company, question, link, lang string, turns []chats.Turn) *mail.Message {
	t := language.Of(visitorTexts, lang)
	e := html.EscapeString
	const muted = `<p style="margin:24px 0 0;color:#62625c;font-size:14px">`
	var text []string
	var page strings.Builder
	if question != "" {
		text = append(text, t.asked+"\n> "+strings.ReplaceAll(question, "\n", "\n> "))
		page.WriteString(`<p style="margin:0;color:#62625c;font-size:14px">` + e(t.asked) +
			`</p><blockquote style="margin:0 0 24px;padding-left:12px;border-left:3px solid #d8d8d2;white-space:pre-wrap">` + e(question) +
			`</blockquote>`)
	}
	name := ""
	for i := range turns {
		said := turns[i].Text
		if f := turns[i].Extra.File; f != nil {
			said = strings.ReplaceAll(t.file, "{name}", f.Name)
		}
		if i == 0 || turns[i].Extra.Name != name {
			name = turns[i].Extra.Name
			who := strings.ReplaceAll(t.replied, "{name}", orElse(name, company))
			text = append(text, who)
			page.WriteString(`<p style="margin:0;color:#62625c;font-size:14px">` + e(who) + `</p>`)
		}
		text = append(text, said)
		page.WriteString(`<p style="margin:0 0 16px;white-space:pre-wrap">` + e(said) + `</p>`)
	}
	end := t.unread
	if link != "" {
		text = append(text, t.back+":\n"+link)
		page.WriteString(`<p style="margin:24px 0 0"><a href="` + e(link) + `" style="display:inline-block;padding:12px 20px;` +
			`background:#1f5fbf;color:#fff;border-radius:8px;text-decoration:none;font-weight:600">` + e(t.back) + `</a></p>`)
	} else {
		end += " " + t.open
	}
	text = append(text, end)
	page.WriteString(muted + e(end) + `</p>`)
	return &mail.Message{
		Subject: strings.ReplaceAll(t.subject, "{company}", company), Text: strings.Join(text, "\n\n") + "\n",
		HTML:      letter(lang, page.String()),
		Automatic: true,
	}
}

// Delivery is the payload of the inbox event delivery for an e-mail.
type Delivery struct {
	Seq    int64  `json:"seq"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Mail   bool   `json:"mail"`
}

// show publishes the state of replies to teammates.
func (n *Notices) show(x chats.MailDue, batch []chats.MailReply, state, reason string) {
	for _, m := range batch {
		text, _ := json.Marshal(Delivery{m.Seq, state, reason, true}) // texts and a number cannot fail
		n.o.Publisher.Publish(&events.Event{
			CompanyID: x.CompanyID, Topic: chats.InboxTopic, Kind: "delivery", Subject: x.ConversationID, Payload: text, At: n.now(),
		})
	}
}
