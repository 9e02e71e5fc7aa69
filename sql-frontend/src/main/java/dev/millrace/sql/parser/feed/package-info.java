/**
 * The tokens that the generated grammar sees, fed one by one from a place in the text.
 *
 * <p>Entry: {@link dev.millrace.sql.parser.feed.TokenFeed}, which decides from its neighbours whether a word is a keyword, so
 * that hardly any is reserved, and has {@link dev.millrace.sql.parser.feed.PostgresForms} put what the grammar cannot read
 * ({@code INTERVAL '5 minutes'}, {@code substring(x from 2)}, {@code string_agg(x ORDER BY y)}) into a form that it can. Tokens
 * keep the position of the text they came from.
 */
package dev.millrace.sql.parser.feed;
