package auth

// Permission is a permission that a route of the panel requires of the caller's role.
type Permission string

// The permissions.
const (
	MayReadKeys            Permission = "keys:read"
	MayWriteKeys           Permission = "keys:write"
	MayReadUsers           Permission = "users:read"
	MayWriteUsers          Permission = "users:write"
	MayReadSenders         Permission = "senders:read"
	MayWriteSenders        Permission = "senders:write"
	MayReadTemplates       Permission = "templates:read"
	MayWriteTemplates      Permission = "templates:write"
	MayReadNotifications   Permission = "notifications:read"
	MaySendNotifications   Permission = "notifications:send"
	MayReadConversations   Permission = "conversations:read"
	MayAnswerConversations Permission = "conversations:answer"
	MayReadResources       Permission = "resources:read"  // agents, knowledge, flows, widgets
	MayWriteResources      Permission = "resources:write" // the same
	MayReadSecrets         Permission = "secrets:read"    // names and hosts only
	MayWriteSecrets        Permission = "secrets:write"
	MayReadWebhooks        Permission = "webhooks:read"
	MayWriteWebhooks       Permission = "webhooks:write"
	MayReadSettings        Permission = "settings:read"
	MayWriteSettings       Permission = "settings:write"
	MayReadActivity        Permission = "activity:read" // calls of the API
	MayReadChanges         Permission = "changes:read"  // the change log
	MayReadInstallation    Permission = "installation:read"
	MayOperate             Permission = "operate" // for the whole installation: maintenance, decisions after a restore
)

// Permissions lists every permission.
func Permissions() []Permission { return permissions[Owner] }

// permissions is the table of the roles. An owner has all permissions.
//
//nolint:gochecknoglobals // read only
var permissions = map[Role][]Permission{
	Owner: {
		MayReadKeys, MayWriteKeys, MayReadUsers, MayWriteUsers, MayReadSenders, MayWriteSenders, MayReadTemplates,
		MayWriteTemplates, MayReadNotifications,
		MaySendNotifications, MayReadConversations, MayAnswerConversations, MayReadResources, MayWriteResources, MayReadSecrets,
		MayWriteSecrets,
		MayReadWebhooks, MayWriteWebhooks, MayReadSettings, MayWriteSettings, MayReadActivity, MayReadChanges, MayReadInstallation,
		MayOperate,
	},
	Admin: {
		MayReadKeys, MayWriteKeys, MayReadUsers, MayWriteUsers, MayReadSenders, MayWriteSenders, MayReadTemplates,
		MayWriteTemplates, MayReadNotifications,
		MaySendNotifications, MayReadConversations, MayAnswerConversations, MayReadResources, MayWriteResources, MayReadSecrets,
		MayWriteSecrets,
		MayReadWebhooks, MayWriteWebhooks, MayReadSettings, MayWriteSettings, MayReadActivity, MayReadChanges, MayReadInstallation,
	},
	Developer: {
		MayReadKeys, MayReadUsers, MayReadSenders, MayReadTemplates, MayWriteTemplates, MayReadNotifications, MaySendNotifications,
		MayReadConversations, MayReadResources, MayWriteResources, MayReadSecrets, MayReadWebhooks, MayWriteWebhooks,
		MayReadSettings, MayReadActivity,
		MayReadInstallation,
	},
	Marketer: {
		MayReadSenders, MayReadTemplates, MayWriteTemplates, MayReadNotifications, MaySendNotifications, MayReadConversations,
		MayReadResources, MayReadSettings, MayReadInstallation,
	},
	Teammate: {
		MayReadSenders, MayReadTemplates, MayReadNotifications, MayReadConversations, MayAnswerConversations, MayReadResources,
		MayReadSettings, MayReadInstallation,
	},
	Viewer: {
		MayReadSenders, MayReadTemplates, MayReadNotifications, MayReadConversations, MayReadResources, MayReadSettings,
		MayReadInstallation,
	},
}
