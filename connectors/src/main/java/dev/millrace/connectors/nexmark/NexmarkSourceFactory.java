package dev.millrace.connectors.nexmark;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connectors.random.Draws;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The connector {@code nexmark}. Columns need not be declared; those that are may be any of the table's, in any order,
 * with its types ({@code datetime} and {@code expires} may also be TIMESTAMPTZ).
 */
public final class NexmarkSourceFactory implements SourceFactory {
    private static final long DEFAULT_RATE = 100_000;
    private static final long MOST_EVENTS = 1L << 50;

    @Override
    public String name() {
        return "nexmark";
    }

    @Override
    public Source create(Schema declared, Options options) {
        Kind kind = options.oneOf("table", Kind.BID);
        long events = options.integer("events", MOST_EVENTS, 0, MOST_EVENTS);
        long rate = options.integer("rate", DEFAULT_RATE, 1, 1_000_000_000);
        long seed = options.integer("seed", 1, Long.MIN_VALUE, Long.MAX_VALUE);
        OptionalDouble pace = pace(options);
        options.rejectUnread();
        Draws draws = new Draws(seed);
        Timeline timeline = new Timeline(rate);
        List<GeneratedColumn> all = switch (kind) {
            case BID -> BidColumns.of(draws, timeline);
            case AUCTION -> RareColumns.ofAuctions(draws, timeline);
            case PERSON -> RareColumns.ofPeople(draws, timeline);
        };
        boolean bounded = events < MOST_EVENTS;
        return new NexmarkSource(kind, declaredOf(all, declared, kind), timeline, events, bounded, pace);
    }

    private static OptionalDouble pace(Options options) {
        return options.text("pace", "max").equalsIgnoreCase("max")
                ? OptionalDouble.empty()
                : OptionalDouble.of(options.positive("pace", 1));
    }

    private static List<GeneratedColumn> declaredOf(List<GeneratedColumn> all, Schema declared, Kind kind) {
        if (declared.size() == 0) {
            return all;
        }
        List<GeneratedColumn> columns = new ArrayList<>();
        for (Field field : declared.fields()) {
            columns.add(all.stream()
                    .filter(column -> column.field().name().equals(field.name()))
                    .map(column -> declaredAs(column, field))
                    .findFirst()
                    .orElseThrow(() -> unknown(field.name(), all, kind)));
        }
        return columns;
    }

    private static GeneratedColumn declaredAs(GeneratedColumn column, Field field) {
        boolean sameBytes = column.field().type().equals(field.type())
                || column.field().type().isTimestamp() && field.type().isTimestamp();
        if (!sameBytes) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    "column \"" + field.name() + "\" of nexmark is "
                            + column.field().type() + ", not " + field.type());
        }
        return new GeneratedColumn(field, column.generator());
    }

    private static MillraceException unknown(String name, List<GeneratedColumn> all, Kind kind) {
        List<String> names = all.stream().map(column -> column.field().name()).toList();
        MillraceException error = MillraceException.user(
                SqlState.UNDEFINED_COLUMN,
                "nexmark's " + kind.name().toLowerCase(java.util.Locale.ROOT) + " has no column \"" + name + "\"");
        return error.withHint(Suggestion.nearest(name, names)
                .map(nearest -> "did you mean \"" + nearest + "\"?")
                .orElse("its columns are: " + String.join(", ", names)));
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("table", "bid", "which table: bid, auction or person"),
                new OptionDescription(
                        "events", "", "events of all three kinds together; without it the stream never ends"),
                new OptionDescription("rate", Long.toString(DEFAULT_RATE), "events per second of event time"),
                new OptionDescription("seed", "1", "streams of one seed are equal, also those of different tables"),
                new OptionDescription("pace", "max", "max, or a multiple of event time: 1 is real time"));
    }
}
