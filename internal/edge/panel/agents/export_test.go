package agents

const TestTag = testTag
