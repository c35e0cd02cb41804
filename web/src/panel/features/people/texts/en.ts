export const texts = {
  title: "One person's data",
  about:
    "Find, export or erase everything that is stored about a person who asks for it: contacts, conversations, files, messages and calls, over all numbers and channel ids.",
  label: "Number, channel id or contact id",
  help: "For example 34600111222, US.13491208655302741918 or the id of a contact",
  bad: "Enter a number with its country code, a channel id or a contact id",
  find: "Find",
  nothing: "Nothing is stored about this person",
  nothingText:
    "No contact, conversation, message or call of your company has this number or id. You can still erase: mentions in logs and lists go too.",
  found: "What is stored",
  identities: "Known as",
  contacts: "Contacts",
  conversations: "Conversations",
  notifications: "Notifications",
  calls: "Calls made",
  noName: "No name",
  export: "Export as a ZIP archive",
  erase: "Erase this person",
  eraseTitle: "Erase this person?",
  eraseText:
    "Everything of this person is deleted for good, with suppressions: a new message to the number would be sent. Messages that wait are canceled. Backups from before keep their copy. The record of changes keeps only a hash.",
  typed: "Type {word} to go on",
  erased: "Erased",
  erasedText: "{n} rows were deleted or cleared. The record of changes has this person as {hash}.",
  working: "Erasing. On a large database this takes a minute: the file is written again.",
  again: "Look for another person",
};
