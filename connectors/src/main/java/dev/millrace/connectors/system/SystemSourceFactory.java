package dev.millrace.connectors.system;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The source {@code system}. All rows of one reading share their {@code ts}. Columns need not be declared; those that
 * are may be any of the table's, with its types. Shares are from 0 to 1, sizes in bytes, the rest per second:
 *
 * <pre>
 * summary      ts, cpu (share of all cores), load1, load5, load15, mem_used, mem_total, swap_used (bytes),
 *              disk_read_bytes, disk_write_bytes, net_in_bytes, net_out_bytes (per second, all devices together),
 *              processes, threads, temp_c (degrees Celsius, NULL without a sensor)
 * cpu          ts, core, usage, user_time, system_time, iowait, irq, steal, idle (shares of the core)
 * disk         ts, disk, read_bytes, write_bytes, reads, writes (per second), busy (share), queue_length
 * network      ts, interface, in_bytes, out_bytes, in_packets, out_packets, in_errors, out_errors (per second)
 * temperature  ts, sensor, celsius
 * </pre>
 *
 * <p>Rates and shares are over the time since the last reading, over a tenth of a second at least; disks and
 * interfaces are read five times a second at most, processes, threads and temperature once.
 */
public final class SystemSourceFactory implements SourceFactory {
    private static final long DEFAULT_PERIOD_MICROS = 1_000_000;
    private static final long SHORTEST_PERIOD_MICROS = 10_000;

    @Override
    public String name() {
        return "system";
    }

    @Override
    public Source create(Schema declared, Options options) {
        SystemTable table = options.oneOf("table", SystemTable.SUMMARY);
        long periodMicros = options.durationMicros("period", DEFAULT_PERIOD_MICROS);
        options.rejectUnread();
        if (periodMicros < SHORTEST_PERIOD_MICROS) {
            throw Options.invalid("period", options.text("period", ""), "10ms or longer");
        }
        Schema all = table.schema();
        Schema schema = declared.size() == 0 ? all : declared;
        List<Integer> places = new ArrayList<>();
        for (Field field : schema.fields()) {
            places.add(place(table, field));
        }
        return new SystemSource(table, schema, places, periodMicros);
    }

    private static int place(SystemTable table, Field field) {
        Schema all = table.schema();
        int place = all.indexOf(field.name());
        String name = table.name().toLowerCase(Locale.ROOT);
        if (place < 0) {
            MillraceException error = MillraceException.user(
                    SqlState.UNDEFINED_COLUMN,
                    "column \"" + field.name() + "\" does not exist in table \"" + name + "\" of the system source");
            throw Suggestion.nearest(field.name(), all.names())
                    .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                    .orElseGet(() -> error.withHint("its columns are: " + String.join(", ", all.names())));
        }
        if (!all.type(place).equals(field.type())) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    "column \"" + field.name() + "\" is of type " + all.type(place) + ", not " + field.type());
        }
        if (all.field(place).nullable() && !field.nullable()) {
            throw MillraceException.user(
                    SqlState.NOT_NULL_VIOLATION,
                    "column \"" + field.name() + "\" cannot be NOT NULL: not every machine tells it");
        }
        return place;
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("table", "summary", "summary, cpu, disk, network or temperature"),
                new OptionDescription("period", "1s", "time between readings, from 10ms"));
    }
}
