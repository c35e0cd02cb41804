-- Contacts are found by exactly their e-mail address.
CREATE INDEX contact_email ON contact (company_id, LOWER(email)) WHERE email <> '';
