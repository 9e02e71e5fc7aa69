package dev.millrace.connector;

import dev.millrace.error.SqlState;

/**
 * A record that could not become a row.
 *
 * @param origin where from: a file name, a topic and partition
 * @param position in it, from 1: the line of a file (the first line of a record of several), the offset of a topic
 * @param column the column that failed, or empty when the record as a whole did
 * @param reason one line, without the origin and position: "invalid input syntax for type double precision: "abc""
 * @param sqlState the code of the reason
 * @param text the record, cut to some hundred characters, unprintable characters replaced
 */
public record RejectedRecord(
        String origin, long position, String column, String reason, SqlState sqlState, String text) {}
