package dev.millrace.connectors.jdbc;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.connectors.outbox.OutboxSink;
import dev.millrace.connectors.upsert.KeyOption;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The sink {@code jdbc}. */
public final class JdbcSinkFactory implements SinkFactory {
    private static final int BATCH_ROWS = 1000;
    private static final long MOST_EPOCH_BYTES = Runtime.getRuntime().maxMemory() / 8;

    /** What becomes of rows that are taken back. */
    enum Mode {
        APPEND,
        UPSERT
    }

    /** What readers may rely on after a crash. */
    enum Delivery {
        AT_LEAST_ONCE,
        EXACTLY_ONCE
    }

    @Override
    public String name() {
        return "jdbc";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        DatabaseAddress address = DatabaseAddress.read(options);
        String table = options.required("table");
        List<Integer> key = KeyOption.read(schema, options);
        Mode mode = options.oneOf("mode", appendOnly && key.isEmpty() ? Mode.APPEND : Mode.UPSERT);
        int batchRows = (int) options.integer("batch.rows", BATCH_ROWS, 1, 100_000);
        if (mode == Mode.UPSERT && key.isEmpty()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "option \"key\" is required: " + (appendOnly ? "mode is upsert" : "rows are taken back"))
                    .withHint("key = 'a, b' names the columns that identify a row");
        }
        if (mode == Mode.APPEND && !appendOnly) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "option \"mode\" cannot be \"append\": the query takes rows back")
                    .withHint("mode = 'upsert' with a key");
        }
        if (mode == Mode.APPEND && !key.isEmpty()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "option \"key\" means nothing where mode is append");
        }
        boolean exactlyOnce = options.oneOf("delivery", Delivery.AT_LEAST_ONCE) == Delivery.EXACTLY_ONCE;
        Optional<String> id = exactlyOnce
                ? Optional.of(context.requireHome("delivery = 'exactly_once'").id())
                : Optional.empty();
        TargetTable target = new TargetTable(table, schema, key);
        String title = "table " + table + " of " + address;
        boolean upsert = mode == Mode.UPSERT;
        JdbcWriter writer = new JdbcWriter(address, target, upsert, batchRows, !exactlyOnce);
        ChangeMaker maker = new ChangeMaker(target, upsert, MOST_EPOCH_BYTES, context);
        try {
            Sink sink = id.isPresent()
                    ? new OutboxSink(
                            context, title, new SpooledChanges(maker), new JdbcDelivery(writer, id.get()), options)
                    : new JdbcSink(title, maker, writer, MOST_EPOCH_BYTES);
            options.rejectUnread();
            return sink;
        } catch (RuntimeException | Error e) {
            maker.close();
            throw e;
        }
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(DatabaseAddress.options());
        all.addAll(List.of(
                new OptionDescription("table", "", "where rows go, perhaps schema.table; it must be there"),
                new OptionDescription(
                        "mode",
                        "upsert where there is a key, else append",
                        "append: each row is inserted; upsert: the newest row of each key, and none of a key that has none"
                                + " any more"),
                new OptionDescription("key", "", "columns that identify a row, between commas"),
                new OptionDescription("batch.rows", "1000", "rows that are sent together"),
                new OptionDescription(
                        "delivery",
                        "at_least_once",
                        "at_least_once: after a crash, rows since the last checkpoint are written again; exactly_once: each"
                                + " row is there once, when a checkpoint has it")));
        all.addAll(OutboxSink.options());
        return all;
    }
}
