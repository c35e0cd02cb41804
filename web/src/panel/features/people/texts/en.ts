export const texts = {
  title: "One person's data",
  about:
    "Find, export or erase all data about a person: contacts, conversations, files, messages and calls, across all numbers and channel IDs.",
  label: "Number, channel ID or contact ID",
  help: "e.g. 34600111222, US.13491208655302741918 or a contact's ID",
  bad: "Enter a number with the country code, a channel ID or a contact ID",
  find: "Find",
  nothing: "No data about this person",
  nothingText:
    "No contact, conversation, message or call of your company has this number or ID. You can still erase it, which also removes mentions in logs and lists.",
  found: "Stored data",
  identities: "Known as",
  contacts: "Contacts",
  conversations: "Conversations",
  notifications: "Messages",
  calls: "Calls made",
  noName: "No name",
  export: "Export as a ZIP archive",
  erase: "Erase this person",
  eraseTitle: "Erase this person's data?",
  eraseText:
    "All data about this person is permanently deleted, including opt-outs, so new messages to the number would be sent. Queued messages are canceled. Earlier backups keep their copy. The change log keeps only a hash.",
  typed: "Type {word} to continue",
  erased: "Erased",
  erasedText: "{n} records were deleted or cleared. The change log shows this person as {hash}.",
  working: "Erasing. This can take a minute on a large database, because the file is rewritten.",
  again: "Find another person",
};
