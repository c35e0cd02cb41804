package notice

import (
	"context"
	"errors"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/mail"
	"carillon/internal/account/push"
	"carillon/internal/base/language"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
)

const (
	// stale is the age from which a wait is no longer announced, because the program was stopped meanwhile.
	stale = 12 * time.Hour
	// pushLife is the time for which a push service keeps a message for a browser that is away.
	pushLife = 10 * time.Minute
	pushTime = 30 * time.Second // for all browsers of a company
	// pushesPerMinute bounds the push messages to one member.
	pushesPerMinute = 20
	membersAtOnce   = 200
	// The e-mails about waiting visitors, per day.
	mailsToMember  = 48
	mailsToCompany = 500
	// maxListed bounds the conversations that an e-mail lists.
	maxListed = 20
)

// waiting is a conversation that waits, with its company.
type waiting struct {
	c       *chats.Conversation
	company *carillon.Company
}

// team sends the notices about waits that are due. The first one of a wait is a push message.
func (n *Notices) team(ctx context.Context) error {
	due, err := n.o.Store.Chats.Noticed(ctx, n.now(), maxSweep)
	if err != nil {
		return err
	}
	var failed []error
	mails := map[string][]waiting{} // by company
	for _, c := range due {
		w, err := n.claim(ctx, c)
		switch {
		case err != nil:
			failed = append(failed, err)
		case w == nil:
		case c.NoticeAt.Equal(c.WaitingAt):
			select {
			case n.jobs <- *w:
			default:
				n.o.Log.WarnContext(ctx, "too many push messages wait: a waiting visitor is not announced", "conversation", c.ID)
			}
		default:
			mails[c.CompanyID] = append(mails[c.CompanyID], *w)
		}
	}
	for _, all := range mails {
		failed = append(failed, n.mail(ctx, all))
	}
	return errors.Join(failed...)
}

// claim claims the due notice of a conversation; it returns nil if nothing is to be sent.
func (n *Notices) claim(ctx context.Context, c *chats.Conversation) (*waiting, error) {
	company, err := n.o.Store.Accounts.Company(ctx, c.CompanyID)
	if err != nil {
		return nil, err
	}
	var next time.Time
	after := time.Duration(company.Inbox.MailAfterMinutes) * time.Minute
	if c.NoticeAt.Equal(c.WaitingAt) && n.o.Mailer != nil && after > 0 {
		next = c.WaitingAt.Add(after)
	}
	claimed, err := n.o.Store.Chats.Notice(ctx, c, next)
	if err != nil || !claimed || n.now().Sub(c.NoticeAt) > stale {
		return nil, err
	}
	suspended, err := n.o.Suspended(ctx, c.CompanyID)
	if err != nil || suspended {
		return nil, err
	}
	return &waiting{c, company}, nil
}

// push sends a push message about a waiting visitor to the browsers of those who may answer.
func (n *Notices) push(ctx context.Context, w waiting) error {
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	now := n.now()
	browsers, err := n.o.Store.Notices.Browsers(ctx, w.c.CompanyID, now)
	if err != nil || len(browsers) == 0 {
		return err
	}
	name, err := n.visitorName(ctx, w)
	if err != nil {
		return err
	}
	var failed []error
	for i := range browsers {
		b := &browsers[i]
		if !b.Choice.Push || quiet(&b.Choice, now) || !auth.Role(b.Role).Can(auth.MayAnswerConversations) {
			continue
		}
		if _, err := n.o.Limits.Allow(ctx, "push/"+b.AccountID, pushesPerMinute, 1); err != nil {
			continue // they had enough of them
		}
		failed = append(failed, n.send(ctx, b, pushMessage(w, name, b.Language)))
	}
	return errors.Join(failed...)
}

// send sends a push message, and deletes the subscription if it has ended.
func (n *Notices) send(ctx context.Context, b *accounts.MemberBrowser, m push.Message) error {
	err := n.o.Push.Send(ctx, &b.Subscription, m, pushLife)
	switch {
	case errors.Is(err, push.ErrGone):
		_, err = n.o.Store.Notices.Unsubscribe(ctx, b.CompanyID, b.AccountID, b.ID)
		return err
	case errors.Is(err, push.ErrSlow):
		return nil
	}
	return err
}

