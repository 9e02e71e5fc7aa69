package dev.millrace.connectors.jdbc;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.TableFeed;
import dev.millrace.connector.TableFeedFactory;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Tables that are read from a database again and again: {@code connector = 'jdbc'} of CREATE TABLE. */
public final class JdbcFeedFactory implements TableFeedFactory {
    private static final long REFRESH_MICROS = TimeUnit.MINUTES.toMicros(1);
    private static final long MOST_ROWS = 1_000_000;

    @Override
    public String name() {
        return "jdbc";
    }

    @Override
    public TableFeed create(String table, Schema declared, List<Integer> key, Options options) {
        DatabaseAddress address = DatabaseAddress.read(options);
        String from = options.text("table", table);
        long refreshMicros = options.durationMicros("refresh", REFRESH_MICROS);
        if (refreshMicros < 100_000) {
            throw Options.invalid("refresh", options.text("refresh", ""), "a duration of 100ms at least");
        }
        long mostRows = options.integer("max.rows", MOST_ROWS, 1, Integer.MAX_VALUE);
        options.rejectUnread();
        return new JdbcFeed(address, from, declared, refreshMicros, mostRows);
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(DatabaseAddress.options());
        all.addAll(List.of(
                new OptionDescription(
                        "table", "the table's name", "what is read, perhaps schema.table; a view will do"),
                new OptionDescription("refresh", "1 min", "from the end of one reading to the beginning of the next"),
                new OptionDescription("max.rows", "1000000", "of more rows none is taken, and it says so")));
        return all;
    }
}
