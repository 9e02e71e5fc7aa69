package dev.millrace.connector;

import java.nio.file.Path;

/**
 * What of a sink outlives the process.
 *
 * @param database a name that no other database has, of letters, digits and dashes; a copy of a data directory has that of its original
 * @param number that no other object of the database has or had
 * @param directory of the sink alone, which may not be there yet: who writes to it makes it. It goes when the sink is dropped
 */
public record SinkHome(String database, long number, Path directory) {
    /** A name of the sink for its outside, that no other sink anywhere has: letters, digits and dashes. */
    public String id() {
        return "millrace-" + database + "-" + number;
    }
}