func pushMessage(w waiting, name, lang string) push.Message {
	t := language.Of(teamTexts, lang)
	m := push.Message{Title: t.one, Tag: w.c.ID, URL: inboxPath(w.c)}
	if w.company.Inbox.ShowText {
		m.Title, m.Body = strings.ReplaceAll(t.named, "{name}", orElse(name, t.visitor)), w.c.Question
	}
	return m
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// inboxPath returns the path of a conversation in the panel.
func inboxPath(c *chats.Conversation) string {
	return "/panel/inbox?" + url.Values{"company": {c.CompanyID}, "c": {c.ID}}.Encode()
}

// visitorName returns the visitor's name, if notices show it.
func (n *Notices) visitorName(ctx context.Context, w waiting) (string, error) {
	if !w.company.Inbox.ShowText {
		return "", nil
	}
	contact, err := n.o.Store.Contacts.ContactOf(ctx, w.c.CompanyID, w.c.ContactID)
	if err != nil {
		return "", err
	}
	return contact.Name, nil
}

// mail sends those on duty one e-mail about all conversations of a company that have waited for long.
func (n *Notices) mail(ctx context.Context, all []waiting) error {
	company := all[0].company
	names := make([]string, len(all))
	for i, w := range all {
		var err error
		if names[i], err = n.visitorName(ctx, w); err != nil {
			return err
		}
	}
	return n.onDuty(ctx, company, func(m accounts.Member, c accounts.NoticeChoice) error {
		for name, most := range map[string]int{
			"mails/waiting/" + m.ID: mailsToMember, "mails/waiting/company/" + company.ID: mailsToCompany,
		} {
			err := n.o.Limits.AllowToday(ctx, name, most)
			if carillon.IsCode(err, carillon.RateLimitExceeded) {
				return nil
			}
			if err != nil {
				return err
			}
		}
		x := waitingMail(all, names, n.o.BaseURL(), c.Language)
		x.To = m.Email
		if !n.o.Mailer.Post(func(context.Context) (*mail.Message, error) { return &x, nil }) {
			n.o.Log.WarnContext(ctx, "too many e-mails wait: a teammate does not learn of waiting visitors", "company", company.ID)
		}
		return nil
	})
}

// onDuty calls found for the members on duty who want e-mails now.
func (n *Notices) onDuty(
	ctx context.Context, company *carillon.Company, found func(m accounts.Member, c accounts.NoticeChoice) error,
) error {
	now := n.now()
	for after := ""; ; {
		members, err := n.o.Store.Accounts.Members(ctx, company.ID, after, membersAtOnce)
		if err != nil {
			return err
		}
		for _, m := range members {
			after = m.ID
			if !auth.Role(m.Role).Can(auth.MayAnswerConversations) ||
				len(company.Inbox.OnDuty) > 0 && !slices.Contains(company.Inbox.OnDuty, m.ID) {
				continue
			}
			c, err := n.o.Store.Notices.Choice(ctx, company.ID, m.ID)
			if err != nil {
				return err
			}
			if !c.Mail || quiet(&c, now) {
				continue
			}
			if err := found(m, c); err != nil {
				return err
			}
		}
		if len(members) < membersAtOnce {
			return nil
		}
	}
}

func waitingMail(all []waiting, names []string, base, lang string) mail.Message {
	t := language.Of(teamTexts, lang)
	subject, minutes := t.one, strconv.Itoa(all[0].company.Inbox.MailAfterMinutes)
	if len(all) > 1 {
		subject = strings.ReplaceAll(t.many, "{n}", strconv.Itoa(len(all)))
	}
	intro := strings.ReplaceAll(t.since, "{n}", minutes)
	text, page := []string{intro}, []string{`<p>` + html.EscapeString(intro) + `</p><ul>`}
	for i, w := range all[:min(len(all), maxListed)] {
		line := orElse(names[i], t.visitor)
		if w.company.Inbox.ShowText && w.c.Question != "" {
			line += ": " + w.c.Question
		}
		link := base + inboxPath(w.c)
		text = append(text, line+"\n"+link)
		page = append(page, `<li><a href="`+html.EscapeString(link)+`">`+html.EscapeString(line)+`</a></li>`)
	}
	page = append(page, `</ul><p style="color:#62625c;font-size:14px">`+html.EscapeString(t.off)+`</p>`)
	return mail.Message{
		Subject: subject, Text: strings.Join(append(text, t.off), "\n\n") + "\n", HTML: letter(lang, strings.Join(page, "")),
		Automatic: true,
	}
}
