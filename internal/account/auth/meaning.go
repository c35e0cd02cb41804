package auth

// meanings describes each permission, in the words of docs/reference/roles.md.
//
//nolint:gochecknoglobals // read only
var meanings = map[Permission]string{
	MayReadKeys:            "See the labels, scopes and beginnings of API keys",
	MayWriteKeys:           "Create and revoke API keys",
	MayReadUsers:           "See the members and the open invitations",
	MayWriteUsers:          "Invite and remove members, change roles up to the own, help with passwords and second factors",
	MayReadSenders:         "See senders and voice lines, without their secrets",
	MayWriteSenders:        "Add, change, check and delete senders and voice lines",
	MayReadTemplates:       "See templates and their review",
	MayWriteTemplates:      "Write, submit and delete templates",
	MayReadNotifications:   "See what was sent: notifications, campaigns, calls and recordings, usage, suppressions, the overview",
	MaySendNotifications:   "Send, move, cancel and send again, upload lists, hang up calls, suppress numbers, use the sandbox's phone",
	MayReadConversations:   "Read the inbox",
	MayAnswerConversations: "Answer in the inbox, take over from the agent, stop flows, write canned replies",
	MayReadResources:       "See agents, knowledge, flows and widgets",
	MayWriteResources:      "Change and try agents, knowledge, flows and widgets",
	MayReadSecrets:         "See the names and hosts of the secrets of flows",
	MayWriteSecrets:        "Add, replace and delete the secrets of flows",
	MayReadWebhooks:        "See webhooks",
	MayWriteWebhooks:       "Add, change and delete webhooks",
	MayReadSettings:        "See the company's settings",
	MayWriteSettings:       "Change the company's settings; export and erase one person's data",
	MayReadActivity:        "See the calls of the interface that were refused or failed, with their requests",
	MayReadChanges:         "See who changed what, with the values before and after",
	MayReadInstallation:    "See whether the installation is in maintenance",
	MayOperate:             "Operate the whole installation: maintenance, decisions after a restore",
}

// Meaning describes the permission. It is empty if there is no description.
func (p Permission) Meaning() string { return meanings[p] }
