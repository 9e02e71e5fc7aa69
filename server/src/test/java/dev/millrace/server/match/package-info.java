/** MATCH_RECOGNIZE against a matcher that tries everything in the order that the standard prefers. Entry: MatchRecognizeTest. */
package dev.millrace.server.match;
