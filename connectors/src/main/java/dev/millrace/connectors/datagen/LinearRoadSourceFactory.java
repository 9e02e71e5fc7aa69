package dev.millrace.connectors.datagen;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connectors.random.Draws;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/**
 * The connector {@code linear_road}: position reports of cars, see {@link Traffic}. Columns need not be declared; those that are
 * may be any of the stream's, in any order, with its types.
 */
public final class LinearRoadSourceFactory implements SourceFactory {
    private static final long MOST_EVENTS = 1L << 50;
    private static final long START_MICROS = 1_767_225_600_000_000L; // 2026-01-01
    /** So many reports per second make an expressway busy. */
    private static final long REPORTS_PER_EXPRESSWAY = 100;

    @Override
    public String name() {
        return "linear_road";
    }

    @Override
    public Source create(Schema declared, Options options) {
        long events = options.integer("events", MOST_EVENTS, 0, MOST_EVENTS);
        long rate = options.integer("rate", REPORTS_PER_EXPRESSWAY, 2, 1_000_000);
        long expressways = options.integer("xways", Math.max(1, rate / REPORTS_PER_EXPRESSWAY), 1, 100_000);
        Draws draws = new Draws(options.integer("seed", 1, Long.MIN_VALUE, Long.MAX_VALUE));
        options.rejectUnread();
        if (rate % 2 != 0) {
            throw Options.invalid("rate", Long.toString(rate), "an even number: cars go in pairs");
        }
        List<GenerationRule> all = columns(new Traffic(draws, rate, (int) expressways));
        List<GenerationRule> rules = new ArrayList<>();
        for (Field field : declared.fields()) {
            rules.add(declaredAs(field, all));
        }
        return new DatagenSource(rules.isEmpty() ? all : rules, events, events < MOST_EVENTS, 0);
    }

    private static List<GenerationRule> columns(Traffic traffic) {
        return List.of(
                column("ts", DataType.TIMESTAMP, report -> START_MICROS + 1_000_000 * traffic.second(report)),
                column("time", DataType.INTEGER, traffic::second),
                column("vehicle", DataType.BIGINT, traffic::vehicle),
                column("speed", DataType.INTEGER, traffic::speedMph),
                column("xway", DataType.INTEGER, traffic::expressway),
                column("lane", DataType.INTEGER, traffic::lane),
                column("direction", DataType.INTEGER, traffic::direction),
                column("segment", DataType.INTEGER, traffic::segment),
                column("position", DataType.INTEGER, traffic::position));
    }

    private static GenerationRule column(String name, DataType type, GenerationRule.Longs values) {
        return new GenerationRule(new Field(name, type, false), 0, 0, values);
    }

    private static GenerationRule declaredAs(Field field, List<GenerationRule> all) {
        List<String> names = all.stream().map(rule -> rule.field().name()).toList();
        int column = names.indexOf(field.name());
        if (column < 0) {
            MillraceException error = MillraceException.user(
                    SqlState.UNDEFINED_COLUMN, "connector \"linear_road\" has no column \"" + field.name() + "\"");
            throw error.withHint(Suggestion.nearest(field.name(), names)
                    .map(nearest -> "did you mean \"" + nearest + "\"?")
                    .orElse("there are: " + String.join(", ", names)));
        }
        GenerationRule rule = all.get(column);
        if (!rule.field().type().equals(field.type())) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    "column \"" + field.name() + "\" of connector \"linear_road\" is of type "
                            + rule.field().type() + ", not " + field.type());
        }
        return new GenerationRule(field, 0, 0, rule.values());
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("events", "", "how many reports; without it the stream never ends"),
                new OptionDescription("rate", "100", "reports per second of event time, an even number"),
                new OptionDescription("xways", "one for each 100 reports per second", "how many expressways"),
                new OptionDescription("seed", "1", "streams of one seed are equal"));
    }
}
