package dev.millrace.connector;

import dev.millrace.type.Schema;
import java.util.List;

/**
 * Makes what keeps a table like one of another database, named in {@code CREATE TABLE .. WITH (connector = '...')}. Found as a service
 * ({@link java.util.ServiceLoader}) where it does not come with Millrace.
 */
public interface TableFeedFactory {
    String name();

    /**
     * Validates options and columns.
     *
     * @param declared the columns of CREATE TABLE that are not computed from others
     * @param key places of those that identify a row; never none
     * @throws dev.millrace.error.MillraceException naming the wrong option and what it may be
     */
    TableFeed create(String table, Schema declared, List<Integer> key, Options options);

    List<OptionDescription> options();
}
