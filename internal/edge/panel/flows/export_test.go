package flows

const TriesPerMinute = triesPerMinute
