-- Who a contact is: the lines and the ids of the channel by which it is known. value is the key of a line (the form that is dialled) and other
-- its other form ('': it has one), or value is the channel's id of a person. The kinds are line (the channel vouches for it, or the company
-- called it), caller (somebody called with it), person (of the account of the channel that is the scope) and claimed (a teammate noted it of the
-- contact that is the scope). See docs/reference/contacts.md.
CREATE TABLE contact_identity (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  value      TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('line', 'caller', 'person', 'claimed')),
  scope      TEXT NOT NULL,
  other      TEXT NOT NULL,
  contact_id TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
  PRIMARY KEY (company_id, value, kind, scope)
){without_rowid};
CREATE INDEX contact_identity_contact ON contact_identity (contact_id);

-- What is stored already: each contact with its number, and the line that the number is a form of.
CREATE TABLE contact_line (
  id         TEXT NOT NULL,
  company_id TEXT NOT NULL,
  kind       TEXT NOT NULL,
  scope      TEXT NOT NULL,
  value      TEXT NOT NULL,
  other      TEXT NOT NULL DEFAULT ''
);
INSERT INTO contact_line (id, company_id, kind, scope, value)
  SELECT id, company_id, CASE WHEN verified THEN 'line' ELSE 'caller' END, '', SUBSTR(visitor_id, 5) FROM contact
  WHERE widget_id = '' AND visitor_id LIKE 'tel:%';
INSERT INTO contact_line (id, company_id, kind, scope, value)
  SELECT id, company_id, 'claimed', id, number FROM contact WHERE number <> '' AND visitor_id <> 'tel:' || number;
UPDATE contact_line SET value = '52' || SUBSTR(value, 4) WHERE value LIKE '521__________' AND SUBSTR(value, 4, 1) >= '2';
UPDATE contact_line SET value = '54' || SUBSTR(value, 4) WHERE value LIKE '549__________' AND SUBSTR(value, 4, 1) IN ('1', '2', '3');
UPDATE contact_line SET value = SUBSTR(value, 1, 4) || '9' || SUBSTR(value, 5)
  WHERE value LIKE '55__________' AND SUBSTR(value, 3, 1) >= '1' AND SUBSTR(value, 4, 1) >= '1' AND SUBSTR(value, 5, 1) >= '6';
UPDATE contact_line SET other = '521' || SUBSTR(value, 3) WHERE value LIKE '52__________' AND SUBSTR(value, 3, 1) >= '2';
UPDATE contact_line SET other = '549' || SUBSTR(value, 3) WHERE value LIKE '54__________' AND SUBSTR(value, 3, 1) IN ('1', '2', '3');
UPDATE contact_line SET other = SUBSTR(value, 1, 4) || SUBSTR(value, 6)
  WHERE value LIKE '55__9________' AND SUBSTR(value, 3, 1) >= '1' AND SUBSTR(value, 4, 1) >= '1' AND SUBSTR(value, 6, 1) >= '6';

-- A line is the oldest contact's that has it.
INSERT INTO contact_identity (company_id, value, kind, scope, other, contact_id)
  SELECT company_id, value, kind, scope, other, MIN(id) FROM contact_line GROUP BY company_id, value, kind, scope, other;

-- The contacts that become one: who goes, and whom they become; then those too, as themselves.
CREATE TABLE contact_joined (
  id     TEXT PRIMARY KEY,
  keeper TEXT NOT NULL
);
INSERT INTO contact_joined (id, keeper)
  SELECT l.id, i.contact_id FROM contact_line AS l JOIN contact_identity AS i ON i.company_id = l.company_id AND i.value = l.value
    AND i.kind = l.kind AND i.scope = l.scope WHERE l.kind <> 'claimed' AND l.id <> i.contact_id;
INSERT INTO contact_joined (id, keeper) SELECT DISTINCT keeper, keeper FROM contact_joined;
CREATE INDEX contact_joined_keeper ON contact_joined (keeper);
DROP TABLE contact_line;

-- The contacts of two forms of one number are one contact, with the conversations of both. Of those in writing that were open the one in
-- which something was said last goes on.
UPDATE conversation SET state = 'resolved', state_at = last_at, resolved_at = last_at, reply_seq = 0, reply_at = 0
  WHERE state <> 'resolved' AND channel <> 'phone' AND contact_id IN (SELECT l.id FROM contact_joined AS l) AND EXISTS (
    SELECT 1 FROM contact_joined AS l JOIN contact_joined AS m ON m.keeper = l.keeper JOIN conversation AS c ON c.contact_id = m.id
    WHERE l.id = conversation.contact_id AND c.state <> 'resolved' AND c.channel <> 'phone'
      AND (c.last_at > conversation.last_at OR c.last_at = conversation.last_at AND c.id > conversation.id));
UPDATE flow_run SET state = 'stopped', rev = rev + 1, due_at = 0, begun = FALSE WHERE state IN ('ready', 'asking', 'waiting', 'calling')
  AND conversation_id IN (SELECT c.id FROM conversation AS c JOIN contact_joined AS l ON l.id = c.contact_id WHERE c.state = 'resolved');
UPDATE conversation SET contact_id = (SELECT l.keeper FROM contact_joined AS l WHERE l.id = conversation.contact_id)
  WHERE contact_id IN (SELECT l.id FROM contact_joined AS l WHERE l.id <> l.keeper);
UPDATE contact SET seen_at = (SELECT MAX(d.seen_at) FROM contact AS d JOIN contact_joined AS l ON l.id = d.id WHERE l.keeper = contact.id),
  name = CASE WHEN name <> '' THEN name ELSE (SELECT MAX(d.name) FROM contact AS d JOIN contact_joined AS l ON l.id = d.id WHERE l.keeper = contact.id) END,
  email = CASE WHEN email <> '' THEN email ELSE (SELECT MAX(d.email) FROM contact AS d JOIN contact_joined AS l ON l.id = d.id WHERE l.keeper = contact.id) END
  WHERE id IN (SELECT l.keeper FROM contact_joined AS l);
DELETE FROM contact WHERE id IN (SELECT l.id FROM contact_joined AS l WHERE l.id <> l.keeper);
DROP TABLE contact_joined;
