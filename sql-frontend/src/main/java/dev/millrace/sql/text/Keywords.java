package dev.millrace.sql.text;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The words of the dialect. */
public final class Keywords {
    /** Words that cannot be a name unless quoted: PostgreSQL's, and EMIT. */
    private static final Set<String> RESERVED = Set.of("""
            all analyse analyze and any array as asc asymmetric between both case cast check collate column constraint create cross
            current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc
            distinct do else emit end except false fetch for foreign from full grant group having ilike in initially inner
            intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null
            offset on only or order outer placing primary references returning right select session_user similar some
            symmetric table then to trailing true union unique using variadic when where window with""".split("\\s+"));

    /** Words that start a statement. */
    public static final List<String> STATEMENTS = List.of(
            "abort",
            "alter",
            "analyze",
            "backup",
            "begin",
            "close",
            "commit",
            "copy",
            "create",
            "deallocate",
            "declare",
            "delete",
            "describe",
            "discard",
            "drop",
            "end",
            "execute",
            "explain",
            "fetch",
            "flush",
            "grant",
            "insert",
            "listen",
            "move",
            "notify",
            "pause",
            "prepare",
            "reassign",
            "reindex",
            "release",
            "reprocess",
            "reset",
            "resume",
            "revoke",
            "rollback",
            "savepoint",
            "select",
            "set",
            "show",
            "start",
            "subscribe",
            "table",
            "truncate",
            "unlisten",
            "update",
            "vacuum",
            "values",
            "with");

    private static final List<String> OTHERS = List.of("""
            add asof between by cascade changes close connector continuous csv cube cumulate cursor date days descriptor
            every exists explain filter first following format function group hop hours if insert interval java json key
            language last latest earliest logical materialized minutes nulls numeric over partition physical preceding
            progress queries query range replace restrict role rollup row rows seconds session sets sink sinks snapshot stdin
            stdout stream streams system system_time tables template templates text timestamp timestamptz tumble unbounded values
            varchar view views watermark within workers boolean smallint integer bigint real double precision bytea uuid user public privileges
            jsonb avg count max min sum coalesce window_start window_end""".split("\\s+"));

    private Keywords() {}

    /** Whether the folded word cannot be a name unless quoted. */
    public static boolean isReserved(String word) {
        return RESERVED.contains(word);
    }

    /** All words worth completing, in lower case and alphabetical order. */
    public static Set<String> all() {
        Set<String> words = new TreeSet<>(RESERVED);
        words.addAll(STATEMENTS);
        words.addAll(OTHERS);
        return words;
    }
}
