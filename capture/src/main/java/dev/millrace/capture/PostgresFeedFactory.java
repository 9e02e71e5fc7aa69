package dev.millrace.capture;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.TableFeed;
import dev.millrace.connector.TableFeedFactory;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Tables of PostgreSQL: {@code connector = 'postgres-cdc'}. */
public final class PostgresFeedFactory implements TableFeedFactory {
    private static final int PORT = 5432;
    private static final int MOST_NAME = 63; // what PostgreSQL takes

    @Override
    public String name() {
        return "postgres-cdc";
    }

    @Override
    public TableFeed create(String table, Schema declared, List<Integer> key, Options options) {
        SourceTable source = SourceTable.read(table, declared, key, options, PORT, Optional.of("public"));
        String slot = options.text("slot", slot(table));
        if (!slot.matches("[a-z0-9_]{1," + MOST_NAME + "}")) {
            throw Options.invalid("slot", slot, "of at most 63 lower-case letters, digits and underscores");
        }
        options.rejectUnread();
        return new CaptureFeed(table, source, new PostgresUpstream(slot));
    }

    private static String slot(String table) {
        String name = "millrace_" + table.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_]", "_");
        return name.substring(0, Math.min(MOST_NAME, name.length()));
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(SourceTable.options(PORT, "its schema (public)"));
        all.add(new OptionDescription(
                "slot",
                "millrace_ and the table's name",
                "the name of the replication slot and of the publication, which are the table's own and go with it"));
        return all;
    }
}
